"""Runs a plan model by model: every distinct item is encoded once, and each run is written to its
folder when complete.
"""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from compute import tasks, versions
from compute.content.items import Column
from compute.engine import run_folders, scoring, thumbnails
from compute.engine.plan import Job, Plan
from compute.engine.run_folders import StoredRun
from compute.engine.scoring import doubts
from compute.engine.workspace import Bench
from compute.features import encoding as encoding_pipeline
from compute.features.passes import Pass
from compute.features.subject import Encoders
from compute.models import hardware_for
from compute.models.own.identity import own_line
from compute.models.own.own_model import ADAPTER as OWN
from compute.paths import ROOT
from compute.procedures.evidence import Evidence
from compute.progress import Progress
from compute.rounding import rounded
from compute.tasks.data import Data
from compute.types import TIES_SHOWN, BadItem, CannotDo, LikenessError, Model, NoService, NotHere, Run, Score, Task
from compute.versions import without_package

SOURCES = ("models", "tasks", "procedures", "metrics", "features", "engine")  # packages whose code determines scores


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one job."""

    job: Job
    state: str  # made | stored | failed | skipped; stopped: not started because the whole run was stopped
    stored: StoredRun | None = None
    reason: str = ""  # why it failed or was skipped
    trace: Path | None = None  # the file with the traceback of a foreign error
    stops: bool = False  # the whole run ends here because the other runs would fail for the same reason


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """The passes shared by all runs of a model."""

    seconds: float  # each run's share of them
    passes: tuple[Pass, ...]


@dataclass(kw_only=True)
class Execution:
    """The state shared by all runs of a plan: settings, and the tasks' items, loaded once each, or
    the loading error.
    """

    bench: Bench
    report: Callable[[str], None]
    meet: Callable[[Any], None] = lambda subject: None
    loaded: dict[tuple[str, str], Mapping[str, Data] | Exception] = field(default_factory=dict)
    seconds: dict[tuple[str, str], float] = field(default_factory=dict)

    def items(self, job: Job) -> Mapping[str, Data]:
        """Returns a task's items by subset. Raises the loading error on every call."""
        key = items_key(job)
        if key not in self.loaded:
            started = time.perf_counter()
            try:
                self.loaded[key] = self.bench.load(job.task, job.task_options)
            except Exception as error:
                self.loaded[key] = error
            self.seconds[key] = time.perf_counter() - started
        items = self.loaded[key]
        if isinstance(items, Exception):
            raise items
        return items


def items_key(job: Job) -> tuple[str, str]:
    """Returns a key that is equal for jobs with the same items."""
    return job.task.key, run_folders.canonical(job.task_options)


def execute(
    plan: Plan,
    *,
    bench: Bench,
    report: Callable[[str], None] = lambda line: None,
    ended: Callable[[Outcome], None] = lambda outcome: None,
    meet: Callable[[Any], None] = lambda subject: None,
    workers: Any | None = None,
) -> list[Outcome]:
    """Makes every missing run of the plan; returns one outcome per job, in the plan's order.

    A run that fails leaves its reason in its folder and the others continue; only NoService stops them all. `report` is
    called with a line for each finished run, `ended` with its outcome, and `meet` with each judge that this process
    asks, before its first run. `workers`, a RayCluster, do the work instead of this process.
    """
    execution = Execution(bench=bench, report=report, meet=meet)
    outcomes: dict[int, Outcome] = {
        id(job): Outcome(job=job, state="stored", stored=job.stored) for job in plan.jobs if job.stored is not None
    }
    reasons: set[str] = set()  # each reason for failures is reported in full once

    def end(outcome: Outcome) -> None:
        outcomes[id(outcome.job)] = outcome
        report(_line(outcome, repeated=outcome.state == "failed" and outcome.reason in reasons))
        reasons.add(outcome.reason)
        ended(outcome)

    for row in plan.models:
        missing = [job for job in plan.of(row) if job.stored is None]
        if missing:
            try:
                _run_model(row, missing, execution, end, workers)
            except NoService:
                break
            finally:
                if row.adapter != OWN:  # its caller keeps it
                    encoding_pipeline.release()
    return [outcomes.get(id(job), Outcome(job=job, state="stopped")) for job in plan.jobs]


