"""Languages by their ISO 639-3 codes: names, other spellings, and the language of a task's subset.

`languages.csv` next to this file has the languages of the catalogue's tasks: the code, its name in English, and the
other codes of the same language (ISO 639-1, and those of its written standards) that tasks and result files use.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable
from pathlib import Path

import pandas as pd

with Path(__file__).with_suffix(".csv").open(encoding="utf-8") as _file:
    _ROWS = tuple(csv.DictReader(_file))
NAMES: dict[str, str] = {row["code"]: row["name"] for row in _ROWS}
SPELLINGS: dict[str, str] = {also: row["code"] for row in _ROWS for also in row["also"].split()}
_CODES = SPELLINGS | {name.lower(): code for code, name in NAMES.items()}
MULTILINGUAL = "mieb"  # the suite whose tasks are in most languages
WHOLE = ("default", "average")  # subsets that are not part of their task


def code_of(spelling: str) -> str:
    """Returns the code of a language from any of its codes, with or without a script, or its name: `swh`, `sw`,
    `swa-Latn` and `Swahili` become `swa`.
    """
    bare = spelling.strip().partition("-")[0].lower()
    return _CODES.get(bare, bare)


def codes_in(spellings: str) -> str:
    """Returns the distinct codes of comma-separated languages, in order."""
    return ",".join(sorted({code_of(each) for each in spellings.split(",") if each.strip()}))


def name_of(code: str) -> str:
    """Returns the name of a language, or of several separated by commas; the code if no name is known."""
    *names, last = (NAMES.get(each, each) for each in code.split(","))
    return f"{', '.join(names)} and {last}" if names else last


def codes_of(spellings: Iterable[str]) -> frozenset[str]:
    """Returns the languages of some codes."""
    return frozenset(map(code_of, spellings))


def spellings_of(code: str) -> tuple[str, ...]:
    """Returns the other codes of a language."""
    return tuple(other for other, own in SPELLINGS.items() if own == code)


def languages_of(subset: str, *, subsets: Collection[str], languages: Collection[str]) -> frozenset[str]:
    """Returns the languages of a score: one, or both of a pair (`en-de`); none for a mean over several languages.

    subset: of the score; subsets and languages: those of its task.
    """
    own = [each for each in subsets if each not in WHOLE]
    if subset in WHOLE:
        if len(own) > 1:
            return frozenset()
        if not own:
            codes = codes_of(languages)
            return codes if len(codes) == 1 else frozenset()
        subset = own[0]
    codes = codes_of(part for part in subset.split("-") if not (len(part) == 4 and part.istitle()))  # `Latn`: a script
    return codes if codes <= NAMES.keys() else frozenset()


def parts(scored: pd.DataFrame) -> pd.DataFrame:
    """Returns what counts for each language of a suite: language, task, source, subset; `source` is the task with the
    score.

    scored: as the query `scored_subsets` has it. Another task of the same sentences replaces one of the suite, in the
    subsets that both have: result files give an aggregate's languages under its parts.
    """
    rows = [
        (code, row.task, row.source, row.subset)
        for row in scored.itertuples()
        if row.source == row.task or row.subset in set(row.subsets).difference(WHOLE)
        for code in languages_of(row.subset, subsets=row.subsets, languages=row.languages)
    ]
    return pd.DataFrame(rows, columns=["language", "task", "source", "subset"])
