"""A pass that is killed is taken up again: nothing stored is encoded twice, and the vectors are the same bit for bit.

Reference: the same pass in one go, in a store of its own.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import runpy
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from compute.content import items
from compute.content.items import Column
from compute.features import encoding, passes, shards
from compute.features.store import FeatureStore, Shelf
from compute.features.subject import LoadedSubject
from compute.models.adapter import Hardware
from compute.types import Model

ROW = Model(key="made/up", title="Made up", abilities=("embed_image", "embed_text"))
COUNT, BATCH = 400, 8
SEEDS = range(1)


def noise(count: int) -> Column:
    """Images of noise whose first pixel tells their number."""
    draw = np.random.default_rng(0)
    found = []
    for number in range(count):
        pixels = draw.integers(0, 256, (32, 32, 3), dtype=np.uint8)
        pixels[0, 0] = number % 256, number // 256, 0
        held = io.BytesIO()
        Image.fromarray(pixels).save(held, "PNG", compress_level=0)
        found.append(held.getvalue())
    return items.images(found, of="noise")


class Net:
    """A small convolutional net on two threads that appends the numbers of each batch to a log before it runs it.

    A little of the batch's mean is in every vector: batches cut otherwise would show.
    """

    settings: dict[str, Any] = {}
    multi_vector = False

    def __init__(self, log: Path) -> None:
        import torch

        torch.set_num_threads(2)
        torch.manual_seed(0)
        self.torch = torch
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.net = torch.nn.Sequential(
            torch.nn.Conv2d(3, 32, 5),
            torch.nn.GELU(),
            torch.nn.Conv2d(32, 64, 5, 3),
            torch.nn.Flatten(),
            torch.nn.Linear(64 * 64, 96),
        )

    def prepare(self, modality: str, item: Any) -> Any:
        pixels = np.asarray(item)
        number = int(pixels[0, 0, 0]) + 256 * int(pixels[0, 0, 1])
        return number, self.torch.from_numpy(pixels.copy()).permute(2, 0, 1).float().div(255).contiguous()

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray:
        os.write(self.log, (" ".join(str(number) for number, _ in prepared) + "\n").encode())
        with self.torch.inference_mode():
            found = self.net(self.torch.stack([tensor for _, tensor in prepared]))
            return (found + 0.01 * found.mean(0)).numpy()


def subject(folder: Path, log: Path) -> LoadedSubject:
    return LoadedSubject(
        ROW,
        store=FeatureStore(folder),
        hardware=Hardware(device="cpu", dtype="float32"),
        batch_size=BATCH,
        threads=2,
        load=lambda row, *, hardware: Net(log),
        identity=lambda row, *, hardware: {"model": row.key},
    )


def encode(folder: Path, log: Path) -> None:
    """One process's whole work; shards are small and written in parts, so that death finds them at every stage."""
    passes.FLUSH_SECONDS, passes.SHARD = 0.02, 7 * BATCH
    subject(folder, log).prepare([noise(COUNT)])


def encoded(log: Path) -> list[int]:
    return [int(number) for line in log.read_text().splitlines() for number in line.split()] if log.exists() else []


def stored(folder: Path, column: Column) -> set[int]:
    shelves = [Shelf(path) for path in folder.glob("*/*/image")]
    return set(np.flatnonzero(shelves[0].has(column.keys)).tolist()) if shelves else set()


