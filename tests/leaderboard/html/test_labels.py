"""Signs beside figures, the mark of synthetic items, and the words behind short names."""

from __future__ import annotations

import pandas as pd

from leaderboard.html import labels
from leaderboard.html.labels import DISPUTED, SUSPECT, TRAINED


def test_every_mark_has_its_sign_and_words():
    assert labels.signs(0) == labels.explained_signs(0) == ""
    assert labels.signs(TRAINED | SUSPECT | DISPUTED) == "†?‡"
    assert labels.explained_signs(DISPUTED) == "‡ another table prints another number"


def test_only_the_synthetic_benchmark_is_marked():
    assert labels.is_synthetic("mini") and not labels.is_synthetic("mieb") and not labels.is_synthetic(None)
    assert labels.plain_title("Mini (synthetic)", "mini") == "Mini"
    own = "Own pairs: drawings (synthetic)"  # where its benchmark does not say it
    assert labels.plain_title(own, "own") == own and labels.is_own("own") and not labels.is_own("mini")
    assert labels.is_synthetic("own-synthetic") and labels.is_own("own-synthetic") and not labels.is_synthetic("own")
    assert labels.plain_title(own, "own-synthetic") == "Own pairs: drawings"
    assert labels.described("Drawn.", "mini") == f"Drawn. {labels.SYNTHETIC_NOTE}"
    assert labels.described("Drawn.", "mieb") == "Drawn."
    assert labels.described("All synthetic.", "mini") == "All synthetic."


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
