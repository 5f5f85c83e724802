"""Signs beside figures, the mark of synthetic items, and the words behind short names."""

import pandas as pd
import pytest

from leaderboard.html import labels


@pytest.mark.parametrize(
    "benchmark, synthetic, own",
    [
        ("mini", True, False),
        ("mieb", False, False),
        (None, False, False),
        ("own", False, True),
        ("own-synthetic", True, True),
    ],
)
def test_only_the_synthetic_benchmarks_are_marked(benchmark, synthetic, own):
    assert (labels.is_synthetic(benchmark), labels.is_own(benchmark or "")) == (synthetic, own)
    assert labels.plain_title("Drawings (synthetic)", benchmark) == "Drawings" + " (synthetic)" * (not synthetic)
    assert labels.described("Drawn.", benchmark) == "Drawn." + f" {labels.SYNTHETIC_NOTE}" * synthetic
    assert labels.described("All synthetic.", benchmark) == "All synthetic."


def test_a_title_is_marked_once():
    suites = pd.DataFrame({"key": ["mini", "m"], "title": ["Mini", "Mini (Synthetic)"], "benchmark": "mini"})
    assert labels.suite_choices(suites) == [("Mini (synthetic)", "mini"), ("Mini (Synthetic)", "m")]
