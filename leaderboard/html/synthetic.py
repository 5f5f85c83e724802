"""What is drawn by a program and therefore says nothing about photographs: marked wherever it is shown."""

from __future__ import annotations

import html
import re

import pandas as pd

BENCHMARK = "mini"
MARK = re.compile(r"\s*\(synthetic\)", re.IGNORECASE)
SENTENCE = (
    "Synthetic: a program draws every item from a fixed seed. These scores show that the pipeline works, and "
    "tell models apart on such drawings only."
)


def is_synthetic(benchmark: object) -> bool:
    """Whether a benchmark's items are drawn by a program."""
    return benchmark == BENCHMARK


def plain(title: str) -> str:
    """A title without the mark in words, where the mark itself stands beside it."""
    return MARK.sub("", title)


def titled(title: str, benchmark: object) -> str:
    """A title with its mark, as markup."""
    return html.escape(plain(title) if is_synthetic(benchmark) else title) + badge(benchmark)


def described(description: str, benchmark: object) -> str:
    """A description that says so where items are synthetic: its own words where it does, else the sentence after it."""
    if not is_synthetic(benchmark) or "synthetic" in description.lower():
        return description
    return f"{description} {SENTENCE}".strip()


def named(title: str, benchmark: object) -> str:
    """A suite's or task's title with the mark, for a list to choose from."""
    return f"{title} (synthetic)" if is_synthetic(benchmark) and "synthetic" not in title.lower() else title


def listed(suites: pd.DataFrame) -> list[tuple[str, str]]:
    """Suites to choose from: titles, marked where synthetic, and keys."""
    return [(named(row.title, row.benchmark), row.key) for row in suites.itertuples()]


def badge(benchmark: object) -> str:
    """The mark as markup, to stand behind a title; empty for real items."""
    return " <span class='pg-synthetic'>synthetic</span>" if is_synthetic(benchmark) else ""


def note(benchmark: object) -> str:
    """The sentence as markup; empty for real items."""
    return f"<p class='pg-warning'>{SENTENCE}</p>" if is_synthetic(benchmark) else ""
