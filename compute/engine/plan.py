"""What a suite and some models ask for: which runs there are to make, which are there, which cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.engine import run_folders as runs
from compute.engine.bench import Bench
from compute.engine.run_folders import Kept
from compute.engine.variants import CATEGORIES, WAYS
from compute.models import ADAPTERS
from compute.tasks import computable
from compute.types import BadInput, LikenessError, Model, Suite, Task

if TYPE_CHECKING:
    from compute.catalog import Catalog
    from compute.procedures.evidence import Procedure

# Packages that decide a procedure's numbers, beside those that the model's adapter names.
PACKAGES = {"probe": ("torch", "scikit-learn"), "clustering": ("scikit-learn",)}


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run to make: a model, a task, and how it is asked."""

    model: Model
    task: Task
    procedure: Procedure
    options: Mapping[str, Any]  # of the procedure
    task_options: Mapping[str, Any]  # of the items
    variant: str  # how the options differ from the usual ones, `quality=clip-iqa`; empty: not at all
    settings: Mapping[str, Any]  # all that decides the scores and is known beforehand
    fingerprint: str  # of the settings; empty with a problem
    there: Kept | None = None  # the whole run that is stored already
    problem: str = ""  # why the settings are not known: the weights are not here

    @property
    def name(self) -> str:
        return f"{self.task.key} ({self.variant})" if self.variant else self.task.key


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A run that the model is not made for: no failure."""

    model: Model
    task: Task
    reason: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that was asked for."""

    suite: Suite
    tasks: tuple[Task, ...]
    models: tuple[Model, ...]  # baselines last
    baselines: tuple[Model, ...]  # those that were not asked for by name
    jobs: tuple[Job, ...]
    left_out: tuple[LeftOut, ...] = ()
    by_hand: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.there is None)

    def of(self, model: Model) -> tuple[Job, ...]:
        """A model's jobs, in the order of the tasks."""
        return tuple(job for job in self.jobs if job.model.key == model.key)


def make(
    catalog: Catalog,
    *,
    suite: str,
    models: Sequence[str],
    tasks: Sequence[str] = (),
    options: Sequence[str] = (),
    bench: Bench,
    results: Path,
    skip_bad: bool = False,
    again: bool = False,
) -> Plan:
    """Plans a suite's tasks (or those of them named) over models by key, with the suite's baselines.

    `options` are `name=value` texts; `again` counts no run as stored. Raises UnknownKey for a name that is in no
    catalogue, BadInput for a task of another suite or an option that none of the tasks has.
    """
    wanted = catalog.suite(suite)
    chosen = _tasks(catalog, wanted, tasks)
    rows = [catalog.model(key) for key in dict.fromkeys(models)]
    if not rows:
        raise BadInput("No model is named. List them: python -m compute list models")
    extra = tuple(catalog.model(key) for key in wanted.baselines if key not in {row.key for row in rows})
    by_hand = _by_hand(options, [_allowed(task, bench)[side] for task in chosen for side in (0, 1)])
    jobs, left = [], []
    for row in (*rows, *extra):
        identity, problem = _identity(row, bench) if row.adapter else ({}, "")
        for task in chosen:
            reason = obstacle(row, task, bench.procedures)
            if reason:
                left.append(LeftOut(model=row, task=task, reason=reason))
                continue
            for job in _jobs(row, task, bench, identity, by_hand, problem=problem):
                found = (
                    None
                    if again or problem
                    else runs.find(results, model=row.key, task=task.key, fingerprint=job.fingerprint)
                )
                jobs.append(replace(job, there=found if found and _whole(found, skip_bad=skip_bad) else None))
    return Plan(
        suite=wanted,
        tasks=chosen,
        models=(*rows, *extra),
        baselines=extra,
        jobs=tuple(jobs),
        left_out=tuple(left),
        by_hand=by_hand,
    )


def _whole(kept: Kept, *, skip_bad: bool) -> bool:
    """Whether a stored run need not be made again: nothing to be asked again, nothing left out that may not be."""
    return not kept.run.error and (skip_bad or not kept.run.settings.get("left_out"))


def _tasks(catalog: Catalog, suite: Suite, named: Sequence[str]) -> tuple[Task, ...]:
    chosen = tuple(catalog.task(key) for key in dict.fromkeys(named))
    for task in chosen:
        if suite.key not in task.suites:
            raise BadInput(f"Task {task.key!r} is not in the suite {suite.key!r} but in: {', '.join(task.suites)}")
    chosen = chosen or tuple(task for task in catalog.tasks if suite.key in task.suites)
    if not chosen:
        raise BadInput(f"The suite {suite.key!r} has no tasks: name another (python -m compute list suites)")
    return chosen


def _allowed(task: Task, bench: Bench) -> tuple[Mapping[str, tuple[Any, ...]], Mapping[str, tuple[Any, ...]]]:
    """The options of the task's procedure and of its items; none where it cannot be run."""
    procedure = bench.procedures.get(task.procedure)
    return (procedure.options, bench.task_options(task)) if procedure else ({}, {})


