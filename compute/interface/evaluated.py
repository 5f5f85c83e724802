"""The result of `compute.evaluate`: a model's scores on a suite, and their analysis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from compute import paths
from compute.analysis.comparison import Comparison
from compute.analysis.estimates import FEWEST_TASKS
from compute.analysis.intervals import interval
from compute.analysis.table import ALL, HUMAN, USUAL, ScoreTable, check_origin, of_database, of_scores
from compute.catalog import Catalog
from compute.database import store
from compute.engine import results_table, run_folders, variants
from compute.engine.plan import Plan, reasons
from compute.engine.run import Outcome, doubted
from compute.engine.run_folders import StoredRun
from compute.interface import standing
from compute.interface.compare import ModelScores, compare_scores
from compute.interface.standing import EstimatedPlace, RankedModel
from compute.io.files import write_text
from compute.pages.shown import Cell, ShownTable, ShowsItself
from compute.rounding import rounded
from compute.types import ORIGINS, BadInput, Metric, Model, Score, Suite, Task, UnknownKey, origins_in

DATABASE = "likeness.duckdb"  # of an evaluation: it is next to the runs
FRAME = (
    "task",
    "category",
    "subset",
    "metric",
    "value",
    "stderr",
    "low",
    "high",
    "bias",
    "n",
    "coverage",
    "state",
    "reason",
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evaluation(ShowsItself):
    """One model on one suite. Scores are in stored units: proportions as fractions, others unscaled."""

    plan: Plan
    outcomes: tuple[Outcome, ...]  # one per job of the plan
    catalog: Catalog  # with user suites and models
    results: Path  # the folder of the runs

    @property
    def model(self) -> Model:
        """The evaluated model."""
        return self.plan.models[0]

    @property
    def suite(self) -> Suite:
        """The suite of the evaluation."""
        return self.plan.suite

    @classmethod
    def stored(cls, plan: Plan, *, catalog: Catalog, results: Path) -> Evaluation:
        """Returns the evaluation of a plan's stored runs."""
        outcomes = [Outcome(job=job, state="stored", stored=job.stored) for job in plan.jobs if job.stored]
        return cls(plan=plan, outcomes=tuple(outcomes), catalog=catalog, results=results)

    @cached_property
    def runs(self) -> Mapping[str, StoredRun]:
        """The main run of each task, if any, by the task's key."""
        stored = [outcome.stored for outcome in self.outcomes if outcome.stored is not None]
        return variants.by_task(stored, tasks=self.plan.tasks)

    @cached_property
    def headlines(self) -> Mapping[str, Score]:
        """The headline score of each task, if any, by the task's key."""
        return {task: run_folders.headline(run) for task, run in self.runs.items()}

    def frame(self) -> pd.DataFrame:
        """Returns a row per score, in the suite's order: task, category, subset, metric, value, stderr, low, high,
        bias, n, coverage, state, reason.

        low and high are the ends of the 95% interval, which refers to the value without its bias. A task without a
        score has one row, whose state (failed, skipped, stopped) and reason say why. Otherwise reason says what makes
        the score doubtful. Subset `default` is the whole task.
        """
        rows: list[dict[str, Any]] = []
        for task in self.plan.tasks:
            of_task = {"task": task.key, "category": task.category}
            run = self.runs.get(task.key)
            if run is None:
                state, reason = self._why(task)
                rows.append({**of_task, "metric": task.metrics[0], "state": state, "reason": reason})
                continue
            reason = "; ".join(filter(None, (run.run.error, *run.doubts)))
            for score in run.scores:
                low, high = interval(score, self.catalog.metric(score.metric)) or (None, None)
                of_score = {name: getattr(score, name) for name in ("subset", "metric", "value", "stderr", "bias", "n")}
                coverage = run.coverage if score.coverage is None else score.coverage
                ends = {"low": low, "high": high, "coverage": coverage}
                rows.append({**of_task, **of_score, **ends, "state": run.run.status, "reason": reason})
        numbers = dict.fromkeys(("value", "stderr", "low", "high", "bias", "coverage"), float)
        return pd.DataFrame(rows, columns=list(FRAME)).astype({**numbers, "n": "Int64"})

    def _why(self, task: Task) -> tuple[str, str]:
        """Returns state and reason of a task without a score."""
        for outcome in self.outcomes:
            if outcome.job.task.key == task.key:
                return outcome.state, outcome.reason
        return "skipped", next(run.reason for run in self.plan.skipped if run.task.key == task.key)

    @cached_property
    def _table(self) -> ScoreTable:
        """The headline scores as a table of one model, over the tasks that count in the suite's mean."""
        return of_scores(self.suite, {self.model.key: self.headlines}, tasks=self.catalog.tasks, metrics=self._metrics)

    @property
    def _metrics(self) -> dict[str, Metric]:
        return {metric.key: metric for metric in self.catalog.metrics}

    @cached_property
    def _counting(self) -> tuple[Task, ...]:
        """The tasks that count in the suite's mean."""
        return tuple(self.catalog.task(key) for key in self._table.tasks)

    @property
    def mean(self) -> RankedModel:
        """The suite's mean by its rule; None, with the reason, if tasks are missing."""
        return standing.mean_of(self._table)

    def means(self) -> pd.DataFrame:
        """Returns the suite's mean, then those of its categories, with 95% intervals by the suite's rule.

        Each row has name, scope, mean, mean_low, mean_high, tasks, of_tasks, reason.
        """
        return standing.means_of(self._table)

    def rank(self, origin: str = USUAL) -> RankedModel:
        """Returns the model's rank among the rows of an origin on the same suite: published, imported, computed, all,
        or usual, the one with the most models that have every task.

        The model's own row of that origin is skipped. The interval covers at least 95%, as on the board. A rank is
        None, with the reason, if tasks or other rows are missing. `notes` describe how comparable the two origins are.
        The first call builds the database next to the results. Raises BadInput for an unknown origin.
        """
        others, instead = None, []
        if self.suite.aggregate == HUMAN:
            check_origin(origin)
        else:
            arranged = self._arranged(origin)
            others = arranged if arranged.models else None
            if origin == USUAL:
                origin = arranged.origins[0] if arranged.models else ALL
            if not {*arranged.models} - {self.model.key}:
                every = self._arranged(ALL)
                others_of = (of for key, of in zip(every.models, every.origins, strict=True) if key != self.model.key)
                instead = [other for other in origins_in(others_of) if other != origin]
        notes = standing.comparability(
            model=self.model.key, origin=origin, tasks=self._counting, runs=self.runs, others=others
        )
        return standing.rank_of(self._table, others, origin=origin, notes=notes, instead=instead)

    def place(self, origin: str = USUAL) -> EstimatedPlace:
        """Estimates the model's place with all tasks of the suite, among the complete rows of an origin as in `rank`.

        The estimate comes from the tasks that it has: mean and place with 95% intervals, and the plain mean of its
        tasks. Without an estimate the result has the reason. docs/ranks.md lists the assumptions. The first call builds
        the database next to the results. Raises BadInput for an unknown origin.
        """
        if reason := standing.no_mean(self._table):
            scored, counted = len(self.headlines), len(self._counting)
            return EstimatedPlace(self.model.key, self.suite.key, scored, counted, None, None, 0, reason)
        others = self._arranged(origin)
        notes = standing.comparability(
            model=self.model.key, origin=origin, tasks=self._counting, runs=self.runs, others=others
        )
        return standing.place_of(*self._beside(others), notes=notes)

    def next_tasks(self, budget: str, origin: str = USUAL) -> pd.DataFrame:
        """Returns the tasks to run next, in the order that narrows the interval of the mean most per hour, as many as
        fit a budget such as 30m or 2.5h.

        Columns: task, items, hours, total, half, timed. hours are the median of others' runs, on other hardware, or the
        median of the other tasks if a task is not `timed`. half is half the interval of the mean after this task, in
        stored units, NaN if there is no estimate yet. Raises BadInput, and CannotDo if no order can be determined.
        """
        table, known = self._beside(self._arranged(origin))
        return standing.next_tasks(table, known, model=self.model, tasks=self._counting, budget=budget)

    def _beside(self, others: ScoreTable) -> tuple[ScoreTable, dict[str, Any]]:
        frames = store.frames(self.database(), names=("models", "runs"))
        return standing.beside(self._table, others, model=self.model, tasks=self._counting, frames=frames)

    def database(self) -> Path:
        """Returns the database of the shipped scores and of this results folder, next to the runs; it is built if
        stale.

        Raises LikenessError if it cannot be built.
        """
        from compute.database.build import bring_up_to_date  # its dependencies are needed for nothing else here

        path = self.results / DATABASE
        bring_up_to_date(path, results=self.results)
        return path

    def _arranged(self, origin: str) -> ScoreTable:
        return of_database(self.database(), suites=(self.suite.key,), origin=origin)[0]

    def compare(self, other: str | Evaluation, *, task: str = "") -> Comparison:
        """Compares this model minus another one on the same suite, by a paired test; `task` compares on that task only.

        `other`: another evaluation, or a model's key. For a key, its local runs are used if there are any, else its
        published or imported scores, always of one origin. The comparison covers the tasks that both have, by the
        suite's rule, and in `parts` each task: over items if both were run on the same ones. `notes` describe how
        comparable the scores are. Raises UnknownKey, and BadInput if the two share nothing.
        """
        mine = ModelScores(key=self.model.key, origin="computed", scores=self.headlines, runs=self.runs)
        if isinstance(other, Evaluation):
            theirs = ModelScores(key=other.model.key, origin="computed", scores=other.headlines, runs=other.runs)
        else:
            theirs = self._scores_of(self.catalog.model(other).key)
        return compare_scores(mine, theirs, suite=self.suite, tasks=self._counting, metrics=self._metrics, task=task)

    def _scores_of(self, key: str) -> ModelScores:
        """Returns another model's scores of the first origin that has any. Raises BadInput if it has none."""
        for origin in ("computed", *ORIGINS[:-1], ALL):
            if scores := self._scores_of_origin(key, origin):
                return scores
        raise BadInput(f"{key} has no score on {self.suite.key}. Evaluate it: compute.evaluate({key!r}, suite=...)")

    def _scores_of_origin(self, key: str, origin: str) -> ModelScores | None:
        if origin != "computed":
            rows = self._arranged(origin)
            if key not in rows.models:
                return None
            at = rows.models.index(key)
            scores = {
                task: Score(
                    run="", subset="default", metric="-", value=value, stderr=None if math.isnan(error) else error
                )
                for task, value, error in zip(
                    rows.tasks, rows.values[at].tolist(), rows.stderr[at].tolist(), strict=True
                )
                if not math.isnan(value)
            }
            return ModelScores(key=key, origin=rows.origins[at], scores=scores)
        if key == self.model.key:
            return None
        stored = {
            run.run.id: run
            for root in dict.fromkeys((self.results, paths.RESULTS, paths.COMPUTED))
            for task in self.plan.tasks
            for run in run_folders.stored(root, model=key, task=task.key)
        }
        runs = variants.by_task(tuple(stored.values()), tasks=self.plan.tasks)
        scores = {task: run_folders.headline(run) for task, run in runs.items()}
        return ModelScores(key=key, origin=origin, scores=scores, runs=runs) if scores else None

    def items(self, task: str) -> pd.DataFrame:
        """Returns the evidence of a task, a row per item: item, subset, expected, answer, correct, value, detail (JSON)
        and the procedure's additional columns. Raises UnknownKey for a task without a run.
        """
        if task not in self.runs:
            raise UnknownKey("task", task, self.runs)
        return store.read_parquet(self.runs[task].folder / run_folders.ITEMS)

    def save(self, path: str | Path) -> None:
        """Writes every score as CSV, atomically, in the format of `likeness import scores`.

        It declares what the shipped catalogue does not list, except for a suite of user data, which the reader must
        have in its results folder. Raises CannotWrite, and BadInput without a score.
        """
        from compute.catalog import shipped
        from compute.importing.scores_csv import DECLARING, OPTIONAL, REQUIRED

        if not self.runs:
            raise BadInput(f"{self.model.key} has no score on {self.suite.key}: there is nothing to save")
        declared = self.model.key not in {row.key for row in shipped().models}
        columns = [*REQUIRED, *OPTIONAL, *(name for names in DECLARING.values() for name in names)]
        rows = [
            {name: getattr(score, name) for name in ("metric", "subset", "value", "n", "stderr", "low", "high")}
            | {"benchmark": self.catalog.task(task).benchmark, "model": self.model.key, "task": task}
            | {"source": "/".join(run.folder.parts[-4:])}
            | ({"model_title": self.model.title, "model_kind": self.model.kind} if declared else {})
            for task, run in self.runs.items()
            for score in run.scores
        ]
        write_text(Path(path), pd.DataFrame(rows, columns=columns, dtype=object).to_csv(index=False))

    def __str__(self) -> str:
        table = results_table.lines(self.plan, self.outcomes, catalog=self.catalog)
        return "\n".join([*table, *reasons(self.plan), "", *self._summary])

    @cached_property
    def _summary(self) -> list[str]:
        """The mean, and the estimated place if enough of the suite's tasks were run."""
        mean = self.mean
        some = FEWEST_TASKS <= mean.tasks < mean.of_tasks and self.suite.aggregate != HUMAN
        return [str(mean), str(self.place())] if some else [str(mean)]

    def __repr__(self) -> str:
        return f"Evaluation({self.model.key}: {len(self.runs)} of {len(self.plan.tasks)} tasks; {self.mean})"

    def shown_table(self) -> ShownTable:
        """Returns the headline scores with their intervals; those in percent are drawn."""
        rows, missing = [], []
        for task in self.plan.tasks:
            metric, run = self.catalog.metric(task.metrics[0]), self.runs.get(task.key)
            chance = "" if task.chance is None else rounded(task.chance, metric.digits, scale=metric.scale)
            if run is None:
                rows.append((task.key, metric.title, "", chance, "-", ""))
                missing.append(": ".join((task.key, *self._why(task))))
                continue
            score = self.headlines[task.key]
            low, high = (math.nan if end is None else end for end in interval(score, metric) or (None, None))
            marks = [(low, score.value, high)] if metric.unit == "%" else ()
            rows.append(
                (
                    task.key,
                    metric.title,
                    "" if score.n is None else f"{score.n:,}",
                    chance,
                    Cell(text=results_table.cell_text(run, metric), marks=marks),
                    ", ".join(results_table.cell_notes(run, metric)),
                )
            )
        return ShownTable(
            heads=("task", "metric", "n", "chance", self.model.key, "notes" if any(row[-1] for row in rows) else ""),
            rows=rows,
            above=self._summary,
            below=[*missing, *(line for run in self.runs.values() for line in doubted(run))],
        )

    def plot(self) -> Any:
        """Returns a plotly figure: a row per task with its score and 95% interval, coloured by category, in display
        units.
        """
        from compute.analysis.figures.ranked import strip

        frame = self.frame().drop_duplicates("task").dropna(subset="value")  # a task's first score is its headline
        metrics = [self.catalog.metric(key) for key in frame["metric"]]
        value, low, high = frame[["value", "low", "high"]].to_numpy(float).T * [metric.scale for metric in metrics]
        return strip(
            names=frame["task"].tolist(),
            value=value,
            low=low,
            high=high,
            groups=frame["category"].tolist(),
            x=f"Score of {self.model.key}" + ", %" * ({metric.unit for metric in metrics} == {"%"}),
            notes=[
                f"{metric.title} {results_table.cell_text(self.runs[task], metric)}"
                for task, metric in zip(frame["task"], metrics, strict=True)
            ],
        )
