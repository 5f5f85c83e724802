"""Plans a suite and some models as jobs: missing runs, stored runs, and runs that cannot be made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from compute import versions
from compute.engine import run_folders
from compute.engine.run_folders import StoredRun
from compute.engine.variants import QUALITY_BENCHMARKS, QUALITY_CATEGORIES, VARIANTS
from compute.engine.workspace import Bench
from compute.models import ADAPTERS, model_rows
from compute.models.judges import endpoint
from compute.procedures.shared.replies import READING
from compute.tasks import computable
from compute.types import BadInput, LikenessError, Model, NotHere, Suite, Task, counted

if TYPE_CHECKING:
    from compute.catalog import Catalog
    from compute.procedures.evidence import Procedure

# Packages that affect a procedure's numbers, in addition to those of the model's adapter.
PACKAGES = {"probe": ("torch", "scikit-learn"), "clustering": ("scikit-learn",), "neighbours": ("scikit-learn",)}


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run: a model, a task, and their options."""

    model: Model
    task: Task
    procedure: Procedure
    options: Mapping[str, Any]  # of the procedure
    task_options: Mapping[str, Any]  # of the items
    variant: str  # options other than the default, e.g. `quality=clip-iqa`; empty if none
    settings: Mapping[str, Any]  # everything that determines the scores and is known in advance
    fingerprint: str  # of the settings; empty if there is a problem
    way: str  # how the model answers: by vectors (`embed`), by its own comparison (`compare`), in words (`choose`)
    stored: StoredRun | None = None  # the complete run, if any
    problem: str = ""  # why the settings are unknown: the weights are not downloaded

    @property
    def name(self) -> str:
        """The task, with the variant if any."""
        return f"{self.task.key} ({self.variant})" if self.variant else self.task.key


@dataclass(frozen=True, kw_only=True)
class SkippedRun:
    """A run that the model does not support, which is not a failure."""

    model: Model
    task: Task
    reason: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All jobs of a suite and some models."""

    suite: Suite
    tasks: tuple[Task, ...]
    models: tuple[Model, ...]
    jobs: tuple[Job, ...]
    skipped: tuple[SkippedRun, ...] = ()

    @property
    def missing(self) -> tuple[Job, ...]:
        """The jobs to run."""
        return tuple(job for job in self.jobs if job.stored is None)

    def of(self, model: Model) -> tuple[Job, ...]:
        """Returns a model's jobs, in the order of the tasks."""
        return tuple(job for job in self.jobs if job.model.key == model.key)


def make(
    catalog: Catalog,
    *,
    suite: str,
    models: Sequence[str],
    tasks: Sequence[str] = (),
    bench: Bench,
) -> Plan:
    """Plans a suite's tasks (or the named ones) for models by key, with the settings of the bench.

    Raises UnknownKey for a name outside the catalogue, BadInput for a task of another suite or an option that none of
    the tasks has.
    """
    settings, listed = bench.settings, catalog.suite(suite)
    chosen = tuple(catalog.task(key) for key in dict.fromkeys(tasks))
    for task in chosen:
        if suite not in task.suites:
            raise BadInput(f"Task {task.key!r} is not in the suite {suite!r} but in: {', '.join(task.suites)}")
    chosen = chosen or tuple(task for task in catalog.tasks if suite in task.suites)
    if not chosen:
        raise BadInput(f"The suite {suite!r} has no tasks: name another (likeness list suites)")
    named = list(dict.fromkeys(models))
    if not named:
        raise BadInput("No model is named. List them: likeness list models")
    rows = [catalog.model(key) for key in named]
    overrides = _overrides(settings.options, [values for task in chosen for values in _allowed(task, bench)])
    jobs, skipped = [], []
    for row in rows:
        identity: Mapping[str, Any] = {}
        problem = ""
        if row.adapter:
            try:
                bench.fetch(row)
                identity = bench.subject(row).identity
            except LikenessError as error:
                problem = str(error)
        for task in chosen:
            reason = obstacle(row, task, bench.procedures)
            if not reason and settings.offline and row.adapter in ADAPTERS and ADAPTERS[row.adapter].variable:
                reason = endpoint.offline_problem()
            if reason:
                skipped.append(SkippedRun(model=row, task=task, reason=reason))
                continue
            for job in _jobs(row, task, bench, identity, overrides, problem=problem):
                stored = None
                if not settings.again and not problem:
                    stored = run_folders.find(
                        settings.results, model=row.key, task=task.key, fingerprint=job.fingerprint
                    )
                # Unanswered questions are asked again, and skipped items are tried again unless skipping is allowed.
                if stored and not stored.run.error and (settings.skip_bad or not stored.run.settings.get("left_out")):
                    job = replace(job, stored=stored)
                jobs.append(job)
    return Plan(
        suite=listed,
        tasks=chosen,
        models=tuple(rows),
        jobs=tuple(jobs),
        skipped=tuple(skipped),
    )


