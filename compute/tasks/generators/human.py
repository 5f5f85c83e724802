"""What people think of generators: rates, ratings, ranks, or single votes, from a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compute.arrays import Floats
from compute.io.tables import TableFile, read_table
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
    for ranks; `ranks` as listed, 1 best, where it lists any. `wins` (n, n) of `names` are votes, without `values` yet:
    how often the first was chosen over the second.
    """

    title: str
    metric: str
    names: tuple[str, ...]
    values: Mapping[str, float]
    ranks: Mapping[str, float] | None = None
    wins: Floats | None = None
    notes: tuple[str, ...] = ()


def read(path: Path) -> HumanTable:
    """A table (`compute.io.tables`) in one of these forms, by its columns:

    - `generator` with `rate` (a share, 0.8 or 80%), `elo`, `rating` or `score`, or `rank`; there may be a rank as well;
    - `winner`, `loser` and perhaps `votes`: a row a comparison;
    - `first`, `second`, `choice` (one of the two names, `first`, `second` or `tie`);
    - `prompt`, `generator`, `votes`, as `import parti-prompts` writes: each vote of a prompt is for one generator over
      all others that have a row for that prompt.

    Raises BadInput naming the file, the row and what is wrong.
    """
    wanted = {*NAMES, *RATES, *RATINGS, *RANKS, *WINNERS, *LOSERS, *COUNTS, *FIRST, *SECOND, *CHOICES, *PROMPTS}
    table = read_table(path, columns=wanted)
    table.rows()  # there must be some
    if table.named(LOSERS):
        return _won(table)
    if table.named(FIRST) and table.named(SECOND):
        return _chosen(table)
    if table.named(PROMPTS) and table.named(COUNTS):
        return _per_prompt(table)
    return _rated(table)


def _rated(table: TableFile) -> HumanTable:
    title = table.title
    names = _texts(table, NAMES, what="generators")
    rate, rating, rank = (table.named(names) for names in (RATES, RATINGS, RANKS))
    column = rate or rating or rank
    if not column:
        raise BadInput(f"{title} has no rate, rating or rank; it has: {', '.join(map(str, table.frame))}")
    for at, name in enumerate(names):
        if name in names[:at]:
            raise BadInput(f"{title}, row {at + 1}: duplicate generator {name!r}. Leave one row of each")
    read = table.numbers(column)
    values = np.where(read.percent & (column == rate), read.values / 100, read.values)
    if column == rate and values.max() > 1:  # percent without the sign, throughout
        values = values / 100
    if column == rate and not ((values >= 0) & (values <= 1)).all():
        raise BadInput(f"{title}: {rate} is a share of votes, from 0 to 1 or from 0% to 100%")
    return HumanTable(
        title=title,
        metric="human_rate" if column == rate else "elo" if column == rating else "human_rank",
        names=tuple(names),
        values=dict(zip(names, values.tolist(), strict=True)),
        ranks=dict(zip(names, table.numbers(rank).values.tolist(), strict=True)) if rank else None,
    )


def _won(table: TableFile) -> HumanTable:
    pairs: dict[tuple[str, str], float] = defaultdict(float)
    winners, losers = _texts(table, WINNERS, what="winners"), _texts(table, LOSERS, what="losers")
    for at, (first, second, count) in enumerate(zip(winners, losers, _counts(table), strict=True), start=1):
        if first == second:
            raise BadInput(f"{table.title}, row {at}: {first!r} is compared with itself")
        pairs[first, second] += count
    return _voted(pairs, table.title)


def _chosen(table: TableFile) -> HumanTable:
    left, right = (table.column(names, what="names") for names in (FIRST, SECOND))
    columns = (_texts(table, [name], what="names") for name in (left, right))
    pairs: dict[tuple[str, str], float] = defaultdict(float)
    for at, (first, second, said) in enumerate(
        zip(*columns, _texts(table, CHOICES, what="choices"), strict=True), start=1
    ):
        if first == second:
            raise BadInput(f"{table.title}, row {at}: {first!r} is compared with itself")
        if said.lower() in TIES:
            pairs[first, second] += 0.5
            pairs[second, first] += 0.5
        elif said in (first, left, "first"):
            pairs[first, second] += 1
        elif said in (second, right, "second"):
            pairs[second, first] += 1
        else:
            raise BadInput(f"{table.title}, row {at}: the choice {said!r} is not one of {first!r}, {second!r}, tie")
    return _voted(pairs, table.title)


def _per_prompt(table: TableFile) -> HumanTable:
    names, prompts = _texts(table, NAMES, what="generators"), _texts(table, PROMPTS, what="prompts")
    shown: dict[str, dict[str, float]] = defaultdict(dict)
    for name, text, votes in zip(names, prompts, _counts(table), strict=True):
        shown[text][name] = shown[text].get(name, 0.0) + votes
    pairs: dict[tuple[str, str], float] = defaultdict(float)
    for votes in shown.values():
        for first, won in votes.items():
            for second in votes:
                if first != second:
                    pairs[first, second] += won
    note = (
        f"{table.title}: every vote is taken as one over all other generators of its prompt, as if all were shown; its "
        "comparisons depend on each other, so the intervals of the strengths are too narrow"
    )
    return _voted(pairs, table.title, notes=(note,))


def _voted(pairs: Mapping[tuple[str, str], float], title: str, notes: tuple[str, ...] = ()) -> HumanTable:
    names = sorted({name for pair in pairs for name in pair})
    if len(names) < 2:
        raise BadInput(f"{title} does not compare two generators")
    rows = {name: row for row, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for (first, second), count in pairs.items():
        wins[rows[first], rows[second]] = count
    return HumanTable(title=title, metric="elo", names=tuple(names), values={}, wins=wins, notes=notes)


def _texts(table: TableFile, names: Collection[str], *, what: str) -> list[str]:
    """A column of names. Raises BadInput where there is none."""
    column = table.frame[table.column(names, what=what)]
    return column.astype("str").fillna("").str.strip().tolist()


def _counts(table: TableFile) -> list[float]:
    """Votes by row, one each where they are not counted. Raises BadInput."""
    column = table.named(COUNTS)
    if not column:
        return [1.0] * len(table.frame)
    counts = table.numbers(column).values
    if (counts < 0).any():
        row = int((counts < 0).argmax())
        raise BadInput(f"{table.title}, row {row + 1}: {column} is negative: {counts[row]:g}")
    return counts.tolist()
