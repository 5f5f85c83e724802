"""Sets of generators whose scores were computed: every metric with its interval, its order, and what is significant."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from compute.analysis.generators.agreement import REVERSED, SIGNIFICANT, Agreement, agree, verdicts
from compute.analysis.generators.generator_differences import GeneratorDifferences, generator_differences
from compute.analysis.ranks.means import rank
from compute.arrays import Floats, Ints
from compute.engine.generators.backbones import JOIN
from compute.metrics.distribution.intervals import FEWEST_BLOCKS
from compute.tasks.generators.human import HUMAN_METRICS
from compute.types import WHOLE, BadInput, Undefined
from leaderboard.data import suite_queries
from leaderboard.data.database import Database
from leaderboard.data.memo import shared
from leaderboard.html.labels import plain_title
from leaderboard.pages.generators.metrics import SEED


@dataclass(frozen=True, kw_only=True)
class ComputedGenerator:
    """A generator of a set: its model's key and title."""

    key: str
    title: str


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricColumn:
    """One metric on one backbone over the k generators of a set, in stored units; NaN where there is no score."""

    metric: str
    title: str
    subset: str  # a backbone, or image|text
    higher: bool
    scale: float
    digits: int
    values: Floats
    stated: tuple[Floats, Floats]  # the ends of the 95% intervals that the runs state, NaN where they state none
    bounds: tuple[float, float]  # of the metric, NaN where it has none
    left_out: Floats | None  # (k, blocks) the values without each block of prompts; None: no run stores them
    sizes: tuple[int, ...] | None  # prompts of each block
    paired: bool
    warnings: tuple[str, ...]  # each once, with the generators that it is about where those are not all
    reasons: tuple[str, ...]  # why a generator has no figure

    @cached_property
    def differences(self) -> GeneratorDifferences | None:
        """Which generators differ significantly; None where no run stores what that test needs."""
        if self.left_out is None:
            return None
        return generator_differences(
            values=self.values, left_out=self.left_out, sizes=self.sizes, higher=self.higher, paired=self.paired
        )

    @cached_property
    def low(self) -> Floats:
        """(k,) lower ends of 95% intervals."""
        low = self.stated[0]
        if self.differences is not None:
            low = np.where(np.isfinite(low), low, self.differences.low)
        return np.where(np.isnan(low), low, np.fmax(low, self.bounds[0]))

    @cached_property
    def high(self) -> Floats:
        """(k,) upper ends of 95% intervals."""
        high = self.stated[1]
        if self.differences is not None:
            high = np.where(np.isfinite(high), high, self.differences.high)
        return np.where(np.isnan(high), high, np.fmin(high, self.bounds[1]))

    @property
    def features(self) -> str:
        """Its backbones in words."""
        return self.subset.replace(JOIN, " and ")

    @cached_property
    def ranks(self) -> Ints:
        """(k,) 1 is best; -1 without a value."""
        return rank(self.values, higher=self.higher)

    @cached_property
    def order(self) -> Ints:
        """Rows of the generators with a value, best first."""
        rows = np.flatnonzero(np.isfinite(self.values))
        return rows[np.argsort(self.ranks[rows], kind="stable")]

    @property
    def first(self) -> tuple[int, ...]:
        """Rows of the best and of all that are not significantly worse; without a test of differences the best."""
        if not len(self.order):
            return ()
        best = int(self.order[0])
        if self.differences is None:
            return (best,)
        return tuple(int(row) for row in self.order if row == best or not self.differences.better[best, row])

    @property
    def untested(self) -> int:
        """Pairs of generators with values whose difference cannot be tested."""
        count = len(self.order)
        return count * (count - 1) // 2 - (0 if self.differences is None else self.differences.pairs)

    @property
    def decimals(self) -> int:
        """Digits to show: as the metric's, two more where its values are small."""
        shown = np.abs(self.values[np.isfinite(self.values)] * self.scale)
        return self.digits + 2 if self.digits < 4 and len(shown) and np.median(shown) < 0.1 else self.digits