def check_possible(plan: Plan, *, models: Iterable[str]) -> None:
    """Raises NotHere if no run of these models is possible because packages or weights of all of them are missing."""
    jobs = [job for job in plan.jobs if job.model.key in models]
    if jobs and all(job.problem for job in jobs):
        raise NotHere("; ".join(dict.fromkeys(job.problem for job in jobs)))


def _allowed(task: Task, bench: Bench) -> tuple[Mapping[str, tuple[Any, ...]], Mapping[str, tuple[Any, ...]]]:
    """Returns the options of the task's procedure and of its items; empty if it cannot be run."""
    procedure = bench.procedures.get(task.procedure)
    return (procedure.options, bench.task_options(task)) if procedure else ({}, {})


def _overrides(options: Sequence[str], allowed: Iterable[Mapping[str, tuple[Any, ...]]]) -> dict[str, Any]:
    """Parses `name=value` texts to allowed values."""
    known = {name: values for option in allowed for name, values in option.items()}
    chosen = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or name not in known:
            names = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in known.items()) or "none"
            raise BadInput(f"None of these tasks has the option {option!r}. Write name=value; there are {names}")
        values = {str(value).lower(): value for value in known[name]}
        if text.lower() not in values:
            raise BadInput(f"Option {name!r} cannot be {text!r}: choose from {', '.join(map(str, known[name]))}")
        chosen[name] = values[text.lower()]
    return chosen


def obstacle(row: Model, task: Task, procedures: Mapping[str, Procedure]) -> str:
    """Returns why the model cannot be run on the task according to the catalogue; empty if it can."""
    if problem := model_rows.not_computable(row):
        return problem
    if task.procedure in ("frechet", "cfred-grid"):
        return "sets of generated images are compared by likeness frechet"
    if not computable(task):
        return "published scores only: its items cannot be loaded here yet"
    procedure = procedures.get(task.procedure)
    if procedure is None:
        return f"published scores only: {task.procedure or 'its procedure'} cannot be run here yet"
    if row.late_interaction and not procedure.late_interaction:
        return f"the model has {model_rows.LATE}"
    missing = sorted(set(task.modalities) - set(row.modalities)) if row.modalities else []
    if missing:
        way = ". Without texts: --shape neighbours or --shape probe, in Python shape="
        return f"the task shows {' and '.join(missing)}, the model takes {' and '.join(row.modalities)} only" + (
            way if task.procedure == "zero_shot" and task.benchmark.startswith("own") else ""
        )
    able = set(row.abilities)
    if not any(need <= able for need in procedure.needs):
        required = " or ".join(sorted(" with ".join(sorted(need)) for need in procedure.needs))
        return f"{procedure.key} needs {required}; the model has {', '.join(sorted(able)) or 'none of them'}"
    if frozenset({"choose"}) in procedure.needs and "choose" in able:
        return ""
    if is_quality(task):
        if model_rows.embeds(row, "image-text"):
            return ""
        return "the task asks for a quality without a reference; the model takes no prompt"
    pairing = model_rows.pairing_of(task.modalities[0], task.modalities[-1])
    by_comparison = frozenset({"compare"}) in procedure.needs and model_rows.compares(row, pairing)
    if not by_comparison and not row.late_interaction and not model_rows.embeds(row, pairing):
        kinds = [f"{kind}s" for kind in ("image", "text") if f"embed_{kind}" in row.abilities]
        own = f"the model has vectors of {' and '.join(kinds)} only" if kinds else "the model has no vectors"
        if model_rows.compares(row, "image-image"):
            own += ", and its own score is of two images"
        return f"the task compares {' and '.join(f'{kind}s' for kind in task.modalities)}: {own}"
    return ""


def is_quality(task: Task) -> bool:
    """Returns whether the task asks which image has more of a quality, without a reference
    (UniSim-Bench IQA and PAA).
    """
    return task.procedure == "choice" and task.category in QUALITY_CATEGORIES and task.benchmark in QUALITY_BENCHMARKS


