"""A small world for the engine's tests: four tasks of drawn squares, and models that look at their colour."""

from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from compute import tasks
from compute.catalog import Catalog
from compute.content import items
from compute.engine import plan, run, run_folders
from compute.engine.workspace import Bench, RunSettings, once
from compute.features.store import FeatureStore
from compute.features.subject import Subject
from compute.metrics import METRICS
from compute.models.adapter import Hardware
from compute.tasks.data import Choices, OddOneOut
from compute.tasks.mini.album import png
from compute.tasks.source import Need, Source
from compute.types import Benchmark, Model, NotHere, Suite, Task

HARDWARE = Hardware(device="cpu", dtype="float32")
BOTH = ("embed_image", "embed_text")
EYE = Model(
    key="small/eye",
    title="Eye",
    adapter="eye",
    abilities=BOTH,
    modalities=("image", "text"),
    embed_dim=4,
    weights="small/Eye",
    revision="a" * 40,
    parameters_m=2.0,
)
MODELS = (
    EYE,
    replace(EYE, key="small/dim", title="Dim", weights="", revision="", parameters_m=None, options={"seed": 3}),
    Model(key="small/vision", title="Vision", adapter="eye", abilities=("embed_image",), modalities=("image",)),
    Model(
        key="small/gauge", title="Gauge", kind="metric", adapter="gauge", abilities=("compare",), modalities=("image",)
    ),
    Model(key="small/paper", title="Paper"),
)
NEAR = Task(
    key="unisim/near",
    title="near",
    benchmark="unisim",
    category="Img-2AFC",
    dataset="made/near",
    revision="b" * 40,
    procedure="choice",
    metrics=("accuracy",),
    chance=0.5,
    n_items=12,
    modalities=("image",),
    suites=("small",),
)


def _task(name, category, **changes):
    return replace(NEAR, key=f"unisim/{name}", title=name, category=category, dataset=f"made/{name}", **changes)


TASKS = (
    NEAR,
    _task("said", "Text-2AFC", modalities=("image", "text")),
    _task("fine", "IQA"),
    _task("sharp", "IQA"),
    _task("odd", "OOO", procedure="odd_one_out", chance=1 / 3),
)
SMALL = Suite(
    key="small", title="Small", benchmark="unisim", aggregate="task-mean", description="", baselines=("small/dim",)
)
CATALOG = Catalog(
    benchmarks=(Benchmark(key="unisim", title="U", paper="", url="", description="", bibtex=""),),
    suites=(SMALL,),
    tasks=TASKS,
    metrics=METRICS,
    models=MODELS,
    datasets=(),
    aliases=(),
)


def square(colour):
    return png(np.full((8, 8, 3), np.clip(colour, 0, 255), np.uint8))


def data(task):
    """Twelve items from a fixed seed: a colour, one like it, one unlike it."""
    draw = np.random.default_rng(sum(map(ord, task.key)))
    colours = draw.integers(0, 255, (12, 3))
    like, unlike = np.clip(colours + draw.normal(0, 25, (12, 3)), 0, 255), draw.integers(0, 255, (12, 3))
    right = draw.integers(0, 2, 12)
    files = {
        name: items.images([square(row) for row in rows], of=f"{task.key}, {name}")
        for name, rows in (
            ("reference", colours),
            ("first", np.where(right[:, None] == 0, like, unlike)),
            ("second", np.where(right[:, None] == 0, unlike, like)),
        )
    }
    names = tuple(f"item {row}" for row in range(12))
    if task.procedure == "odd_one_out":
        return OddOneOut(names=names, members=tuple(files.values()), odd=2 - right)
    if task.key == "unisim/said":
        said = [items.texts([f"{side} {row}" * (1 + row % 3) for row in range(12)], of=side) for side in ("a", "bb")]
        return Choices(names=names, alternatives=tuple(said), answer=right, reference=files["reference"])
    quality = task.category == "IQA"
    return Choices(
        names=names,
        alternatives=(files["first"], files["second"]),
        answer=right,
        reference=None if quality else files["reference"],
        question="quality" if quality else "reference",
    )


KEYS = {
    (column.modality, key) for task in TASKS for column in tasks.columns(data(task)) for key in column.keys.tolist()
}  # of all that the tasks show


def changed(bench, **parts):
    """The bench with other fields or methods."""
    made = copy(bench)
    vars(made).update(parts)
    return made


class Eye:
    """Sees the first pixel of an image, the letters of a text."""

    def __init__(self, world, row):
        self.world, self.turn = world, row.options.get("seed", 0)
        self.settings = {"pixel": "first"}

    def prepare(self, modality, item):
        if modality == "text":
            return np.array([len(item), sum(map(ord, item)) % 97, ord(item[0]), 1], dtype=np.float32)
        return np.array([*item.getpixel((0, 0)), 1], dtype=np.float32)

    def embed(self, modality, prepared):
        self.world.encoded += len(prepared)
        self.world.before_batch()
        return np.roll(np.stack(prepared), self.turn, axis=1) + self.turn

    def compare(self, first, second):
        left, right = (np.array([one.getpixel((0, 0)) for one in side]) for side in (first, second))
        return -np.abs(left - right).sum(axis=1).astype(float)


@dataclass
class World:
    """What the tests change: items to replace, and what happens before a batch. `encoded` counts what models saw."""

    folder: Path
    changed: dict[str, Any] = field(default_factory=dict)  # task -> its items, or an exception
    encoded: int = 0
    loaded: int = 0
    missing: str = ""  # why weights are not here

    def before_batch(self):
        """Called before each batch."""

    def bench(self, settings=None, **given):
        """With these settings, or some of a run in the world's folder."""
        settings = settings or RunSettings(**{"results": self.folder / "results", **given})
        bench = Bench(
            settings=settings,
            hardware=HARDWARE,
            source=Source(offline=True),
            store=FeatureStore(self.folder / "features"),
        )
        return changed(
            bench,
            task_options=lambda task: {},
            load=self._load,
            identity=lambda task: {"draw": 1},
            need=lambda task: Need(
                repo=task.dataset, revision=task.revision, bytes=1000, present=True, images=24, texts=0
            ),
            subject=lambda row: Subject(
                row,
                store=bench.store,
                hardware=HARDWARE,
                batch_size=4,
                skip_bad=settings.skip_bad,
                load=once(self._model),
                identity=lambda row, *, hardware: {
                    "adapter": row.adapter,
                    "revision": row.revision,
                    "options": row.options,
                    "dtype": hardware.dtype,
                },
            ),
        )

    def _load(self, task, options):
        found = self.changed.get(task.key) or data(task)
        if isinstance(found, Exception):
            raise found
        return {"default": found}

    def _model(self, row, *, hardware):
        self.loaded += 1
        if self.missing:
            raise NotHere(self.missing)
        return Eye(self, row)


def executed(
    world,
    *models,
    only=(),
    bench=None,
    workers=None,
    report=lambda line: None,
    **given,
):
    """Plans and runs the small suite, in the world's folder and with these settings."""
    bench = bench or world.bench(**given)
    planned = plan.make(CATALOG, suite="small", models=models or ("small/dim",), tasks=only, bench=bench)
    return run.execute(planned, bench=bench, workers=workers, report=report)


def figures(outcomes):
    """Every run's headline by model and task."""
    return {
        f"{one.job.model.key} {one.job.name}": run_folders.headline(one.stored).value for one in outcomes if one.stored
    }
