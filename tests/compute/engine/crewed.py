"""A bench that any process can make again: drawn squares, and a model that logs every batch and can be told to fail.

The folder holds what the tests read and write: `log` has a line a batch, its process and the numbers of its items. A
file `hold` has the worker that sees it first wait for the file `go`.
"""

import os
import time

import numpy as np

from compute.content import items
from compute.engine import plan, run
from compute.engine.workspace import Bench, RunSettings
from compute.features.store import FeatureStore
from compute.features.subject import Subject
from compute.tasks.data import Choices
from compute.tasks.source import Source
from tests.compute.small_bench import CATALOG, HARDWARE, square

ITEMS = 96  # of each side; all are distinct
BATCH = 4
SHARD = 3 * BATCH
TOTAL = 3 * ITEMS


class Logged:
    """Vectors that depend on the batch they are made in, so that batches cut otherwise show."""

    settings = {"pixel": "first"}

    def __init__(self, folder):
        self.folder = folder
        self.log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def prepare(self, modality, item):
        return np.array([*item.getpixel((0, 0)), 1], dtype=np.float32)

    def embed(self, modality, prepared):
        numbers = " ".join(str(int(row[1]) * ITEMS + int(row[0])) for row in prepared)
        os.write(self.log, f"{os.getpid()} {numbers}\n".encode())
        if self.takes("hold"):
            (self.folder / "held").write_text(str(os.getpid()))
            while not (self.folder / "go").exists():
                time.sleep(0.02)
        stacked = np.stack(prepared)
        return stacked + np.float32(0.01) * stacked.mean(axis=0)

    def takes(self, name):
        """Whether this process is the one that the file is for: the first to rename it."""
        try:
            os.rename(self.folder / name, self.folder / f"{name}-{os.getpid()}")
        except FileNotFoundError:
            return False
        return True


class LoggedBench(Bench):
    """One task's items and the model that logs."""

    def load(self, task, options):
        """Pairs beside a reference, all of one colour each."""
        reference, *alternatives = [
            items.images([square((row, side, 9)) for row in range(ITEMS)], of=f"side {side}") for side in range(3)
        ]
        names, answer = tuple(f"item {row}" for row in range(ITEMS)), np.arange(ITEMS) % 2
        return {
            "default": Choices(
                names=names, reference=reference, alternatives=tuple(alternatives), answer=answer, question="reference"
            )
        }

    def identity(self, task):
        return {}

    def subject(self, row):
        return Subject(
            row,
            store=self.store,
            hardware=HARDWARE,
            batch_size=BATCH,
            threads=1,
            load=lambda row, *, hardware: Logged(self.store.folder.parent),
            identity=lambda row, *, hardware: {"model": row.key, "dtype": hardware.dtype},
        )


def execute(folder, workers=None, *, report=lambda line: None):
    """The run of one model on one task."""
    folder.mkdir(exist_ok=True)
    made = LoggedBench(
        settings=RunSettings(results=folder / "results"),
        hardware=HARDWARE,
        source=Source(offline=True),
        store=FeatureStore(folder / "features"),
    )
    planned = plan.make(CATALOG, suite="small", models=["small/eye"], tasks=["unisim/near"], bench=made)
    return run.execute(planned, bench=made, workers=workers, report=report)


def files(folder):
    """Every file of vectors, scores and evidence by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in ("features/**/*.safetensors", "results/**/*.parquet")
        for path in folder.glob(pattern)
    }


def encoded(folder):
    """The number of every item that was encoded, as often as it was."""
    lines = (folder / "log").read_text().splitlines() if (folder / "log").exists() else []
    return [int(number) for line in lines for number in line.split()[1:]]


def processes(folder):
    """The processes that encoded."""
    return {int(line.split()[0]) for line in (folder / "log").read_text().splitlines()}
