"""Values as text: an empty cell is a dash, numbers keep their sign and digits."""

import json
import math

from leaderboard.html.formatting import parameters_text, percent, task_url
from tests.serving import ROOT


def test_sizes_are_written_as_the_board_writes_them():
    shared = json.loads((ROOT / "tests" / "rounding.json").read_text())["parameters"]
    assert [parameters_text(millions) for millions, _ in shared] == [text for _, text in shared]
    assert (parameters_text(None), percent(math.nan), task_url("a b&c")) == ("—", "—", "task?task=a%20b%26c")