def _jobs(
    row: Model, task: Task, bench: Bench, identity: Mapping[str, Any], overrides: Mapping[str, Any], *, problem: str
) -> list[Job]:
    """Returns one job, or one for each variant that the benchmark compares."""
    procedure, (of_procedure, of_task) = bench.procedures[task.procedure], _allowed(task, bench)
    usual = defaults(row, {**of_task, **of_procedure})
    pairing = model_rows.pairing_of(task.modalities[0], task.modalities[-1])
    way = "embed"
    if "choose" in row.abilities and not model_rows.scores(row, pairing):
        way = "choose"
    elif "compare" in row.abilities and not model_rows.embeds(row, "image-text" if is_quality(task) else pairing):
        way = "compare"
    applies = {"reader": way == "choose", **dict.fromkeys(VARIANTS, is_quality(task))}
    own = {name: value for name, value in overrides.items() if name in usual and applies.get(name, True)}
    prompted = model_rows.embeds(row, "image-text")
    choices = [own]
    for name, values in VARIANTS.items():
        if name in usual and name not in own and is_quality(task) and prompted:
            choices = [{**choice, name: value} for choice in choices for value in values]
    jobs = []
    for choice in choices:
        options = {**usual, **choice}
        of_job, of_items = ({name: options[name] for name in part} for part in (of_procedure, of_task))
        # How answers are read is part of a judge's run, but not of the questions to other models.
        reading = {"version": READING, **{name: of_job[name] for name in ("reader",) if name in of_job}}
        settings = {
            "model": dict(identity),
            "procedure": {
                "key": procedure.key,
                "version": procedure.version,
                "options": {name: value for name, value in of_job.items() if name != "reader"},
                "packages": versions.minor(versions.installed(PACKAGES.get(procedure.key, ()))),
                **({"reading": reading} if way == "choose" else {}),
            },
            "data": {
                "dataset": task.dataset,
                "revision": task.revision,
                "split": task.split,
                "subsets": list(task.subsets),
                "options": of_items,
                **bench.identity(task),
            },
            "metrics": list(task.metrics),
        }
        variant = ", ".join(
            f"{name}={value}"
            for name, value in sorted(options.items())
            if value != usual[name] or (name in VARIANTS and name in choice)
        )
        jobs.append(
            Job(
                model=row,
                task=task,
                procedure=procedure,
                options=of_job,
                task_options=of_items,
                variant=variant,
                settings=settings,
                way=way,
                problem=problem,
                fingerprint="" if problem else run_folders.fingerprint({**settings, "keys": [row.key, task.key]}),
            )
        )
    return jobs


def defaults(row: Model, allowed: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Returns the default of each option: its first value.

    A model that embeds an image and its text in one prompt does so by default, as in MIEB
    (compute/procedures/shared/fusion).
    """
    usual = {name: values[0] for name, values in allowed.items()}
    if "joint" in allowed.get("fusion", ()) and model_rows.embeds_jointly(row):
        usual["fusion"] = "joint"
    return usual


def lines(plan: Plan) -> list[str]:
    """Returns the plan in a few lines."""
    missing = plan.missing
    text = [
        f"{plan.suite.key}: {counted(len(plan.tasks), 'task')}, {counted(len(plan.models), 'model')}; "
        f"{counted(len(missing), 'run')} to make, {len(plan.jobs) - len(missing)} stored already, "
        f"{len(plan.skipped)} skipped"
    ]
    variants = sorted({job.variant for job in plan.jobs if job.variant})
    if variants:
        text.append(f"Variants: {'; '.join(variants)}")
    return text


def reasons(plan: Plan) -> list[str]:
    """Returns the skipped runs: one line per model and reason."""
    return grouped("Skipped", [(run.model.key, run.reason, run.task.key) for run in plan.skipped], most=4)


def grouped(title: str, runs: Iterable[tuple[str, str, str]], *, most: int | None = None) -> list[str]:
    """Returns one line per model and reason, with at most `most` tasks; `runs` are (model, reason, task)."""
    tasks: dict[tuple[str, str], list[str]] = {}
    for model, reason, task in runs:
        tasks.setdefault((model, reason), []).append(task)
    text = []
    for (model, reason), names in tasks.items():
        more = f" and {len(names) - most} more" if most and len(names) > most else ""
        text.append(f"{title}: {model} on {', '.join(names[:most])}{more}: {reason}")
    return text
