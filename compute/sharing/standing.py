"""Where a model's computed figures stand in a suite: its mean, and its rank among the published rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compute.analysis.suite import SuiteScores
from compute.catalog import Catalog
from compute.catalog.own.suite import BENCHMARKS, SYNTHETIC_BENCHMARKS
from compute.engine import run_folders
from compute.interface import standing as rules
from compute.interface.comparability import Comparability, comparability
from compute.interface.standing import SuiteMean, SuiteRank
from compute.sharing.computed_runs import SharedRuns
from compute.types import Metric, Suite


@dataclass(frozen=True, kw_only=True)
class SuiteStanding:
    """One suite: the mean by its own rule, and the rank, None for a suite without published rows to compare with."""

    suite: Suite
    metric: Metric  # whose unit the mean has
    mean: SuiteMean
    rank: SuiteRank | None
    comparable: Comparability  # with the published rows

    @property
    def synthetic(self) -> bool:
        """Whether a program drew the suite's items."""
        return self.suite.benchmark in SYNTHETIC_BENCHMARKS


def suites_of(shared: SharedRuns, *, catalog: Catalog) -> list[Suite]:
    """The suites that one of the runs is of, that may be shown with them and that have a mean."""
    keys = {suite for run in shared.runs for suite in run.task.suites} & shared.suites
    counting = {suite for task in catalog.tasks if task.ranked for suite in task.suites}
    return [suite for suite in catalog.suites if suite.key in keys & counting and suite.aggregate != rules.HUMAN]


def is_comparable(suite: Suite) -> bool:
    """Whether published rows answer the same questions: never so of one's own data or drawn items."""
    return suite.benchmark not in (*SYNTHETIC_BENCHMARKS, *BENCHMARKS)


def standings(
    shared: SharedRuns, *, suites: Iterable[Suite], published: dict[str, SuiteScores], catalog: Catalog
) -> list[SuiteStanding]:
    """The model's standing in each suite. `published`: the rows of the papers, by the suite's key."""
    metrics = {metric.key: metric for metric in catalog.metrics}
    runs = {run.task.key: run.stored for run in shared.runs if run.headline.metric == run.task.metrics[0]}
    scores = {task: run_folders.headline(run) for task, run in runs.items()}
    found = []
    for suite in suites:
        rule = rules.rule(suite, tasks=catalog.tasks, metrics=metrics)
        rows = published.get(suite.key)
        comparable = comparability(model=shared.model.key, origin="published", tasks=rule.tasks, runs=runs, others=rows)
        found.append(
            SuiteStanding(
                suite=suite,
                metric=metrics[rule.tasks[0].metrics[0]],
                comparable=comparable,
                mean=rules.means(scores, rule)[0],
                rank=None
                if rows is None
                else rules.rank(scores, rule, model=shared.model, others=rows, comparable=comparable),
            )
        )
    return found
