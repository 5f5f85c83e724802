"""What people think of generators: rates, ratings, ranks, or single votes, from a table."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.tasks.generators.rows import column_of, optional_column, read_rows
from compute.types import BadInput

NAMES = ("generator", "model", "name")
RATES, RATINGS, RANKS = ("rate", "human_rate", "win_rate", "preference"), ("elo", "rating", "score"), ("rank",)
WINNERS, LOSERS, COUNTS = ("winner", "chosen"), ("loser", "rejected"), ("votes", "count")
FIRST, SECOND, CHOICES = ("first", "model_a", "left"), ("second", "model_b", "right"), ("choice", "winner", "vote")
TIES = ("tie", "both", "equal", "neither")
PROMPTS = ("prompt",)
HUMAN_METRICS = ("human_rate", "elo", "human_rank")


@dataclass(frozen=True, kw_only=True)
class HumanTable:
    """What a table says of generators. `metric` is one of HUMAN_METRICS: `human_rate` (shares), `elo` (ratings, or
    votes to be fitted) or `human_rank`; `values` by generator, higher is better but
    for ranks; `ranks` as listed, 1 best, where it lists any. `wins` (n, n) of `names` are votes: how often the first
    was chosen over the second; then there are no values yet.
    """

    title: str
    metric: str
    names: tuple[str, ...]
    values: Mapping[str, float]
    ranks: Mapping[str, float] | None = None
    wins: Floats | None = None
    notes: tuple[str, ...] = ()


def read(path: Path) -> HumanTable:
    """A table (CSV, TSV, JSON Lines, Parquet) in one of these forms, by its columns:

    - `generator` with `rate` (a share, 0.8 or 80%), `elo`, `rating` or `score`, or `rank`; a rank may stand beside;
    - `winner`, `loser` and perhaps `votes`: a row a comparison;
    - `first`, `second`, `choice` (one of the two names, `first`, `second` or `tie`);
    - `prompt`, `generator`, `votes`, as `import parti-prompts` writes: each vote of a prompt is for one generator over
      all others that have a row for that prompt.

    Raises BadInput naming the file, the row and what is wrong.
    """
    wanted = {*NAMES, *RATES, *RATINGS, *RANKS, *WINNERS, *LOSERS, *COUNTS, *FIRST, *SECOND, *CHOICES, *PROMPTS}
    rows = read_rows(path, columns=tuple(wanted))
    title = path.name
    if optional_column(rows, LOSERS):
        return _won(rows, title)
    if optional_column(rows, FIRST) and optional_column(rows, SECOND):
        return _chosen(rows, title)
    if optional_column(rows, PROMPTS) and optional_column(rows, COUNTS):
        return _per_prompt(rows, title)
    return _rated(rows, title)


def _rated(rows: Sequence[Mapping[str, Any]], title: str) -> HumanTable:
    key = column_of(rows, NAMES, of=title, what="generators")
    rate, rating, rank = (optional_column(rows, names) for names in (RATES, RATINGS, RANKS))
    column = rate or rating or rank
    if not column:
        raise BadInput(f"{title} has no rate, rating or rank; it has: {', '.join(map(str, rows[0]))}")
    values, ranks = {}, {}
    for at, row in enumerate(rows, start=1):
        name = str(row[key]).strip()
        if name in values:
            raise BadInput(f"{title}, row {at}: duplicate generator {name!r}. Leave one row of each")
        values[name] = _number(row[column], f"{title}, row {at} ({name}): {column}", share=column == rate)
        if rank:
            ranks[name] = _number(row[rank], f"{title}, row {at} ({name}): {rank}")
    if column == rate and max(values.values()) > 1:  # percent without the sign, throughout
        values = {name: value / 100 for name, value in values.items()}
    if column == rate and not all(0 <= value <= 1 for value in values.values()):
        raise BadInput(f"{title}: {rate} is a share of votes, from 0 to 1 or from 0% to 100%")
    return HumanTable(
        title=title,
        metric="human_rate" if column == rate else "elo" if column == rating else "human_rank",
        names=tuple(values),
        values=values,
        ranks=ranks or None,
    )


def _won(rows: Sequence[Mapping[str, Any]], title: str) -> HumanTable:
    winner, loser = column_of(rows, WINNERS, of=title, what="winners"), column_of(rows, LOSERS, of=title, what="losers")
    count = optional_column(rows, COUNTS)
    pairs: dict[tuple[str, str], float] = defaultdict(float)
    for at, row in enumerate(rows, start=1):
        first, second = str(row[winner]).strip(), str(row[loser]).strip()
        if first == second:
            raise BadInput(f"{title}, row {at}: {first!r} is compared with itself")
        pairs[first, second] += _count(row[count], f"{title}, row {at}: {count}") if count else 1.0
    return _voted(pairs, title)


def _chosen(rows: Sequence[Mapping[str, Any]], title: str) -> HumanTable:
    left, right = (column_of(rows, names, of=title, what="names") for names in (FIRST, SECOND))
    choice = column_of(rows, CHOICES, of=title, what="choices")
    pairs: dict[tuple[str, str], float] = defaultdict(float)
    for at, row in enumerate(rows, start=1):
        first, second, said = (str(row[name]).strip() for name in (left, right, choice))
        if first == second:
            raise BadInput(f"{title}, row {at}: {first!r} is compared with itself")
        if said.lower() in TIES:
            pairs[first, second] += 0.5
            pairs[second, first] += 0.5
        elif said in (first, left, "first"):
            pairs[first, second] += 1
        elif said in (second, right, "second"):
            pairs[second, first] += 1
        else:
            raise BadInput(f"{title}, row {at}: the choice {said!r} is none of {first!r}, {second!r}, tie")
    return _voted(pairs, title)


def _per_prompt(rows: Sequence[Mapping[str, Any]], title: str) -> HumanTable:
    key, prompt = (
        column_of(rows, NAMES, of=title, what="generators"),
        column_of(rows, PROMPTS, of=title, what="prompts"),
    )
    count = column_of(rows, COUNTS, of=title, what="votes")
    shown: dict[str, dict[str, float]] = defaultdict(dict)
    for at, row in enumerate(rows, start=1):
        name, text = str(row[key]).strip(), str(row[prompt])
        votes = _count(row[count], f"{title}, row {at}: {count}")
        shown[text][name] = shown[text].get(name, 0.0) + votes
    pairs: dict[tuple[str, str], float] = defaultdict(float)
    for votes in shown.values():
        for first, won in votes.items():
            for second in votes:
                if first != second:
                    pairs[first, second] += won
    note = (
        f"{title}: every vote is taken as one over all other generators of its prompt, as if all were shown; its "
        "comparisons depend on each other, so the intervals of the strengths are too narrow"
    )
    return _voted(pairs, title, notes=(note,))


def _voted(pairs: Mapping[tuple[str, str], float], title: str, notes: tuple[str, ...] = ()) -> HumanTable:
    names = sorted({name for pair in pairs for name in pair})
    if len(names) < 2:
        raise BadInput(f"{title} compares no two generators")
    rows = {name: row for row, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for (first, second), count in pairs.items():
        wins[rows[first], rows[second]] = count
    return HumanTable(title=title, metric="elo", names=tuple(names), values={}, wins=wins, notes=notes)


def _number(value: Any, name: str, *, share: bool = False) -> float:
    text = str(value).strip()
    percent = share and text.endswith("%")
    try:
        number = float(text.removesuffix("%") if percent else text) / (100 if percent else 1)
    except ValueError:
        raise BadInput(f"{name} is not a number: {text[:40]!r}") from None
    if not math.isfinite(number):
        raise BadInput(f"{name} is not finite: {text[:40]!r}")
    return number


def _count(value: Any, name: str) -> float:
    number = _number(value, name)
    if number < 0:
        raise BadInput(f"{name} is negative: {number:g}")
    return number
