"""Shards handed to workers that are stand-ins: in what order, and when it is given up."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from compute.engine.workers.handing import LOSSES, HandedEncoders
from compute.engine.workers.worker import Failure
from compute.features.passes import Encoded, PlannedShard
from compute.types import LikenessError


class Lost(Exception):
    """The process is no more."""


class Scripted:
    """A worker that answers each call with the next line of a script."""

    def __init__(self, script: list[Any], log: list[tuple[Any, ...]]) -> None:
        self.script, self.log = script, log

    def submit(self, method: str, *arguments: Any) -> Future:
        future: Future = Future()
        self.log.append((method, *(argument for argument in arguments if isinstance(argument, bool))))
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def stop(self) -> None:
        self.log.append(("stop",))


def encoders(*scripts: list[Any]) -> tuple[HandedEncoders, list[tuple[Any, ...]], list[str]]:
    """One worker a script; one that is started anew goes on with its script."""
    log: list[tuple[Any, ...]] = []
    lines: list[str] = []
    start = [lambda script=script: Scripted(script, log) for script in scripts]
    return HandedEncoders(start, lost=(Lost,), report=lines.append), log, lines


def shards(count: int) -> list[PlannedShard]:
    return [PlannedShard(keys=np.array([f"{at}"], dtype="S32"), pending=np.ones(1, dtype=bool)) for at in range(count)]


def test_every_shard_is_handed_out_once() -> None:
    handed, log, lines = encoders([{"size": 3}, Encoded(items=1), Encoded(items=2), Encoded(items=3)])
    assert handed.settings() == {"size": 3}
    assert [done.items for done in handed.encode("image", shards(3), 8)] == [1, 2, 3]
    assert log == [("settings",), *[("encode", False)] * 3] and lines == []
    handed.stop()
    assert log[-1] == ("stop",)


def test_a_lost_workers_shard_is_handed_to_the_next_as_begun() -> None:
    handed, log, lines = encoders([{}, Lost("killed"), {}, Encoded(items=1)])
    assert [done.items for done in handed.encode("image", shards(1), 8)] == [1]
    assert log == [("settings",), ("encode", False), ("settings",), ("encode", True)]
    assert lines == ["A worker was lost; another encodes its 1 items"]


def test_a_shard_that_loses_every_worker_is_given_up() -> None:
    handed, _, _ = encoders([{}, Lost("killed"), {}, Lost("killed"), {}, Lost("out of memory")])
    with pytest.raises(LikenessError, match=f"{LOSSES} workers were lost over the same 1 items, .*out of memory"):
        list(handed.encode("image", shards(1), 8))


def test_workers_that_never_start_are_given_up() -> None:
    handed, log, _ = encoders([Lost("no interpreter") for _ in range(LOSSES + 1)])
    with pytest.raises(LikenessError, match="lost before they have started: no interpreter"):
        handed.settings()
    assert len(log) == LOSSES + 1


def test_a_model_that_cannot_be_loaded_is_tried_once() -> None:
    handed, log, _ = encoders([Failure(reason="no weights")])
    for _ in range(2):
        with pytest.raises(LikenessError, match="no weights"):
            handed.settings()
    assert log == [("settings",)]


def test_where_every_disk_is_full_the_reason_is_raised() -> None:
    full = Failure(reason="No space left", is_full=True)
    handed, log, lines = encoders([{}, full])
    with pytest.raises(LikenessError, match="No space left"):
        list(handed.encode("image", shards(2), 8))
    assert log[-1] == ("stop",) and lines == ["A worker stops: No space left"]


def test_a_run_is_attempted_by_another_worker_where_one_is_lost() -> None:
    handed, _, _ = encoders([{}, Lost("killed"), {}, "made"])
    assert handed.attempt("job", "encoding") == "made"
    handed, _, _ = encoders([{}, Lost("killed")] * LOSSES + [{}])
    with pytest.raises(LikenessError, match="lost over this run, the last by: killed"):
        handed.attempt("job", "encoding")
