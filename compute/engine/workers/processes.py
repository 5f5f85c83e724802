"""One process a device of this machine: `--devices cuda:0,cuda:1`. Each holds the model and encodes shards; the
procedures run in the process that started them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.synchronize import Event
from typing import Any

from compute import processes
from compute.engine.execution import Execution
from compute.engine.plan import Job
from compute.engine.workers import assigning, handing
from compute.engine.workers.crew import Crew
from compute.engine.workers.worker import Assignment, Worker
from compute.types import Model


class DeviceProcesses:
    """Workers on devices of this machine; the same device several times is several processes."""

    def __init__(self, devices: Sequence[str]) -> None:
        self.devices = tuple(devices)

    @contextmanager
    def crew(self, row: Model, jobs: Sequence[Job], execution: Execution) -> Iterator[Crew]:
        """As `crew.Workers` says. Raises CannotDo for a model that another process cannot load."""
        assignment = assigning.assignment(row, jobs, execution)
        threads = assigning.threads(len(self.devices))
        encoders = handing.HandedEncoders(
            [partial(_DeviceProcess, assignment, device=device, threads=threads) for device in self.devices],
            lost=(BrokenProcessPool,),
            report=execution.report,
        )
        try:
            yield Crew(encoders=encoders)
        finally:
            encoders.stop()


class _DeviceProcess:
    """One process; an executor of one worker tells what became of its calls."""

    def __init__(self, assignment: Assignment, *, device: str, threads: int) -> None:
        context = multiprocessing.get_context("spawn")  # CUDA bears no fork
        self._stopped = context.Event()
        self._executor = ProcessPoolExecutor(
            1,
            mp_context=context,
            initializer=_begin,
            initargs=(assigning.on_device(assignment, device), threads, self._stopped),
        )
        self._device, self._where = device, self.submit("where")

    def submit(self, method: str, *arguments: Any) -> Future:
        """As `handing.Hand` says."""
        return self._executor.submit(_call, method, *arguments)

    def name(self) -> str:
        """As `handing.Hand` says."""
        return f"{handing.name(self._where)}, device {self._device}"

    def stop(self) -> None:
        """Ends the process at once: what it has stored of a shard stays."""
        self._stopped.set()
        self._executor.shutdown(wait=True, cancel_futures=True)


_worker: Worker | None = None  # of this process


def _begin(assignment: Assignment, threads: int, stopped: Event) -> None:
    global _worker
    processes.end_after(multiprocessing.parent_process().join, stopped.wait)
    assigning.limit_threads(threads)
    _worker = Worker(assignment)


def _call(method: str, *arguments: Any) -> Any:
    return getattr(_worker, method)(*arguments)
