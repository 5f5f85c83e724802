"""The computed runs of one model that can be shared, and why others are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compute import paths
from compute.catalog import Catalog
from compute.catalog.hub_tasks import HUB_ID, dataset_id
from compute.catalog.own.suite import BENCHMARKS, SYNTHETIC_BENCHMARKS
from compute.engine import run_folders, variants
from compute.engine.run_folders import MARK, StoredRun
from compute.types import BadInput, Model, Task


@dataclass(frozen=True, kw_only=True)
class SharedRun:
    """One run with its task. `dataset` is the task's data set on the hub, empty if it has none."""

    task: Task
    stored: StoredRun
    dataset: str

    @property
    def synthetic(self) -> bool:
        """Returns whether a program drew the items."""
        return self.task.benchmark in SYNTHETIC_BENCHMARKS

    @property
    def own(self) -> bool:
        """Returns whether its data is the user's own."""
        return self.task.benchmark in BENCHMARKS

    @property
    def data_revision(self) -> str:
        """Returns the revision of the data set; empty if none is pinned."""
        return str((self.stored.run.settings.get("data") or {}).get("revision") or "")


@dataclass(frozen=True, kw_only=True)
class SharedRuns:
    """A model's runs in the catalogue's order, one per task. `left_out` lists in sentences what is skipped.

    `suites` holds the keys of the suites whose means may be shown with them.
    """

    model: Model
    runs: tuple[SharedRun, ...]
    left_out: tuple[str, ...]
    suites: frozenset[str]

    @property
    def hub_id(self) -> str:
        """Returns the repository of the model's weights; empty for a model whose weights are elsewhere."""
        weights = self.model.weights
        return weights if HUB_ID.fullmatch(weights) and not (paths.ROOT / weights).is_dir() else ""


def gather(
    model: Model,
    *,
    roots: Sequence[Path],
    catalog: Catalog,
    suites: Sequence[str] = (),
    synthetic: bool = False,
    own: bool = False,
) -> SharedRuns:
    """Returns the model's newest complete run on each task, for the variant shown on the board.

    `roots` are results folders, searched in turn; `suites`, if there are any, are the only ones whose runs count. Runs
    on synthetic suites and on the user's own data are included only with their flags, so that private data stays
    private by default. Raises UnknownKey, and BadInput with a remedy if no run is left.
    """
    chosen = [catalog.suite(key) for key in suites] or list(catalog.suites)
    if suites and not own and (private := [suite.key for suite in chosen if suite.benchmark in BENCHMARKS]):
        raise BadInput(f"The suite {private[0]} has your own data: add --own to publish its titles and scores")
    marks = [mark for root in roots for mark in sorted((root / run_folders.slug(model.key)).glob(f"*/*/{MARK}"))]
    known = {run_folders.slug(task.key) for task in catalog.tasks}
    left_out = [
        f"{'/'.join(mark.parts[-4:-1])}: its task is in no catalogue" for mark in marks if mark.parts[-3] not in known
    ]
    stored, damaged = run_folders.newest(mark.parent for mark in marks if mark.parts[-3] in known)
    complete = [run for run in stored if run.run.status == "complete"]
    shown = variants.by_task(complete, tasks=catalog.tasks)
    left_out += damaged + [
        f"{task}: its run is partial, some questions could not be asked. The command that made it completes it"
        for task in sorted({run.run.task for run in stored} - {run.run.task for run in complete})
    ]
    keys = frozenset(suite.key for suite in chosen if own or suite.benchmark not in BENCHMARKS)
    runs = [
        SharedRun(task=task, stored=run, dataset=dataset_id(task, catalog=catalog))
        for task in catalog.tasks
        if not suites or keys.intersection(task.suites)
        if (run := shown.get(task.key))
    ]
    for flag, given, hidden, why in (
        ("--own", own, [run for run in runs if run.own], "with your data, whose titles and scores it publishes"),
        ("--synthetic", synthetic, [run for run in runs if run.synthetic], "of synthetic suites, which it marks"),
    ):
        if hidden and not given:
            left_out.append(f"{len(hidden)} runs need {flag}: they are {why}")
            runs = [run for run in runs if run not in hidden]
    if not runs:
        of_suites = f" on {', '.join(suites)}" if suites else ""
        reasons = f"Skipped: {'; '.join(left_out)}. " if left_out else ""
        raise BadInput(
            f"There is no complete computed run of {model.key!r}{of_suites} to share. {reasons}Make runs first: "
            f"likeness run --suite {suites[0] if suites else 'SUITE'} --models {model.key}"
        )
    return SharedRuns(model=model, runs=tuple(runs), left_out=tuple(left_out), suites=keys)
