"""The rule of rounding: the cases that both languages pass, and Python's decimals as the reference."""

import json
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pytest

from compute.rounding import rounded
from compute.types import BadInput

SHARED = json.loads((Path(__file__).parents[1] / "rounding.json").read_text())


@pytest.mark.parametrize("value, digits, text", SHARED["cases"])
def test_the_shared_cases(value, digits, text):
    assert rounded(value, digits) == text


def test_every_printed_number_is_rounded_as_a_decimal():
    """All numbers of two decimals from -100 to 100, stored as a paper's percentage is: as a fraction."""
    for hundredths in range(-10_000, 10_001):
        printed = Decimal(hundredths).scaleb(-2)
        expected = printed.quantize(Decimal("0.1"), rounding=ROUND_HALF_EVEN)
        text = rounded(round(float(printed) / 100, 10), 1, scale=100)
        assert text == (f"{expected:f}" if expected else "0.0"), printed


def test_a_sign_stands_only_before_what_is_not_zero():
    assert [rounded(value, 1, sign=True) for value in (0.04, -0.04, 0.06, -0.06)] == ["0.0", "0.0", "+0.1", "-0.1"]


def test_what_is_missing_has_no_digits():
    for value in (float("nan"), float("inf")):
        with pytest.raises(BadInput, match="no digits"):
            rounded(value, 1)
