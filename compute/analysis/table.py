"""A table of scores, models x tasks, with everything that a mean over them needs.

It is built from a frame or a file (`compute.interface.score_reading`), from the catalogue and the scores of some models
(`of_scores`), or from a suite in the database (`of_suite`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks.means import CATEGORY_MEAN, TASK_MEAN, Block, mean_of_blocks
from compute.arrays import Bools, Floats, Ints
from compute.types import (
    LABORATORY,
    ORIGINS,
    BadInput,
    Metric,
    Score,
    Suite,
    Task,
    is_origin,
    origins_in,
    shortened,
    unknown,
)

WHOLE = "the table"  # default name of a table and of its only category
ALL = "all"  # all origins together: one row per model, of the usual origin, else of the first in ORIGINS that has it
USUAL = "usual"  # the origin with the most models that have every task; ties go to the first in ORIGINS
HUMAN = "human"  # the rule of suites that people rank
LARGEST = 1e75  # above it, fourth powers of scores overflow
UNLIKE = 10.0  # ratio of the largest scores of two tasks, from which it is reported
COLUMNS = (
    "key",
    "title",
    "task",
    "metric",
    "category",
    "cluster",
    "ranked",
    "higher",
    "lower",
    "upper",
    "scale",
    "proportion",
)
LONG = ("model", "origin", "task", "metric", "value", "stderr", "n", "bias")


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """Scores of models on tasks, in stored units and the table's order. Comments end with the default value.

    A row is a model, or a model as measured by one origin. A column is a task, or one metric of a task.
    """

    name: str = WHOLE  # the suite's key
    models: tuple[str, ...] = None  # type: ignore[assignment]  # the numbers of the rows
    origins: tuple[str, ...] = None  # type: ignore[assignment]  # [models]; empty
    tasks: tuple[str, ...] = None  # type: ignore[assignment]  # the numbers of the columns
    titles: tuple[str, ...] = None  # type: ignore[assignment]  # [tasks]; the tasks
    categories: tuple[str, ...] = (WHOLE,)
    codes: Ints = None  # type: ignore[assignment]  # [tasks], category of each, len(categories) in none; 0
    higher: Bools = None  # type: ignore[assignment]  # [tasks], whether higher is better; True
    values: Floats  # [models, tasks], NaN: missing
    stderr: Floats = None  # type: ignore[assignment]  # [models, tasks], NaN if unknown; NaN
    bias: Floats = None  # type: ignore[assignment]  # [models, tasks], finite-sample bias, NaN if unknown; NaN
    aggregate: str = CATEGORY_MEAN  # the rule of the mean: one of AGGREGATES
    weights: Floats = None  # type: ignore[assignment]  # [categories] >= 0; 1
    task_weights: Floats = None  # type: ignore[assignment]  # [tasks] >= 0, 0: not in the mean; 1
    clusters: Ints | None = None  # [tasks], equal for tasks that share their data; None: none do
    least: float = 1.0  # share of the counted tasks that a model needs for a rank
    fewest: int = 0  # models of one origin with that share, below which none is ranked
    scales: tuple[str, ...] = None  # type: ignore[assignment]  # [tasks], equal if scores may be averaged; equal
    lower: Floats = None  # type: ignore[assignment]  # [tasks], bounds of the scores; infinite
    upper: Floats = None  # type: ignore[assignment]
    printed: Floats = None  # type: ignore[assignment]  # [models, categories], means as the source prints them; NaN
    hours: Floats = None  # type: ignore[assignment]  # [tasks], median of the imported runs; NaN
    reasons: tuple[str, ...] = ("no score",)
    missing: Ints = None  # type: ignore[assignment]  # [models, tasks], why a score is missing: index of reasons; 0
    notes: tuple[str, ...] = ()  # what was excluded (first) and which columns may not be tasks, in sentences

    def __post_init__(self) -> None:
        models, tasks = self.values.shape
        names = len(self.categories)
        missing = {
            "models": lambda: tuple(map(str, range(models))),
            "origins": lambda: ("",) * models,
            "tasks": lambda: tuple(map(str, range(tasks))),
            "titles": lambda: self.tasks,
            "codes": lambda: np.zeros(tasks, np.int64),
            "higher": lambda: np.ones(tasks, bool),
            "stderr": lambda: np.full((models, tasks), np.nan),
            "bias": lambda: np.full((models, tasks), np.nan),
            "weights": lambda: np.ones(names),
            "task_weights": lambda: np.ones(tasks),
            "scales": lambda: ("",) * tasks,
            "lower": lambda: np.full(tasks, -np.inf),
            "upper": lambda: np.full(tasks, np.inf),
            "printed": lambda: np.full((models, names), np.nan),
            "hours": lambda: np.full(tasks, np.nan),
            "missing": lambda: np.zeros((models, tasks), np.int64),
        }
        for name, make in missing.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, make())

    @property
    def turned(self) -> Floats:
        """The scores [models, tasks], negated if lower is better."""
        return np.where(self.higher, self.values, -self.values)

    def excess(self, rows: Sequence[int] | Ints) -> Floats:
        """Returns the bias to subtract from the values of some rows [rows, tasks] before they are compared.

        It is used on tasks for which the bias of every row with a score is known, else 0. Published scores, whose items
        are not available, stay as printed.
        """
        values, bias = self.values[rows], self.bias[rows]
        known = (np.isnan(values) | ~np.isnan(bias)).all(axis=0)
        return np.where(known & ~np.isnan(values), np.nan_to_num(bias), 0.0)

    @property
    def category_weights(self) -> Floats:
        """The weight of every code [categories + 1]: 0 for tasks without a category."""
        return np.append(self.weights, 0.0)

    @property
    def counted(self) -> Bools:
        """Which tasks count in the mean: bool [tasks]."""
        return self.task_weights * self.category_weights[self.codes] > 0

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of tasks in its mean, without tasks and categories of weight 0; shares sum to 1.

        Raises BadInput if no task counts, or if the rule is not one of the two means.
        """
        weights, by_task = self.category_weights, self.task_weights
        if self.aggregate == TASK_MEAN:
            groups = [(np.flatnonzero(self.counted), 1.0)]
            by_task = by_task * weights[self.codes]
        elif self.aggregate == CATEGORY_MEAN:
            groups = [
                (np.flatnonzero(self.counted & (self.codes == code)), share) for code, share in enumerate(weights)
            ]
        else:
            raise BadInput(f"No mean for the rule {self.aggregate!r}. Use {CATEGORY_MEAN!r} or {TASK_MEAN!r}.")
        groups = [(columns, float(share)) for columns, share in groups if len(columns)]
        if not groups:
            raise BadInput("Every task has weight 0. Give at least one category with tasks a weight above 0.")
        total = sum(share for _, share in groups)
        return tuple(
            Block(columns=columns, task_weights=by_task[columns], share=share / total) for columns, share in groups
        )

    @property
    def mean(self) -> Floats:
        """The mean of every model over its tasks [models]; NaN if it has none of a block."""
        return mean_of_blocks(self.values, self.blocks)

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher mean is better."""
        return bool(self.higher[self.counted].all())

    @property
    def chosen(self) -> Bools:
        """Which tasks count if their category has a weight: bool [tasks]."""
        return self.task_weights > 0

    @property
    def usual_origin(self) -> str:
        """The origin with the most models that have every task; ties go to the first in ORIGINS."""
        complete = ~np.isnan(self.values[:, self.chosen]).any(axis=1)
        present = origins_in(filter(is_origin, self.origins))
        models = {origin: sum(complete & (np.array(self.origins) == origin)) for origin in present}
        return max(present, key=lambda origin: models[origin], default=ORIGINS[0])

    def rows_of(self, origin: str) -> list[int]:
        """Returns the indices of the rows of one origin, or of USUAL or ALL."""
        usual = self.usual_origin
        first = {
            name: at for at, name in enumerate(dict.fromkeys((usual, *origins_in(filter(is_origin, self.origins)))))
        }
        wanted = {ALL: first, USUAL: (usual,)}.get(origin, (origin,))
        rows: dict[str, int] = {}
        for at in sorted(range(len(self.models)), key=lambda at: first.get(self.origins[at], 0)):
            if self.origins[at] in wanted:
                rows.setdefault(self.models[at], at)
        return sorted(rows.values())

    def rows(self, chosen: Sequence[int] | Ints) -> ScoreTable:
        """Returns the table of some rows, in the given order."""
        at = np.asarray(chosen, int)
        arrays = {name: getattr(self, name)[at] for name in ("values", "stderr", "bias", "printed", "missing")}
        names = {name: tuple(getattr(self, name)[row] for row in at) for name in ("models", "origins")}
        return replace(self, **arrays, **names)

    def columns(self, chosen: Sequence[int] | Ints) -> ScoreTable:
        """Returns the table of some tasks, in the given order, with all its categories."""
        at = np.asarray(chosen, int)
        by_task = ("codes", "higher", "task_weights", "lower", "upper", "hours")
        arrays = {name: getattr(self, name)[at] for name in by_task}
        arrays |= {name: getattr(self, name)[:, at] for name in ("values", "stderr", "bias", "missing")}
        arrays |= {"clusters": None if self.clusters is None else self.clusters[at]}
        names = {name: tuple(getattr(self, name)[task] for task in at) for name in ("tasks", "titles", "scales")}
        return replace(self, **arrays, **names)

    def within(self, category: str) -> ScoreTable:
        """Returns the table with the mean of one category alone, for models that have every task of it."""
        inside = (self.codes == self.categories.index(category)) * self.task_weights
        return replace(self, task_weights=inside, weights=np.ones(len(self.categories)), least=1.0)

    def beside(self, other: ScoreTable) -> ScoreTable:
        """Returns this table's rows above those of another, on the tasks of this one. Raises ValueError if the other
        lacks one.
        """
        theirs = other.columns([other.tasks.index(task) for task in self.tasks])
        categories = [other.categories.index(name) for name in self.categories]
        return replace(
            self,
            models=self.models + theirs.models,
            origins=self.origins + theirs.origins,
            values=np.vstack([self.values, theirs.values]),
            stderr=np.vstack([self.stderr, theirs.stderr]),
            bias=np.vstack([self.bias, theirs.bias]),
            printed=np.vstack([self.printed, theirs.printed[:, categories]]),
            missing=np.zeros((len(self.models) + len(theirs.models), len(self.tasks)), np.int64),
        )

    def weighted(self, weights: Mapping[str, float] | None) -> ScoreTable:
        """Returns the table with weights by name of a category or task; others are unchanged. Raises BadInput."""
        by_category, by_task = self.weights.copy(), self.task_weights.copy()
        for name, weight in (weights or {}).items():
            try:
                value = float(weight)
            except (TypeError, ValueError) as error:
                raise BadInput(f"The weight of {name!r} is {weight!r}; write a number, 0 to exclude it") from error
            if not 0 <= value <= LARGEST:
                raise BadInput(f"The weight of {name!r} is {value:g}; it must be finite and >= 0. Use 0 to exclude it")
            if name in self.categories:
                by_category[self.categories.index(name)] = value
            else:
                by_task[position(name, self.tasks, noun="task")] = value
        table = replace(self, weights=by_category, task_weights=by_task)
        if not table.counted.any():
            raise BadInput("Every task has weight 0. Give at least one a weight above 0")
        return table

    @property
    def unlike_tasks(self) -> str:
        """Why the counted tasks have no common mean; empty if they have one."""
        if len(set(self.higher[self.counted])) > 1:
            return "its tasks differ in direction (higher is better on some, lower on others)"
        if len({scale for scale, counts in zip(self.scales, self.counted, strict=True) if counts}) > 1:
            return "its tasks are in different units"
        return ""

    @property
    def unlike_scales(self) -> tuple[str, ...]:
        """A sentence if the largest scores of two counted tasks differ so much that they hardly share a unit."""
        size = np.abs(np.where(np.isnan(self.values), 0.0, self.values)).max(axis=0, initial=0.0) * self.counted
        scored = np.flatnonzero(size > 0)
        if not len(scored):
            return ()
        least, most = scored[size[scored].argmin()], scored[size[scored].argmax()]
        if size[most] < UNLIKE * size[least]:
            return ()
        return (
            f"Tasks differ in scale: scores reach {size[most]:g} on {self.tasks[most]} and {size[least]:g} on "
            f"{self.tasks[least]}. Unless they share a unit, a mean follows the larger.",
        )


def position(name: str, known: Sequence[str], *, noun: str) -> int:
    """Returns the index of a model or task. Raises BadInput with the nearest name."""
    if name not in known:
        raise BadInput(f"{unknown(noun, name, known)} The table has {len(known):,} {noun}s: {shown(known)}")
    return list(known).index(name)


def shown(names: Iterable[str], most: int = 12) -> str:
    """Returns the first names, and how many more there are."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return f"{', '.join(shortened(name, 40) for name in listed[:most])}{more}"


