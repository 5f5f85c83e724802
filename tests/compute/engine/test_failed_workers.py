"""What becomes of the runs where the workers of a model fail, and when these end. The workers are of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compute.content import items
from compute.engine import plan, run
from compute.engine.bench import Bench
from compute.engine.execution import Execution, Outcome
from compute.engine.plan import Job
from compute.engine.workers import assigning
from compute.engine.workers.crew import Crew
from compute.engine.workers.handing import LOSSES, HandedEncoders
from compute.engine.workers.worker import Assignment, Failure, Worker
from compute.procedures import choice
from compute.tasks.data import Choices, Data
from compute.types import Model, Task
from tests.compute.engine import crewed
from tests.compute.small_bench import CATALOG, square


class Lost(Exception):
    """The process is no more."""


class Near:
    """A worker in this process."""

    def __init__(self, worker: Worker, encode: Callable[..., Any] | None) -> None:
        self.worker, self.encode = worker, encode or worker.encode

    def submit(self, method: str, *arguments: Any) -> Future:
        future: Future = Future()
        try:
            future.set_result((self.encode if method == "encode" else getattr(self.worker, method))(*arguments))
        except Lost as error:
            future.set_exception(error)
        return future

    def stop(self) -> None:
        pass


class NearWorkers:
    """One such worker a model. `encode` takes the part of its own, and `told` may change its assignment."""

    def __init__(
        self, *, encode: Callable[..., Any] | None = None, told: Callable[[Assignment], Assignment] = lambda made: made
    ) -> None:
        self.encode, self.told, self.running = encode, told, False

    @contextmanager
    def crew(self, row: Model, jobs: Sequence[Job], execution: Execution) -> Iterator[Crew]:
        assignment = self.told(assigning.assignment(row, jobs, execution))
        start = [lambda: Near(Worker(assignment), self.encode)]
        self.running = True
        try:
            yield Crew(encoders=HandedEncoders(start, lost=(Lost,), report=execution.report))
        finally:
            self.running = False


def lost(*arguments: Any) -> Any:
    raise Lost("out of memory")


def execute(
    folder: Path,
    workers: NearWorkers | None,
    *,
    change: Callable[[Bench], Bench] = lambda bench: bench,
    tasks: Sequence[str] = ("unisim/near",),
    results: str = "results",
) -> tuple[list[Outcome], list[str]]:
    lines: list[str] = []
    bench = change(crewed.bench(folder, features=folder / "features"))
    results_folder = folder / results
    planned = plan.make(
        CATALOG, suite="small", models=["small/eye"], tasks=list(tasks), bench=bench, results=results_folder
    )
    return run.execute(planned, bench=bench, results=results_folder, workers=workers, report=lines.append), lines


def test_what_loses_every_worker_is_not_tried_in_this_process(tmp_path: Path) -> None:
    """It would be lost in its turn, with all that it has still to do."""
    [outcome], lines = execute(tmp_path, NearWorkers(encode=lost))
    assert outcome.state == "failed" and f"{LOSSES} workers were lost over the same" in outcome.reason
    assert "out of memory" in outcome.reason and not crewed.encoded(tmp_path)
    assert any("out of memory" in line for line in lines)


def test_workers_that_would_encode_otherwise_fail_the_runs(tmp_path: Path) -> None:
    other = NearWorkers(
        told=lambda assignment: replace(assignment, identity={"model": "small/eye", "dtype": "float64"})
    )
    [outcome], _ = execute(tmp_path, other)
    assert outcome.state == "failed" and "dtype: float32 instead of float64" in outcome.reason
    assert not crewed.encoded(tmp_path)


def test_after_another_failure_this_process_goes_on_and_says_so(tmp_path: Path) -> None:
    [outcome], lines = execute(
        tmp_path, NearWorkers(encode=lambda *arguments: Failure(reason="CUDA error 700 (layers.py, line 9)"))
    )
    assert outcome.state == "made" and sorted(crewed.encoded(tmp_path)) == list(range(3 * crewed.ITEMS))
    assert [line for line in lines if "CUDA error 700 (layers.py, line 9)" in line and "this process" in line]


def test_a_run_whose_items_are_stored_needs_no_workers(tmp_path: Path) -> None:
    """Of two runs, the items of the first are stored before the workers are lost."""

    def load(task: Task, options: Mapping[str, Any]) -> dict[str, Data]:
        if task.key == "unisim/near":
            return {"default": crewed.data()}
        sides = [items.images([square((row, side, 99)) for row in range(4)], of=f"side {side}") for side in range(3)]
        names = tuple(f"other {row}" for row in range(4))
        answer = crewed.data().answer[:4]
        return {
            "default": Choices(
                names=names, reference=sides[0], alternatives=tuple(sides[1:]), answer=answer, question="reference"
            )
        }

    change = partial(replace, load=load)
    assert execute(tmp_path, None, change=change, results="before")[0][0].state == "made"
    outcomes, _ = execute(tmp_path, NearWorkers(encode=lost), change=change, tasks=("unisim/near", "unisim/fine"))
    states = {outcome.job.task.key: outcome.state for outcome in outcomes}
    assert states == {"unisim/near": "made", "unisim/fine": "failed"}


@pytest.mark.parametrize("encode", [None, lambda *arguments: Failure(reason="broken")], ids=["sound", "failed"])
def test_the_workers_end_before_a_procedure_runs(tmp_path: Path, encode: Callable[..., Any] | None) -> None:
    """It may need the model in this process, on a device that has no room for it twice."""
    workers = NearWorkers(encode=encode)
    seen: list[bool] = []

    def procedure(*arguments: Any) -> Any:
        seen.append(workers.running)
        return choice.PROCEDURE.run(*arguments)

    watched = {"choice": replace(choice.PROCEDURE, run=procedure)}
    [outcome], _ = execute(tmp_path, workers, change=partial(replace, procedures=watched))
    assert outcome.state == "made" and seen == [False]
