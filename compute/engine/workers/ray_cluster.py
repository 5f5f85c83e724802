"""On a Ray cluster: encoding by actors that hold the model and take shards, procedures as tasks over what is stored.

Ray places actors and tasks, starts lost ones anew and takes in machines that join. Every machine reads the same data,
weights and results folder, by the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from compute import models
from compute.engine.execution import Encoding, Execution, Outcome
from compute.engine.plan import Job
from compute.engine.run import failed
from compute.engine.workers import assigning, handing, ray_address
from compute.engine.workers.crew import Crew
from compute.engine.workers.worker import Assignment, Failure, Worker, attempt_stored
from compute.models.adapter import Hardware
from compute.types import LikenessError, Model, NotHere

OBJECT_STORE = 128 << 20  # bytes: only keys and figures pass between processes, vectors never do
SETTLED = ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS", "HF_HOME", "HF_HUB_CACHE")  # what this process has decided for all


class RayCluster:
    """Workers on a Ray cluster: that at an address, or one started on this machine and stopped at the end."""

    def __init__(self, *, address: str = "", workers: int | None = None) -> None:
        """`workers` encode; by default as many as there are GPUs, or cores where there is none. Those that find no room
        yet start when machines join. Raises NotHere without Ray, BadInput for a cluster that does not answer, or that
        demands a token which this process does not have."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            raise NotHere('--engine ray needs Ray, which is not installed: pip install "ray[data]"') from error
        self._ray, self._own = ray, not ray.is_initialized()
        address = address or os.environ.get("RAY_ADDRESS", "") or "local"
        local = {"num_cpus": max(workers or 0, os.cpu_count() or 1), "object_store_memory": OBJECT_STORE}
        self._mode = os.environ.get(ray_address.MODE)  # what it was before: a local cluster sets it too
        if self._own:
            if address != "local":
                ray_address.settle(address)
            try:
                ray.init(
                    address=address,
                    include_dashboard=False if address == "local" else None,
                    logging_level="ERROR",
                    log_to_driver=False,
                    **(local if address == "local" else {}),
                )
            except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
                ray_address.set_mode(self._mode)
                raise ray_address.no_cluster(address) from error
        resources = ray.cluster_resources()
        self.gpus = int(resources.get("GPU", 0))
        self._workers = workers or self.gpus or int(resources.get("CPU", 1))

    def hardware(self, *, device: str, dtype: str) -> Hardware | None:
        """What the workers' GPU computes in, which this machine need not have; None where no GPU is to be used.

        Raises what `models.hardware` raises.
        """
        if not self.gpus or device == "cpu":
            return None
        task = self._ray.remote(models.hardware).options(num_gpus=1)
        return self._ray.get(task.remote(device=device.partition(":")[0] or "cuda", dtype=dtype))

    def close(self) -> None:
        """Leaves the cluster, and stops it where it was started here."""
        if self._own:
            self._ray.shutdown()
            ray_address.set_mode(self._mode)

    @contextmanager
    def crew(self, row: Model, jobs: Sequence[Job], execution: Execution) -> Iterator[Crew]:
        """As `crew.Workers` says. Raises CannotDo for a model that another process cannot load."""
        assignment = assigning.assignment(row, jobs, execution)
        on_gpu = execution.bench.hardware.device.startswith("cuda")
        threads = assigning.threads(self._workers)
        needs = {
            "num_gpus": 1 if on_gpu else 0,
            "num_cpus": 1 if on_gpu else threads,
            "runtime_env": {"env_vars": self._variables(threads)},
        }
        actor = self._ray.remote(Worker).options(**needs, max_restarts=0)
        encoders = handing.HandedEncoders(
            [partial(_Actor, self._ray, actor, assignment)] * self._workers,
            lost=(self._ray.exceptions.RayError,),
            report=execution.report,
        )
        task = self._ray.remote(attempt_stored).options(**needs | {"num_gpus": 0}, max_retries=handing.LOSSES)
        try:
            yield Crew(encoders=encoders, runs=partial(self._runs, encoders, task, assignment, execution))
        finally:
            encoders.stop()

    def _variables(self, threads: int) -> dict[str, str]:
        known = {name: os.environ[name] for name in SETTLED if name in os.environ}
        return {**known, **dict.fromkeys(assigning.THREADS, str(threads))}

    def _runs(
        self,
        encoders: handing.HandedEncoders,
        task: Any,
        assignment: Assignment,
        execution: Execution,
        jobs: Sequence[Job],
        encoding: Encoding,
    ) -> Iterator[Outcome]:
        """Each job as a task. Those that need the model, as their procedure brings prompts or compares, follow in their
        order with a worker that holds it: a prompt of several jobs is then encoded with the same others as anywhere."""
        encoders.stop()  # the tasks need the cores
        futures = {_future(task.remote(assignment, job, encoding)): job for job in jobs}
        rest: list[Job] = []
        for future in as_completed(futures):
            job = futures[future]
            result = _result(future, self._ray.exceptions.RayError)
            if result is None:
                rest.append(job)
            else:
                yield _outcome(result, job, execution)
        for job in sorted(rest, key=jobs.index):
            yield _outcome(self._with_model(encoders, job, encoding), job, execution)

    def _with_model(self, encoders: handing.HandedEncoders, job: Job, encoding: Encoding) -> Any:
        try:
            return encoders.attempt(job, encoding)
        except LikenessError as error:
            return Failure(reason=str(error))


class _Actor:
    """One actor. A shard that it is lost over goes to another, which may be on another machine."""

    def __init__(self, ray: Any, actor: Any, assignment: Assignment) -> None:
        self._ray, self._handle = ray, actor.remote(assignment)
        self._where = self.submit("where")

    def submit(self, method: str, *arguments: Any) -> Future:
        """As `handing.Hand` says."""
        return _future(getattr(self._handle, method).remote(*arguments))

    def name(self) -> str:
        """As `handing.Hand` says."""
        return handing.name(self._where)

    def stop(self) -> None:
        """Ends the actor at once: what it has stored of a shard stays."""
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._handle)


def _future(reference: Any) -> Future:
    return reference.future()


def _result(future: Future, lost: type[Exception]) -> Any:
    try:
        return future.result()
    except lost as error:
        last = str(error).strip().splitlines()[-1:]  # of a traceback
        return Failure(reason=f"its task ended without a result: {''.join(last) or type(error).__name__}")


def _outcome(result: Any, job: Job, execution: Execution) -> Outcome:
    """What became of a job, of this process's own job, with what its worker reported passed on."""
    if isinstance(result, Failure):
        return failed(job, LikenessError(result.reason), execution)
    outcome, notes = result
    for note in notes:
        execution.report(note)
    return replace(outcome, job=job)
