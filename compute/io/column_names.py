"""What the names of columns say, by one table of names: assets/catalog/column_names.csv.

A name is compared word by word: `FID50k_full` is fid, 50, k, full. A row of the table is a phrase of such words and its
role: a fact of the models, a sum of other columns, standard errors, a measure of which lower or higher is better. Its
`match` says where in a name it counts: `any`where, as the `first` or the `last` words or either (`edge`), or as the
`whole`. Besides the last words and the whole, words that change nothing (fillers) may stand, and an aside in
parentheses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import cache

from compute.io.tables import read_csv
from compute.paths import CATALOG

FACT, SUM, PERHAPS_SUM, ERROR = "fact", "sum", "perhaps a sum", "error"
LOWER, HIGHER, DOWN, UP = "lower", "higher", "down", "up"  # the last two: arrows, and `lower is better`
ROW, TASKS, FILLER = "row", "tasks", "filler"  # a row that sums up the models; a column whose rows are tasks
WORD = re.compile(r"[^\W\d_]+|\d+|[#@±↓▼↑▲]")
ASIDE = re.compile(r"(?<=.)[(\[].*")

Words = tuple[str, ...]


def words_of(name: str) -> Words:
    """The words of a name, in small letters."""
    return tuple(WORD.findall(unicodedata.normalize("NFKC", name).casefold()))


@cache
def phrases(role: str) -> tuple[tuple[Words, str], ...]:
    """The phrases of a role and where each counts, the longest first."""
    table = read_csv(CATALOG / "column_names.csv", columns=("role", "match", "name", "source"))
    found = [(words_of(row.name), row.match) for row in table[table["role"] == role].itertuples(index=False)]
    return tuple(sorted(found, key=lambda phrase: -len(phrase[0])))


def has_role(name: str, role: str) -> bool:
    """Whether a column's name has one of the role's phrases where it counts."""
    whole = words_of(name)
    known = [(phrase, match) for phrase, match in phrases(role) if {*whole}.issuperset(phrase)]
    return any(_counts(words, *one) for one in known for words in (whole, words_of(ASIDE.sub("", name))))


def _counts(words: Words, phrase: Words, match: str) -> bool:
    fillers = dict(phrases(FILLER))
    for before, after in _around(words, phrase):
        filled = [(word,) in fillers or word.isdigit() and match != "whole" for word in (*before, *after)]
        counts = {
            "exact": not filled,
            "any": True,
            "first": not before,
            "edge": bool(before) != bool(after),
            "last": all(filled[len(before) :]),
        }
        if counts.get(match, match != "pair" and all(filled)):
            return True
    return False


def _around(words: Words, phrase: Words) -> list[tuple[Words, Words]]:
    """The words before and after each occurrence of a phrase."""
    ends = [(at, at + len(phrase)) for at in range(len(words) - len(phrase) + 1)]
    return [(words[:start], words[end:]) for start, end in ends if words[start:end] == phrase]


def higher_is_better(name: str) -> bool | None:
    """Whether higher is better by the name; None where it does not say."""
    if has_role(name, LOWER) or has_role(name, DOWN):
        return False
    return True if has_role(name, HIGHER) or has_role(name, UP) else None


def error_of(name: str, columns: Collection[str]) -> str:
    """The column whose standard errors this one holds: `acc,none` for `acc_stderr,none`; empty where there is none."""
    known = {words_of(column): column for column in columns if column != name}
    for phrase, match in phrases(ERROR):
        for before, after in _around(words_of(name), phrase):
            rest = (*before, *after)
            if rest and (match == "any" or not after or (match == "edge" and not before)):
                for whole in (rest, (*rest, "mean"), ("mean", *rest)):
                    if whole in known:
                        return known[whole]
    return ""
