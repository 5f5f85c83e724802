"""What a worker process does: it makes the bench anew, holds one model, and encodes the shards it is handed."""

from __future__ import annotations

import json
import os
import socket
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from compute import drafts, mirror
from compute.engine import run
from compute.engine.bench import Bench
from compute.engine.execution import Encoding, Execution, Outcome
from compute.engine.plan import Job, by_comparison
from compute.features import passes
from compute.features.passes import DistinctItems, Encoded, PlannedShard
from compute.features.subject import ModelNeeded
from compute.types import LikenessError, Model


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """What a worker is told: plain values and functions of modules, which any process can make again."""

    bench: Callable[[], Bench]
    row: Model
    jobs: tuple[Job, ...]
    identity: dict[str, Any]  # of the model, as the process that plans knows it
    results: Path | str  # a folder that this machine sees too, or an address
    skip_bad: bool
    pictures: int


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a worker could not do what it was asked; an exception of a library need not survive the way back."""

    reason: str
    is_full: bool = False  # its disk: another worker may have room
    is_unlike: bool = False  # it would encode otherwise than planned


class UnlikeWorker(LikenessError):
    """A worker that would encode otherwise than the process that plans."""


class Worker:
    """One worker. Nothing is loaded before the first call; no call raises."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment

    def where(self) -> str:
        """Which process this is."""
        return f"process {os.getpid()} on {socket.gethostname()}"

    def settings(self) -> dict[str, Any] | Failure:
        """What the loaded model says of itself."""
        try:
            return dict(self._subject.model.settings)
        except Exception as error:
            return _failure(error)

    def encode(self, modality: str, shard: PlannedShard, batch: int, again: bool) -> Encoded | Failure:
        """Encodes and stores one shard; `again`: another worker may have stored parts of it before it was lost."""
        try:
            return self._subject.encode_shard(self._distinct_items(modality), modality, shard, batch=batch, again=again)
        except Exception as error:
            return _failure(error)

    def attempt(self, job: Job, encoding: Encoding) -> tuple[Outcome, list[str]] | Failure:
        """One run, with the model where something is still to be encoded; and what there is to report."""
        try:
            return _attempted(job, encoding, self._assignment, self._bench, self._subject)
        except Exception as error:
            return _failure(error)

    @cached_property
    def _bench(self) -> Bench:
        return self._assignment.bench()

    @cached_property
    def _subject(self) -> Any:
        subject = self._bench.subject(self._assignment.row)
        _check_identity(subject.identity, self._assignment.identity)
        return subject

    @cached_property
    def _distinct(self) -> dict[str, DistinctItems]:
        return {}

    def _distinct_items(self, modality: str) -> DistinctItems:
        """The items of all jobs: the same as the process that plans has, which need not send any."""
        if modality not in self._distinct:
            columns = [
                column
                for job in self._assignment.jobs
                if not by_comparison(job.model, job.task)
                for column in run.prepared_columns(job, self._items(job))
                if column.modality == modality and len(column)
            ]
            self._distinct[modality] = passes.distinct(columns)
        return self._distinct[modality]

    def _items(self, job: Job) -> Any:
        return self._bench.load(job.task, job.task_options)


def attempt_stored(assignment: Assignment, job: Job, encoding: Encoding) -> tuple[Outcome, list[str]] | Failure | None:
    """One run over what is stored; None where it needs the model."""
    try:
        bench = assignment.bench()
        subject = bench.subject(assignment.row)
        _check_identity(subject.identity, assignment.identity)
        subject.leave_unloaded()
        return _attempted(job, encoding, assignment, bench, subject)
    except ModelNeeded:
        return None
    except Exception as error:
        return _failure(error)


def _attempted(
    job: Job, encoding: Encoding, assignment: Assignment, bench: Bench, subject: Any
) -> tuple[Outcome, list[str]]:
    notes: list[str] = []
    results = mirror.opened(assignment.results)
    execution = Execution(
        bench=bench,
        results=results,
        skip_bad=assignment.skip_bad,
        pictures=assignment.pictures,
        report=notes.append,
        uses=Counter(),
    )
    try:
        return run.attempt(job, subject, execution, encoding), notes
    finally:
        mirror.push(results)


def _check_identity(own: dict[str, Any], planned: dict[str, Any]) -> None:
    """Raises UnlikeWorker where this process would encode otherwise than the one that plans takes it to."""
    own, planned = (json.loads(json.dumps(identity, sort_keys=True, default=str)) for identity in (own, planned))
    names = sorted(name for name in {*own, *planned} if own.get(name) != planned.get(name))
    if names:
        differences = "; ".join(f"{name}: {own.get(name)} instead of {planned.get(name)}" for name in names)
        raise UnlikeWorker(
            f"A worker would encode otherwise than this process ({differences}). "
            "Install the same packages and the same weights on every machine"
        )


def _failure(error: Exception) -> Failure:
    if isinstance(error, LikenessError):
        return Failure(reason=str(error), is_full=drafts.is_full(error), is_unlike=isinstance(error, UnlikeWorker))
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Failure(reason=f"{run.failure(error)} ({Path(last.filename).name}, line {last.lineno})")
