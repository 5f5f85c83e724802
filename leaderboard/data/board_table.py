"""A suite's table of scores with what a page shows next to it: each row is a model from one origin, columns are
tasks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.estimates import Estimated, Order, estimates, first_next, possible
from compute.analysis.intervals import Z95
from compute.analysis.ranking import Ranking
from compute.analysis.table import USUAL, ScoreTable, of_long, wide
from compute.arrays import Bools, mean_if_known
from compute.database.store import TASK_HOURS, TASK_VALUES
from compute.io.files import words_beside
from compute.procedures import ONE_VECTOR
from compute.rounding import clean, rounded
from compute.types import BadInput, UnknownKey, origins_in
from leaderboard.data import languages
from leaderboard.data.database import Database
from leaderboard.data.models.model_facts import own_facts
from leaderboard.data.scope import WHOLE, Scope, ScopeChoices, scope_choices
from leaderboard.html.formatting import blank, number
from leaderboard.html.labels import DISPUTED, SUSPECT, TRAINED, is_own

PEOPLE = "People"  # a group of columns: votes
FEW_TASKS = 20  # of a suite of one category, which opens on its tasks
PARTIAL, PRINTED, ESTIMATED = 8, 16, 32  # bits of a cell's marks, besides those of leaderboard.html.labels
EVERY = slice(None)  # column
PRESETS = words_beside(__file__)
APART = SUSPECT | PARTIAL | ESTIMATED  # bits of what is never the best of its column, and anchors no shading
Estimates = tuple[dict[int, Estimated], dict[int, str]]  # by row; and why others have none


class SuiteColumn(NamedTuple):
    """One task and metric, or the mean of a category. `scale` turns stored values into shown ones."""

    key: str
    title: str
    group: str
    kind: str  # task | family (a category, as payloads call it)
    task: str  # empty for a category
    metric: str
    metric_title: str
    higher: bool
    lower: float  # bounds in stored units; -inf and inf where there is none
    upper: float
    scale: float
    digits: int
    chance: float | None
    n: int | None
    default: bool
    ranked: bool  # enters the mean
    cluster: str  # as of a task
    proportion: bool  # as of a metric
    private: bool  # a test set that only its keepers can measure
    modalities: Sequence[str]  # of its items
    procedure: str

    @property
    def unit(self) -> str:
        """Returns `%` or nothing."""
        return "%" if self.scale == 100 else ""

    def shown(self, value: float | None) -> float | None:
        """Returns a stored value in shown units, to be rounded elsewhere; None for a missing value."""
        return None if blank(value) else clean(value, scale=self.scale)

    def rounded(self, value: float | None) -> float | None:
        """Returns the value rounded to the shown digits."""
        return None if blank(value) else float(rounded(value, self.digits, scale=self.scale))

    def number(self, value: float | None) -> str:
        """Returns the rounded value as text with a real minus sign; a dash for a missing value."""
        return number(value, digits=self.digits, scale=self.scale)

    def text(self, value: float, *, more: int = 0) -> str:
        """Returns a stored value with its unit, with more digits than are shown."""
        return f"{rounded(value, self.digits + more, scale=self.scale)}{self.unit}"


class SuiteRow(NamedTuple):
    """A model as one origin measured it."""

    model: str
    origin: str
    title: str

    @property
    def id(self) -> str:
        """Returns the name of the row in URLs and exports."""
        return f"{self.model}~{self.origin}"


@dataclass(frozen=True, kw_only=True, eq=False)
class BoardTable:
    """One complete suite: its scores, and facts about models, tasks and cells. Arrays are [rows, task columns]."""

    scores: ScoreTable  # a row a model and origin
    suite: pd.Series
    models: pd.DataFrame
    columns: tuple[SuiteColumn, ...]  # task columns, in catalogue order
    category_columns: tuple[SuiteColumn, ...]  # category means
    low: np.ndarray  # of the 95% interval, a metric's own or else by the standard error; NaN: not known
    high: np.ndarray
    marks: np.ndarray  # int, bits above
    averages: pd.DataFrame  # the means that the paper prints, with their sources
    trained_tasks: frozenset[tuple[str, str]] = frozenset()  # models and the tasks whose data they saw in training
    presets: dict[str, dict[str, float]] = field(default_factory=dict)
    choices: ScopeChoices  # the scopes that the suite has
    scope: Scope = WHOLE
    expected: np.ndarray  # of doubtful scores, by the other scores; NaN: not known
    left_out: bool = False  # whether doubtful scores are missing
    parts: pd.DataFrame | None = None  # of one condition or language: its tasks, sources and subsets

    @cached_property
    def rows(self) -> tuple[SuiteRow, ...]:
        """Returns the model, origin and title of every row."""
        models = self.scores.models
        return tuple(map(SuiteRow, models, self.scores.origins, self.models["title"].reindex(models)))

    @cached_property
    def sound(self) -> BoardTable:
        """Returns the table with its doubtful scores marked as missing."""
        gone, scores = self.marks & SUSPECT > 0, self.scores
        values = np.where(gone, np.nan, scores.values)
        scores = replace(
            scores,
            values=values,
            reasons=(*scores.reasons, "Left out as doubtful"),
            missing=np.where(gone, len(scores.reasons), scores.missing),
        )
        return replace(self, scores=scores, marks=np.where(gone, 0, self.marks), left_out=True)

    @property
    def likely(self) -> BoardTable:
        """Returns the table with doubtful scores replaced by expected ones, if they are known."""
        values = np.where(np.isnan(self.expected), self.sound.scores.values, self.expected)
        return replace(self.sound, scores=replace(self.sound.scores, values=values))

    def ranked(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        tasks: frozenset[str] | None = None,
        coverage: float | None = None,
    ) -> Ranking | None:
        """Returns the ranking of the rows, separately for each origin; None for a suite ranked by people.

        weights by category (others have the suite's own), tasks the keys that count (None: all), coverage the least
        share of them. Raises BadInput for weights or tasks that make no mean.
        """
        scores = self.scores
        if not scores.categories or not scores.models:
            return None
        unknown = sorted(set(weights or {}) - set(scores.categories))
        if unknown:
            names = ", ".join(scores.categories)
            raise BadInput(f"{scores.name} has no category {unknown[0]!r}; it has: {names}")
        if tasks is not None and not tasks & {column.task for column in self.columns}:
            raise BadInput(f"None of the chosen tasks is part of {scores.name}. Choose others, or clear the choice")
        chosen = [float(column.ranked and (tasks is None or column.task in tasks)) for column in self.columns]
        table = replace(
            scores,
            weights=np.array(list(self.weights(weights).values())),
            task_weights=np.array(chosen),
            least=scores.least if coverage is None else coverage,
        )
        return Ranking.of(table, apart=True)

    def estimates(self, ranked: Ranking, *, only: int | None = None) -> Estimates:
        """Returns estimates for rows without a rank, separately for each origin, and why others have none. `only`
        limits it to one row, which takes a fraction of the time.
        """
        table, found, reasons = ranked.table, {}, {}
        wanted = ~np.isnan(table.values[:, table.counted]).any(axis=1) | (only is None)
        if only is not None:
            wanted[only] = True
        for origin in dict.fromkeys(table.origins) if only is None else [table.origins[only]]:
            rows = [at for at, own in enumerate(table.origins) if own == origin and wanted[at]]
            own, why, _ = estimates(table.rows(rows), self.models, possible=self._possible(rows))
            for all_rows, of_origin in ((found, own), (reasons, why)):
                all_rows |= {rows[at]: one for at, one in of_origin.items() if ranked.rank[rows[at]] < 1}
        return found, reasons

    def next_tasks(self, ranked: Ranking, row: int) -> Order:
        """Returns what to run for a row within an hour, by the complete rows of the default origin. Raises as
        `first_next`.
        """
        table, can = ranked.table.rows([row, *self.rows_of(USUAL)]), self._possible([row])[0]
        return first_next(table, self.models, possible=can, among=can, budget=1.0)

    def _possible(self, rows: Iterable[int]) -> Bools:
        """Returns whether the models of some rows can do the tasks [rows, tasks]."""
        models = self.models.loc[[self.rows[row].model for row in rows]]
        return possible(
            [*map(list, models["abilities"])],
            [column.modalities for column in self.columns],
            late=models["late_interaction"].fillna(False),
            one_vector=[column.procedure in ONE_VECTOR for column in self.columns],
        )

    def mean_marks(self, ranked: Ranking) -> np.ndarray:
        """Returns int [rows, categories]: PARTIAL, a mean without some tasks; PRINTED, the paper's own mean."""
        scores, chosen = self.scores, ranked.table.chosen
        left_out = (scores.task_weights > 0) & ~chosen
        some = (np.isnan(scores.values) & chosen) | left_out
        partial = [some[:, scores.codes == code].any(axis=1) for code in range(len(scores.categories))]
        made = np.where(np.stack(partial, axis=1) & ~np.isnan(ranked.category_means), PARTIAL, 0)
        return np.where(ranked.stands_in, PRINTED, made)

    def whole_means(self, ranked: Ranking) -> np.ndarray:
        """Returns category means [rows, categories] of rows with all tasks, NaN for others."""
        return np.where(self.mean_marks(ranked) & PARTIAL, np.nan, ranked.category_means)

    def weights(self, chosen: Mapping[str, float] | None = None) -> dict[str, float]:
        """Returns the weight of each category in the mean: the chosen weight, else the suite's."""
        return {**next(iter(self.presets.values()), {}), **(chosen or {})}

    @cached_property
    def by_key(self) -> dict[str, SuiteColumn]:
        """Returns the columns of categories, then of tasks."""
        return {column.key: column for column in (*self.category_columns, *self.columns)}

    def row(self, row_id: str) -> int:
        """Returns the index of a row. Raises UnknownKey."""
        ids = [row.id for row in self.rows]
        if row_id not in ids:
            raise UnknownKey("model", row_id.rpartition("~")[0] or row_id, [row.model for row in self.rows])
        return ids.index(row_id)

    @cached_property
    def people(self) -> int | None:
        """Returns the column of people's votes, if there is one."""
        return next((at for at, column in enumerate(self.columns) if column.group == PEOPLE), None)

    def trained(self, row: int) -> str:
        """Returns whether a row's model saw a data set of the suite in training: `yes`, `no`, or `unknown`.

        It is unknown where no source states any of the model's training data: such a model may have seen all of them.
        So may one of the user's own: a card need not name all that it, or its base, was trained on.
        """
        model = self.rows[row].model
        if any(model == other for other, _ in self.trained_tasks):
            return "yes"
        known, options = (self.models.at[model, name] for name in ("trained_on", "options"))
        return "no" if len(known) and own_facts(options) is None else "unknown"

    def untrained(self, row: int) -> float | None:
        """Returns the share of ranked tasks whose data a row's model did not see in training; None if unknown."""
        tasks = {column.task for column in self.columns if column.ranked}
        if not tasks or self.trained(row) == "unknown":
            return None
        return sum((self.rows[row].model, task) not in self.trained_tasks for task in tasks) / len(tasks)

    def rows_of(self, origin: str) -> list[int]:
        """Returns the indices of the rows of one origin, or of USUAL or ALL."""
        return self.scores.rows_of(origin)

    def rows_of_model(self, model: str, *, origin: str = "") -> list[int]:
        """Returns the indices of a model's rows, of one origin or of all."""
        return [at for at, row in enumerate(self.rows) if row.model == model and origin in ("", row.origin)]

    @cached_property
    def origin(self) -> str:
        """Returns the origin that is shown first, or alone if there is room for only one."""
        return self.scores.usual_origin

    def fullest_rows(self) -> np.ndarray:
        """Returns the index of one row per model, its most complete; ties go to the default origin."""
        first: dict[str, int] = {}
        for row in sorted(range(len(self.rows)), key=self._fullest_first(EVERY)):
            first.setdefault(self.rows[row].model, row)
        return np.array(sorted(first.values()), int)

    def fullest_row(self, rows: Iterable[int], *, columns: np.ndarray | slice = EVERY) -> int:
        """Returns the row of `rows` with most scores in `columns`; ties are resolved as in `rows_of`."""
        return min(rows, key=self._fullest_first(columns))

    def scored_rows(self, column: int) -> tuple[str, list[int]]:
        """Returns the table's origin, or another one if it has no sound score in a column, and the origin's rows with a
        score, best first: scores of two origins are never ranked together.
        """
        scored = np.flatnonzero(~np.isnan(self.scores.values[:, column]) & (self.marks[:, column] & SUSPECT == 0))
        found = {self.rows[row].origin for row in scored}
        origin = next((each for each in (self.origin, *origins_in(found)) if each in found), self.origin)
        rows = [int(row) for row in scored if self.rows[row].origin == origin]
        sign = -1 if self.columns[column].higher else 1
        return origin, sorted(rows, key=lambda row: sign * self.scores.values[row, column])

    def headline(self, task: str) -> int | None:
        """Returns the index of a task's first column, or None."""
        return next((index for index, column in enumerate(self.columns) if column.task == task), None)

    def _fullest_first(self, columns: np.ndarray | slice) -> Callable[[int], tuple[int, bool, int]]:
        scores, origins = (~np.isnan(self.scores.values[:, columns])).sum(axis=1), self.scores.origins
        order = origins_in(origins)
        return lambda row: (-int(scores[row]), origins[row] != self.origin, order.index(origins[row]))


def load(db: Database, *, suite: str, scope: Scope = WHOLE) -> BoardTable:
    """Returns the table of one suite or, if `scope` is given, of one condition and metric or of languages. For several
    languages, a task counts if it has scores in each; its score is the mean over its subsets in them.

    Raises UnknownKey for a missing suite, and as `ScopeChoices.check`.
    """
    known = db.keyed("suites")
    if suite not in known.index:
        raise UnknownKey("suite", suite, known.index)
    about = known.loc[suite]
    tasks = db.query("suite_tasks", suite=suite)
    is_human = about["aggregate"] == "human"
    spoken = languages.parts(db.query("scored_subsets", suite=suite))
    choices = scope_choices(tasks, db.query("subset_metrics", suite=suite), human=is_human, parts=spoken)
    choices.check(scope)
    parts = None
    if scope.language:
        codes = scope.language.split(",")
        parts = spoken[spoken["language"].isin(codes)]
        parts = parts[parts.groupby("task")["language"].transform("nunique") == len(codes)]
        parts = parts.drop_duplicates(["task", "source", "subset"])  # a subset may be of a pair of languages
        if parts.empty:
            raise BadInput(f"No task of {about['title']} has scores in each of {languages.name_of(scope.language)}")
    elif scope.subset:
        keys = tasks["key"][[scope.subset in subsets for subsets in tasks["subsets"]]]
        parts = pd.DataFrame({"task": keys, "source": keys, "subset": scope.subset})
    if parts is None:
        long = db.ask(TASK_VALUES, [suite])
    else:
        tasks = tasks[tasks["key"].isin(parts["task"])]
        long = part_values(db, parts)
    models = db.keyed("models")
    if is_human:
        long = long[long.model.map(models.kind) == "generator"]
    columns = _columns(db, suite, set(tasks["key"]), long, human=is_human, ranked_by=scope.metric)
    if scope:  # no rows of models that have other scores only
        shown = {(column.task, column.metric) for column in columns}
        long = long[[key in shown for key in zip(long.task, long.metric, strict=True)]]
    facts = _frame(columns)
    averages = db.query("averages", suite=suite)
    if scope:  # papers print means of whole tasks
        averages = averages.iloc[:0]
    scores = of_long(about, columns=facts, long=long, averages=averages)
    rows = tuple(zip(scores.models, scores.origins, strict=True))
    alone = len(scores.categories) == 1 and 1 < len(columns) <= FEW_TASKS  # its mean is the suite's: tasks say more
    columns = tuple(column._replace(default=column.default or alone) for column in columns)
    reasons, missing = _reasons(db, suite, rows, columns)
    hours = db.ask(TASK_HOURS, [suite]).set_index("task")["hours"].reindex(facts["task"])
    trained = set(db.query("trained_on", suite=suite).itertuples(index=False, name=None))
    doubts = db.query("doubts", suite=suite).iloc[: 0 if scope else None]  # they are about whole tasks
    long = long.merge(doubts, on=["model", "task", "origin", "metric"], how="left")
    long["marks"] = _marks(db, suite, long, trained=trained, means=set(tasks["key"][~tasks["ranked"]]))
    low, high, marks, expected = wide(long, "low", "high", "marks", "expected", rows=rows, columns=facts)
    own, half = ~np.isnan(low), Z95 * np.where(np.isfinite(scores.stderr), scores.stderr, np.nan)
    return BoardTable(
        scores=replace(scores, reasons=reasons, missing=missing, hours=hours.to_numpy(float)),
        suite=about,
        models=models,
        columns=columns,
        low=np.where(own, low, np.maximum(scores.values - half, scores.lower)),
        high=np.where(own, high, np.minimum(scores.values + half, scores.upper)),
        marks=np.nan_to_num(marks).astype(int),
        expected=expected,
        category_columns=_category_columns(columns, scores.categories, own=is_own(about["benchmark"]), shown=not alone),
        presets=presets(about, scores.categories),
        averages=averages,
        trained_tasks=frozenset(trained),
        choices=choices,
        scope=scope,
        parts=parts,
    )


def part_values(db: Database, parts: pd.DataFrame) -> pd.DataFrame:
    """Returns the scores of the parts of tasks: rows of task, source (the task whose runs have the part) and subset."""
    return db.query("part_values", **{f"{name}s": list(parts[name]) for name in ("task", "source", "subset")})


def language_rankings(db: Database, *, suite: str) -> dict[str, Ranking]:
    """Returns the models of a suite by each language alone, as on the board with that language chosen, by language
    code.
    """
    about = db.keyed("suites").loc[suite]
    rankings = {}
    for code, parts in languages.parts(db.query("scored_subsets", suite=suite)).groupby("language"):
        long = part_values(db, parts)
        columns = _columns(db, suite, set(parts["task"]), long)
        scores = of_long(about, columns=_frame(columns), long=long)
        rankings[str(code)] = Ranking.of(scores.rows(scores.rows_of(USUAL)))
    return rankings


def _frame(columns: Sequence[SuiteColumn]) -> pd.DataFrame:
    """Returns the columns as `of_long` expects them."""
    return pd.DataFrame(list(columns), columns=SuiteColumn._fields).rename(columns={"group": "category"})


def _columns(
    db: Database, suite: str, tasks: set[str], long: pd.DataFrame, *, human: bool = False, ranked_by: str = ""
) -> tuple[SuiteColumn, ...]:
    """Returns a task's columns. A ranked task has one column, its main metric or else `ranked_by`; other tasks have one
    per metric with scores, headed by the metric if there are several.
    """
    seen, columns = set(zip(long.task, long.metric, strict=True)), []
    metrics = Counter(task for task, _ in seen)
    for row in db.records("suite_columns", suite=suite):
        task, metric, is_headline = row["task"], row["metric"], row.pop("headline")
        several = human or not row["ranked"]
        chosen = (task, metric) in seen if several else metric == ranked_by if ranked_by else is_headline
        if task in tasks and chosen:
            row |= {"key": f"{task}:{metric}" if several else task}
            row |= {"title": row["metric_title"]} if human or metrics[task] > 1 and several else {}
            row |= {"group": _group(metric)} if human else {}
            row["ranked"] &= not human
            columns.append(SuiteColumn(**row, kind="task", default=several and not metric.endswith("_rank")))
    return tuple(columns)


def _group(metric: str) -> str:
    """Returns the group of a metric of generators."""
    if metric.endswith("_rank"):
        return "Printed ranks"
    if metric in ("human_rate", "elo"):
        return PEOPLE
    return (
        "Trained on preferences"
        if metric in ("aesthetic", "imagereward", "hpsv2", "mps", "pickscore")
        else "Statistical"
    )


def _category_columns(
    columns: tuple[SuiteColumn, ...], categories: tuple[str, ...], *, own: bool, shown: bool
) -> tuple[SuiteColumn, ...]:
    """Returns a column per category. In a user suite, a category of one task is headed by that task, because its
    category comes from the shape of the data and nobody chose it.
    """
    means = []
    for category in categories:
        tasks = [column for column in columns if column.group == category]
        kinds = {column.metric_title for column in tasks}
        first = tasks[0]
        # Guessing on every task scores the mean of their chances, as long as it is known for all.
        chance = mean_if_known([column.chance for column in tasks])
        means.append(
            first._replace(
                key=category,
                title=first.title if own and len(tasks) == 1 else category,
                group="Categories",
                kind="family",
                task="",
                metric_title=" and ".join(sorted(kinds)) if len(kinds) < 3 else f"{len(kinds)} metrics",
                lower=min(column.lower for column in tasks),
                upper=max(column.upper for column in tasks),
                n=len(tasks),
                default=shown,
                ranked=True,
                private=False,
                chance=chance,
            )
        )
    return tuple(means)


def _marks(
    db: Database,
    suite: str,
    long: pd.DataFrame,
    *,
    trained: set[tuple[str, str]],  # models and tasks
    means: set[str],  # the tasks that stand for the paper's means of others
) -> list[int]:
    """Returns the marks of every score."""
    asked = db.query("disagreements", suite=suite), db.query("notes", suite=suite)
    disputed, suspect = (set(frame.itertuples(index=False, name=None)) for frame in asked)
    marks = []
    for row in long.itertuples():
        pair, published, is_mean = (row.model, row.task), row.origin == "published", row.task in means
        noted = published and bool({(*pair, ""), (*pair, row.metric)} & suspect)
        # A printed mean that is not that of the printed scores is no doubtful score: the tables disagree
        other = (noted and is_mean) or (published and pair in disputed)
        doubted = isinstance(row.kind, str) or (noted and not is_mean)
        marks.append(TRAINED * (pair in trained) + SUSPECT * doubted + DISPUTED * other)
    return marks


def _reasons(
    db: Database, suite: str, rows: Sequence[tuple[str, str]], columns: tuple[SuiteColumn, ...]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Returns why cells are empty: the reason in the paper's table, else that the source has no such run."""
    gaps = {(gap.model, gap.task): gap.reason for gap in db.query("gaps", suite=suite).itertuples()}
    reasons, missing = ["No score in this source"], np.zeros((len(rows), len(columns)), int)
    for r, c in np.ndindex(missing.shape):
        model, origin = rows[r]
        reason = origin == "published" and gaps.get((model, columns[c].task))
        if reason:
            reasons += [reason] * (reason not in reasons)
            missing[r, c] = reasons.index(reason)
    return tuple(reasons), missing


def presets(suite: pd.Series, categories: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Returns named weightings of the categories; the first is the suite's own rule."""
    if not categories:
        return {}
    own = {} if blank(suite["category_weights"]) else json.loads(suite["category_weights"])
    named = {"equal": dict.fromkeys(categories, 1.0)}
    weighted = {name: float(own.get(name, 1.0)) for name in categories}
    if len(set(weighted.values())) > 1:
        named = {"suite": weighted, **named}
    if suite["benchmark"] not in PRESETS:
        return named | {f"only {name}": {other: float(other == name) for other in categories} for name in categories}
    for name, chosen in PRESETS[suite["benchmark"]].items():
        weights = {category: float(category in chosen) for category in categories}
        if any(weights.values()) and weights not in named.values():
            named[name] = weights
    return named
