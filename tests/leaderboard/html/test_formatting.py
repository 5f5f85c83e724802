"""Values as text: an empty cell is a dash, numbers keep their sign and digits."""

from __future__ import annotations

import math

import pandas as pd

from leaderboard.html.formatting import blank, model_url, number, or_dash, span, task_url


def test_an_empty_cell_is_a_dash() -> None:
    for value in (None, "", math.nan, pd.NA):
        assert blank(value) and or_dash(value) == "—" and or_dash(value, "") == ""
    assert number(math.nan, digits=2) == span(0.1, math.nan, digits=1) == "—"
    assert or_dash(0) == 0


def test_numbers_take_scale_sign_and_a_real_minus() -> None:
    assert number(0.8514, digits=1, scale=100) == "85.1"
    assert number(-0.5, digits=2) == "−0.50"
    assert number(0.5, digits=2, sign=True) == "+0.50"
    assert span(-0.1, 0.2, digits=1) == "−0.1 to 0.2"


def test_addresses_keep_the_slashes_of_keys() -> None:
    assert model_url("openai/clip") == "model?model=openai/clip"
    assert task_url("a b&c") == "task?task=a%20b%26c"