def of_suite(frames: Mapping[str, pd.DataFrame], *, origin: str) -> ScoreTable:
    """Returns the headline scores of a suite's counted tasks, from `store.suite_frames`: a row per model with a score
    of `origin`.

    Raises BadInput for a suite that people rank, and for an unknown origin.
    """
    check_origin(origin)
    about = frames["about"].iloc[0]
    if about["aggregate"] == HUMAN:
        raise BadInput(f"{about['key']} is ranked by people, not by a mean over tasks. Choose another suite.")
    columns = frames["tasks"][frames["tasks"]["ranked"].astype(bool)].assign(task=lambda tasks: tasks["key"])
    long = frames["values"]
    metric = dict(zip(columns["key"], columns["metric"], strict=True))
    long = long[long["task"].map(metric) == long["metric"]]
    table = of_long(about, columns=columns, long=long, averages=frames["averages"])
    table = table.rows(table.rows_of(origin))
    return replace(table, hours=frames["hours"].set_index("task")["hours"].reindex(list(table.tasks)).to_numpy(float))


def of_database(path: Path, *, suites: Sequence[str], origin: str) -> list[ScoreTable]:
    """Returns `of_suite` for some suites in the database at a path. Raises UnknownKey, BadInput, DatabaseError."""
    from compute.database import store  # imports DuckDB, which tables of files do not need

    with closing(store.connect(path)) as connection:

        def query(sql: str, values: list[Any]) -> pd.DataFrame:
            return connection.execute(sql, values).df()

        return [of_suite(store.suite_frames(query, suite=suite), origin=origin) for suite in suites]


