"""Core and generalisation in memory: the figures of `compute run`, closed forms, and refusals that name the item."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from compute import models
from compute.__main__ import app
from compute.catalog import shipped
from compute.content import items
from compute.engine import run_folders
from compute.engine.variants import VARIANTS
from compute.models.adapter import Hardware
from compute.tasks.data import Choices
from compute.tasks.mini.album import png
from compute.tasks.source import Source
from compute.training.unisim import held_out
from compute.training.unisim.evaluation import Evaluator, HeldOutTask, difference
from compute.types import BadInput, BadItem, Model, Task

TASKS = {task.key: task for task in shipped().tasks}
ROW = Model(key="in-memory", title="In memory", abilities=("embed_image", "embed_text"))
QUICK = ("mini/quality", "mini/text-for-image", "mini/odd-one-out", "mini/instances")


def colour(images: Sequence[Image.Image]) -> np.ndarray:
    """(n, 3): the mean colour, as an image tower."""
    return np.array([np.asarray(image, float).mean(axis=(0, 1)) for image in images])


def no_texts(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError("no text is needed")


def flat(*colours: tuple[int, int, int]) -> items.Column:
    return items.images([png(np.full((4, 4, 3), each, np.uint8)) for each in colours], of="flat")


def choice(answer: Sequence[int], *, key: str = "mini/image-choice") -> HeldOutTask:
    """Red and blue references; the first alternative is near the first reference, the second near the second."""
    data = Choices(
        names=("0", "1"),
        reference=flat((250, 0, 0), (0, 0, 250)),
        alternatives=(flat((200, 9, 9), (200, 8, 8)), flat((9, 9, 200), (8, 8, 200))),
        answer=np.array(answer),
    )
    return HeldOutTask(task=TASKS[key], data={"default": data})


@pytest.mark.parametrize(("answer", "accuracy"), [((0, 1), 1.0), ((0, 0), 0.5), ((1, 0), 0.0)])
def test_a_choice_by_nearness(answer: Sequence[int], accuracy: float) -> None:
    measured = Evaluator([choice(answer)], row=ROW, embed_texts=no_texts).measure(colour)
    assert measured.of("core") == {"mini/image-choice": accuracy} and measured.core == accuracy
    assert measured.of("ood") == {} and math.isnan(measured.ood)
    assert json.loads(json.dumps(measured.record()))["ood"] is None


def test_a_category_counts_once() -> None:
    """Two tasks of PAA and one of OOO: the attributes are half of the average together, as in Table 3."""
    parts = [
        choice((0, 1), key="mini/brightness"),
        choice((1, 0), key="mini/contrast"),
        choice((0, 1), key="mini/image-choice"),
    ]
    odd = replace(parts[0], task=replace(TASKS["mini/odd-one-out"], procedure="choice"))
    measured = Evaluator([*parts, odd], row=ROW, embed_texts=no_texts).measure(colour)
    assert measured.weights("ood") == {"mini/brightness": 0.25, "mini/contrast": 0.25, "mini/odd-one-out": 0.5}
    assert measured.ood == 0.75 and measured.core == 1.0


def test_the_difference_is_paired_by_item() -> None:
    """Two of two right against one of two: 0.5 with one item changed, and none against itself."""
    before, after = (
        Evaluator([choice(answer)], row=ROW, embed_texts=no_texts).measure(colour) for answer in ((0, 0), (0, 1))
    )
    gap = difference(after, before, "mini/image-choice")
    assert gap is not None and gap.difference == 0.5 and gap.n == 2
    same = difference(after, after, "mini/image-choice")
    assert same is not None and same.difference == 0 and same.p == 1


@pytest.mark.parametrize("frozen", [True, False])
def test_each_content_is_embedded_once_and_texts_once_for_all_measurements(frozen: bool) -> None:
    seen: dict[str, list[int]] = {"image": [], "text": []}

    def counted(modality: str, embed: Callable[[Sequence[Any]], np.ndarray]) -> Callable[[Sequence[Any]], np.ndarray]:
        def run(contents: Sequence[Any]) -> np.ndarray:
            seen[modality].append(len(contents))
            return embed(contents)

        return run

    alike = flat((1, 2, 3), (1, 2, 3), (9, 9, 9))
    data = Choices(
        names=("0", "1", "2"), alternatives=(alike, alike), answer=np.zeros(3, int), question="quality"
    )  # the same alternatives
    evaluator = Evaluator(
        [HeldOutTask(task=TASKS["mini/quality"], data={"default": data})],
        row=ROW,
        embed_texts=counted("text", lambda texts: np.ones((len(texts), 3))),
        frozen_texts=frozen,
    )
    for _ in range(2):
        assert evaluator.measure(counted("image", colour)).core == 0.5  # ties
    assert seen == {"image": [2, 2], "text": [1] if frozen else [1, 1]}


def test_a_damaged_image_and_an_embedding_that_is_not_finite_are_named() -> None:
    part = choice((0, 1))
    broken = replace(part.data["default"], reference=items.images([b"no image", b"none"], of="broken"))
    with pytest.raises(BadItem, match="broken, image 0"):
        Evaluator([replace(part, data={"default": broken})], row=ROW, embed_texts=no_texts).measure(colour)
    with pytest.raises(BadItem, match="flat, image 0: its embedding is not finite"):
        Evaluator([part], row=ROW, embed_texts=no_texts).measure(lambda images: colour(images) * np.nan)
    with pytest.raises(BadInput, match="nothing to evaluate on"):
        Evaluator([], row=ROW, embed_texts=no_texts)


def test_suites_and_their_tasks() -> None:
    assert [task.key for task in held_out.suite_tasks("mini")] == list(held_out.MINI)
    sides = [HeldOutTask(task=task, data={}).side for task in held_out.suite_tasks("unisim")]
    assert len(sides) == 25 and sides.count("core") == 16
    with pytest.raises(BadInput, match="'mieb'"):
        held_out.suite_tasks("mieb")


def test_unisim_tasks_without_files_are_listed_with_the_reason(tmp_path: Path) -> None:
    present, missing = held_out.evaluation_items("unisim", source=Source(root=tmp_path, offline=True))
    assert present == [] and len(missing) == 25 and "unisim_data" in missing["unisim/nights"]


def test_the_same_figures_as_compute_run(tmp_path: Path) -> None:
    """The bundled model, whole tasks of every kind that training measures: equal, not near."""
    results = str(tmp_path / "results")
    ran = CliRunner().invoke(
        app, ["run", "--suite", "mini", "--models", "tiny", "--tasks", ",".join(QUICK), "--results", results]
    )
    assert ran.exit_code == 0, ran.output
    row = next(model for model in shipped().models if model.key == "tiny")
    encoder = models.load(row, hardware=Hardware(device="cpu", dtype="float32"))

    def embed(modality: str) -> Callable[[Sequence[Any]], np.ndarray]:
        return lambda contents: encoder.embed(modality, [encoder.prepare(modality, each) for each in contents])

    chosen: list[Task] = [TASKS[key] for key in QUICK]
    present, missing = held_out.load(chosen, source=Source(offline=True))
    assert missing == {}
    measured = Evaluator(present, row=row, embed_texts=embed("text")).measure(embed("image"))
    stored = stored_headlines(tmp_path / "results")
    assert {key: part.value for key, part in measured.tasks.items()} == stored
    assert set(stored) == set(QUICK)


def stored_headlines(results: Path) -> dict[str, float]:
    """Task key -> the headline of the whole task, of every run below a folder: of quality that by the prompt, which
    is what training asks; the other way of asking is a run of its own."""
    runs = [run_folders.read(folder) for folder in run_folders.every(results)]
    return {
        stored.run.task: run_folders.headline(stored).value
        for stored in runs
        if stored.variant in ("", f"quality={VARIANTS['quality'][0]}")
    }
