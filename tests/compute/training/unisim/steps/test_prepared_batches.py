"""Batches that are prepared ahead: the same in threads and in processes, what goes wrong in one, and how many run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from compute.training.unisim.data import drawn_groups, mini
from compute.training.unisim.data.examples import Content, ExampleSet
from compute.training.unisim.steps import prepared_batches
from compute.training.unisim.trainable import DualEncoder
from compute.types import BadInput, LikenessError, NotHere, UnknownKey
from tests.compute.training.unisim.small_training import PLAN, base, sets


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> DualEncoder:
    return base(tmp_path_factory.mktemp("base") / "clip")


def batches(encoder: DualEncoder, parts: Sequence[ExampleSet], **more: Any) -> list[prepared_batches.Batch]:
    return list(prepared_batches.batches_ahead(encoder, parts, PLAN, start=1, end=5, **more))


def assert_same(first: list[prepared_batches.Batch], second: list[prepared_batches.Batch]) -> None:
    """The same tensors and texts; what is one object in the one is one in the other."""
    assert len(first) == len(second) == 4
    for one, other in zip(first, second, strict=True):
        assert one.keys() == other.keys()
        seen: dict[int, int] = {}
        for task in one:
            for example, again in zip(one[task], other[task], strict=True):
                assert example.preferred == again.preferred
                for content, same in zip(example.contents, again.contents, strict=True):
                    if isinstance(content, str):
                        assert content == same
                        continue
                    assert content.keys() == same.keys() == {"pixel_values"}
                    assert torch.equal(content["pixel_values"], same["pixel_values"])
                    assert seen.setdefault(id(content), id(same)) == id(same)
        assert len(set(seen.values())) == len(seen)


def test_processes_prepare_what_threads_do(encoder: DualEncoder) -> None:
    assert_same(batches(encoder, sets(), processes=0), batches(encoder, sets(), processes=2))


def test_processes_draw_for_themselves_beside_a_second_one(encoder: DualEncoder) -> None:
    parts = mini.training(count=PLAN.batch_size * 5)
    expected = batches(encoder, parts, processes=0)
    drawn_groups.group.cache_clear()
    with drawn_groups.second_process():
        given = batches(encoder, parts, processes=2)
    assert_same(expected, given)


@pytest.mark.parametrize("processes", [0, 2])
def test_what_comparing_raises_is_raised_before_its_step(encoder: DualEncoder, processes: int) -> None:
    def compare(content: Content) -> None:
        raise BadInput(f"{content.name()} is evaluated too")

    with pytest.raises(BadInput, match=r"^\S+ .* is evaluated too$"):
        batches(encoder, sets(), processes=processes, compare=compare)


def test_a_process_that_is_killed_is_said_when_its_batch_is_due(encoder: DualEncoder) -> None:
    """Not in the middle of a step of the process that trains."""
    steps = prepared_batches.batches_ahead(encoder, sets(), PLAN, start=0, end=50, processes=1)
    next(steps)
    (process,) = multiprocessing.active_children()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    time.sleep(0.1)
    with pytest.raises(LikenessError, match="prepares training images was killed.* Run the same command again"):
        list(steps)


def test_another_error_of_a_process_is_not_taken_for_its_end(encoder: DualEncoder) -> None:
    def compare(_: Content) -> None:
        raise RuntimeError("sizes differ")

    with pytest.raises(RuntimeError, match="sizes differ"):
        batches(encoder, sets(), processes=1, compare=compare)


@pytest.mark.parametrize("error", [UnknownKey("task", "x", ["y"]), NotHere("no file"), BadInput("bad")])
def test_errors_keep_their_kind_where_they_can_be_sent(error: LikenessError) -> None:
    sent = prepared_batches._sendable(error)
    assert str(sent) == str(error) and type(sent) in (type(error), LikenessError)
    assert type(sent) is type(error) or isinstance(error, UnknownKey)


def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    """With batches that nobody took, and with the training's lock, which they inherited."""
    script = """
import sys, time
from tests.compute.training.unisim import small_training
from compute.training.unisim.steps import prepared_batches
from pathlib import Path
import multiprocessing
encoder = small_training.base(Path(sys.argv[1]))
more = dict(start=0, end=99, processes=2)
steps = prepared_batches.batches_ahead(encoder, small_training.sets(), small_training.PLAN, **more)
next(steps)
print(*(child.pid for child in multiprocessing.active_children()), flush=True)
time.sleep(60)
"""
    started = subprocess.Popen([sys.executable, "-c", script, tmp_path / "base"], stdout=subprocess.PIPE, text=True)
    children = [int(pid) for pid in started.stdout.readline().split()]
    assert len(children) == 2
    started.kill()
    started.wait()
    for _ in range(100):
        if not any(Path(f"/proc/{child}").exists() for child in children):
            return
        time.sleep(0.1)
    pytest.fail("a process still prepares for nobody")


def test_no_process_is_left_by_a_training_that_stops(encoder: DualEncoder) -> None:
    steps = prepared_batches.batches_ahead(encoder, sets(), PLAN, start=0, end=50, processes=2)
    next(steps)
    assert len(multiprocessing.active_children()) == 2
    steps.close()
    assert not multiprocessing.active_children()


def test_as_many_processes_as_cores_and_shared_memory_allow(
    encoder: DualEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container's 64 MB hold no step of large images: threads prepare them."""
    (batch,) = prepared_batches.batches_ahead(encoder, sets(), PLAN, start=0, end=1)
    contents = {id(each): each for part in batch.values() for example in part for each in example.contents}
    size = sum(each["pixel_values"].nbytes for each in contents.values() if not isinstance(each, str))
    monkeypatch.setattr(prepared_batches.encoding, "workers", lambda: 16)
    for free, expected in ((10**12, 15), (2 * 2 * 3.5 * size, 3), (size, 0)):
        monkeypatch.setattr(prepared_batches.shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert prepared_batches._affordable(batch) == expected
    monkeypatch.setattr(prepared_batches, "SHARED", Path("/nowhere"))
    assert prepared_batches._affordable(batch) == 0


def test_the_steps_of_a_base_on_cuda_are_prepared_in_processes(
    encoder: DualEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first in threads, by whose size the others' are known."""
    on_cuda = replace(encoder, hardware=replace(encoder.hardware, device="cuda"))
    counts = []
    in_processes = prepared_batches._in_processes

    def counted(*given: Any, count: int) -> Any:
        counts.append(count)
        return in_processes(*given, count=count)

    monkeypatch.setattr(prepared_batches, "_in_processes", counted)
    monkeypatch.setattr(prepared_batches.encoding, "workers", lambda: 3)
    assert_same(batches(encoder, sets()), batches(on_cuda, sets()))
    assert counts == [2]
