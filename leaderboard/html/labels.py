"""Labels for titles and numbers: signs, the mark of synthetic items, and explanations of short names
(`labels.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

from compute.analysis.table import ALL, USUAL
from compute.catalog.own import suite as own_suite
from compute.io.files import words_beside

TRAINED, SUSPECT, DISPUTED = 1, 2, 4  # bits of a figure's marks
SIGNS = (
    (TRAINED, "†", "trained on this data set"),
    (SUSPECT, "?", "doubtful score"),
    (DISPUTED, "‡", "another table prints another number"),
)
ORIGIN_TITLES = {"published": "Paper", "imported": "Public results", "computed": "Computed here"}


def origin_title(origin: str) -> str:
    """Returns the name of an origin; for a laboratory, by its key."""
    return ORIGIN_TITLES.get(origin) or who(origin)


def who(origin: str) -> str:
    """Returns an origin as a word for a sentence: `published`, or a laboratory's key."""
    return origin.partition(":")[2] or origin


ORIGIN_CHOICES = [("Most complete", USUAL), *((title, key) for key, title in ORIGIN_TITLES.items()), ("All", ALL)]
GROUPS = {  # tabs of the board that are not called as their benchmark
    "vidore": "Documents",
    "cfred": "Generators",
    "mmrb2": "Image metrics",
    "evalmuse": "Image metrics",
}
SYNTHETIC_MARK = re.compile(r"(?<!\s)\s*\(synthetic\)", re.IGNORECASE)
SYNTHETIC_NOTE = (
    "Synthetic: every item is generated from a fixed seed. These scores show that the pipeline works, and "
    "compare models on such drawings only."
)

_WORDS: dict[str, dict[str, str]] = words_beside(__file__)
MODEL_KINDS, KIND_NOTES, CONDITIONS, ABBREVIATIONS, SHORT, FAMILIES, SETTINGS, MAP_COLOURS = _WORDS.values()
PART = re.compile(r"[^\s,:;()/+]+")


def hint(title: str) -> str:
    """Returns the explanation of a title, or of the short names in it; empty if there is none. Matching is
    case-sensitive.
    """
    if title in ABBREVIATIONS:
        return ABBREVIATIONS[title]
    return "; ".join(f"{part}: {words}" for part, words in explained([title]))


def explained(titles: Iterable[str]) -> list[tuple[str, str]]:
    """Returns the distinct short names in some titles with their explanations, in the order of the list above."""
    seen = {part for title in titles for part in (title, *PART.findall(title))}
    return [(name, words) for name, words in ABBREVIATIONS.items() if name in seen]


def signs(marks: int) -> str:
    """Returns the signs of a score's marks, such as `†?`; empty if there are none."""
    return "".join(sign for bit, sign, _ in SIGNS if marks & bit)


def explained_signs(marks: int) -> str:
    """Returns the signs with their explanations, such as `† trained on this data set`; empty if there are none."""
    return ", ".join(f"{sign} {words}" for bit, sign, words in SIGNS if marks & bit)


def model_kind(kind: str, *, count: int = 1) -> str:
    """Returns a kind of models in words, in the plural for a count other than 1; an unknown kind is returned as it
    is.
    """
    return MODEL_KINDS.get(kind, kind) + ("" if count == 1 else "s")


def is_synthetic(benchmark: object) -> bool:
    """Returns whether a program draws a benchmark's items, so that its scores say nothing about photographs."""
    return benchmark in own_suite.SYNTHETIC_BENCHMARKS


def plain_title(title: str, benchmark: object) -> str:
    """Returns a title without "(synthetic)", for use next to the badge of its benchmark."""
    return SYNTHETIC_MARK.sub("", title) if is_synthetic(benchmark) else title


def group(benchmark: str, title: str) -> str:
    """Returns the tab of a benchmark's suites; `title` is the benchmark's."""
    return "Yours" if is_own(benchmark) else GROUPS.get(benchmark) or plain_title(title, benchmark)


def variant(title: str, benchmark_title: str) -> str:
    """Returns what distinguishes a suite from the others of its benchmark: `English` of "MIEB (English)", `All` of
    "MIEB".
    """
    rest = title.removeprefix(SYNTHETIC_MARK.sub("", benchmark_title)).strip(" -:()")
    return rest if re.fullmatch(r"v[\d.]+", rest) else rest[:1].upper() + rest[1:] or "All"


def is_own(benchmark: object) -> bool:
    """Returns whether a benchmark has user data, so that its scores cannot be compared with published ones."""
    return benchmark in own_suite.BENCHMARKS


def described(description: str, benchmark: object) -> str:
    """Returns a description that says if items are synthetic; a note is added if the description does not say so."""
    if not is_synthetic(benchmark) or "synthetic" in description.lower():
        return description
    return f"{description} {SYNTHETIC_NOTE}".strip()


def choice_title(title: str, benchmark: object) -> str:
    """Returns a suite's or task's title for a list of choices, marked if synthetic."""
    return f"{title} (synthetic)" if is_synthetic(benchmark) and "synthetic" not in title.lower() else title


def suite_choices(suites: pd.DataFrame) -> list[tuple[str, str]]:
    """Returns suites to choose from: titles, marked if synthetic, and keys."""
    return [(choice_title(row.title, row.benchmark), row.key) for row in suites.itertuples()]
