"""Runs a plan: model by model, every distinct item encoded once, each run's folder written as soon as it is whole."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import tasks
from compute.content.items import Column
from compute.engine import run_folders as runs
from compute.engine import scoring, thumbnails
from compute.engine.bench import Bench
from compute.engine.plan import Job, Plan
from compute.engine.run_folders import Kept
from compute.features import encoding
from compute.paths import ROOT
from compute.procedures.evidence import Evidence
from compute.tasks.data import Data
from compute.types import BadItem, CannotDo, LikenessError, Model, NotHere, Run, Score, Task

STATES = ("made", "there", "failed", "left out")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one job."""

    job: Job
    state: str  # one of STATES
    kept: Kept | None = None
    reason: str = ""  # why it failed or was left out


@dataclass(kw_only=True)
class _Items:
    """The items of the tasks, loaded once each and shared by all models, and what could not be loaded."""

    bench: Bench
    held: dict[tuple[str, str], Mapping[str, Data] | Exception] = field(default_factory=dict)
    seconds: dict[tuple[str, str], float] = field(default_factory=dict)
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)  # jobs that still want a task's items

    def of(self, job: Job) -> Mapping[str, Data]:
        """A task's items by subset. Raises what loading them raised, each time it is asked."""
        key = self._key(job)
        if key not in self.held:
            started = time.perf_counter()
            try:
                self.held[key] = self.bench.load(job.task, job.task_options)
            except Exception as error:
                self.held[key] = error
            self.seconds[key] = time.perf_counter() - started
        found = self.held[key]
        if isinstance(found, Exception):
            raise found
        return found

    def took(self, job: Job) -> float:
        return self.seconds[self._key(job)]

    def want(self, jobs: Iterable[Job]) -> None:
        self.uses.update(map(self._key, jobs))

    def done(self, job: Job) -> None:
        """Lets go of the items that no job is left for."""
        self.uses[self._key(job)] -= 1
        if self.uses[self._key(job)] <= 0:
            self.held.pop(self._key(job), None)

    def _key(self, job: Job) -> tuple[str, str]:
        return job.task.key, runs.canonical(job.task_options)


