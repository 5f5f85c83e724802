"""Derives the role of a column from its name, by a table of names: assets/catalog/column_names.csv.

A name is compared word by word: `FID50k_full` is fid, 50, k, full. A row of the table is a phrase of such words and its
role: a fact of the models, a sum of other columns, standard errors, a measure for which lower or higher is better. Its
`match` says where in a name it counts: `any`where, as the `first` or the `last` words or either (`edge`), or as the
`whole`. The last words and the whole may be accompanied by words without meaning (fillers) and an aside in parentheses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

import pandas as pd

from compute.io.tables import read_csv
from compute.paths import CATALOG

FACT, SUM, PERHAPS_SUM, ERROR, COMPLEMENT = "fact", "sum", "perhaps a sum", "error", "complement"
LOWER, HIGHER, DOWN, UP = "lower", "higher", "down", "up"  # the last two: arrows, and `lower is better`
ROW, TASKS, FILLER = "row", "tasks", "filler"  # a row that aggregates the models; a column whose rows are tasks
SEED, MAIN = "seed", "main"  # a column whose rows repeat a model; the main measure of a task
WORD = re.compile(r"[^\W\d_]+|\d+|[#@±↓▼↑▲]")
ASIDE = re.compile(r"(?<=.)[(\[].*")
PLACES = {  # as patterns, {0}: the phrase, {1}: a filler
    "exact": "{0}",
    "any": "(?:.* )?{0}(?: .*)?",
    "first": "{0}(?: .*)?",
    "edge": "{0} .+|.+ {0}",
    "last": r"(?:.* )?{0}(?: {1}| \d+)*",
    "whole": "(?:{1} )*{0}(?: {1})*",
    "whole with numbers": r"(?:{1} |\d+ )*{0}(?: {1}| \d+)*",
    "pair": "(?!)",  # only next to the column whose errors they are
}


def words_of(name: str) -> str:
    """Returns the words of a name, in lower case and separated by blanks."""
    return " ".join(WORD.findall(unicodedata.normalize("NFKC", name).casefold()))


@cache
def _rows() -> pd.DataFrame:
    table = read_csv(CATALOG / "column_names.csv", columns=("role", "match", "name", "source"))
    return table.assign(name=table["name"].map(words_of))


@cache
def _pattern(role: str) -> re.Pattern[str]:
    rows = _rows()
    filler = f"(?:{'|'.join(rows['name'][rows['role'] == FILLER])})"
    phrases = rows[rows["role"] == role].groupby("match")["name"].agg("|".join)
    return re.compile("|".join(PLACES[match].format(f"(?:{names})", filler) for match, names in phrases.items()))


def has_role(name: str, role: str) -> bool:
    """Returns whether a column's name has one of the role's phrases in the right place."""
    return any(_pattern(role).fullmatch(words_of(text)) for text in (name, ASIDE.sub("", name)))


def higher_is_better(name: str) -> bool | None:
    """Returns whether higher is better by the name; None if it does not say."""
    if has_role(name, LOWER) or has_role(name, DOWN):
        return False
    return True if has_role(name, HIGHER) or has_role(name, UP) else None


def errors_among(columns: Sequence[str], role: str = ERROR) -> dict[str, str]:
    """Maps columns with another column's standard errors, or its COMPLEMENT, to that column: `acc_stderr,none` to
    `acc,none`.
    """
    known = {words_of(column): column for column in columns}
    rows, found = _rows(), {}
    for row in rows[rows["role"] == role].itertuples(index=False):
        for words, name in known.items():
            before, phrase, after = f" {words} ".partition(f" {row.name} ")
            at_edge = not after.strip() or row.match == "edge" and not before.strip()
            rest = " ".join(f"{before} {after}".split())
            of = next((known[whole] for whole in (rest, f"{rest} mean", f"mean {rest}") if whole in known), "")
            if phrase and of and (row.match == "any" or at_edge):
                found.setdefault(name, of)
    return found
