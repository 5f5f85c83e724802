"""Shards handed to workers that are stand-ins: in what order, and when it is given up."""

from __future__ import annotations

import re
from concurrent.futures import Future
from threading import Timer
from typing import Any

import numpy as np
import pytest

from compute.engine.workers import handing
from compute.engine.workers.handing import LOSSES, HandedEncoders
from compute.engine.workers.worker import Failure
from compute.features.passes import Encoded, PlannedShard
from compute.types import LikenessError


class Lost(Exception):
    """The process is no more."""


class Dead(Lost):
    """As `Lost`, but known when a call is submitted: the process ended after its last call."""


class Scripted:
    """A worker that answers each call with the next line of a script; with a future, when that is set."""

    def __init__(self, script: list[Any], log: list[tuple[Any, ...]]) -> None:
        self.script, self.log = script, log

    def submit(self, method: str, *arguments: Any) -> Future:
        future: Future = Future()
        self.log.append((method, *(argument for argument in arguments if isinstance(argument, bool))))
        answer = self.script.pop(0)
        if isinstance(answer, Dead):
            raise answer
        if isinstance(answer, Future):
            return answer
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def name(self) -> str:
        return "process 7 on a machine"

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


def test_why_a_worker_could_not_be_made_is_said() -> None:
    """Ray's own sentence comes first, the reason last."""
    lost = Lost("The actor died because of an error raised in its creation task, ray::X\n  File x\nImportError: no y")
    handed, _, _ = encoders([lost] * (LOSSES + 1))
    with pytest.raises(LikenessError, match="lost before they have started: ImportError: no y"):
        handed.settings()


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


def test_the_shard_of_a_worker_with_a_full_disk_is_handed_on_as_begun() -> None:
    """Parts of it may be stored: they are used, and made one file with the rest."""
    handed, log, _ = encoders(
        [{}, Failure(reason="No space left", is_full=True)], [{}, Encoded(items=2), Encoded(items=1)]
    )
    assert sorted(done.items for done in handed.encode("image", shards(2), 8)) == [1, 2]
    assert [call for call in log if call[0] == "encode"] == [("encode", False), ("encode", False), ("encode", True)]


def closed_early(late: Any, *after: Any) -> tuple[HandedEncoders, list[tuple[Any, ...]]]:
    """Encoders whose first pass was closed after a bad item, while another worker was still busy: `late` is how that
    one ended, `after` what it answers then."""
    slow: Future = Future()
    bad = Encoded(items=1, bad=((b"0", "item 0", "cut short"),))
    handed, log, _ = encoders([{}, bad, Encoded(items=7), Encoded(items=7)], [{}, slow, *after])
    first = handed.encode("image", shards(3), 8)
    assert next(first) == bad
    Timer(0.05, slow.set_exception if isinstance(late, Exception) else slow.set_result, [late]).start()
    first.close()
    return handed, log


def test_a_pass_that_is_closed_early_leaves_nothing_to_the_next() -> None:
    """Its other shard ends late, and is no result of the next pass, which needs no further workers."""
    handed, log = closed_early(Encoded(items=2, bad=((b"1", "item 1", "cut short"),)))
    assert list(handed.encode("text", shards(1), 8)) == [Encoded(items=7)]
    assert log.count(("settings",)) == 2


def test_a_worker_lost_after_its_pass_was_closed_is_started_anew() -> None:
    handed, log = closed_early(Lost("killed"), {}, Encoded(items=7))
    assert list(handed.encode("text", shards(2), 8)) == [Encoded(items=7)] * 2
    assert log.count(("settings",)) == 3


def test_a_full_disk_after_a_pass_was_closed_stops_that_worker() -> None:
    handed, log = closed_early(Failure(reason="No space left", is_full=True))
    assert list(handed.encode("text", shards(1), 8)) == [Encoded(items=7)]
    assert log.count(("settings",)) == 2 and log.count(("stop",)) == 1


def test_an_interrupted_pass_waits_for_nobody() -> None:
    """Ctrl-C is not held up by a worker that is busy; `stop` ends that one."""
    handed, log, _ = encoders([{}, Encoded(items=1)], [{}, Future()])
    first = handed.encode("image", shards(2), 8)
    next(first)
    with pytest.raises(KeyboardInterrupt):
        first.throw(KeyboardInterrupt())
    handed.stop()
    assert log.count(("stop",)) == 2


def test_workers_that_died_idle_are_started_anew() -> None:
    """However many: they were not lost over the shard that shows it."""
    dead = [[{}, Dead("killed"), {}, Encoded(items=1)] for _ in range(LOSSES)]
    handed, log, _ = encoders(*dead)
    assert [done.items for done in handed.encode("image", shards(1), 8)] == [1]
    assert ("encode", True) not in log


def test_workers_that_die_idle_again_and_again_are_given_up() -> None:
    handed, _, _ = encoders([{}, Dead("killed")] * (LOSSES + 1))
    with pytest.raises(LikenessError, match="lost while they wait.*: killed"):
        list(handed.encode("image", shards(1), 8))


def test_a_run_is_attempted_by_another_worker_where_one_is_lost() -> None:
    handed, _, _ = encoders([{}, Lost("killed"), {}, "made"])
    assert handed.attempt("job", "encoding") == "made"
    handed, _, _ = encoders([{}, Lost("killed")] * LOSSES + [{}])
    with pytest.raises(LikenessError, match="lost over this run, the last by: killed"):
        handed.attempt("job", "encoding")


def test_a_shard_that_takes_many_times_as_long_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hang. Those that are as fast as the others are not reported, nor is one measured by a lost worker."""
    monkeypatch.setattr(handing, "WAITING", 0.1)
    hung: Future = Future()
    handed, _, lines = encoders([{}, hung], [{}, Encoded(items=1), Encoded(items=2)])

    def told(line: str) -> None:
        lines.append(line)
        hung.set_result(Encoded(items=3))

    handed._report = told
    assert sorted(done.items for done in handed.encode("image", shards(3), 8)) == [1, 2, 3]
    [line] = lines
    assert re.match(r"A worker has had a shard of 1 item for \d+ s, over 10 times as long as others take", line)
    assert "process 7 on a machine. If it hangs, end that process" in line


def test_what_a_lost_worker_took_measures_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing, "WAITING", 0.05)
    slow: Future = Future()
    handed, _, lines = encoders([{}, slow], [{}, Lost("killed"), {}, Encoded(items=0)])
    Timer(0.3, slow.set_result, [Encoded(items=1)]).start()
    assert sorted(done.items for done in handed.encode("image", shards(2), 8)) == [0, 1]
    assert not any("times as long" in line for line in lines)


def test_a_shard_is_not_reported_while_none_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing, "WAITING", 0.05)
    slow: Future = Future()
    handed, _, lines = encoders([{}, slow])
    Timer(0.3, slow.set_result, [Encoded(items=1)]).start()
    assert [done.items for done in handed.encode("image", shards(1), 8)] == [1] and lines == []