@pytest.fixture(scope="module")
def server() -> ForkServerContext:
    """Processes that have torch loaded already and have not used it yet."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "numpy", "pytest", "PIL.Image", "compute.features"])
    return context


def started(server: ForkServerContext, folder: Path, log: Path) -> ForkServerProcess:
    """A process that runs `encode`; it finds this file by its path, whatever name the test runner gives it."""
    process = server.Process(target=runpy.run_path, args=(__file__, {"WORK": (folder, log)}, "__encode__"))
    process.start()
    return process


@pytest.fixture(scope="module")
def whole(server: ForkServerContext, tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The vectors of a pass that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    process = started(server, folder / "store", folder / "log")
    process.join(120)
    assert process.exitcode == 0
    assert sorted(encoded(folder / "log")) == list(range(COUNT))
    return vectors(folder / "store")


def vectors(folder: Path) -> np.ndarray:
    """Read back without a model: loading one would fail."""
    asked = LoadedSubject(
        ROW,
        store=FeatureStore(folder),
        hardware=Hardware(device="cpu", dtype="float32"),
        load=None,
        identity=lambda row, *, hardware: {"model": row.key},
    )
    return asked.embed(noise(COUNT))


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_in_the_middle_of_encoding(
    server: ForkServerContext, whole: np.ndarray, tmp_path: Path, seed: int
) -> None:
    column = noise(COUNT)
    after = int(np.random.default_rng(seed).integers(1, COUNT // BATCH - 2))
    process = started(server, tmp_path / "store", tmp_path / "first")
    until = time.monotonic() + 60
    while len(encoded(tmp_path / "first")) < after * BATCH and time.monotonic() < until:
        time.sleep(0.0005)
    process.kill()
    process.join()
    assert process.exitcode == -9
    before = stored(tmp_path / "store", column)
    assert len(before) < COUNT and before <= set(encoded(tmp_path / "first"))
    assert len(before) % BATCH == 0

    process = started(server, tmp_path / "store", tmp_path / "second")
    process.join(120)
    assert process.exitcode == 0
    assert sorted(encoded(tmp_path / "second")) == sorted(set(range(COUNT)) - before)
    assert np.array_equal(vectors(tmp_path / "store"), whole)
    assert not list(tmp_path.rglob("*.draft*"))


def test_ctrl_c_keeps_every_batch_that_was_run(server: ForkServerContext, whole: np.ndarray, tmp_path: Path) -> None:
    column = noise(COUNT)
    process = started(server, tmp_path / "store", tmp_path / "first")
    until = time.monotonic() + 60
    while len(encoded(tmp_path / "first")) < 6 * BATCH and time.monotonic() < until:
        time.sleep(0.0005)
    os.kill(process.pid, signal.SIGINT)
    process.join(10)
    assert process.exitcode == 1  # an ordinary end, by KeyboardInterrupt
    given, before = encoded(tmp_path / "first"), stored(tmp_path / "store", column)
    assert 6 * BATCH <= len(given) < COUNT
    assert set(given[:-BATCH]) <= before <= set(given)
    process = started(server, tmp_path / "store", tmp_path / "second")
    process.join(120)
    assert sorted(encoded(tmp_path / "second")) == sorted(set(range(COUNT)) - before)
    assert np.array_equal(vectors(tmp_path / "store"), whole)


class Dead(BaseException):
    """The process is no more: nothing it would still do to the disk happens."""


@contextmanager
def dying(monkeypatch: pytest.MonkeyPatch, after: int) -> Iterator[None]:
    """Everything that changes the disk works `after` times and never again."""
    left = [after]

    def once(do: Any) -> Any:
        def limited(*args: Any, **options: Any) -> Any:
            if left[0] <= 0:
                raise Dead
            left[0] -= 1
            return do(*args, **options)

        return limited

    with monkeypatch.context() as patched:
        patched.setattr(shards, "put", once(shards.put))
        patched.setattr(os, "replace", once(os.replace))
        patched.setattr(Path, "unlink", once(Path.unlink))
        patched.setattr(Path, "mkdir", once(Path.mkdir))
        patched.setattr(Path, "write_text", once(Path.write_text))
        patched.setattr(Shelf, "_note", once(Shelf._note))
        yield


class Lengths:
    """Texts as numbers that depend on the batch they are in; counts what it is given."""

    settings: dict[str, Any] = {}
    multi_vector = False

    def __init__(self) -> None:
        self.given: list[str] = []

    def prepare(self, modality: str, item: str) -> str:
        return item

    def embed(self, modality: str, prepared: Sequence[str]) -> np.ndarray:
        if "x" * 10 + "y" in prepared and len(prepared) > 2:
            raise RuntimeError("CUDA error: out of memory")
        self.given += prepared
        found = np.array([[len(text), sum(map(ord, text))] for text in prepared], dtype=np.float32)
        found[np.array(["broken" in text for text in prepared])] = np.nan
        return found + 0.01 * np.nan_to_num(found).mean(0)


@pytest.mark.parametrize(("flush_seconds", "shard"), [(100, 2048), (0, 7)])
def test_dead_at_any_step_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flush_seconds: float, shard: int
) -> None:
    """Death before every single change of the disk, one after another.

    Among the texts are a blank one and a broken one, and half way the memory is spent and batches are halved.
    """
    monkeypatch.setattr(passes, "FLUSH_SECONDS", flush_seconds)
    monkeypatch.setattr(passes, "SHARD", shard)
    # Each of 150 passes frees the memory; in a process of many tests that alone would take a minute.
    monkeypatch.setattr(encoding, "release", lambda: None)
    texts = [*("x" * length + "y" for length in range(20)), "broken one", " " * 40]
    column = items.texts(texts, of="texts")
    good = column.take(np.arange(20))

    def attempt(folder: Path, model: Lengths) -> LoadedSubject:
        asked = LoadedSubject(
            ROW,
            store=FeatureStore(folder),
            hardware=Hardware(device="cpu", dtype="float32"),
            batch_size=4,
            skip_bad=True,
            threads=1,
            load=lambda row, *, hardware: model,
            identity=lambda row, *, hardware: {"model": row.key},
        )
        asked.prepare([column])
        return asked

    whole = attempt(tmp_path / "whole", Lengths()).embed(good)
    for after in range(1000):
        folder = tmp_path / str(after)
        model = Lengths()
        finished = False
        with dying(monkeypatch, after):
            try:
                attempt(folder, model)
                finished = True
            except Dead:
                pass
        shelves = [Shelf(path) for path in folder.glob("*/*/text")]
        there = shelves[0].has(good.keys) if shelves else np.zeros(20, dtype=bool)
        again = Lengths()
        asked = attempt(folder, again)
        assert not {texts[place] for place in np.flatnonzero(there)} & set(again.given), after
        assert np.array_equal(asked.embed(good), whole), after
        assert len(asked.bad) == 2
        if finished:
            assert again.given == []
            break
    assert after > 10


if __name__ == "__encode__":
    encode(*WORK)  # noqa: F821 - given by `started`
