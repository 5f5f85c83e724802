"""What workers are told, and how many threads each takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from compute import mirror
from compute.engine.bench import Bench
from compute.engine.execution import Execution
from compute.engine.plan import Job
from compute.engine.workers.worker import Assignment
from compute.models.own.own_model import ADAPTER
from compute.types import CannotDo, Model

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # of the libraries that compute on a CPU


def assignment(row: Model, jobs: Sequence[Job], execution: Execution) -> Assignment:
    """What the workers of one model are told. Raises CannotDo where another process could not load the model."""
    if row.adapter == ADAPTER or execution.bench.recipe is None:
        raise CannotDo(
            f"{row.key} is held by this process, and no other one can load it. "
            "Run it here, without --engine ray and --devices, or name it by its folder or its key"
        )
    return Assignment(
        bench=execution.bench.recipe,
        row=row,
        jobs=tuple(jobs),
        identity=execution.bench.subject(row).identity,
        results=mirror.location(execution.results),
        skip_bad=execution.skip_bad,
        pictures=execution.pictures,
    )


def on_device(assignment: Assignment, device: str) -> Assignment:
    """The assignment for a worker on one of several devices."""
    return replace(assignment, bench=partial(_bench_on, assignment.bench, device))


def _bench_on(recipe: Any, device: str) -> Bench:
    return recipe(device=device)


def threads(workers: int) -> int:
    """Threads of each of so many processes on this machine: as many as OMP_NUM_THREADS says, else an equal share.

    The bits of vectors made on a CPU may depend on the number of threads.
    """
    known = os.environ.get(THREADS[0], "")
    return int(known) if known.isdecimal() and int(known) else max(1, (os.cpu_count() or 1) // workers)


def limit_threads(count: int) -> None:
    """Has libraries that are loaded from now on take so many threads."""
    os.environ.update(dict.fromkeys(THREADS, str(count)))