def check_origin(origin: str) -> None:
    """Raises BadInput for an unknown origin."""
    if not is_origin(origin) and origin not in (ALL, USUAL):
        raise BadInput(
            f"No origin {shortened(origin)!r}. Use one of {', '.join((*ORIGINS, ALL, USUAL))}, or {LABORATORY}NAME"
        )


def of_scores(
    suite: Suite,
    scores: Mapping[str, Mapping[str, Score]],
    *,
    tasks: Sequence[Task],
    metrics: Mapping[str, Metric],
) -> ScoreTable:
    """Returns the headline scores of some models, by model key and task, on the suite's counted tasks."""
    counting = [task for task in tasks if suite.key in task.suites and task.ranked]
    headline = [metrics[task.metrics[0]] for task in counting]
    columns = pd.DataFrame(
        [
            (
                task.key,
                task.title,
                task.key,
                metric.key,
                task.category,
                task.cluster,
                True,
                metric.higher_is_better,
                metric.lower,
                metric.upper,
                metric.scale,
                metric.proportion,
            )
            for task, metric in zip(counting, headline, strict=True)
        ],
        columns=list(COLUMNS),
    )
    long = [
        (model, "computed", task.key, task.metrics[0], score.value, score.stderr, score.n, score.bias)
        for model, of_model in scores.items()
        for task in counting
        if (score := of_model.get(task.key)) is not None
    ]
    about = {
        "key": suite.key,
        "aggregate": suite.aggregate,
        "category_weights": json.dumps(suite.category_weights),
        "minimum_coverage": suite.minimum_coverage,
        "minimum_models": suite.minimum_models,
    }
    rows = [(model, "computed") for model in scores]
    return of_long(about, columns=columns, long=pd.DataFrame(long, columns=list(LONG)), rows=rows)


