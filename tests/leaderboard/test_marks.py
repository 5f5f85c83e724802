"""Signs beside figures, and the words behind short names."""

from __future__ import annotations

from leaderboard import marks, words
from leaderboard.board.table import DISPUTED, SUSPECT, TRAINED
from leaderboard.routes import Boards


def test_every_mark_has_its_sign_and_words() -> None:
    assert marks.signs(0) == marks.said(0) == marks.marked(0) == ""
    assert marks.signs(TRAINED | SUSPECT | DISPUTED) == "†?‡"
    assert marks.said(DISPUTED) == "‡ another table prints another number"
    assert marks.marked(TRAINED) == " <abbr title='trained on this data set'>†</abbr>"


def test_short_names_are_explained() -> None:
    assert "two-alternative" in words.hint("Img-2AFC")
    assert words.hint("COCO CJ") == f"COCO: {words.ABBREVIATIONS['COCO']}; CJ: colour jitter"
    assert words.hint("STL10") == words.hint("RParis") == ""


def test_every_short_category_of_the_board_has_words(boards: Boards) -> None:
    for suite in ("unisim-core", "unisim-ood", "pairbench"):
        for category in boards.table(suite).categories:
            assert words.hint(category), category