@dataclass(frozen=True, kw_only=True)
class PeopleReading:
    """One metric with people's ratings; `agreement` None with the `reason` where it is undefined."""

    column: MetricColumn
    agreement: Agreement | None
    verdict: str = ""
    reason: str = ""

    @property
    def significant(self) -> bool:
        """Whether its agreement or disagreement is more than chance explains."""
        return self.verdict in (SIGNIFICANT, REVERSED)


@dataclass(frozen=True, kw_only=True, eq=False)
class ComputedSet:
    """A set of k generators over the same prompts or reference images."""

    key: str
    title: str
    benchmark: str
    description: str
    task: str
    images: int  # of each generator, or of the reference
    paired: bool
    generators: tuple[ComputedGenerator, ...]
    columns: Mapping[str, Mapping[str, MetricColumn]]  # metric -> backbone -> scores, the first represents the metric
    people: tuple[str, Floats] | None  # the metric of people's ratings, and the ratings (k,), higher is better

    @property
    def subsets(self) -> tuple[str, ...]:
        """Every backbone, in the order of the metrics."""
        return tuple(dict.fromkeys(subset for of in self.columns.values() for subset in of))

    def column(self, metric: str, *, backbone: str = "") -> MetricColumn:
        """A metric on a backbone, on another text with the same image backbone, or on its first."""
        of = self.columns[metric]
        image = backbone.partition(JOIN)[0]
        near = (subset for subset in of if image and subset.partition(JOIN)[0] == image)
        return of[backbone if backbone in of else next(near, next(iter(of)))]

    def every_column(self, *, backbone: str = "") -> tuple[MetricColumn, ...]:
        """Every metric on that backbone where it has it."""
        return tuple(self.column(metric, backbone=backbone) for metric in self.columns)

    def beside_people(self, columns: tuple[MetricColumn, ...]) -> tuple[PeopleReading, ...]:
        """Each metric's agreement with people over the generators that both know; corrected over all of them."""
        if self.people is None:
            return ()
        ratings = self.people[1]
        agreements: list[Agreement | str] = []
        for column in columns:
            rows = np.flatnonzero(np.isfinite(ratings) & np.isfinite(column.values))
            try:
                agreements.append(
                    agree(
                        scores=column.values[rows],
                        human=ratings[rows],
                        ranks=rank(column.values[rows], higher=column.higher),
                        human_ranks=rank(ratings[rows]),
                        higher=column.higher,
                        seed=SEED,
                    )
                )
            except (BadInput, Undefined) as error:
                agreements.append(str(error))
        known = [each for each in agreements if isinstance(each, Agreement)]
        words = iter(verdicts(known))
        return tuple(
            PeopleReading(column=column, agreement=each, verdict=next(words))
            if isinstance(each, Agreement)
            else PeopleReading(column=column, agreement=None, reason=each)
            for column, each in zip(columns, agreements, strict=True)
        )


def load(db: Database) -> dict[str, ComputedSet]:
    """Every computed set in the database by its suite's key, in the order of the suites."""
    metrics = suite_queries.metrics(db)
    sets = {}
    for row in db.query("generator_sets").itertuples():
        if row.suite in sets:
            continue
        made = _read(db, row, metrics=metrics)
        if made.columns:
            sets[row.suite] = made
    return sets


