"""Sets of generators, the paper's and computed ones: every metric's scores, their order, significance, and agreement
with people.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.generators.agreement import REVERSED, SIGNIFICANT, Agreement, agree, verdicts
from compute.analysis.generators.generator_differences import GeneratorDifferences, generator_differences
from compute.analysis.ranks.means import rank
from compute.arrays import Floats, Ints
from compute.engine.generators.features import JOIN
from compute.engine.generators.people import HUMAN_METRICS
from compute.engine.generators.table import FIGURE, framed, stored_figures
from compute.metrics.distribution.intervals import FEWEST_BLOCKS
from compute.types import BadInput, Undefined
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database, shared
from leaderboard.html.labels import plain_title

SEED = 20250415  # of the generators drawn again, so that a reload shows the same intervals
SETS = {"coco": "COCO", "hpdv2": "HPDv2", "parti": "Parti-Prompts"}  # of the paper, the newest generators first
ON_PREFERENCES = "Trained on preferences"  # a group of columns
LIMITS = {"lower": -math.inf, "upper": math.inf}
# A metric, and the model under which its printed ρ² and rank accuracy are filed.
METRIC_MODELS = {
    "fid": "fid",
    "fd_dinov2": "fd-dinov2",
    "clipscore": "clipscore",
    "cmmd": "cmmd",
    "cfred": "cfred",
    "aesthetic": "aesthetic",
    "imagereward": "thudm/imagereward",
    "hpsv2": "xswu/hpsv2",
    "mps": "mps",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricColumn:
    """One metric over the k generators of a set, in stored units, NaN for a missing score; for a computed set, on one
    backbone, its `subset`.
    """

    metric: str
    title: str
    higher: bool
    scale: float
    digits: int
    values: Floats
    subset: str = ""  # a backbone, or image|text
    stated: tuple[Floats, Floats] = (math.nan, math.nan)  # the ends of 95% intervals, NaN where none are stated
    bounds: tuple[float, float] = (-math.inf, math.inf)  # of the metric
    differences: GeneratorDifferences | None = None  # which generators differ significantly; None: no run can tell
    warnings: tuple[str, ...] = ()  # each once, with the generators that it is about where those are not all
    reasons: tuple[str, ...] = ()  # why a generator has no figure
    printed: Floats | None = None  # (k,) ranks
    printed_rho: str = ""
    printed_accuracy: str = ""  # empty where the paper prints none
    marks: Ints | int = 0  # (k,) bits of leaderboard.html.labels
    trained: bool = False  # on human preferences, on any data
    trained_on_set: bool = False

    @property
    def marked(self) -> str:
        """Returns its title, with a dagger if it was trained on preferences."""
        return self.title + ("\N{NO-BREAK SPACE}†" if self.trained else "")

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """Returns (k,) lower and upper ends of 95% intervals."""
        ends, tested = self.stated, self.differences
        if tested is not None:
            ends = tuple(
                np.where(np.isfinite(end), end, own) for end, own in zip(ends, (tested.low, tested.high), strict=True)
            )
        low, high = (np.broadcast_to(np.clip(end, *self.bounds), self.values.shape) for end in ends)
        return low, high

    @property
    def features(self) -> str:
        """Describes its backbones."""
        return self.subset.replace(JOIN, " and ")

    @cached_property
    def ranks(self) -> Floats | Ints:
        """Returns (k,) ranks, 1 is best, as printed if they are; -1 without a value."""
        return rank(self.values, higher=self.higher) if self.printed is None else self.printed

    @cached_property
    def order(self) -> Ints:
        """Returns the rows of the generators with a value, best first."""
        rows = np.flatnonzero(np.isfinite(self.values))
        return rows[np.argsort(self.ranks[rows], kind="stable")]

    @property
    def first(self) -> tuple[int, ...]:
        """Returns the rows of the best and of all that are not significantly worse; only the best if differences cannot
        be tested.
        """
        tested = self.differences
        return tuple(
            int(row)
            for at, row in enumerate(self.order)
            if at == 0 or (tested is not None and not tested.better[self.order[0], row])
        )

    @property
    def untested(self) -> int:
        """Returns the pairs of generators with values whose difference cannot be tested."""
        return math.comb(len(self.order), 2) - (0 if self.differences is None else self.differences.pairs)


@dataclass(frozen=True, kw_only=True)
class PeopleReading:
    """One metric with people's ratings; `agreement` is None with the `reason` if it is undefined."""

    column: MetricColumn
    agreement: Agreement | None = None
    verdict: str = ""
    reason: str = ""

    @property
    def significant(self) -> bool:
        """Returns whether its agreement or disagreement is significant."""
        return self.verdict in (SIGNIFICANT, REVERSED)


