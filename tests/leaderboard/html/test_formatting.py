"""Values as text: an empty cell is a dash, numbers keep their sign and digits."""

import json
import math

from leaderboard.html.formatting import (
    model_url,
    number,
    parameters_text,
    percent,
    span,
    task_url,
)
from tests.serving import ROOT


def test_numbers_take_scale_sign_and_a_real_minus():
    assert number(0.8514, digits=1, scale=100) == "85.1"
    assert number(-0.5, digits=2) == "−0.50"
    assert number(0.5, digits=2, sign=True) == "+0.50"
    assert span(-0.1, 0.2, digits=1) == "−0.1 to 0.2"


def test_addresses_keep_the_slashes_of_keys():
    assert model_url("openai/clip") == "model?model=openai/clip"
    assert task_url("a b&c") == "task?task=a%20b%26c"


def test_sizes_are_written_as_the_board_writes_them():
    shared = json.loads((ROOT / "tests" / "rounding.json").read_text())["parameters"]
    assert [parameters_text(millions) for millions, _ in shared] == [text for _, text in shared]
    assert parameters_text(None) == "—"
    assert (percent(0.8849), percent(0.125, digits=1), percent(math.nan)) == ("88%", "12.5%", "—")