def _read(db: Database, row: Any, *, metrics: Any) -> ComputedSet:
    runs = db.query("generator_runs", task=row.task)
    settings = [json.loads(text) for text in runs["settings"]]
    generators = tuple(
        ComputedGenerator(key=run.model, title=plain_title(run.title, row.benchmark)) for run in runs.itertuples()
    )
    at = {key: index for index, key in enumerate(runs["id"])}
    values: dict[tuple[str, str], Floats] = {}
    for score in db.query("generator_scores", task=row.task).itertuples():
        if (score.subset == WHOLE) == (score.metric in HUMAN_METRICS):
            values.setdefault((score.metric, score.subset), np.full(len(at), math.nan))[at[score.run]] = score.value
    listed = list(row.metrics)
    columns: dict[str, dict[str, MetricColumn]] = {}
    people = None
    for (metric, subset), of in sorted(values.items(), key=lambda item: _at(item[0][0], listed)):
        if metric in HUMAN_METRICS:
            people = (metric, -of if metric == "human_rank" else of)
            continue
        columns.setdefault(metric, {})[subset] = _column(
            metric,
            subset,
            of,
            about=metrics.loc[metric],
            settings=settings,
            titles=[generator.title for generator in generators],
            paired=bool(row.paired),
        )
    backbones = list(row.subsets)
    return ComputedSet(
        key=row.suite,
        title=plain_title(row.title, row.benchmark),
        benchmark=row.benchmark,
        description=row.description,
        task=row.task,
        images=int(row.n_items),
        paired=bool(row.paired),
        generators=generators,
        columns={
            metric: dict(sorted(of.items(), key=lambda item: _at(item[0], backbones))) for metric, of in columns.items()
        },
        people=people,
    )


def _at(key: str, order: list[str]) -> int:
    return order.index(key) if key in order else len(order)


def _column(
    metric: str,
    subset: str,
    values: Floats,
    *,
    about: Any,
    settings: list[dict[str, Any]],
    titles: list[str],
    paired: bool,
) -> MetricColumn:
    details = [each.get("found", {}).get(subset, {}).get(metric, {}) for each in settings]
    higher = bool(about.higher_is_better)
    sizes = [
        detail.get("block_sizes") or each.get("procedure", {}).get("options", {}).get("blocks") or []
        for detail, each in zip(details, settings, strict=True)
    ]
    without, known = _without(details, sizes=sizes)
    stated = tuple(
        np.array([math.nan if detail.get(end) is None else float(detail[end]) for detail in details])
        for end in ("low", "high")
    )
    lower, upper = (math.nan if about[end] is None else float(about[end]) for end in ("lower", "upper"))
    warned: dict[str, list[str]] = {}
    for title, detail in zip(titles, details, strict=True):
        for line in detail.get("warnings", []):
            warned.setdefault(line, []).append(title)
    undefined = [each.get("undefined", {}).get(metric, {}).get(subset, "") for each in settings]
    return MetricColumn(
        metric=metric,
        title=about.title,
        subset=subset,
        higher=higher,
        scale=float(about.scale),
        digits=int(about.digits),
        values=values,
        stated=stated,
        bounds=(lower, upper),
        left_out=without,
        sizes=known,
        paired=paired,
        warnings=tuple(
            line if len(names) == len(titles) else f"{', '.join(names[:3])}{' and more' if names[3:] else ''}: {line}"
            for line, names in warned.items()
        ),
        reasons=tuple(f"{title}: {reason}" for title, reason in zip(titles, undefined, strict=True) if reason),
    )


def _without(details: list[dict[str, Any]], *, sizes: list[list[int]]) -> tuple[Floats | None, tuple[int, ...] | None]:
    """(k, blocks) the values without each block, NaN for runs with another number of blocks than most have, and the
    blocks' sizes; None where too few are stored for a test."""
    without = [detail.get("left_out") or [] for detail in details]
    counts = list(map(len, without))
    blocks = max(counts, key=lambda count: (counts.count(count) if count else 0, count), default=0)
    if blocks < FEWEST_BLOCKS:
        return None, None
    left_out = np.full((len(details), blocks), math.nan)
    for row, of in enumerate(without):
        if len(of) == blocks:
            left_out[row] = of
    known = next((tuple(map(int, each)) for each in sizes if len(each) == blocks), None)
    return left_out, known


sets_of = shared(lambda site: load(site.db))  # of a site
