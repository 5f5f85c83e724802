"""Ranks the models of a table of scores, with the uncertainty about other tasks of the same kinds.

The estimand is every model's mean over all tasks of each category's kind; the suite's tasks are a sample. The interval
of a mean is the mean plus and minus the t quantile times the root of its variance (`ranks.variance`), within the bounds
of the metrics. A category with one task contributes only the uncertainty about other items of that task.

The interval of a rank runs from one place below the models that are significantly better (`significance.decisions`) to
one above those that are significantly worse. Here a category with one task counts as a sample of one. On at least 95
percent of boards all of these intervals hold, however close the models are (docs/significance.md). The true rank is
that of the true means, no two of which are equal. (Ranks of means over resampled tasks would be narrower, and contain
the true rank of the best of many close models in fewer than half of all samples.)

A model with more missing tasks than the rule allows is not ranked, since it may only have the easy tasks. A model with
fewer missing tasks is ranked by its mean as if it had all (`means.adjusted_mean`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.ranks import means, variance
from compute.analysis.ranks.friedman import PairTest, pair_test
from compute.analysis.ranks.means import CATEGORY_MEAN, UNRANKED
from compute.analysis.ranks.variance import FEW, listed
from compute.analysis.significance import FEWEST_SETS, TOO_FEW, class_letters, decisions, decisions_on_items, item_error
from compute.analysis.table import WHOLE, ScoreTable, shown
from compute.arrays import Bools, Floats, Ints
from compute.pages.shown import WIDTH, Cell, Mark, ShownTable, ShowsItself, axis_of, positions
from compute.rounding import decimals, printed_decimals, rounded
from compute.types import SELF_REPORTED, BadInput, argument, printable

SLACK = 1e-9  # tolerance of a share of tasks, which is a quotient
INTERVALS, CRITICAL_DIFFERENCE = "intervals", "critical-difference"  # kinds of figures
ALONE = "only one model has a rank"
OF_TASKS = "Intervals are about other tasks of these kinds; these tasks count as a sample of them."
ON_ITEMS = "Ranges and classes are about other items of these few tasks; other tasks of the kinds were not tried."
NOTHING = "–"
MOST_CELLS = 50_000  # scores per page: with more, a browser takes a second to sort, so the page has only the means
NAMED = 3  # models named in a note, which counts the others


@dataclass(frozen=True, kw_only=True, repr=False)
class Ranking(ShowsItself):
    """Ranks, means and classes of a table by its rule, with their uncertainty. Arrays are [models], in the table's
    order.

    An unknown interval is UNRANKED (-1) or NaN, and `unknown` says why. `why` gives the reason for a missing rank.
    """

    table: ScoreTable
    rank: Ints  # 1 is best, ties 1, 2, 2, 4
    rank_low: Ints  # best rank of the interval, which covers at least 95%
    rank_high: Ints
    mean: Floats  # in the unit of the scores
    mean_low: Floats  # of the 95% interval, which, like the rank, refers to the mean minus its excess
    mean_high: Floats
    excess: Floats  # excess of the mean due to few items, if known for all, and to missing hard tasks
    better: Bools  # [models, models], the row is significantly better than the column, for all pairs together
    decided: Bools  # [models, models], whether a pair was tested
    on_items: bool  # too few data sets: ranks refer to other items of these tasks, not to other tasks
    classes: tuple[str, ...]  # A, B, ...: no model of a class is significantly better than another; empty if none
    few: Bools  # the interval of the mean rests on few tasks of a category, and covers at least 95%
    fixed: tuple[str, ...]  # counted categories with one task: intervals of means refer to that task alone
    scores: Floats  # [models, tasks] behind the means: printed means replace missing scores
    stands_in: Bools  # [models, categories], whether a printed mean replaces scores
    category_means: Floats  # [models, categories]; NaN without a score, or if tasks have no common mean
    covered: Floats  # share of the counted tasks with a score or a printed mean, compared with the least share
    unknown: tuple[str, ...]  # why the intervals of a ranked model are unknown; empty if they are known
    why: tuple[str, ...]  # why a model has no rank; empty if it has
    tested: PairTest | None = None  # the test behind `better`, if not `significance.decisions`
    more: Callable[[], Sequence[str]] = tuple  # further notes, computed when they are read

    @classmethod
    def of(cls, table: ScoreTable, *, apart: bool = False, test: str = "") -> Ranking:
        """Ranks the models of a table.

        `apart` ranks the models of each origin separately. `test` is one of `friedman.TESTS`, which then decides which
        pairs differ; by default `significance.decisions` does. Raises BadInput if the counted tasks differ in direction
        or scale, or if the test needs scores that are missing.
        """
        groups = [np.array(table.origins) == origin for origin in dict.fromkeys(table.origins)] if apart else []
        models, used = len(table.models), table.counted
        groups = [np.flatnonzero(group) for group in groups] or [np.arange(models)]
        chosen = table.task_weights > 0
        scores, stands_in = means.anchor(
            scores=table.values, categories=table.codes, means=table.printed, counted=chosen
        )
        covered = (~np.isnan(scores[:, used])).sum(axis=1) / max(int(used.sum()), 1)
        full = covered >= table.least - SLACK
        enough = np.zeros(models, bool)
        for group in groups:
            own = SELF_REPORTED in (table.origins[row] for row in group)
            enough[group] = full[group] & (full[group].sum() >= table.fewest) & (not own)
        found = cls(
            table=table,
            **{name: np.full(models, UNRANKED) for name in ("rank", "rank_low", "rank_high")},
            **{name: np.full(models, np.nan) for name in ("mean", "mean_low", "mean_high")},
            excess=np.zeros(models),
            better=np.zeros((models, models), bool),
            decided=np.zeros((models, models), bool),
            on_items=False,
            classes=("",) * models,
            few=np.zeros(models, bool),
            fixed=(),
            scores=scores,
            stands_in=stands_in,
            category_means=means.category_means(
                scores,
                categories=table.codes,
                task_weights=table.task_weights,
                higher=table.higher,
                scales=table.scales,
                count=len(table.categories),
            ),
            covered=covered,
            unknown=("",) * models,
            why=("",) * models,
        )
        found = _by_mean(found, enough, groups, tested=bool(test))
        have = (~np.isnan(scores[:, used])).sum(axis=1)
        why = means.unranked_because(
            found.mean, enough, have, of=int(used.sum()), least=table.least, printed=bool(stands_in.any())
        )
        few = f"Not ranked: fewer than {table.fewest} models have enough tasks, so their order says little"
        own = "Not ranked: each laboratory measured its own models"
        reasons = [own if origin == SELF_REPORTED else few for origin in table.origins]
        left = full & ~enough
        found = replace(found, why=tuple(reasons[row] if left[row] else why[row] for row in range(models)))
        return _tested(found, test) if test else found

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher mean is better."""
        return self.table.higher_is_better

    @property
    def scored(self) -> Ints:
        """The number of counted tasks with the model's own score [models]."""
        return (~np.isnan(self.table.values[:, self.table.counted])).sum(axis=1)

    @property
    def coverage(self) -> Floats:
        """The share of the counted tasks with the model's own score [models]."""
        return self.scored / self.table.counted.sum()

    @property
    def partial(self) -> Bools:
        """Which models [models] are ranked although some counted tasks have neither a score nor a printed mean."""
        return (self.rank != UNRANKED) & np.isnan(self.scores[:, self.table.counted]).any(axis=1)

    @property
    def _ranked(self) -> Ints:
        """The models with a rank, best first."""
        return self.order[self.rank[self.order] != UNRANKED]

    @cached_property
    def by_category(self) -> tuple[Ranking | None, ...]:
        """The rankings by the mean of one category each, separate per origin; None if its tasks have no common mean."""
        parts = [self.table.within(category) for category in self.table.categories]
        return tuple(
            None if part.unlike_tasks or not part.counted.any() else Ranking.of(part, apart=True) for part in parts
        )

    @cached_property
    def order(self) -> Ints:
        """The models best first, then those without a rank; ties by name."""
        last = np.where(self.rank == UNRANKED, len(self.rank) + 1, self.rank)
        return np.lexsort((np.array(self.table.models), last))

    @property
    def about(self) -> str:
        """The rule in words, e.g. `the mean of 12 tasks`."""
        table, counted = self.table, self.table.counted
        tasks = int(counted.sum())
        many = f"{tasks:,} {'task' if tasks == 1 else 'tasks'}"
        categories = len(np.unique(table.codes[counted]))
        if table.aggregate == CATEGORY_MEAN and categories > 1:
            return f"the mean of {categories} category means, {many} in all"
        return f"the mean of {many}" if tasks > 1 else f"the task {table.tasks[int(counted.argmax())]}"

    @property
    def lead(self) -> tuple[str, ...]:
        """The first notes: the ranking criterion, and how the table was read."""
        way = "" if self.higher_is_better else ", lower is better"
        return (f"Ranked by {self.about}{way}.", *self.table.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats about the numbers, in sentences."""
        models, notes = self.table.models, []
        if (self.rank_low != UNRANKED).any():
            notes.append(
                f"{ON_ITEMS if self.on_items else OF_TASKS} No model of a class is significantly better than another; "
                "the first that is worse than one begins the next class."
            )
        if self.tested is not None:
            notes.append(f"{self.tested} A pair that the means order otherwise is not.")
        if (largest := self._likely_bound()) is not None:
            notes.append(
                f"Intervals reach beyond 0 to {largest}, between which all scores lie. If no mean can, give "
                f"{argument('bounds', (0, largest))}."
            )
        if (np.abs(np.where(self.partial, 0.0, self.excess)) > SLACK).any():
            notes.append(
                "Means are those of the scores as their papers define them. Ranks, intervals and classes are of means "
                "without the bias that few items give; where that changes a mean, it follows its interval after `of`."
            )
        if self.few.any():
            notes.append(
                f"In brackets: a category has {FEW} tasks or fewer, and the interval covers at least 95%, usually more."
            )
        if self.fixed and not np.isnan(self.mean_low).all():
            others = "" if self.on_items else "; ranges of ranks are not"
            notes.append(f"Intervals of means are about the one task of {listed(self.fixed)} alone{others}.")
        if self.partial.any():
            those = _shown([models[row] for row in np.flatnonzero(self.partial)])
            notes.append(
                f"Ranked without a score on some tasks, which may be the harder ones: {those}. Their ranks and "
                "intervals are of the mean as if they had all (after `of`), and pairs are compared on the tasks of "
                "both."
            )
        for reason in dict.fromkeys(filter(None, self.unknown)):
            rows = [row for row, own in enumerate(self.unknown) if own == reason]
            those, first = [models[row] for row in rows], rows[0]
            what = "interval" if self.rank_low[first] == UNRANKED else "interval of the mean"
            what = what if np.isnan(self.mean_low[first]) else "rank interval"
            notes.append(f"No {what}{'' if len(those) == len(models) else f' of {_shown(those)}'}: {reason}.")
        for reason in dict.fromkeys(filter(None, self.why)):
            notes.append(f"{reason}: {_shown([m for m, own in zip(models, self.why, strict=True) if own == reason])}.")
        return (*self.lead, *notes, *self.table.unlike_scales, *self.more())

    def frame(self) -> pd.DataFrame:
        """Returns a row per model, best first: rank, model, rank_low, rank_high, class, mean, mean_low, mean_high, few,
        tasks, reason.

        `tasks` is the number of tasks with a score; `reason` says why a rank or an interval is missing.
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
        """Returns the board as a self-contained HTML file that needs no network."""
        from compute.pages import one_file

        return one_file.render("board.html", styles=("board.css",), script="board.js", **_page(self, title))

    def save_html(self, path: str | Path, *, title: str = "Ranking") -> None:
        """Writes `html` to a file atomically. Raises CannotWrite."""
        from compute.io.files import write_text

        write_text(Path(path), self.html(title=title))

    def summary(self) -> str:
        """Returns one paragraph: the leader, its lead and whether that is significant, and how many pairs differ
        significantly.
        """
        rows, models, digits = self._ranked, self.table.models, self.digits()
        if len(rows) < 2:
            return " ".join(map(printable, (f"{len(rows)} of {len(models)} models have a rank.", *self.notes[1:])))
        first, second = rows[:2]
        gap = rounded(abs(np.diff((self.mean - self.excess)[rows[:2]])[0]), digits)
        as_if = self.partial.any()
        shown = self.mean - self.excess * as_if
        ends = [rounded(end, digits) for end in (self.mean_low[first], self.mean_high[first]) if not np.isnan(end)]
        level = "at least 95%" if self.few[first] else "95%"
        interval = f" ({level} interval {' to '.join(ends)})" if ends else ""
        ties = self.rank[second] == 1
        sentences = [
            f"{models[first]} {'shares first place among' if ties else 'leads'} {len(rows):,} models by {self.about}: "
            f"{rounded(shown[first], digits)}{interval}, "
            + (f"equal to {models[second]}." if ties else f"{gap} ahead of {models[second]}."),
        ]
        if as_if:
            sentences.append("Some scores are missing, and means are as if every model had all.")
        if (self.rank_low[rows] == UNRANKED).all():
            return printable(
                " ".join([*sentences, f"Which models differ significantly is not known: {self.unknown[first]}."])
            )
        close = int(self.rank_high[first]) - 1
        sentences.append(
            f"The lead over {models[second]} is {'' if self.better[first, second] else 'not '}significant"
            f"{' on items of these tasks' * self.on_items}{' with all pairs tested together' * (len(rows) > 2)}."
        )
        if len(rows) == 2:
            return printable(" ".join(sentences))
        others = "One other model is" if close == 1 else f"{close:,} other models are"
        sentences.append(
            f"{others} not significantly worse than the leader."
            if close
            else "Every other model is significantly worse than the leader."
        )
        last = max(self.classes, key=lambda name: (len(name), name))
        near, every = int(self.better[rows[:-1], rows[1:]].sum()), int(self.better.sum())
        sentences.append(
            f"{near:,} of {len(rows) - 1:,} adjacent pairs and {every:,} of all {math.comb(len(rows), 2):,} pairs "
            f"differ significantly; {'all are in one class' if last == 'A' else f'the classes are A to {last}'}."
        )
        return printable(" ".join(sentences))

    def digits(self) -> int:
        """Returns the number of decimals for means: three significant digits of their spread."""
        return decimals(self.mean)

    def shown_table(self) -> ShownTable:
        """Returns the ranked models, best first, with counted and excluded tasks above and the other notes below."""
        digits, table = self.digits(), self.table
        counted = shown(table.titles[at] for at in np.flatnonzero(table.counted))
        return ShownTable(
            heads=("rank", "95% range", "class", "model", "mean", "95% interval", "tasks"),
            rows=[
                (
                    str(self.rank[row]),
                    self.range_text(row),
                    self.classes[row] or "-",
                    self.table.models[row],
                    rounded(self.mean[row], digits),
                    Cell(text=self.interval_text(row, digits), marks=[self._mark(row)]),
                    str(self.scored[row]),
                )
                for row in self._ranked
            ],
            above=(f"{self.lead[0]} Counted: {counted}.", *table.notes),  # exclusions come first
            below=[note for note in self.notes if note not in self.lead],
        )

    def plot(self, kind: str = INTERVALS) -> Any:
        """Returns a plotly figure.

        `intervals`: a row per ranked model with its mean and interval, coloured by class. `critical-difference`: the
        models on one axis, by average rank if a test was chosen and by mean otherwise, with a bar over those that do
        not differ significantly. Raises BadInput for another kind.
        """
        from compute.analysis.figures.ranked import critical_difference, strip

        rows, digits = self._ranked, self.digits()
        if kind == CRITICAL_DIFFERENCE:
            tested = self.tested
            value = self.mean if tested is None else tested.average_rank
            way = -1 if tested is None and self.higher_is_better else 1
            rows = rows[np.argsort(way * value[rows], kind="stable")]
            return critical_difference(
                names=[self.table.models[row] for row in rows],
                value=value[rows],
                differ=(self.better | self.better.T)[np.ix_(rows, rows)],
                x=self.about if tested is None else "average rank",
                limit=math.nan if tested is None else tested.critical_difference,
            )
        if kind != INTERVALS:
            raise BadInput(f"No figure {kind!r}. Use {INTERVALS} or {CRITICAL_DIFFERENCE}")
        return strip(
            names=[self.table.models[row] for row in rows],
            value=self.mean[rows],
            low=self.mean_low[rows],
            high=self.mean_high[rows],
            groups=[self.classes[row] for row in rows],
            notes=[
                f"rank {self.rank[row]} ({self.range_text(row)}), {rounded(self.mean[row], digits)} "
                f"({self.interval_text(row, digits)})"
                for row in rows
            ],
            x=self.about,
        )

    def _mark(self, row: int) -> Mark:
        return float(self.mean_low[row]), float(self.mean[row]), float(self.mean_high[row])

    def range_text(self, row: int) -> str:
        """Returns the interval of a rank: `2-5`, `1`, or a dash if unknown."""
        low, high = self.rank_low[row], self.rank_high[row]
        return "-" if low == UNRANKED else str(low) if low == high else f"{low}-{high}"

    def interval_text(self, row: int, digits: int) -> str:
        """Returns the interval of a mean, in brackets if it rests on few tasks; a dash if unknown."""
        low, high = self.mean_low[row], self.mean_high[row]
        if np.isnan(low) or np.isnan(high):
            return "-"
        text = f"{rounded(low, digits)} to {rounded(high, digits)}"
        text = f"({text})" if self.few[row] else text
        less = rounded(self.mean[row] - self.excess[row], digits)
        return text if less == rounded(self.mean[row], digits) else f"{text} of {less}"

    def _likely_bound(self) -> int | None:
        """Returns 1 or 100 if the scores look like shares or percentages, no bounds are set and an interval exceeds
        them.
        """
        counted = self.table.counted
        values, bounds = self.table.values[:, counted], (self.table.lower[counted], self.table.upper[counted])
        unbounded = not np.isfinite(bounds).any()
        if not (unbounded and values.size and np.nanmin(values, initial=np.inf) >= 0):
            return None
        largest = next((bound for bound in (1, 100) if np.nanmax(values, initial=0) <= bound), None)
        beyond = largest is not None and ((self.mean_low < 0) | (self.mean_high > largest)).any()
        return largest if beyond else None


def _by_mean(found: Ranking, enough: Bools, groups: Sequence[Ints], *, tested: bool) -> Ranking:
    """Returns the ranking by means of the models with `enough` tasks, separately for each of `groups` (row numbers)."""
    table = found.table
    blocks, counted = table.blocks, table.counted
    if unlike := table.unlike_tasks:
        raise BadInput(
            f"There is no mean: {unlike}. Choose tasks of one kind ({argument('only')}), or give one kind weight 0"
        )
    higher = table.higher_is_better
    lowest, highest = table.lower[counted].min(), table.upper[counted].max()  # of the metrics and so of their means
    mean = np.where(enough, means.mean_of_blocks(found.scores, blocks), np.nan)
    sets = int(counted.sum()) if table.clusters is None else len(np.unique(table.clusters[counted]))
    unknown, classes, fixed = list(found.unknown), list(found.classes), ()
    for group in groups:
        rows = group[~np.isnan(mean[group])]
        fair = found.scores[rows] - table.excess(rows)
        centre = means.adjusted_mean(fair, blocks)
        found.excess[rows] = mean[rows] - centre
        found.rank[rows] = means.rank(centre, higher=higher)
        parts = variance.by_category(
            scores=fair,
            stderr=table.stderr[rows],
            categories=table.codes,
            parts=blocks,
            printed=found.stands_in[rows],
            clusters=table.clusters,
        )
        fixed = tuple(table.categories[part.category] for part in parts if part.tasks == 1)
        if not len(rows):
            continue
        own, dof = variance.of_means(parts)
        half = variance.half_width(variance=own, dof=dof)
        found.mean_low[rows] = np.clip(centre - half, lowest, highest)
        found.mean_high[rows] = np.clip(centre + half, lowest, highest)
        found.few[rows] = variance.known_rows(parts) & (variance.fewest_tasks(parts) <= FEW)
        known = ~(lost := found.stands_in[rows][:, [part.category for part in parts]].any(axis=1))
        if sets < FEWEST_SETS:
            each = zip(table.stderr[rows], ~np.isnan(fair), strict=True)
            errors = np.array([item_error(stderr, there, blocks, table.clusters) for stderr, there in each])
            known &= np.isfinite(errors)
        known &= known.sum() > 1
        better = np.zeros((len(rows), len(rows)), bool)
        if sets < FEWEST_SETS:
            better[np.ix_(known, known)] = decisions_on_items(means=centre[known], errors=errors[known], higher=higher)
        else:
            better[np.ix_(known, known)] = decisions(
                scores=fair[known], blocks=blocks, clusters=table.clusters, higher=higher
            )
        place = found.rank[rows]
        _decide(found, rows, better & (place[:, None] < place), known=known, classes=classes)
        no_range = TOO_FEW.format(sets, FEWEST_SETS) if sets < FEWEST_SETS and len(rows) > 1 else ALONE
        for at, reason in enumerate(variance.unknown_because(parts, names=table.categories)):
            reasons = (
                "" if known[at] or lost[at] or tested else no_range,
                reason or (variance.ALIKE if np.isnan(own[at]) else ""),
            )
            unknown[rows[at]] = "; ".join(filter(None, reasons))
    few = sets < FEWEST_SETS and bool(found.decided.any()) and not tested
    return replace(found, mean=mean, classes=tuple(classes), fixed=fixed, unknown=tuple(unknown), on_items=few)


def _decide(found: Ranking, rows: Ints, better: Bools, *, known: Bools, classes: list[str]) -> None:
    """Writes to `found` which rows are better and the rank ranges of the `known` ones [rows], and to `classes` their
    classes.
    """
    found.better[np.ix_(rows, rows)] = better
    found.decided[np.ix_(rows, rows)] = known[:, None] & known & ~np.eye(len(rows), dtype=bool)
    found.rank_low[rows] = np.where(known, 1 + better.sum(axis=0), UNRANKED)
    found.rank_high[rows] = np.where(known, len(rows) - better.sum(axis=1), UNRANKED)
    # Ties are ordered by the models' results, not by their position in the table.
    keys = (found.mean_high, found.mean_low, found.rank_high, found.rank_low, found.rank)
    ordered = rows[known][np.lexsort([key[rows[known]] for key in keys])]
    for row, name in zip(ordered, class_letters(found.better[np.ix_(ordered, ordered)]), strict=True):
        classes[row] = name


def _tested(found: Ranking, test: str) -> Ranking:
    """Returns the ranking with pairs decided by a test of average ranks or scores, if it agrees with the order of
    ranks.
    """
    table, rows = found.table, np.flatnonzero(found.rank != UNRANKED)
    scores, clusters, used = found.scores, table.clusters, np.flatnonzero(table.counted)
    lacking = int(np.isnan(scores[np.ix_(rows, used)]).sum())
    if lacking:
        raise BadInput(
            f"The test {test} needs every score of the ranked models; {lacking:,} are missing. Rank only the "
            f"models that have all ({argument('coverage')} 1), or skip tasks ({argument('ignore')})"
        )
    turned = np.where(found.rank[:, None] == UNRANKED, np.nan, np.where(table.higher, scores, -scores))[:, used]
    result = pair_test(turned, clusters=None if clusters is None else clusters[used], test=test)
    classes, average, rank = [""] * len(found.rank), result.average_rank[rows], found.rank[rows]
    better = result.significant[np.ix_(rows, rows)] & (average[:, None] < average) & (rank[:, None] < rank)
    _decide(found, rows, better, known=np.ones(len(rows), bool), classes=classes)
    return replace(found, classes=tuple(classes), tested=result)


def _ranks(values: Ints) -> pd.Series:
    return pd.Series(values).astype("Int64").where(values != UNRANKED)


def _shown(models: Sequence[str]) -> str:
    more = [f"{len(models) - NAMED:,} more"] if len(models) > NAMED else []
    return listed([*models[:NAMED], *more])


def _page(ranked: Ranking, title: str) -> dict[str, Any]:
    """Returns the context of board.html, with title, decimals and values by model for each column
    after the first six.
    """
    table = ranked.table
    columns = []
    if table.categories != (WHOLE,):
        for code, name in enumerate(table.categories):
            values, inside = ranked.category_means[:, code], table.counted & (table.codes == code)
            digits = printed_decimals(values) if inside.sum() == 1 else decimals(values)
            columns.append({"title": name, "higher": True, "digits": digits, "values": values.tolist()})
    shown = table.values.size <= MOST_CELLS
    for at in range(len(table.tasks) if shown else 0):
        values = table.values[:, at]
        about = {"title": table.tasks[at], "higher": bool(table.higher[at]), "digits": printed_decimals(values)}
        columns.append({**about, "values": values.tolist()})
    left_out = f"Per-task scores are omitted, since there are more than {MOST_CELLS:,}."
    return {
        "title": title,
        "ranked": ranked,
        "digits": ranked.digits(),
        "axis": axis_of(ranked._mark(row) for row in ranked.order if not np.isnan(ranked.mean_low[row])),
        "columns": columns,
        "notes": [*ranked.notes[len(ranked.lead) :], *([] if shown else [left_out])],
        "nothing": NOTHING,
        "width": WIDTH,
        "number": rounded,
        "positions": positions,
        "printable": printable,
    }
