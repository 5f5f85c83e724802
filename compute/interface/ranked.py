"""What a ranking of somebody's table says: as a frame, as text, and as a board in one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from compute.analysis.ranks.ranking import UNRANKED
from compute.analysis.ranks.variance import FEW, listed
from compute.arrays import Bools, Floats, Ints
from compute.interface.pages import one_file
from compute.interface.pages.board import BoardCell, BoardColumn, BoardRow
from compute.interface.score_table import WHOLE, ScoreTable, unlike_scales
from compute.rounding import decimal, rounded
from compute.tables import padded
from compute.types import printable

BORDA = "borda"  # the rule that makes points, not a mean
NAMED = 3  # models that a note names; of more the number is given
NOTHING = "–"
PRINTED = 4  # decimals that a printed table has at most: more are of a computation
WIDTH, EDGE = 120.0, 4.0  # of the drawn intervals, and their distance from its ends, in pixels
MOST_CELLS = 50_000  # scores in one page: beyond that a browser takes a second to sort, so it has the means alone


@dataclass(frozen=True, kw_only=True)
class RankedTable:
    """Ranks, means and tie classes with their uncertainty. Arrays are [models], in the order of `table.models`.

    An interval that is not known is UNRANKED (-1) or NaN, and `unknown` says why; so does `why` where there is no rank.
    """

    table: ScoreTable
    aggregate: str  # one of RULES
    about: str  # the rule in words: mean of 12 tasks
    higher_is_better: bool  # of the mean
    rank: Ints  # 1 is best, ties 1, 2, 2, 4
    rank_low: Ints  # best rank of the interval, which covers at least 95%
    rank_high: Ints
    mean: Floats  # in the unit of the scores; by Borda points their sum
    mean_low: Floats  # of the 95% interval
    mean_high: Floats
    classes: tuple[str, ...]  # A, B, ...: no model of a class is significantly better than another
    few: Bools  # the interval of the mean rests on few tasks of a category, and covers at least 95%
    fixed: tuple[str, ...]  # categories of one task: the intervals are about that task alone
    better: Bools  # [models, models], the row is significantly better than the column
    category_means: Floats  # [models, categories]; NaN: no score, or tasks that do not mix
    scored: Ints  # counting tasks with a score
    counted: Bools  # [tasks], those that count
    bounds: tuple[float, float]  # the least and largest possible mean, infinite where they are not known
    unknown: tuple[str, ...]  # why the intervals of a ranked model are not known; empty where they are
    why: tuple[str, ...]  # why a model has no rank; empty where it has

    @property
    def order(self) -> Ints:
        """The models best first, then those without a rank; equal ranks by name."""
        last = np.where(self.rank == UNRANKED, len(self.rank) + 1, self.rank)
        return np.lexsort((np.array(self.table.models), last))

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before the numbers are read, in sentences."""
        scales = [] if self.aggregate == BORDA else unlike_scales(self.table, self.counted)
        return (*self.lead, *self._notes(), *scales)

    @property
    def lead(self) -> tuple[str, ...]:
        """The first of the notes: by what the models are ranked, and how the table was read."""
        way = "" if self.higher_is_better else ", lower is better"
        return (f"Ranked by {self.about}{way}.", *self.table.notes)

    def frame(self) -> pd.DataFrame:
        """A row a model, best first: rank, model, rank_low, rank_high, class, mean, mean_low, mean_high, few, tasks,
        reason.

        `tasks` counts those with a score; `reason` says why there is no rank or no interval.
        """
        frame = pd.DataFrame(
            {
                "rank": _ranks(self.rank),
                "model": self.table.models,
                "rank_low": _ranks(self.rank_low),
                "rank_high": _ranks(self.rank_high),
                "class": self.classes,
                "mean": self.mean,
                "mean_low": self.mean_low,
                "mean_high": self.mean_high,
                "few": self.few,
                "tasks": self.scored,
                "reason": [why or unknown for why, unknown in zip(self.why, self.unknown, strict=True)],
            }
        )
        return frame.iloc[self.order].reset_index(drop=True)

    def html(self, *, title: str = "Ranking") -> str:
        """The board as one HTML file that needs no network."""
        return _page(self, title=title)

    def save_html(self, path: str | Path, *, title: str = "Ranking") -> None:
        """Writes `html` to a file, whole or not at all. Raises CannotWrite."""
        from compute import drafts

        drafts.write_text(Path(path), self.html(title=title))

    def digits(self) -> int:
        """The decimals of means to show: three significant digits of how far they lie apart."""
        return decimals(self.mean)

    def __str__(self) -> str:
        rows = [("rank", "95% range", "class", "model", "mean", "95% interval", "tasks")]
        digits = self.digits()
        for row in self.order:
            if self.rank[row] != UNRANKED:
                rows.append(
                    (
                        str(self.rank[row]),
                        self.range_text(row),
                        self.classes[row] or "-",
                        printable(self.table.models[row]),
                        rounded(self.mean[row], digits),
                        self.interval_text(row, digits),
                        str(self.scored[row]),
                    )
                )
        heads, *drawn = padded(rows)
        lines = [f"| {' | '.join(row)} |" for row in (heads, ["-" * len(head) for head in heads], *drawn)]
        read = self.table.notes  # what was left out is said first
        others = [note for note in self.notes if note not in read]
        return "\n".join(map(printable, [*read, *[""] * bool(read), *lines, "", *others]))

    def range_text(self, row: int) -> str:
        """The interval of a rank: `2-5`, `1`, or a dash where it is not known."""
        low, high = self.rank_low[row], self.rank_high[row]
        return "-" if low == UNRANKED else str(low) if low == high else f"{low}-{high}"

    def interval_text(self, row: int, digits: int) -> str:
        """The interval of a mean, in brackets where it rests on few tasks; a dash where it is not known."""
        low, high = self.mean_low[row], self.mean_high[row]
        if np.isnan(low) or np.isnan(high):
            return "-"
        text = f"{rounded(low, digits)} to {rounded(high, digits)}"
        return f"({text})" if self.few[row] else text

    def _notes(self) -> list[str]:
        notes = []
        if (self.rank_low != UNRANKED).any():
            notes.append(
                "Intervals are about other tasks of these kinds, of which these tasks count as a sample. No model of a "
                "class is significantly better than another; the first that is worse than one begins the next class."
            )
        if (largest := self._likely_bound()) is not None:
            notes.append(
                f"Intervals reach beyond 0 to {largest}, between which all scores lie. If no mean can, give these "
                f"bounds: 0,{largest}."
            )
        if self.few.any():
            notes.append(
                f"In brackets: a category has {FEW} tasks or fewer, and the interval covers at least 95%, usually more."
            )
        if self.fixed:
            notes.append(f"The intervals are about the one task of {listed(self.fixed)} alone.")
        partial = (self.rank != UNRANKED) & (self.scored < self.counted.sum())
        if partial.any():
            models = [self.table.models[row] for row in np.flatnonzero(partial)]
            notes.append(f"Ranked without a score on some tasks, which may be the harder ones: {_shown(models)}.")
        for reason, models in _grouped(self.unknown, self.table.models).items():
            notes.append(f"No interval{_of(models, self.table.models)}: {reason}.")
        for reason, models in _grouped(self.why, self.table.models).items():
            notes.append(f"{reason}: {_shown(models)}.")
        return notes

    def _likely_bound(self) -> int | None:
        """1 or 100 where the scores look like shares or percentages, no bounds are set and an interval leaves them."""
        values = self.table.values[:, self.counted]
        if np.isfinite(self.bounds).any() or not values.size or not np.nanmin(values, initial=np.inf) >= 0:
            return None
        largest = next((bound for bound in (1, 100) if np.nanmax(values, initial=0) <= bound), None)
        beyond = largest is not None and ((self.mean_low < 0) | (self.mean_high > largest)).any()
        return largest if beyond else None


