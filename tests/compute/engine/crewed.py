"""A bench that any process can make again: drawn squares, and a model that logs every batch and can be told to fail.

The folder holds what the tests read and write: `log` has a line a batch, its process and the numbers of its items. A
file `hold` has the worker that sees it first wait for the file `go`, and `full` fills its disk.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from compute.content import items
from compute.engine.bench import Bench
from compute.features import shards
from compute.models.adapter import Hardware
from compute.tasks.data import Choices, Data
from compute.types import Model, Task
from tests.compute.engine import remade_bench
from tests.compute.small_bench import square

ITEMS = 96  # of each side; all are distinct
BATCH = 4


def data() -> Choices:
    """Pairs beside a reference, all of one colour each."""
    return remade_bench.choices(
        [items.images([square((row, side, 9)) for row in range(ITEMS)], of=f"side {side}") for side in range(3)]
    )


class Logged:
    """Vectors that depend on the batch they are made in, so that batches cut otherwise show."""

    multi_vector = False
    settings: Mapping[str, Any] = {"pixel": "first"}

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def prepare(self, modality: str, item: Any) -> np.ndarray:
        return np.array([*item.getpixel((0, 0)), 1], dtype=np.float32)

    def embed(self, modality: str, prepared: Sequence[np.ndarray]) -> np.ndarray:
        numbers = " ".join(str(int(row[1]) * ITEMS + int(row[0])) for row in prepared)
        os.write(self.log, f"{os.getpid()} {numbers}\n".encode())
        if self.takes("full"):
            shards.put = full
        if self.takes("hold"):
            (self.folder / "held").write_text(str(os.getpid()))
            while not (self.folder / "go").exists():
                time.sleep(0.02)
        stacked = np.stack(prepared)
        return stacked + np.float32(0.01) * stacked.mean(axis=0)

    def takes(self, name: str) -> bool:
        """Whether this process is the one that the file is for: the first to rename it."""
        try:
            os.rename(self.folder / name, self.folder / f"{name}-{os.getpid()}")
        except FileNotFoundError:
            return False
        return True


def full(handle: Any, data: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def load_items(task: Task, options: Mapping[str, Any]) -> dict[str, Data]:
    return {"default": data()}


def load(folder: Path, row: Model, *, hardware: Hardware) -> Logged:
    return Logged(folder)


def bench(folder: Path, *, features: Path, device: str = "cpu") -> Bench:
    """The bench; every process of a run makes its own."""
    return remade_bench.bench(
        features=features,
        device=device,
        batch_size=BATCH,
        load=partial(load, folder),
        load_items=load_items,
        recipe=partial(bench, folder, features=features),
    )


def encoded(folder: Path) -> list[int]:
    """The number of every item that was encoded, as often as it was."""
    lines = (folder / "log").read_text().splitlines() if (folder / "log").exists() else []
    return [int(number) for line in lines for number in line.split()[1:]]


def processes(folder: Path) -> set[int]:
    """The processes that encoded."""
    return {int(line.split()[0]) for line in (folder / "log").read_text().splitlines()}
