"""The mark of synthetic items as strings of markup, for pages without a template."""

from __future__ import annotations

import html

from leaderboard.html.labels import SYNTHETIC_NOTE as SENTENCE
from leaderboard.html.labels import choice_title as named
from leaderboard.html.labels import described, is_synthetic
from leaderboard.html.labels import plain_title as plain
from leaderboard.html.labels import suite_choices as listed

__all__ = ["SENTENCE", "described", "is_synthetic", "listed", "named", "plain"]


def titled(title: str, benchmark: object) -> str:
    """A title with its mark, as markup."""
    return html.escape(plain(title) if is_synthetic(benchmark) else title) + badge(benchmark)


def badge(benchmark: object) -> str:
    """The mark as markup, to stand behind a title; empty for real items."""
    return " <span class='pg-synthetic'>synthetic</span>" if is_synthetic(benchmark) else ""


def note(benchmark: object) -> str:
    """The sentence as markup; empty for real items."""
    return f"<p class='pg-warning'>{SENTENCE}</p>" if is_synthetic(benchmark) else ""