def printed_decimals(scores: Floats) -> int:
    """The decimals that scores [n] of a table have, and where these are more than PRINTED those of `decimals`."""
    exact = [decimal(value).normalize().as_tuple().exponent for value in scores[~np.isnan(scores)].tolist()]
    printed = max((-int(exponent) for exponent in exact), default=0)
    return max(printed, 0) if printed <= PRINTED else min(printed, decimals(scores))


def decimals(values: Floats) -> int:
    """The decimals that show three significant digits of how far values [n] lie apart; 0 to 6."""
    known = values[~np.isnan(values)]
    spread = (np.ptp(known) or np.abs(known).max() or 1.0) if len(known) else 1.0
    return int(np.clip(2 - np.floor(np.log10(spread)), 0, 6))


def _ranks(values: Ints) -> pd.Series:
    return pd.Series(values).astype("Int64").where(values != UNRANKED)


def _grouped(reasons: Sequence[str], models: Sequence[str]) -> dict[str, list[str]]:
    """The models of every reason, without those that have none."""
    groups: dict[str, list[str]] = {}
    for reason, model in zip(reasons, models, strict=True):
        if reason:
            groups.setdefault(reason, []).append(model)
    return groups


def _of(models: Sequence[str], every: Sequence[str]) -> str:
    return "" if len(models) == len(every) else f" of {_shown(models)}"


def _shown(models: Sequence[str]) -> str:
    more = [f"{len(models) - NAMED:,} more"] if len(models) > NAMED else []
    return listed([*models[:NAMED], *more])


