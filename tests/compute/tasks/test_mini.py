"""The mini suite: the shape of each task's items, answers that hold, and nothing that the bundled model has seen."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from compute.catalog import shipped
from compute.content.items import Column, content_key
from compute.tasks import columns, mini
from compute.tasks.data import Choices, Clusters, Matches, OddOneOut, Probe, Retrieval, Sentences, ZeroShot
from compute.tasks.mini.album import png
from compute.training.bundled import lessons
from compute.types import Task

TASKS = {task.key: task for task in shipped().tasks if "mini" in task.suites}
SHAPES = {
    "choice": Choices,
    "odd_one_out": OddOneOut,
    "retrieval": Retrieval,
    "probe": Probe,
    "zero_shot": ZeroShot,
    "clustering": Clusters,
    "sts": Sentences,
    "matching": Matches,
    "multiple_choice": Retrieval,
}
STEPS = 6  # batches of the training that are compared


def pixels(column: Column, row: int) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(column.read(row))).convert("RGB"))


def test_the_catalogue_and_the_generator_have_the_same_tasks() -> None:
    assert set(TASKS) == set(mini.TASKS)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.key)
def test_items_are_what_the_catalogue_says(task: Task) -> None:
    """Subsets, number of items, shape for the procedure, chance level, and keys that are the contents' own."""
    data = mini.load(task)
    assert tuple(data) == task.subsets and "ynthetic" in task.notes
    assert all(type(part) is SHAPES[task.procedure] for part in data.values())
    first = next(iter(data.values()))
    counts = [_count(part) for part in data.values()]
    assert task.n_items == (sum(counts) if task.procedure == "choice" else counts[0]) and min(counts) >= 20
    if task.chance is not None:
        assert task.chance == pytest.approx(np.mean([_chance(part, task) for part in data.values()]), abs=6e-5)
    for column in columns(first):
        for row in (0, len(column) - 1):
            content = column.read(row)
            assert content_key(content) == column.keys[row] and task.key in column.name(row)
            assert isinstance(content, str) and content or pixels(column, row).shape == (64, 64, 3)


def _count(data: Any) -> int:
    if isinstance(data, Retrieval):
        return len(data.queries)
    return len(data.test.names if isinstance(data, Probe | Clusters | ZeroShot) else data.names)


def _chance(data: Any, task: Task) -> float:
    """What guessing gets: 1 / k; for nDCG the mean gain of a random order over the best one's; 1/6 for two and two."""
    match data:
        case Choices():
            return 1 / len(data.alternatives)
        case OddOneOut():
            return 1 / len(data.members)
        case Probe():
            return 1 / len(data.test.classes)
        case ZeroShot():
            return 1 / len(data.prompts)
        case Sentences():
            return 0.0
        case Matches():
            # A group of two: one of the 24 orders of four scores in four puts both pairs on top.
            return 1 / 6 if len(data.images) == len(data.captions) else 1 / max(len(data.images), len(data.captions))
    if data.candidates is not None:
        return len(data.queries) / len(data.candidates[0])
    gains = 1 / np.log2(np.arange(2, int(task.metrics[0].removeprefix("ndcg_at_")) + 2))
    relevant = np.bincount(data.relevant[0], minlength=len(data.queries))
    best = np.array([gains[:count].sum() for count in relevant])
    return float((relevant / len(data.documents) * gains.sum() / best).mean())


def test_nothing_of_the_suite_is_training_material() -> None:
    """Content keys of every image of the suite against the first batches of the bundled model's training.

    Descriptions are held apart by hash (test_drawing), so what is compared here is only a sample of the training.
    """
    suite = {
        key
        for task in TASKS.values()
        for data in mini.load(task).values()
        for column in columns(data)
        if column.modality == "image"
        for key in column.keys.tolist()
    }
    trained = {
        content_key(png(image))
        for step in range(STEPS)
        for image in lessons.lesson(seed=0, step=step, images=128).images
    }
    assert len(suite) > 5000 and len(trained) > 700 and not suite & trained


def test_instances_are_ignored_by_protocol() -> None:
    """Radenovic et al. 2018: easy and hard views count at medium; at hard only hard ones do, easy ones are ignored."""
    medium, hard = mini.load(TASKS["mini/instances"]).values()
    assert np.bincount(medium.relevant[0]).tolist() == [6] * 24 and np.bincount(hard.relevant[0]).tolist() == [3] * 24
    assert len(medium.ignored[0]) == 24 and len(hard.ignored[0]) == 4 * 24
    for data in (medium, hard):
        good, junk = (
            {(int(q), int(d)) for q, d in zip(*pairs[:2], strict=True)} for pairs in (data.relevant, data.ignored)
        )
        assert not good & junk
