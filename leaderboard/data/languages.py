"""Languages by their ISO 639-3 codes: names, other spellings, and which one a subset of a task is in.

`languages.csv` beside this file has the languages of the catalogue's tasks: the code, its name in English, and the
other codes of the same language (ISO 639-1, and those of its written standards) that tasks and result files use.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable
from pathlib import Path

with Path(__file__).with_suffix(".csv").open(encoding="utf-8") as _file:
    _ROWS = tuple(csv.DictReader(_file))
NAMES: dict[str, str] = {row["code"]: row["name"] for row in _ROWS}
SPELLINGS: dict[str, str] = {also: row["code"] for row in _ROWS for also in row["also"].split()}
WHOLE = ("default", "average")  # subsets that are no part of their task


def code_of(spelling: str) -> str:
    """The code of a language from any of its codes, with or without a script: `swh`, `sw` and `swa-Latn` are `swa`."""
    bare = spelling.partition("-")[0].lower()
    return SPELLINGS.get(bare, bare)


def name_of(code: str) -> str:
    """The name of a language; its code where the list above has none."""
    return NAMES.get(code, code)


def codes_of(spellings: Iterable[str]) -> frozenset[str]:
    """The languages that some codes name."""
    return frozenset(map(code_of, spellings))


def spellings_of(code: str) -> tuple[str, ...]:
    """The other codes of a language."""
    return tuple(other for other, own in SPELLINGS.items() if own == code)


def language_of_subset(subset: str) -> str:
    """The language that a subset is in, such as `deu` for `de`, `de-de` and `deu-Latn`; empty for several or none.

    A subset of a pair of languages (`en-de`) is of neither alone.
    """
    parts = [part for part in subset.split("-") if not _is_script(part)]
    codes = codes_of(parts)
    return next(iter(codes)) if len(codes) == 1 and codes <= NAMES.keys() else ""


def language_of_score(subset: str, *, subsets: Collection[str], languages: Collection[str]) -> str:
    """The only language that a score is of, empty where it is of several: no score of one follows from their mean.

    subset: of the score; subsets and languages: those of its task.
    """
    if subset not in WHOLE:
        return language_of_subset(subset)
    own = [each for each in subsets if each not in WHOLE]
    if len(own) > 1:
        return ""
    if own:
        return language_of_subset(own[0])
    codes = codes_of(languages)
    return next(iter(codes)) if len(codes) == 1 else ""


def _is_script(part: str) -> bool:
    """Whether a part of a tag is a script of ISO 15924, such as `Latn`."""
    return len(part) == 4 and part.istitle()