def _run_model(
    row: Model,
    jobs: list[Job],
    execution: Execution,
    end: Callable[[Outcome], None],
    workers: Any | None,
) -> None:
    """Makes all missing runs of one model; `end` is called with each outcome. Raises NoService after that call."""
    ready: list[Job] = []
    progress = Progress(watched=execution.bench.settings.progress)
    with progress.bar(f"{row.key}, reading items", total=len(jobs), unit="task") as advance:
        for job in jobs:
            try:
                if job.problem:
                    raise NotHere(job.problem)
                execution.items(job)
                ready.append(job)
            except Exception as error:
                end(failed(job, error, execution))
            advance(1)
    if not ready:
        return
    subject = execution.bench.subject(row)
    with ExitStack() as stack:
        try:
            crew = stack.enter_context(workers.crew(row, ready, execution)) if workers else None
        except LikenessError as error:
            for job in ready:
                end(failed(job, error, execution))
            return
        encoding_began = time.perf_counter()
        ready, ended = _prepared(subject, ready, execution, end, crew)
        seconds = time.perf_counter() - encoding_began
        encoding = Encoding(seconds=seconds / max(1, len(ready)), passes=tuple(subject.done))
        if ended and crew:
            execution.report(f"{row.key}: encoding by workers ended early: {ended}")
        if not crew and any(job.way == "choose" for job in ready):
            execution.meet(subject)
        if crew:
            outcomes = crew.attempts(ready, encoding)
        else:
            outcomes = (attempt(job, subject, execution, encoding) for job in ready)
        for outcome in outcomes:
            end(outcome)
            if outcome.stops:
                raise NoService(outcome.reason)


def attempt(job: Job, subject: Any, execution: Execution, encoding: Encoding) -> Outcome:
    """Makes one run; returns its outcome, or why it failed."""
    try:
        return Outcome(job=job, state="made", stored=_run(job, subject, execution, encoding))
    except CannotDo as error:
        return Outcome(job=job, state="skipped", reason=str(error))
    except Exception as error:
        return replace(failed(job, error, execution), stops=isinstance(error, NoService))


def _prepared(
    subject: Any,
    jobs: Sequence[Job],
    execution: Execution,
    end: Callable[[Outcome], None],
    encoders: Encoders | None,
) -> tuple[list[Job], str]:
    """Encodes the items of all jobs at once; `end` is called for jobs with an unusable item. Returns the other jobs.

    After any other error (missing weights, a full disk), which is also returned, every job is tried separately, so a
    job whose items are already stored still succeeds.
    """
    left = list(jobs)
    while left:
        columns = {id(job): prepared_columns(job, execution.items(job)) for job in left}
        embedded = [column for job in left if job.way == "embed" for column in columns[id(job)]]
        try:
            subject.prepare(embedded, encoders=encoders)
            break
        except Exception as error:
            key = error.key if isinstance(error, BadItem) else b""
            hit = [job for job in left if key and any(key in column.keys for column in columns[id(job)])]
            if not hit:  # an item outside the columns: its job will encounter it again
                return left, failure(error)
            for job in hit:
                end(failed(job, error, execution))
            left = [job for job in left if job not in hit]
    return left, ""