def _page(ranked: RankedTable, *, title: str) -> str:
    """The board as one HTML file."""
    table, order, digits = ranked.table, ranked.order, ranked.digits()
    several = table.categories != (WHOLE,)
    tasks = range(len(table.tasks)) if table.values.size <= MOST_CELLS else ()
    axis = _axis(ranked)
    columns = [
        BoardColumn(title="Rank", first="ascending"),
        BoardColumn(title="Model", first="ascending", key="model"),
        BoardColumn(title="95% range", first="ascending"),
        BoardColumn(title="Class", first="ascending"),
        BoardColumn(title="Mean", first=_first(ranked.higher_is_better)),
        BoardColumn(
            title="95% interval",
            first=_first(ranked.higher_is_better),
            key="interval",
            axis=None if axis is None else (rounded(axis[0], digits), rounded(axis[1], digits)),
        ),
    ]
    if several:
        columns += [BoardColumn(title=printable(name), first="descending") for name in table.categories]
    columns += [BoardColumn(title=printable(table.tasks[at]), first=_first(bool(table.higher[at]))) for at in tasks]
    of_category = [_category_decimals(ranked, code) for code in range(len(table.categories))] if several else []
    of_task = [printed_decimals(table.values[:, at]) for at in tasks]
    rows, last = [], ""
    for row in order:
        letter = ranked.classes[row]
        cells = _standing(ranked, row, digits, axis)
        if several:
            cells += [_number(value, of_category[code]) for code, value in enumerate(ranked.category_means[row])]
        cells += [_number(table.values[row, at], of_task[at]) for at in tasks]
        rows.append(BoardRow(cells=tuple(cells), leads=bool(last and letter and letter != last)))
        last = letter or last
    notes = [printable(note) for note in ranked.notes[len(ranked.lead) :]]
    if not len(tasks):
        notes.append(f"The scores of single tasks are left out, since there are more than {MOST_CELLS:,}.")
    return one_file.render(
        "board.html",
        styles=("board.css",),
        script="board.js",
        title=printable(title),
        lead=[printable(note) for note in ranked.lead],
        notes=notes,
        models=f"{len(table.models):,}",
        columns=columns,
        rows=rows,
        reasons=[
            (printable(table.models[row]), printable(ranked.why[row] or ranked.unknown[row]))
            for row in order
            if ranked.why[row] or ranked.unknown[row]
        ],
    )


def _category_decimals(ranked: RankedTable, code: int) -> int:
    """The decimals of a category's means; of a category of one task those of its scores."""
    inside = np.flatnonzero((ranked.table.codes == code) & ranked.counted)
    means = ranked.category_means[:, code]
    return printed_decimals(means) if len(inside) == 1 else decimals(means)


def _standing(ranked: RankedTable, row: int, digits: int, axis: tuple[float, float] | None) -> list[BoardCell]:
    """The cells of rank, model, range, class, mean and interval."""
    rank, low = ranked.rank[row], ranked.rank_low[row]
    known = not np.isnan(ranked.mean_low[row])
    return [
        BoardCell(text=NOTHING if rank == UNRANKED else str(rank), value="" if rank == UNRANKED else str(rank)),
        BoardCell(text=printable(ranked.table.models[row]), head=True),
        BoardCell(
            text=NOTHING if low == UNRANKED else ranked.range_text(row).replace("-", NOTHING),
            value="" if low == UNRANKED else f"{low + ranked.rank_high[row] / 1e6:.6f}",
        ),
        # With the number of letters in front, Z comes before AA.
        BoardCell(text=ranked.classes[row] or NOTHING, value=f"{len(ranked.classes[row]) or ''}{ranked.classes[row]}"),
        _number(ranked.mean[row], digits),
        BoardCell(
            text=ranked.interval_text(row, digits) if known else NOTHING,
            value=str(float(ranked.mean_low[row])) if known else "",
            key="interval",
            strip=_strip(ranked, row, axis) if known and axis is not None else None,
        ),
    ]


def _number(value: float, digits: int) -> BoardCell:
    return (
        BoardCell(text=NOTHING) if np.isnan(value) else BoardCell(text=rounded(value, digits), value=str(float(value)))
    )


def _first(higher_is_better: bool) -> str:
    return "descending" if higher_is_better else "ascending"


def _axis(ranked: RankedTable) -> tuple[float, float] | None:
    """The least and the largest end of an interval; None where none is known or all are one point."""
    ends: Floats = np.concatenate([ranked.mean_low, ranked.mean_high])
    ends = ends[~np.isnan(ends)]
    return (float(ends.min()), float(ends.max())) if len(ends) and np.ptp(ends) > 0 else None


def _strip(ranked: RankedTable, row: int, axis: tuple[float, float]) -> tuple[float, float, float]:
    """Low end, mean and high end in pixels from the left."""
    low, high = axis
    values = np.array([ranked.mean_low[row], ranked.mean[row], ranked.mean_high[row]])
    first, middle, last = np.round(EDGE + (WIDTH - 2 * EDGE) * (values - low) / (high - low), 1).tolist()
    return first, middle, last