def _by_hand(options: Sequence[str], allowed: Iterable[Mapping[str, tuple[Any, ...]]]) -> dict[str, Any]:
    """`name=value` texts as values that are allowed."""
    known = {name: values for one in allowed for name, values in one.items()}
    chosen = {}
    for text in options:
        name, equals, given = text.partition("=")
        if not equals or name not in known:
            there = "; ".join(f"{one}: {', '.join(map(str, values))}" for one, values in known.items()) or "none"
            raise BadInput(f"None of these tasks has the option {text!r}. Write name=value; there are {there}")
        fits = [value for value in known[name] if str(value).lower() == given.lower()]
        if not fits:
            raise BadInput(f"Option {name!r} cannot be {given!r}: choose from {', '.join(map(str, known[name]))}")
        chosen[name] = fits[0]
    return chosen


def obstacle(row: Model, task: Task, procedures: Mapping[str, Procedure]) -> str:
    """Why the model cannot be run on the task, as far as the catalogue tells; empty when it can."""
    if not row.adapter:
        return "published figures only: no weights that can be loaded"
    if not computable(task):
        return "published figures only: its items cannot be loaded here yet"
    procedure = procedures.get(task.procedure)
    if procedure is None:
        return f"published figures only: {task.procedure or 'its procedure'} cannot be run here yet"
    abilities = set(row.abilities)
    if not any(need <= abilities for need in procedure.needs):
        wants = " or ".join(sorted(" with ".join(sorted(need)) for need in procedure.needs))
        return f"{procedure.key} needs {wants}; the model has {', '.join(sorted(abilities)) or 'none of them'}"
    lacks = sorted(set(task.modalities) - set(row.modalities)) if row.modalities else []
    if lacks:
        return f"the task shows {' and '.join(lacks)}, the model takes {' and '.join(row.modalities)} only"
    alone = "compare" in abilities and not (row.adapter in ADAPTERS and ADAPTERS[row.adapter].pairs_only)
    if is_quality(task) and not alone and not abilities & {"embed_text", "choose"}:
        return "a quality is asked for without a reference, and the model takes no prompt and scores no image alone"
    return ""


def is_quality(task: Task) -> bool:
    """Whether the task asks which image has more of a quality, without a reference (UniSim-Bench IQA and PAA)."""
    return task.procedure == "choice" and task.category in CATEGORIES


def _jobs(
    row: Model, task: Task, bench: Bench, identity: Mapping[str, Any], by_hand: Mapping[str, Any], *, problem: str
) -> list[Job]:
    """One job, or one for each way of asking that the benchmark compares."""
    procedure, (of_procedure, of_task) = bench.procedures[task.procedure], _allowed(task, bench)
    usual = {name: values[0] for name, values in {**of_task, **of_procedure}.items()}
    given = {name: value for name, value in by_hand.items() if name in usual and (name not in WAYS or is_quality(task))}
    prompted = "embed_text" in row.abilities or ("compare" in row.abilities and "text" in row.modalities)
    choices = [given]
    for name, ways in WAYS.items():
        if name in usual and name not in given and is_quality(task) and prompted:
            choices = [{**one, name: way} for one in choices for way in ways]
    jobs = []
    for choice in choices:
        options = {**usual, **choice}
        mine, items = ({name: options[name] for name in part} for part in (of_procedure, of_task))
        settings = {
            "model": dict(identity),
            "procedure": {
                "key": procedure.key,
                "version": procedure.version,
                "options": mine,
                "packages": _versions(PACKAGES.get(procedure.key, ())),
            },
            "data": {
                "dataset": task.dataset,
                "revision": task.revision,
                "split": task.split,
                "subsets": list(task.subsets),
                "options": items,
                **bench.identity(task),
            },
            "metrics": list(task.metrics),
        }
        variant = ", ".join(
            f"{name}={value}"
            for name, value in sorted(options.items())
            if value != usual[name] or (name in WAYS and name in choice)
        )
        jobs.append(
            Job(
                model=row,
                task=task,
                procedure=procedure,
                options=mine,
                task_options=items,
                variant=variant,
                settings=settings,
                problem=problem,
                fingerprint="" if problem else runs.fingerprint({**settings, "keys": [row.key, task.key]}),
            )
        )
    return jobs


def _identity(row: Model, bench: Bench) -> tuple[Mapping[str, Any], str]:
    try:
        bench.fetch(row)
        return bench.subject(row).identity, ""
    except LikenessError as error:
        return {}, str(error)


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


def lines(plan: Plan) -> list[str]:
    """The plan in a few lines."""
    missing = plan.missing
    said = [
        f"{plan.suite.key}: {counted(len(plan.tasks), 'task')}, {counted(len(plan.models), 'model')}; "
        f"{counted(len(missing), 'run')} to make, {len(plan.jobs) - len(missing)} there already, "
        f"{len(plan.left_out)} left out"
    ]
    if plan.baselines:
        names = ", ".join(row.key for row in plan.baselines)
        said.append(f"With {names}: what {plan.suite.key} is measured beside")
    ways = sorted({job.variant for job in plan.jobs if job.variant})
    if ways:
        said.append(f"Asked in more than the usual way: {'; '.join(ways)}")
    return said


def reasons(plan: Plan) -> list[str]:
    """What was left out: one line a model and reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for one in plan.left_out:
        grouped.setdefault((one.model.key, one.reason), []).append(one.task.key)
    return [f"Left out: {model} on {_some(tasks)}: {reason}" for (model, reason), tasks in grouped.items()]


def _some(names: Sequence[str], *, most: int = 4) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


def counted(number: int, noun: str) -> str:
    """`1 run`, `2,000 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