def _run(job: Job, subject: Any, execution: Execution, encoding: Encoding) -> StoredRun:
    """Makes one run from items to folder, with thumbnails. Raises whatever prevents the run."""
    before, options = len(subject.done), execution.bench.settings
    began, started = time.perf_counter(), _now()
    whole = execution.items(job)
    evidence, data = _evidence(job, subject, whole, skip_bad=options.skip_bad)
    procedure_seconds = time.perf_counter() - began
    frames = {subset: part.items for subset, part in evidence.items()}
    rows, undefined = scoring.scored(job.task, frames)
    sizes = {subset: tasks.size(part) for subset, part in whole.items()}
    total, known = sum(sizes.values()), job.task.n_items
    errors = sum(part.settings.get("errors", 0) for part in evidence.values())  # for example of the connection
    rated = {subset: tasks.size(part) - evidence[subset].unasked for subset, part in data.items()}
    usable = sum(rated.values()) / total
    coverage = usable * scoring.answered(frames, job.task.metrics[0])
    timings = {"items": execution.seconds[items_key(job)], "encode": encoding.seconds, "procedure": procedure_seconds}
    run = computed(
        **_identity(job, execution.bench),
        seed=job.model.options.get("seed"),
        seconds=round(encoding.seconds + procedure_seconds, 3),
        started=started,
        status="complete" if coverage >= 1 else "partial",
        error=f"{errors} questions could not be asked: the same command asks them again" if errors else "",
        settings={
            **job.settings,
            "described": {name: getattr(job.model, name) for name in run_folders.ModelDescription.model_fields},
            "variant": job.variant,
            "coverage": coverage,
            "tied": scoring.tied(evidence),
            "undefined": undefined,
            "items": total,
            "contents": _contents(whole),
            "adapter": subject.settings.get("loaded", {}),
            "versions": versions.exact(job.settings),
            "found": {subset: part.settings for subset, part in evidence.items() if part.settings},
            # Set if the catalogue has a different number.
            "catalogue_items": None if known in (None, total, *sizes.values()) else known,
            "timings": {stage: round(seconds, 3) for stage, seconds in timings.items()},
            "encodings": [vars(done) for done in (*encoding.passes, *subject.done[before:])],
            "left_out": _skipped_items(job, subject, whole),
            "doubts": doubts(job, subject, prepared_columns(job, data), evidence),
        },
    )
    shares = {subset: rated[subset] / size for subset, size in sizes.items()}
    scores = []
    for metric, subset, figure in rows:
        values = vars(figure) | {"coverage": figure.answered * shares.get(subset, usable)}
        del values["answered"]
        scores.append(Score(run=run.id, subset=subset, metric=metric, **values))
    table = run_folders.table(frames)
    stored = run_folders.write(options.results, run=run, scores=scores, items=table)
    try:
        thumbnails.add(options.results, task=job.task.key, data=data, items=table, most=options.thumbnails)
    except (LikenessError, OSError) as error:  # a run without thumbnails is complete
        execution.report(f"{job.task.key}: no thumbnails: {error}")
    return stored


def _identity(job: Job, bench: Bench) -> dict[str, Any]:
    """Returns the fields of a run that its job determines. A metric without weights runs in numpy, an endpoint's judge
    elsewhere.
    """
    if job.settings.get("model", {}).get("device", bench.hardware.device):
        device, dtype = bench.hardware.device, hardware_for(job.model, bench.hardware).dtype
    else:
        device, dtype = "" if "choose" in job.model.abilities else "cpu", ""
    return {
        "model": job.model.key,
        "task": job.task,
        "fingerprint": job.fingerprint,
        "device": device,
        "dtype": dtype,
    }