def execute(
    plan: Plan,
    *,
    bench: Bench,
    results: Path,
    skip_bad: bool = False,
    pictures: int = thumbnails.MOST_ITEMS,
    say: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Makes every missing run of the plan; one outcome a job, in the plan's order.

    A run that fails leaves its reason in its folder and the others go on. `say` gets a line for each run that ends;
    `pictures` is of how many items a task thumbnails are kept for a page to show.
    """
    items = _Items(bench=bench)
    items.want(plan.missing)
    outcomes: dict[int, Outcome] = {
        id(job): Outcome(job=job, state="there", kept=job.there) for job in plan.jobs if job.there is not None
    }
    reasons: set[str] = set()  # why runs failed, as far as it was said: each is said at length once

    def end(outcome: Outcome) -> None:
        outcomes[id(outcome.job)] = outcome
        items.done(outcome.job)
        say(_line(outcome, again=outcome.state == "failed" and outcome.reason in reasons))
        reasons.add(outcome.reason)

    for row in plan.models:
        missing = [job for job in plan.of(row) if job.there is None]
        if missing:
            _model(row, missing, items, end, results=results, skip_bad=skip_bad, pictures=pictures, say=say)
            encoding.release()
    return [outcomes[id(job)] for job in plan.jobs]


def _model(
    row: Model,
    jobs: list[Job],
    items: _Items,
    end: Callable[[Outcome], None],
    *,
    results: Path,
    skip_bad: bool,
    pictures: int,
    say: Callable[[str], None],
) -> None:
    """All of one model's missing runs; `end` is told of each."""
    ready: list[Job] = []
    for job in jobs:
        try:
            if job.problem:
                raise NotHere(job.problem)
            items.of(job)
            ready.append(job)
        except Exception as error:
            end(_failed(job, error, items.bench, results=results))
    if not ready:
        return
    subject = items.bench.subject(row)
    encoding = time.perf_counter()
    ready, refused = _prepared(subject, ready, items)
    encoding, shared = time.perf_counter() - encoding, list(subject.done)
    for job, error in refused:
        end(_failed(job, error, items.bench, results=results))
    for job in ready:
        try:
            kept, data, shown = _run(
                job, subject, items, encoding=encoding / len(ready), shared=shared, results=results, skip_bad=skip_bad
            )
            end(Outcome(job=job, state="made", kept=kept))
        except CannotDo as error:
            end(Outcome(job=job, state="left out", reason=str(error)))
        except Exception as error:
            end(_failed(job, error, items.bench, results=results))
        else:
            _pictures(job, data, shown, results=results, most=pictures, say=say)


def _pictures(
    job: Job, data: Mapping[str, Data], items: pd.DataFrame, *, results: Path, most: int, say: Callable[[str], None]
) -> None:
    """Thumbnails beside a whole run: their want fails nothing."""
    try:
        thumbnails.add(results, task=job.task.key, data=data, items=items, most=most)
    except (LikenessError, OSError) as error:
        say(f"{job.task.key}: no thumbnails: {error}")


def _prepared(subject: Any, jobs: list[Job], items: _Items) -> tuple[list[Job], list[tuple[Job, Exception]]]:
    """Encodes what the jobs' tasks show, all at once; jobs with an item that cannot be used are taken out, with why.

    Where it is not an item that is wrong (no weights, a full disk), every job is tried on its own afterwards: one whose
    items are stored already still succeeds.
    """
    left, refused = list(jobs), []
    while left:
        columns = {id(job): _columns(items.of(job)) for job in left}
        try:
            subject.prepare([column for some in columns.values() for column in some])
            break
        except BadItem as error:
            hit = [job for job in left if _holds(columns[id(job)], error.key)]
            if not hit:
                break  # an item that no column owns up to: the job that needs it meets it again
            refused += [(job, error) for job in hit]
            left = [job for job in left if job not in hit]
        except Exception:
            break
    return left, refused


def _columns(data: Mapping[str, Data]) -> list[Column]:
    return [column for part in data.values() for column in tasks.columns(part)]


def _holds(columns: Iterable[Column], key: bytes) -> bool:
    return bool(key) and any((column.keys == key).any() for column in columns)


def _run(
    job: Job, subject: Any, items: _Items, *, encoding: float, shared: list[Any], results: Path, skip_bad: bool
) -> tuple[Kept, Mapping[str, Data], pd.DataFrame]:
    """One run from items to folder; returns the items it rests on too, and what is stored of each.

    `encoding` is its part of the seconds that the passes `shared` by all runs took. Raises whatever stands in its way.
    """
    before = len(subject.done)
    began, started = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
    whole = items.of(job)
    evidence, data = _evidence(job, subject, whole, skip_bad=skip_bad)
    asked = time.perf_counter() - began
    frames = {subset: found.items for subset, found in evidence.items()}
    figures = scoring.figures(job.task, frames)
    total = sum(tasks.size(part) for part in whole.values())
    coverage = sum(tasks.size(part) for part in data.values()) / total * scoring.answered(frames, job.task.metrics[0])
    timings = {"items": items.took(job), "encode": encoding, "procedure": asked}
    run = Run(
        id=f"computed/{job.model.key}/{job.task.key}/{job.fingerprint}",
        model=job.model.key,
        task=job.task.key,
        procedure=job.procedure.key,
        origin="computed",
        fingerprint=job.fingerprint,
        code=code(),
        seed=job.model.options.get("seed"),
        **_where(job, items.bench),
        seconds=round(encoding + asked, 3),
        started=started,
        status="complete" if coverage >= 1 else "partial",
        error=_unasked(evidence),
        settings={
            **job.settings,
            "variant": job.variant,
            "coverage": coverage,
            "items": total,
            "contents": _contents(whole),
            "adapter": subject.settings.get("loaded", {}),
            "found": {subset: part.settings for subset, part in evidence.items() if part.settings},
            "catalogue_items": _otherwise(job.task, whole),
            "timings": {stage: round(seconds, 3) for stage, seconds in timings.items()},
            "encodings": [vars(done) for done in (*shared, *subject.done[before:])],
            "left_out": _lost(subject, whole),
        },
    )
    scores = [
        Score(run=run.id, subset=subset, metric=metric, value=figure.value, n=figure.n, stderr=figure.stderr)
        for metric, subset, figure in figures
    ]
    table = runs.table(frames)
    return runs.write(results, run=run, scores=scores, items=table), data, table


def _otherwise(task: Task, whole: Mapping[str, Data]) -> int | None:
    """How many items the catalogue counts, where that is not what is here: of a whole task or of one subset."""
    sizes = [tasks.size(part) for part in whole.values()]
    return None if task.n_items in (None, sum(sizes), *sizes) else task.n_items


def _evidence(
    job: Job, subject: Any, whole: Mapping[str, Data], *, skip_bad: bool
) -> tuple[dict[str, Evidence], dict[str, Data]]:
    """The procedure's evidence, a subset at a time, and the items it rests on.

    With `skip_bad` bad items are dropped first; one that shows only when the procedure asks for it is dropped then.
    """
    subject.prepare(_columns(whole))
    while True:
        bad = set(subject.bad) if skip_bad else set()
        data = {subset: tasks.without(part, bad) if bad else part for subset, part in whole.items()}
        try:
            return {subset: job.procedure.run(subject, part, job.options) for subset, part in data.items()}, data
        except BadItem as error:
            if not skip_bad or not error.key or error.key in bad:
                raise
            subject.bad[error.key] = error.problem


def _unasked(evidence: Mapping[str, Evidence]) -> str:
    """What a judge could not be asked, for want of a connection or the like; empty when nothing."""
    errors = sum(part.settings.get("errors", 0) for part in evidence.values())
    return f"{errors} questions could not be asked: the same command asks them again" if errors else ""


def _lost(subject: Any, whole: Mapping[str, Data]) -> list[str]:
    """The items of this task that were left out, by name, and why; a content that several show is named once."""
    lost = {}
    for column in _columns(whole) if subject.bad else ():
        for row in np.flatnonzero(np.isin(column.keys, np.array(list(subject.bad), dtype="S32"))).tolist():
            lost.setdefault(column.keys[row], f"{column.name(row)}: {subject.bad[bytes(column.keys[row])]}")
    return sorted(lost.values())


def _contents(whole: Mapping[str, Data]) -> str:
    """A digest of the items' contents in their order: two runs with the same one saw the same items."""
    digest = hashlib.blake2b(digest_size=10)
    for subset, part in whole.items():
        digest.update(subset.encode())
        for column in _columns({subset: part}):
            digest.update(np.ascontiguousarray(column.keys).tobytes())
    return digest.hexdigest()


def _failed(job: Job, error: Exception, bench: Bench, *, results: Path) -> Outcome:
    """Keeps why a run failed in its folder; a program's own error is told by its kind."""
    known = isinstance(error, LikenessError)
    reason = str(error) if known else f"{type(error).__name__}: {error}".partition("\n")[0]
    if runs.find(results, model=job.model.key, task=job.task.key, fingerprint=job.fingerprint):
        reason += "; the score made earlier stays"
    if job.fingerprint:
        run = Run(
            id=f"computed/{job.model.key}/{job.task.key}/{job.fingerprint}",
            model=job.model.key,
            task=job.task.key,
            procedure=job.procedure.key,
            origin="computed",
            settings=dict(job.settings),
            fingerprint=job.fingerprint,
            code=code(),
            **_where(job, bench),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            status="failed",
            error=reason,
        )
        runs.note_failure(results, run=run, trace="" if known else "".join(traceback.format_exception(error)))
    return Outcome(job=job, state="failed", reason=reason)


def _where(job: Job, bench: Bench) -> dict[str, str]:
    """Device and precision. A metric without weights runs in plain numpy, a judge behind an endpoint elsewhere."""
    if job.settings.get("model", {}).get("device", bench.hardware.device):
        return {"device": bench.hardware.device, "dtype": bench.hardware.dtype}
    return {"device": "" if "choose" in job.model.abilities else "cpu", "dtype": ""}


def _line(outcome: Outcome, *, again: bool = False) -> str:
    """What became of a run; `again`: its reason was said before, for another run."""
    job, name = outcome.job, f"{outcome.job.model.key}, {outcome.job.name}"
    if again:
        return f"{name}: failed for the same reason"
    if outcome.kept is None:
        return f"{name}: {outcome.state}: {outcome.reason}"
    score = runs.headline(outcome.kept)
    part = f", {outcome.kept.coverage:.1%} of items" if outcome.kept.coverage < 1 else ""
    known = outcome.kept.run.settings.get("catalogue_items")
    other = f"; {outcome.kept.run.settings['items']:,} items here, {known:,} in the catalogue" if known else ""
    return f"{name}: {job.task.metrics[0]} {score.value:.4f}{part} ({outcome.kept.run.seconds:.1f} s){other}"


@cache
def code() -> str:
    """A digest of the sources that make scores: this package's files but for those that only read them."""
    here = ROOT / "compute"
    digest = hashlib.blake2b(digest_size=8)
    parts = ("models", "tasks", "procedures", "metrics", "features", "engine")
    for path in sorted([*here.glob("*.py"), *(one for part in parts for one in (here / part).rglob("*.py"))]):
        digest.update(str(path.relative_to(here)).encode() + path.read_bytes())
    return digest.hexdigest()
