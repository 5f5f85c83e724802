"""Signs beside figures, and the words behind short names."""

from __future__ import annotations

from leaderboard.data.suite_cache import SuiteCache
from leaderboard.data.suite_table import DISPUTED, SUSPECT, TRAINED
from leaderboard.html import abbreviations, marks


def test_every_mark_has_its_sign_and_words() -> None:
    assert marks.signs(0) == marks.said(0) == marks.marked(0) == ""
    assert marks.signs(TRAINED | SUSPECT | DISPUTED) == "†?‡"
    assert marks.said(DISPUTED) == "‡ another table prints another number"
    assert marks.marked(TRAINED) == " <abbr title='trained on this data set'>†</abbr>"


def test_short_names_are_explained() -> None:
    assert "two-alternative" in abbreviations.hint("Img-2AFC")
    assert abbreviations.hint("COCO CJ") == f"COCO: {abbreviations.ABBREVIATIONS['COCO']}; CJ: colour jitter"
    assert abbreviations.hint("STL10") == abbreviations.hint("RParis") == ""


def test_every_short_category_of_the_board_has_words(suite_cache: SuiteCache) -> None:
    for suite in ("unisim-core", "unisim-ood", "pairbench"):
        for category in suite_cache.table(suite).categories:
            assert abbreviations.hint(category), category
