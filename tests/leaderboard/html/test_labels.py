"""Signs beside figures, the mark of synthetic items, and the words behind short names."""

from __future__ import annotations

import pandas as pd
import pytest

from leaderboard.html import labels
from leaderboard.html.labels import DISPUTED, SUSPECT, TRAINED


def test_every_mark_has_its_sign_and_words():
    assert labels.signs(0) == labels.explained_signs(0) == ""
    assert labels.signs(TRAINED | SUSPECT | DISPUTED) == "†?‡"
    assert labels.explained_signs(DISPUTED) == "‡ another table prints another number"


@pytest.mark.parametrize(
    ("benchmark", "synthetic", "own"),
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
    suites = pd.DataFrame(
        {
            "key": ["mini", "m", "mieb"],
            "title": ["Mini", "Mini (Synthetic)", "MIEB"],
            "benchmark": ["mini", "mini", "mieb"],
        }
    )
    assert labels.suite_choices(suites) == [("Mini (synthetic)", "mini"), ("Mini (Synthetic)", "m"), ("MIEB", "mieb")]


def test_short_names_are_explained():
    assert "two-alternative" in labels.hint("Img-2AFC")
    assert labels.hint("COCO CJ") == f"COCO: {labels.ABBREVIATIONS['COCO']}; CJ: colour jitter"
    assert labels.hint("STL10") == labels.hint("RParis") == ""