def computed(*, model: str, task: Task, fingerprint: str, started: str = "", **facts: Any) -> Run:
    """Returns a run computed by this program, with the current time unless `started` is given."""
    return Run(
        id=f"computed/{model}/{task.key}/{fingerprint}",
        model=model,
        task=task.key,
        procedure=task.procedure,
        origin="computed",
        fingerprint=fingerprint,
        code=code(),
        started=started or _now(),
        **facts,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _evidence(
    job: Job, subject: Any, whole: Mapping[str, Data], *, skip_bad: bool
) -> tuple[dict[str, Evidence], dict[str, Data]]:
    """Returns the procedure's evidence by subset, and the items behind it.

    With `skip_bad`, bad items are dropped first, and those that only the procedure detects when it does.
    """
    if job.way == "embed":
        subject.prepare(prepared_columns(job, whole))
    while True:
        bad = set(subject.bad) if skip_bad else set()
        data = {subset: tasks.without(part, bad) if bad else part for subset, part in whole.items()}
        try:
            return {subset: job.procedure.run(subject, part, job.options) for subset, part in data.items()}, data
        except BadItem as error:
            if not skip_bad or not error.key or error.key in bad:
                raise
            subject.bad[error.key] = error.problem


def prepared_columns(job: Job, whole: Mapping[str, Data]) -> list[Column]:
    """Returns the columns of a task's items to prepare.

    If the model embeds an image and its text together, neither is prepared separately. Random variants are prepared for
    vectors only: a judge does not see them, and a model that compares reads each in turn, because generating an image
    may take longer than comparing it.
    """
    return tasks.every_column(whole, joint=job.options.get("fusion") == "joint", variants=job.way == "embed")


def _skipped_items(job: Job, subject: Any, whole: Mapping[str, Data]) -> list[str]:
    """Returns the names of this task's skipped items, and why; content shared by several items is named once."""
    skipped = {}
    for column in prepared_columns(job, whole) if subject.bad else ():
        for row in np.flatnonzero(np.isin(column.keys, np.array(list(subject.bad), dtype="S32"))).tolist():
            skipped.setdefault(column.keys[row], f"{column.name(row)}: {subject.bad[bytes(column.keys[row])]}")
    return sorted(skipped.values())


def _contents(whole: Mapping[str, Data]) -> str:
    """Returns a digest of the items' contents in order: equal digests mean equal items."""
    digest = hashlib.blake2b(digest_size=10)
    for subset, part in whole.items():
        digest.update(subset.encode())
        for column in tasks.columns(part):
            digest.update(np.ascontiguousarray(column.keys).tobytes())
    return digest.hexdigest()


def failed(job: Job, error: Exception, execution: Execution) -> Outcome:
    """Stores the reason for a run's failure in its folder, with the traceback of a foreign error."""
    reason, foreign, noted = failure(error), not isinstance(error, LikenessError), None
    if foreign and job.model.adapter == OWN and (line := own_line(error)):
        reason += f" ({line})"
    results = execution.bench.settings.results
    if run_folders.find(results, model=job.model.key, task=job.task.key, fingerprint=job.fingerprint):
        reason += "; the score made earlier stays"
    if job.fingerprint:
        trace = "".join(traceback.format_exception(error)) if foreign else ""
        known = _identity(job, execution.bench)
        run = computed(**known, settings=dict(job.settings), status="failed", error=reason)
        noted = run_folders.note_failure(results, run=run, trace=trace)
    return Outcome(job=job, state="failed", reason=reason, trace=noted if foreign else None)


def failure(error: Exception) -> str:
    """Returns an error in one line, with its class if it is a foreign error."""
    if isinstance(error, ModuleNotFoundError) and (problem := without_package(error)):
        return problem
    return str(error) if isinstance(error, LikenessError) else f"{type(error).__name__}: {error}".partition("\n")[0]


def _line(outcome: Outcome, *, repeated: bool = False) -> str:
    """Returns one run's outcome as text; `repeated`: the reason was already reported for another run."""
    job, stored, name = outcome.job, outcome.stored, f"{outcome.job.model.key}, {outcome.job.name}"
    if outcome.stops:  # the summary has the reason
        return f"{name}: failed; the whole run stops here"
    if repeated:
        return f"{name}: failed for the same reason"
    if stored is None:
        return f"{name}: {outcome.state}: {outcome.reason}"
    score = run_folders.headline(stored)
    part = f", {stored.coverage:.1%} of items" if stored.coverage < 1 else ""
    if score.lower_bound is not None:
        part = f", {score.n:,} of {stored.run.settings['items']:,} items answered, at least {score.lower_bound:.4f}"
    if stored.tied > TIES_SHOWN:
        part += f", {rounded(stored.tied, 1, scale=100)}% decided by exact ties"
    known = stored.run.settings.get("catalogue_items")
    other = f"; {stored.run.settings['items']:,} items here, {known:,} in the catalogue" if known else ""
    line = f"{name}: {job.task.metrics[0]} {score.value:.4f}{part} ({stored.run.seconds:.1f} s){other}"
    return "\n".join([line, *doubted(stored)])


def doubted(stored: StoredRun) -> list[str]:
    """Returns a line for each reason to doubt a run."""
    return [f"{stored.run.model}, {stored.run.task}: doubtful: {doubt}" for doubt in stored.doubts]


@cache
def code() -> str:
    """Returns a digest of the sources that determine scores: all files of this package except those that only read
    scores.
    """
    root = ROOT / "compute"
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted([*root.glob("*.py"), *(path for part in SOURCES for path in (root / part).rglob("*.py"))]):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()
