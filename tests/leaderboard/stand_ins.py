"""Computed runs in the form that the engine leaves them, of stand-in models over drawn squares: nothing here is a score
of a real model. Every kind of task has one; the procedures, the engine and the build are the real ones."""

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
from compute.tasks.data import (
    Choices,
    Clusters,
    Labelled,
    Matches,
    Mixed,
    OddOneOut,
    Probe,
    Retrieval,
    Sentences,
    ZeroShot,
)
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
# One task of every kind, by the procedure's key; two more where the form differs.
TASKS = (
    "unisim/nights",
    "unisim/imagereward",
    "unisim/kadid-10k",
    "unisim/imagenet-ooo",
    "unisim/roxford",
    "mieb/cifar10clustering",
    "mieb/sugarcrepe",
    "mieb/cifar10zeroshot",
    "mieb/cifar10",
    "mieb/sts12visualsts",
    "mieb/blinkit2imultichoice",
)
COLOURS = {"red": (200, 40, 40), "green": (40, 160, 60), "blue": (50, 80, 200), "yellow": (220, 190, 40)}
ROWS = 60
MORE = 260  # items of one task: more than get pictures
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


def make(results, *, tasks=TASKS):
    """Writes the runs of the stand-ins, each task in the first of its suites, and thumbnails."""
    known = catalog()
    for key in tasks:
        execute(known, suite=known.task(key).suites[0], tasks=[key], bench=bench(results))


def database(folder, *, results, models=MODELS, computed=build.paths.COMPUTED):
    """A database of the shipped figures and the runs under `results`, stand-ins among its models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compute.catalog.known", lambda: catalog(models))
        patch.setattr(build.paths, "COMPUTED", computed)
        return build.build(folder / "likeness.duckdb", results=results).path


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
    """Sees an image's mean colour and texture, and the colour words of a text."""

    def __init__(self, row):
        self.blur = np.random.default_rng(1).normal(size=(8, 8)) * 0.35 if row.options else np.zeros((8, 8))
        self.settings = {"image_size": 24, "resize": "none", "pooling": "mean", "revision": row.revision}

    def prepare(self, modality, item):
        if modality == "text":
            seen = [np.array(COLOURS[word]) for word in str(item).lower().split() if word in COLOURS]
            colour = np.mean(seen, axis=0) / 255 if seen else np.full(3, 0.5)
            return np.array([*colour, *(colour**2), 0.1, 0.2], dtype=np.float32)
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
    """Items from a fixed seed, in the shape of the task's procedure."""
    draw = np.random.default_rng(sum(map(ord, task.key)))
    rows = MORE if task.key == "unisim/nights" else ROWS
    classes = tuple(COLOURS)
    labels = draw.integers(0, len(classes), rows)
    names = tuple(f"item {row:03d}" for row in range(rows))

    def images(labels, spread=45, of=""):
        return items.images(
            [
                square(np.array(COLOURS[classes[label]]) + draw.normal(0, spread, 3), mark=row + len(of))
                for row, label in enumerate(labels)
            ],
            of=of or task.key,
        )

    def words(labels, of):
        return items.texts([f"a {classes[label]} square, number {row}" for row, label in enumerate(labels)], of=of)

    other = (labels + draw.integers(1, len(classes), rows)) % len(classes)
    right = draw.integers(0, 2, rows)
    first, second = np.where(right == 0, labels, other), np.where(right == 0, other, labels)
    held = Labelled(names=names, items=images(labels), labels=labels, classes=classes)
    match task.procedure:
        case "choice":
            text, quality = "text" in task.modalities, task.category == "IQA"
            return Choices(
                names=names,
                alternatives=(images(first, of="a"), images(second, of="b")),
                answer=right,
                reference=words(labels, "prompt") if text else None if quality else images(labels, of="reference"),
                question="quality" if quality else "reference",
            )
        case "odd_one_out":
            odd = draw.integers(0, 3, rows)
            return OddOneOut(
                names=names,
                odd=odd,
                members=tuple(images(np.where(odd == at, other, labels), of=f"member {at}") for at in range(3)),
            )
        case "clustering":
            return Clusters(test=held)
        case "zero_shot":
            return ZeroShot(test=held, prompts=items.texts([f"a {name} square" for name in classes], of="prompts"))
        case "probe":
            train = Labelled(names=names, items=images(labels, of="train"), labels=labels, classes=classes)
            return Probe(train=train, test=held, samples_per_label=4, draws=3)
        case "sts":
            return Sentences(
                names=names,
                first=images(labels, of="a"),
                second=images(first, of="b"),
                human=np.round(5.0 * (first == labels) - draw.uniform(0, 2, rows) * (first == labels), 1),
            )
        case "matching":
            return Matches(
                names=names, images=(images(labels, 90),), captions=(words(labels, "right"), words(other, "wrong"))
            )
    at = np.arange(rows)
    queries = Mixed(names=names, text=words(labels, "query"), text_at=at)
    both = np.concatenate([labels, other])
    pictures = tuple(f"picture {row}" for row in range(2 * rows))
    documents = Mixed(names=pictures, image=images(both, 80), image_at=np.arange(2 * rows))
    if task.procedure == "retrieval":
        alike = labels[:, None] == both[None]
        query, found = np.repeat(at, alike.sum(axis=1)), np.flatnonzero(alike) % len(both)
        return Retrieval(queries=queries, documents=documents, relevant=(query, found, np.ones(len(found))))
    pairs = np.concatenate([at, at]), np.concatenate([at, at + rows])
    return Retrieval(queries=queries, documents=documents, candidates=pairs, relevant=(at, at, np.ones(rows)))