@dataclass(frozen=True, kw_only=True, eq=False)
class GeneratorSet:
    """A set of k generators over the same prompts or reference images."""

    key: str
    title: str
    benchmark: str
    task: str
    models: tuple[str, ...]
    titles: tuple[str, ...]
    columns: Mapping[str, Mapping[str, MetricColumn]]  # metric -> backbone -> scores, the first represents the metric
    people: MetricColumn | None  # their ratings, higher is better
    images: int = 0  # of each generator, or of the reference
    paired: bool = True

    @property
    def subsets(self) -> tuple[str, ...]:
        """Returns all backbones, in the order of the metrics."""
        return tuple(dict.fromkeys(subset for of in self.columns.values() for subset in of if subset))

    def column(self, metric: str, *, backbone: str = "") -> MetricColumn:
        """Returns a metric on a backbone, on another text with the same image backbone, or on its first. Raises
        BadInput for a metric that the set does not have.
        """
        if metric not in self.columns:
            raise BadInput(f"{self.title} has no metric {metric!r}. Choose another one")
        of = self.columns[metric]
        image = backbone.partition(JOIN)[0]
        near = (subset for subset in of if image and subset.partition(JOIN)[0] == image)
        return of[backbone if backbone in of else next(near, next(iter(of)))]

    def every_column(self, *, backbone: str = "") -> tuple[MetricColumn, ...]:
        """Returns every metric, on that backbone if it has it."""
        return tuple(self.column(metric, backbone=backbone) for metric in self.columns)

    def readings(self, *, backbone: str = "") -> tuple[PeopleReading, ...]:
        """Returns each metric's agreement with people over the generators with both; corrected for multiple testing."""
        people, found = self.people, []
        for column in self.every_column(backbone=backbone) if people else ():
            rows = np.flatnonzero(np.isfinite(people.values) & np.isfinite(column.values))
            try:
                agreement = agree(
                    scores=column.values[rows],
                    human=people.values[rows],
                    ranks=column.ranks[rows],
                    human_ranks=people.ranks[rows],
                    higher=column.higher,
                    seed=SEED,
                )
            except (BadInput, Undefined) as error:
                found.append(PeopleReading(column=column, reason=str(error)))
            else:
                found.append(PeopleReading(column=column, agreement=agreement))
        words = iter(verdicts([each.agreement for each in found if each.agreement]))
        return tuple(replace(each, verdict=next(words)) if each.agreement else each for each in found)

    @cached_property
    def usual(self) -> tuple[PeopleReading, ...]:
        """Returns the readings on the first backbone of each metric."""
        return self.readings()

    @property
    def agreeing(self) -> list[PeopleReading]:
        """Returns the readings that agree significantly and whose metric was not trained on the set."""
        return [each for each in self.usual if each.verdict == SIGNIFICANT and not each.column.trained_on_set]

    @property
    def widest(self) -> PeopleReading | None:
        """Returns the agreeing metric whose rank accuracy has the widest interval; None without intervals."""
        spans = {each: each.agreement.accuracy for each in self.agreeing}
        known = [each for each, span in spans.items() if span.known]
        return max(known, key=lambda each: spans[each].high - spans[each].low, default=None)


# ---- the paper's


def of_paper(db: Database, table: BoardTable) -> GeneratorSet:
    """Makes a set from its listed scores and ranks. Raises BadInput for one without scores."""
    if table.people is None:
        raise BadInput(f"No scores of {table.suite['title']} are stored. Choose another set")
    columns = {column.metric: at for at, column in enumerate(table.columns)}
    people = table.columns[table.people]
    rows = db.query("printed_agreement", task=people.task)
    printed = {(row.model, row.metric): row.printed for row in rows.itertuples()}
    trained = set(db.query("trained_models", task=people.task)["model"])

    def listed(at: int, ranks: str, **facts: Any) -> MetricColumn:
        about, values = table.columns[at], table.scores.values
        return MetricColumn(
            **{name: getattr(about, name) for name in ("metric", "title", "higher", "scale", "digits")},
            values=values[:, at],
            printed=values[:, columns[ranks]],
            marks=table.marks[:, at],
            trained=about.group == ON_PREFERENCES,
            **facts,
        )

    models = tuple(row.model for row in table.rows)
    return GeneratorSet(
        key=str(table.suite["key"]).removeprefix("cfred-"),
        title=table.suite["title"].removeprefix("cFreD: "),
        benchmark=table.suite["benchmark"],
        task=people.task,
        models=models,
        titles=tuple(table.models.loc[list(models), "title"]),
        columns={
            key: {
                "": listed(
                    columns[key],
                    f"{key}_rank",
                    trained_on_set=model in trained,
                    printed_rho=printed.get((model, "rho_squared"), ""),
                    printed_accuracy=printed.get((model, "rank_accuracy"), ""),
                )
            }
            for key, model in METRIC_MODELS.items()
            if key in columns and f"{key}_rank" in columns
        },
        people=listed(table.people, "human_rank"),
    )


