"""Batches that are prepared ahead: the same in threads and in processes, what goes wrong in one, and how many run."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from compute.training.unisim import preparing
from compute.training.unisim.data import drawn_groups, mini
from compute.training.unisim.data.examples import Content, ExampleSet
from compute.training.unisim.trainable import DualEncoder
from compute.types import BadInput, LikenessError
from tests.compute.training.unisim.small_training import PLAN, base, sets


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> DualEncoder:
    return base(tmp_path_factory.mktemp("base") / "clip")


def batches(encoder: DualEncoder, parts: Sequence[ExampleSet], **more: Any) -> list[preparing.Batch]:
    return list(preparing.batches_ahead(encoder, parts, PLAN, start=1, end=5, **more))


def assert_same(first: list[preparing.Batch], second: list[preparing.Batch]) -> None:
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


def test_a_process_that_is_killed_is_said(encoder: DualEncoder) -> None:
    parent = os.getpid()

    def compare(_: Content) -> None:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(LikenessError, match="prepares training images was ended.* Run the same command again"):
        batches(encoder, sets(), processes=1, compare=compare)


def test_no_process_is_left_by_a_training_that_stops(encoder: DualEncoder) -> None:
    steps = preparing.batches_ahead(encoder, sets(), PLAN, start=0, end=50, processes=2)
    next(steps)
    assert len(multiprocessing.active_children()) == 2
    steps.close()
    assert not multiprocessing.active_children()


def test_as_many_processes_as_cores_and_shared_memory_allow(
    encoder: DualEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container's 64 MB hold no step of large images: threads prepare them."""
    (batch,) = preparing.batches_ahead(encoder, sets(), PLAN, start=0, end=1)
    contents = {id(each): each for part in batch.values() for example in part for each in example.contents}
    size = sum(each["pixel_values"].nbytes for each in contents.values() if not isinstance(each, str))
    monkeypatch.setattr(preparing.encoding, "workers", lambda: 16)
    for free, expected in ((10**12, 15), (2 * 2 * 3.5 * size, 3), (size, 0)):
        monkeypatch.setattr(preparing.shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert preparing._affordable(batch) == expected
    monkeypatch.setattr(preparing, "SHARED", Path("/nowhere"))
    assert preparing._affordable(batch) == 0


def test_the_steps_of_a_base_on_cuda_are_prepared_in_processes(
    encoder: DualEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first in threads, by whose size the others' are known."""
    on_cuda = replace(encoder, hardware=replace(encoder.hardware, device="cuda"))
    counts = []
    in_processes = preparing._in_processes

    def counted(*given: Any, count: int) -> Any:
        counts.append(count)
        return in_processes(*given, count=count)

    monkeypatch.setattr(preparing, "_in_processes", counted)
    monkeypatch.setattr(preparing.encoding, "workers", lambda: 3)
    assert_same(batches(encoder, sets()), batches(on_cuda, sets()))
    assert counts == [2]
