"""Values as text: an empty cell is a dash, numbers keep their sign and digits."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from leaderboard.html.formatting import (
    model_url,
    number,
    parameters_text,
    percent,
    span,
    task_url,
)

ROOT = Path(__file__).resolve().parents[3]


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


# Binary rounding that a visitor would see. What may stay: geometry, bytes and seconds, numbers that are whole.
BINARY = re.compile(r"""(?<!\w)round\(|:[+]?\.(\d|\{\w+\})[fe%][^\w]|%\.\d[fe]|"%g\"""")
MAY_STAY = {
    "data/model_queries.py": 1,  # parameters, which are whole
    "data/sandbox.py": 1,  # seconds
    "host/hub_data.py": 1,  # seconds
    "live/live.py": 2,  # data for programs
    "pages/try_it/download.html": 1,  # megabytes
    "pages/try_it/occlusion.html": 1,  # strength of a colour
    "pages/try_it/answers.html": 1,  # geometry
    "pages/map/figures.py": 1,  # geometry
    "pages/generators/page.html": 2,  # ranks
    "pages/generators/backbones.html": 1,  # strength of a colour
    "pages/compare/dumbbells.py": 1,  # digits of a tick
    "pages/map/page.html": 1,  # a setting
}


def test_no_page_rounds_by_itself():
    package = ROOT / "leaderboard"
    lines = {
        str(path.relative_to(package)): sum(bool(BINARY.search(line)) for line in path.read_text().splitlines())
        for suffix in ("py", "html")
        for path in package.rglob(f"*.{suffix}")
    }
    assert {name: count for name, count in lines.items() if count} == MAY_STAY