# One set of SETS, by a site and the set's key.
paper_set = shared(lambda site, key: of_paper(site.db, site.suite_cache.table(f"cfred-{key}")))


# ---- computed ones


def load(db: Database) -> dict[str, GeneratorSet]:
    """Returns every computed set in the database by its suite's key, in the order of the suites."""
    rows = db.query("generator_sets").itertuples()
    sets = [_computed(db, row, metrics=db.keyed("metrics")) for row in rows]
    return {made.key: made for made in sets if made.columns}


def _computed(db: Database, row: Any, *, metrics: pd.DataFrame) -> GeneratorSet:
    runs, scores = db.query("generator_runs", task=row.task), db.query("generator_scores", task=row.task)
    settings = dict(zip(runs["id"], runs["settings"].map(json.loads), strict=True))
    titles = tuple(plain_title(title, row.benchmark) for title in runs["title"])
    figures = {
        (figure["metric"], figure["backbone"], run): figure
        for run, of in settings.items()
        for figure in stored_figures(run, scores[scores["run"] == run].itertuples(), of)
    }
    listed = [*row.metrics, *metrics.index], [*row.subsets, *(subset for _, subset, _ in figures)]
    pairs = {key[:2] for key, figure in figures.items() if figure["value"] is not None}
    columns: dict[str, dict[str, MetricColumn]] = {}
    for metric, subset in sorted(
        pairs, key=lambda pair: [each.index(key) for each, key in zip(listed, pair, strict=True)]
    ):
        part = framed(figures.get((metric, subset, run), FIGURE) for run in settings).assign(title=titles)
        blocks = [of.get("procedure", {}).get("options", {}).get("blocks") or () for of in settings.values()]
        sizes = [own or of for own, of in zip(part["block_sizes"], blocks, strict=True)]
        counts = Counter(len(of) for of in part["left_out"] if of)
        most = max(counts, key=lambda count: (counts[count], count), default=0)  # blocks that most runs have
        about, values, tested = metrics.loc[metric], part["value"].to_numpy(), None
        if most >= FEWEST_BLOCKS:
            tested = generator_differences(
                values=values,
                left_out=[of if len(of) == most else [math.nan] * most for of in part["left_out"]],
                sizes=next((each for each in sizes if len(each) == most), None),
                higher=bool(about["higher_is_better"]),
                paired=bool(row.paired),
            )
        warned = part.explode("warnings").dropna(subset="warnings").groupby("warnings", sort=False)["title"]
        undefined = part[part["reason"] != ""]
        columns.setdefault(metric, {})[subset] = _column(
            about,
            values,
            subset=subset,
            stated=(part["low"].to_numpy(), part["high"].to_numpy()),
            differences=tested,
            warnings=tuple(
                line if len(own) == len(titles) else f"{', '.join(own[:3])}{' and more' * (len(own) > 3)}: {line}"
                for line, own in warned
            ),
            reasons=tuple(undefined["title"] + ": " + undefined["reason"]),
        )
    people = None
    if rated := sorted({*scores["metric"]} & {*HUMAN_METRICS}, key=listed[0].index):
        of = scores[scores["metric"] == rated[-1]].set_index("run")["value"].reindex(settings).to_numpy(float)
        people = replace(_column(metrics.loc[rated[-1]], -of if rated[-1] == "human_rank" else of), higher=True)
    return GeneratorSet(
        key=row.suite,
        title=plain_title(row.title, row.benchmark),
        benchmark=row.benchmark,
        task=row.task,
        models=tuple(runs["model"]),
        titles=titles,
        columns=columns,
        people=people,
        images=int(row.n_items),
        paired=bool(row.paired),
    )


def _column(about: pd.Series, values: Floats, **facts: Any) -> MetricColumn:
    """Returns a metric of the catalogue, with two more digits if its values are small."""
    shown = np.abs(values[np.isfinite(values)] * about["scale"])
    small = about["digits"] < 4 and len(shown) > 0 and np.median(shown) < 0.1
    return MetricColumn(
        metric=str(about.name),
        title=about["title"],
        higher=bool(about["higher_is_better"]),
        scale=float(about["scale"]),
        digits=int(about["digits"] + 2 * small),
        values=values,
        bounds=tuple(no if pd.isna(about[end]) else float(about[end]) for end, no in LIMITS.items()),
        **facts,
    )


sets_of = shared(lambda site: load(site.db))  # of a site
