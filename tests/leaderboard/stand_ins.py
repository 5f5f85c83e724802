"""Computed runs in the form that the engine leaves them, of stand-in models over drawn squares: nothing here is a score
of a real model. The procedures, the engine and the build are the real ones."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw

from compute.catalog import shipped
from compute.content import items
from compute.content.messages import Reply
from compute.database import build
from compute.engine import plan, run
from compute.engine.workspace import Bench, RunSettings
from compute.features.store import FeatureStore
from compute.features.subject import Subject
from compute.models.adapter import Hardware
from compute.tasks.data import OddOneOut
from compute.tasks.source import Need, Source
from compute.types import Model
from tests.compute.small_bench import changed

BOTH = ("embed_image", "embed_text")
EYE = Model(
    key="example/eye",
    title="Example Eye",
    adapter="eye",
    abilities=BOTH,
    modalities=("image", "text"),
    weights="example/Eye",
    revision="a" * 40,
    parameters_m=2.0,
    embed_dim=8,
)
DIM = replace(EYE, key="example/dim", title="Example Dim", options={"seed": 5})
JUDGE = Model(
    key="example/judge",
    title="Example Judge",
    kind="mllm",
    adapter="judge",
    abilities=("choose",),
    modalities=("image", "text"),
)
TASK = "unisim/imagenet-ooo"
COLOURS = {"red": (200, 40, 40), "green": (40, 160, 60), "blue": (50, 80, 200), "yellow": (220, 190, 40)}
ROWS = 60
HOSTILE = "<img src=x onerror='window.harmed=1'> (A)"  # what a judge may write


MODELS = (EYE, DIM, JUDGE)


def catalog(models=MODELS):
    """The shipped catalogue with stand-ins in it."""
    known = shipped()
    return replace(known, models=(*known.models, *models))


def execute(known, *, suite, bench, tasks=()):
    """Runs the stand-ins, which are the catalogue's last models."""
    models = [model.key for model in known.models[len(shipped().models) :]]
    planned = plan.make(known, suite=suite, models=models, tasks=tasks, bench=bench)
    for outcome in run.execute(planned, bench=bench):
        assert outcome.state in ("made", "skipped", "stored"), outcome.reason


def make(results):
    """Writes the runs of the stand-ins and thumbnails."""
    known = catalog()
    execute(known, suite=known.task(TASK).suites[0], tasks=[TASK], bench=bench(results))


def database(folder, *, models):
    """A database of the shipped figures and the folder's results, with these among its models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compute.catalog.known", lambda: catalog(models))
        return build.build(folder / "likeness.duckdb", results=folder / "results").path


def bench(results, *, load=lambda task: {"default": data(task)}, **judges):
    """`judges` makes a judge by its adapter; every other model is an Eye."""
    judges = judges or {"judge": Judge}
    made = Bench(
        settings=RunSettings(results=results),
        hardware=Hardware(device="cpu", dtype="float32"),
        source=Source(offline=True),
        store=FeatureStore(results / "features"),
    )
    return changed(
        made,
        task_options=lambda task: {},
        load=lambda task, options: load(task),
        identity=lambda task: {},
        need=lambda task: Need(repo="", revision="", bytes=0, present=True, images=None, texts=None),
        subject=lambda row: Subject(
            row,
            store=made.store,
            hardware=made.hardware,
            batch_size=32,
            load=lambda row, *, hardware: judges[row.adapter]() if row.adapter in judges else Eye(row),
            identity=identity,
        ),
    )


def identity(row, *, hardware):
    """What decides a stand-in's numbers."""
    return {
        "adapter": row.adapter,
        "version": 1,
        "weights": row.weights,
        "revision": row.revision,
        "options": row.options,
        "dtype": hardware.dtype,
        "device": hardware.device,
        "packages": {"numpy": np.__version__},
    }


class Eye:
    """Sees an image's mean colour and texture."""

    def __init__(self, row):
        self.blur = np.random.default_rng(1).normal(size=(8, 8)) * 0.35 if row.options else np.zeros((8, 8))
        self.settings = {"image_size": 24, "resize": "none", "pooling": "mean", "revision": row.revision}

    def prepare(self, modality, item):
        pixels = np.asarray(item.convert("RGB"), dtype=np.float32) / 255
        colour = pixels.mean(axis=(0, 1))
        return np.array([*colour, *(colour**2), pixels.std(), 0.2], dtype=np.float32)

    def embed(self, modality, prepared):
        vectors = np.stack(prepared)
        return (vectors - vectors.mean(axis=1, keepdims=True) + vectors @ self.blur).astype(np.float32)


class Judge:
    """Answers by lot of the item's name; some of what it says cannot be read."""

    settings = {"temperature": 0}

    def reply(self, questions):
        said = (
            "(A)",
            "The answer is (B), because its colours are nearer to those of the reference image.",
            "Both look alike to me.",
            HOSTILE,
            "B",
        )
        return [
            Reply(item=one.item, text=said[sum(map(ord, one.item)) % len(said)], input_tokens=90, output_tokens=4)
            for one in questions
        ]


def square(colour, *, mark):
    """A square of one colour with a line somewhere."""
    picture = Image.new("RGB", (24, 24), tuple(int(min(255, max(0, one))) for one in colour))
    ImageDraw.Draw(picture).line((0, mark % 24, 23, (mark * 7) % 24), fill=(255, 255, 255), width=2)
    held = io.BytesIO()
    picture.save(held, "PNG")
    return held.getvalue()


def data(task):
    """Items from a fixed seed: three squares, of which one has another colour."""
    draw = np.random.default_rng(sum(map(ord, task.key)))
    labels = draw.integers(0, len(COLOURS), ROWS)
    other = (labels + draw.integers(1, len(COLOURS), ROWS)) % len(COLOURS)
    odd, colours = draw.integers(0, 3, ROWS), np.array(list(COLOURS.values()))

    def member(at):
        shown = colours[np.where(odd == at, other, labels)] + draw.normal(0, 45, (ROWS, 3))
        return items.images([square(colour, mark=row) for row, colour in enumerate(shown)], of=f"member {at}")

    names = tuple(f"item {row:03d}" for row in range(ROWS))
    return OddOneOut(names=names, odd=odd, members=tuple(map(member, range(3))))
