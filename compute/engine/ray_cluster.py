"""Executes a plan on Ray, on several devices or machines: actors load the model, encode shards and make runs.

Ray places actors, restarts lost ones with their call, and uses machines that join later. All machines read the same
data, weights and results folder under the same paths.
"""

from __future__ import annotations

import json
import os
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import storage
from compute.engine import run
from compute.engine.plan import Job
from compute.engine.run import Encoding, Execution, Outcome
from compute.engine.workspace import Bench, RunSettings
from compute.features import passes
from compute.features.passes import DistinctItems, Encoded
from compute.models.own.own_model import ADAPTER
from compute.types import BadInput, CannotDo, LikenessError, Model, NotHere, first_line
from compute.versions import install_command

if TYPE_CHECKING:
    import numpy as np

    from compute.models.adapter import Hardware

OBJECT_STORE = 128 << 20  # bytes: only keys and scores pass between processes, never vectors
SETTLED = ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS", "HF_HOME", "HF_HUB_CACHE")  # settings that all workers share
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # of the libraries that compute on a CPU
RETRIES = 3  # of a call whose worker was lost
WAITING = 60.0  # seconds without a worker, after which this is reported


@contextmanager
def opened(settings: RunSettings) -> Iterator[tuple[RayCluster, Hardware | None]]:
    """Yields the cluster in the settings, and the hardware of its workers, None if this process determines it.

    Raises BadInput for a cluster that does not answer, NotHere without Ray.
    """
    cluster = RayCluster(address=settings.address, workers=settings.workers)
    try:
        yield cluster, cluster.hardware(device=settings.device, dtype=settings.dtype)
    finally:
        cluster.close()


class RayCluster:
    """The cluster at an address, or a local one that is stopped at the end."""

    def __init__(self, *, address: str = "", workers: int | None) -> None:
        """Connects to a cluster or starts one.

        `workers` encode; by default as many as there are GPUs, or cores without a GPU. Workers without free resources
        start when machines join.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            raise NotHere(f"--engine ray needs Ray, which is not installed: {install_command('ray')}") from error
        self._ray, self._own = ray, not ray.is_initialized()
        address = address or os.environ.get("RAY_ADDRESS", "") or "local"
        if self._own:
            local = {
                "num_cpus": max(workers or 0, os.cpu_count() or 1),
                "object_store_memory": OBJECT_STORE,
                "include_dashboard": False,
            }
            _check_listens(address)
            try:
                ray.init(
                    address=address,
                    logging_level="ERROR",
                    log_to_driver=False,
                    **(local if address == "local" else {}),
                )
            except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
                raise _no_cluster(address) from error
        resources = ray.cluster_resources()
        self._gpus, self._cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 1))
        self._workers = workers or self._gpus or self._cpus

    def hardware(self, *, device: str, dtype: str) -> Hardware | None:
        """Returns the device and dtype of the workers' GPU, which this machine need not have; None
        if no GPU is used.
        """
        from compute import models

        if not self._gpus or device == "cpu":
            return None
        task = self._ray.remote(models.hardware).options(num_gpus=1)
        return self._ray.get(task.remote(device=device.partition(":")[0] or "cuda", dtype=dtype))

    def close(self) -> None:
        """Disconnects from the cluster, and stops it if it was started here."""
        if self._own:
            self._ray.shutdown()

    @contextmanager
    def crew(self, row: Model, jobs: Sequence[Job], execution: Execution) -> Iterator[RayCrew]:
        """Yields the workers of one model. Raises CannotDo for an object in memory."""
        if row.adapter == ADAPTER:
            raise CannotDo(
                f"{row.key} is held by this process. Run it here, without --engine ray, or name it by its folder or "
                "its key"
            )
        bench, hardware = execution.bench, execution.bench.hardware
        settings = bench.settings.model_copy(update={"progress": False})  # workers draw no progress bars
        cores = max(1, self._cpus // self._workers)
        # The bits of vectors computed on a CPU may depend on the number of threads.
        threads = os.environ.get(THREADS[0], str(cores))
        known = {name: os.environ[name] for name in SETTLED if name in os.environ}
        on_gpu = hardware.device.startswith("cuda")
        worker = self._ray.remote(Worker).options(
            num_gpus=1 if on_gpu else 0,
            num_cpus=1 if on_gpu else cores,
            runtime_env={"env_vars": {**known, **dict.fromkeys(THREADS, threads)}},
            max_restarts=-1,
            max_task_retries=RETRIES,
        )
        # Stored once for all workers.
        shared = self._ray.put(replace(bench, settings=settings, own={}))
        work = (row, tuple(jobs), bench.subject(row).identity, storage.location(settings.results))
        crew = RayCrew(self._ray, [worker.remote(shared, *work) for _ in range(self._workers)], execution)
        try:
            yield crew
        finally:
            crew.stop()


class RayCrew:
    """The workers of one model, from the point of view of the planning process."""

    def __init__(self, ray: Any, actors: Sequence[Any], execution: Execution) -> None:
        self._ray, self._actors, self._execution = ray, actors, execution
        self._started = {actor.start.remote(): actor for actor in actors}

    def settings(self) -> dict[str, Any]:
        """Returns the model's reported settings. Raises LikenessError if no worker can load it."""
        return self._result(self._started[self._wait([*self._started])].settings.remote())

    def encode(self, modality: str, shards: Sequence[np.ndarray]) -> Generator[Encoded]:
        """Yields the result of each shard in order of completion. Raises LikenessError.

        A pass that ends early waits for running shards, because the next pass plans with what is stored.
        """
        calls = [lambda actor, shard=shard: actor.encode.remote(modality, shard) for shard in shards]
        running: dict[Any, Any] = {}
        try:
            for _, done in self._spread(calls, running):
                yield self._result(done)
        except (Exception, GeneratorExit):
            self._ray.wait([*running], num_returns=len(running)) if running else None
            raise

    def attempts(self, jobs: Sequence[Job], encoding: Encoding) -> Iterator[Outcome]:
        """Yields each run in order of completion."""
        for at, done in self._spread([lambda actor, job=job: actor.attempt.remote(job, encoding) for job in jobs], {}):
            yield self._outcome(jobs[at], done)

    def stop(self) -> None:
        """Stops all workers immediately; the parts of shards that they have stored stay."""
        for actor in self._actors:
            with suppress(self._ray.exceptions.RayError):
                self._ray.kill(actor)

    def _wait(self, calls: Sequence[Any]) -> Any:
        """Returns one of the calls that has ended."""
        while not (done := self._ray.wait(calls, timeout=WAITING)[0]):
            if not self._ray.wait([*self._started], timeout=0)[0]:
                self._execution.report("Waiting for a worker to start")
        return done[0]

    def _spread(self, calls: Sequence[Callable[[Any], Any]], running: dict[Any, Any]) -> Iterator[tuple[int, Any]]:
        """Yields each call's position and result in order of completion; a worker gets the next call when its last has
        ended.

        `running` contains the calls in progress.
        """
        waiting, places = deque(enumerate(calls)), {}
        free = dict(self._started)
        while waiting or running:
            done = self._wait([*(free if waiting else ()), *running])
            actor = free.pop(done) if done in free else running.pop(done)
            if waiting:
                at, call = waiting.popleft()
                begun = call(actor)
                running[begun], places[begun] = actor, at
            if done in places:
                yield places.pop(done), done

    def _result(self, call: Any) -> Any:
        """Returns a call's result. Raises LikenessError if it failed, or lost its worker repeatedly."""
        try:
            return self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            raise LikenessError(run.failure(error.cause)) from error
        except self._ray.exceptions.RayError as error:
            raise LikenessError(
                f"A worker was lost {RETRIES + 1} times over the same items ({first_line(error)}). "
                "Give each worker more memory, or a smaller --batch-size"
            ) from error

    def _outcome(self, job: Job, call: Any) -> Outcome:
        """Returns a job's outcome, with this process's job object, and forwards its worker's reports."""
        try:
            outcome, notes = self._result(call)
        except LikenessError as error:
            return run.failed(job, error, self._execution)
        for note in notes:
            self._execution.report(note)
        return replace(outcome, job=job)


