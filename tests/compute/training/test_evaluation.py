"""Core and generalisation in memory: the figures of `compute run`, closed forms, and refusals that name the item."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from compute import models
from compute.catalog import shipped
from compute.content import items
from compute.engine import run_folders
from compute.engine.variants import VARIANTS
from compute.models.adapter import Hardware
from compute.tasks import mini
from compute.tasks.data import Choices
from compute.tasks.mini.album import png
from compute.tasks.source import Source
from compute.training import evaluation
from compute.training.evaluation import measured
from compute.types import BadItem, Model
from tests.compute.commands import done, likeness

TASKS = {task.key: task for task in shipped().tasks}
ROW = Model(key="in-memory", title="In memory", abilities=("embed_image", "embed_text"))


@dataclass
class Colour:
    """The mean colour of an image, as an encoder; counts what it embeds."""

    scale: float = 1.0
    count: int = 0

    def prepare(self, modality, image):
        return np.asarray(image, float).mean(axis=(0, 1))

    def embed(self, modality, prepared):
        self.count += len(prepared)
        return self.scale * np.array(prepared)


def flat(*colours):
    return items.images([png(np.full((4, 4, 3), each, np.uint8)) for each in colours], of="flat")


def choice(answer, *, key="mini/image-choice"):
    """Red and blue references; the first alternative is near the first reference, the second near the second."""
    data = Choices(
        names=("0", "1"),
        reference=flat((250, 0, 0), (0, 0, 250)),
        alternatives=(flat((200, 9, 9), (200, 9, 9)), flat((9, 9, 200), (8, 8, 200))),
        answer=np.array(answer),
    )
    return TASKS[key], {"default": data}


@pytest.mark.parametrize("answer, accuracy", [((0, 1), 1.0), ((0, 0), 0.5), ((1, 0), 0.0)])
def test_a_choice_by_nearness_embeds_each_content_once(answer, accuracy):
    encoder = Colour()
    made = measured([choice(answer)], row=ROW, encoder=encoder)
    record = json.loads(json.dumps(evaluation.record(made)))
    assert (record["core"], record["ood"]) == (accuracy, None) and encoder.count == 5
    assert record["tasks"]["mini/image-choice"]["n"] == 2


def test_a_category_counts_once():
    """Two tasks of PAA and one of OOO: the attributes are half of the average together, as in Table 3."""
    parts = [choice((0, 1), key="mini/sharpness"), choice((1, 0), key="unisim/sice-brightness"), choice((0, 1))]
    odd = replace(TASKS["mini/odd-one-out"], procedure="choice"), parts[0][1]
    made = measured([*parts, odd], row=ROW, encoder=Colour())
    assert made["weight"].tolist() == [0.25, 0.25, 1, 0.5]
    assert evaluation.average(made, "ood") == 0.75 and evaluation.average(made, "core") == 1.0


def test_a_damaged_image_and_an_embedding_that_is_not_finite_are_named():
    task, data = choice((0, 1))
    broken = replace(data["default"], reference=items.images([b"no image", b"none"], of="broken"))
    with pytest.raises(BadItem, match="broken, image 0"):
        measured([(task, {"default": broken})], row=ROW, encoder=Colour())
    with pytest.raises(BadItem, match="flat, image 0"):
        measured([(task, data)], row=ROW, encoder=Colour(scale=np.nan))


def test_the_suite_s_tasks_and_those_without_files(tmp_path):
    said = []
    assert evaluation.suite_items(source=Source(root=tmp_path, offline=True), report=said.append) == []
    assert said[0].startswith("25 tasks") and "unisim/" in said[0] and "unisim_data" in said[0]


def test_the_same_figures_as_compute_run(tmp_path):
    """The bundled model, tasks of several kinds: equal, not near."""
    quick = ("mini/quality", "mini/odd-one-out")
    results = tmp_path / "results"
    done(likeness("run", "--suite", "mini", "--models", "tiny", "--tasks", ",".join(quick), "--results", results))
    row = shipped().model("tiny")
    encoder = models.load(row, hardware=Hardware(device="cpu", dtype="float32"))
    made = measured([(TASKS[key], mini.load(TASKS[key])) for key in quick], row=row, encoder=encoder)
    stored = {
        run.run.task: run_folders.headline(run).value
        for run in map(run_folders.read, run_folders.every(results))
        # Of quality that by the prompt, which is what training asks; the other way of asking is a run of its own.
        if run.variant in ("", f"quality={VARIANTS['quality'][0]}")
    }
    assert dict(zip(made["task"], made["value"], strict=True)) == stored