def of_long(
    about: Mapping[str, object] | pd.Series,
    *,
    columns: pd.DataFrame,
    long: pd.DataFrame,
    averages: pd.DataFrame | None = None,
    rows: Sequence[tuple[str, str]] | None = None,
) -> ScoreTable:
    """Builds the table of a suite from `about`, a row of COLUMNS per task, a row of LONG per score, and the category
    means that papers print (model, category, value).

    rows: pairs of model and origin; by default all that have a score, sorted.
    """
    pairs = sorted(set(zip(long["model"], long["origin"], strict=True))) if rows is None else list(rows)
    values, stderr, items, bias = wide(long, "value", "stderr", "n", "bias", rows=pairs, columns=columns)
    ranked = columns["ranked"].to_numpy(bool)
    categories = tuple(dict.fromkeys(columns["category"][ranked]))
    codes = {name: code for code, name in enumerate(categories)}
    own = about["category_weights"]
    of_category = json.loads(own) if isinstance(own, str) else {}
    printed = np.full((len(pairs), len(categories)), np.nan)
    if averages is not None:
        known = {(row.model, row.category): row.value for row in averages.itertuples()}
        for row, (model, origin) in enumerate(pairs):
            if origin == "published":  # a paper's mean refers to its own scores
                printed[row] = [known.get((model, name), np.nan) for name in categories]
    cluster = columns["cluster"].fillna("")
    shares = columns["proportion"].fillna(False).to_numpy(bool)
    return ScoreTable(
        name=str(about["key"]),
        models=tuple(model for model, _ in pairs),
        origins=tuple(origin for _, origin in pairs),
        tasks=tuple(columns["key"]),
        titles=tuple(columns["title"]),
        categories=categories,
        codes=np.array([codes.get(name, len(categories)) for name in columns["category"]], np.int64),
        higher=columns["higher"].fillna(True).to_numpy(bool),
        values=values,
        bias=bias,
        stderr=sampling_errors(values=values, stderr=stderr, share_of=np.where(shares, items, np.nan)),
        aggregate=str(about["aggregate"]),
        weights=np.array([of_category.get(name, 1.0) for name in categories], float),
        task_weights=ranked.astype(float),
        clusters=pd.factorize(cluster.where(cluster != "", columns["key"]))[0] if cluster.any() else None,
        least=float(about["minimum_coverage"]),
        fewest=int(about["minimum_models"]),
        scales=tuple(str(float(scale)) for scale in columns["scale"]),
        lower=columns["lower"].astype(float).fillna(-math.inf).to_numpy(),
        upper=columns["upper"].astype(float).fillna(math.inf).to_numpy(),
        printed=printed,
    )


def wide(long: pd.DataFrame, *names: str, rows: Sequence[tuple[str, str]], columns: pd.DataFrame) -> Floats:
    """Returns columns of LONG, or others added to it, as [names, rows, columns], NaN if missing.

    rows: pairs of model and origin; columns as in `of_long`.
    """
    own = zip(columns["task"], columns["metric"], strict=True)
    row, column = (
        pd.Index([*pairs], tupleize_cols=False).get_indexer([*zip(long[first], long[second], strict=True)])
        for pairs, first, second in ((rows, "model", "origin"), (own, "task", "metric"))
    )
    out, there = np.full((len(names), len(rows), len(columns)), np.nan), (row >= 0) & (column >= 0)
    out[:, row[there], column[there]] = long.loc[there, [*names]].to_numpy(float).T
    return out