class Worker:
    """An actor that loads the model when something must be encoded."""

    def __init__(
        self, bench: Bench, row: Model, jobs: Sequence[Job], identity: dict[str, Any], results: Path | str
    ) -> None:
        """Stores the arguments; `identity` is the model's in the planning process, and `results` a folder visible to
        this machine, or an address.
        """
        self._bench, self._row, self._jobs, self._identity, self._results = bench, row, jobs, identity, results

    def start(self) -> None:
        """Returns once the worker has been placed."""

    def settings(self) -> dict[str, Any]:
        """Returns the loaded model's reported settings."""
        return dict(self._subject.model.settings)

    def encode(self, modality: str, keys: np.ndarray) -> Encoded:
        """Encodes and stores one shard, except what a lost worker had already stored."""
        return self._subject.encode_shard(self._distinct_items(modality), modality, keys)

    def attempt(self, job: Job, encoding: Encoding) -> tuple[Outcome, list[str]]:
        """Makes one run; returns its outcome and reports."""
        notes: list[str] = []
        results = storage.opened(self._results)
        settings = self._bench.settings.model_copy(update={"results": results})
        execution = Execution(bench=replace(self._bench, settings=settings), report=notes.append)
        try:
            return run.attempt(job, self._subject, execution, encoding), notes
        finally:
            storage.push(results)

    @cached_property
    def _subject(self) -> Any:
        """The model with its store. Raises LikenessError if this process would encode differently from the planning
        process.
        """
        subject, planned = self._bench.subject(self._row), self._identity
        own = json.dumps(subject.identity, sort_keys=True, default=str)
        if own != json.dumps(planned, sort_keys=True, default=str):
            raise LikenessError(
                f"A worker on {socket.gethostname()} encodes differently from this process ({own}, not {planned}). "
                "Install the same packages and the same weights on every machine"
            )
        return subject

    def _distinct_items(self, modality: str) -> DistinctItems:
        """Returns the distinct items of all jobs: the same as in the planning process, which therefore sends none."""
        known = self.__dict__.setdefault("_distinct", {})
        if modality not in known:
            known[modality] = passes.distinct(
                [
                    column
                    for job in self._jobs
                    if job.way == "embed"
                    for column in run.prepared_columns(job, self._bench.load(job.task, job.task_options))
                    if column.modality == modality and len(column)
                ]
            )
        return known[modality]


def _check_listens(address: str) -> None:
    """Raises BadInput if nothing listens at a HOST:PORT; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if "://" not in address and host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
        except (OSError, OverflowError) as error:
            raise _no_cluster(address) from error


def _no_cluster(address: str) -> BadInput:
    return BadInput(
        f"No Ray cluster answers at {address!r}: start one with `ray start --head`. To one that demands a token, set "
        "RAY_AUTH_MODE=token and copy ~/.ray/auth_token from its head, or set RAY_AUTH_TOKEN"
    )
