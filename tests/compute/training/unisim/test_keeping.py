"""Generalisation kept in training: weights between base and tuned model, terms of the loss, and the final report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image

from compute.catalog import shipped
from compute.interface import training_report
from compute.models.adapter import Hardware
from compute.tasks.source import Source
from compute.training.unisim import curves, held_out, trainable
from compute.training.unisim.checkpoints import StepMeasurement
from compute.training.unisim.curves import TaskChange
from compute.training.unisim.data.examples import QUALITY_PROMPT
from compute.training.unisim.evaluation import HeldOutTask
from compute.training.unisim.results import TABLE_END, TABLE_START, TrainingResult
from compute.training.unisim.steps import preserving
from compute.training.unisim.trainable import DualEncoder
from compute.types import BadInput, LikenessError, Model
from tests.compute.training.unisim import small_training
from tests.compute.training.unisim.small_training import PLAN

FULL = replace(PLAN, tune="full", learning_rate=3e-4)
PLANS = {"lora": PLAN, "full": FULL, "both": replace(FULL, towers="both")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random base."""
    return tmp_path_factory.mktemp("base") / "clip"


def prepared(encoder: DualEncoder) -> list:
    pictures = (Image.effect_noise((40, 40), 60 + 20 * at).convert("RGB") for at in range(4))
    torch.manual_seed(0)
    return [encoder.prepared(picture) for picture in pictures]


def vectors(encoder: DualEncoder, images: list) -> torch.Tensor:
    encoder.training(False)
    with torch.no_grad():
        return encoder.image_vectors(images)


def trained_on(encoder: DualEncoder) -> tuple[list, tuple[torch.Tensor, torch.Tensor]]:
    """The images of the training sets, prepared, and the vectors of their captions, tuned and of the base."""
    contents = [content for part in small_training.sets() for row in range(len(part)) for content in part[row].contents]
    images = [encoder.prepared(content.image()) for content in contents if content.modality == "image"]
    texts = [content.text() for content in contents if content.modality == "text"]
    stated = [text for text in texts if text != QUALITY_PROMPT]
    with torch.no_grad():
        return images, (encoder.text_vectors(stated), encoder.base_vectors(images, stated)[1])


@pytest.mark.parametrize("tune", PLANS)
def test_interpolation_ends_at_the_base(tune: str, folder: Path, tmp_path: Path) -> None:
    """A share of 1 gives the base's vectors, 0 the tuned ones; between them the distance falls."""
    encoder = small_training.base(folder)
    plan = replace(PLANS[tune], keep="interpolate", strength=0.0)
    small_training.trained(tmp_path / "run", encoder, plan=plan)
    images = prepared(encoder)
    tuned, base = vectors(encoder, images), vectors(small_training.base(folder), images)
    assert not torch.allclose(tuned, base, atol=1e-4)
    distances = []
    for share in (0.0, 0.5, 1.0):
        with trainable.moved_towards_base(encoder, base_share=share):
            mixed = vectors(encoder, images)
        distances.append(float((mixed - base).square().sum()))
    assert distances[0] > distances[1] > distances[2] and distances[2] == pytest.approx(0, abs=1e-10)
    assert torch.equal(vectors(encoder, images), tuned)  # as they were
    trainable.move_towards_base(encoder, base_share=1.0)
    assert torch.allclose(vectors(encoder, images), base, atol=1e-5)


def test_the_plan_s_share_is_in_the_tuned_model(folder: Path, tmp_path: Path) -> None:
    """The same run, stored with a share of 0.5, is the plain run moved half way."""
    images, moved = None, []
    for name, keep in (("plain", "none"), ("mixed", "interpolate")):
        encoder = small_training.base(folder)
        images = images or prepared(encoder)
        strength = 0.5 if keep == "interpolate" else 0.0
        small_training.trained(tmp_path / name, encoder, plan=replace(PLAN, keep=keep, strength=strength))
        if keep == "none":
            trainable.move_towards_base(encoder, base_share=0.5)
        moved.append(vectors(encoder, images))
    assert torch.equal(*moved)


def test_full_tuning_without_the_base_s_copy_is_not_interpolated(folder: Path, tmp_path: Path) -> None:
    encoder = small_training.base(folder)
    small_training.trained(tmp_path / "run", encoder, plan=replace(FULL, samples=4))
    with pytest.raises(LikenessError, match="base's weights were not stored"):
        trainable.move_towards_base(encoder, base_share=0.5)


@pytest.mark.parametrize("tune", PLANS)
@pytest.mark.parametrize("keep", ["distill", "features"])
def test_a_term_of_the_loss_holds_the_model_near_its_base(tune: str, keep: str, folder: Path, tmp_path: Path) -> None:
    """The same steps with the term end nearer to the base, by what the term measures, on the images trained on."""
    far = []
    for strength in (0.0, 100.0):
        encoder = small_training.base(folder)
        plan = replace(PLANS[tune], keep=keep, strength=strength, samples=64, dropout=0.0)
        terms = preserving.penalties(plan.keep, plan.strength)
        run, _ = small_training.trained(tmp_path / f"{strength}", encoder, plan=plan, penalties=terms)
        assert [keep in line for line in run.losses()] == [bool(strength)] * plan.steps
        if tune != "lora" and not strength:
            encoder.frozen = small_training.base(folder)
        images, captions = trained_on(encoder)
        term = preserving.penalty(
            keep, tuned=vectors(encoder, images), base=encoder.base_vectors(images)[0], captions=captions
        )
        far.append(float(term))
    assert far[1] < far[0] / 2


# ---- the final report

UNKNOWN = float("nan")
ROWS = [
    TaskChange(key="core", title="Core", side="core", before=0.9, after=0.95, low=0.01, high=0.09),
    TaskChange(key="mini/quality", title="Quality", side="core", before=0.9, after=0.95, low=UNKNOWN, high=UNKNOWN),
    TaskChange(key="ood", title="Out of distribution", side="ood", before=0.9, after=0.8, low=-0.12, high=-0.08),
]


def finished(folder: Path) -> TrainingResult:
    (folder / "training").mkdir(parents=True, exist_ok=True)
    if not (folder / "README.md").exists():
        (folder / "README.md").write_text(f"Before.\n\n{TABLE_START}\n{TABLE_END}\n\nAfter.\n", encoding="utf-8")
    return TrainingResult(
        folder=folder,
        base="tiny",
        plan=PLAN,
        steps=6,
        best=3,
        stopped="",
        seconds=1.0,
        measurements=tuple(
            StepMeasurement(step=step, core=core, ood=ood, tasks={})
            for step, core, ood in ((0, 0.9, 0.9), (3, 0.95, 0.85), (6, 0.94, 0.8))
        ),
        losses=(),
    )


@pytest.fixture
def present(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks whose data is here."""
    keys = ["mini/quality"]

    def items(suite: str, *, source: Source) -> tuple[list[HeldOutTask], dict[str, str]]:
        return [HeldOutTask(task=shipped().task(key), data={}) for key in keys], {"mini/shapes": "it is not here"}

    monkeypatch.setattr(held_out, "evaluation_items", items)
    return keys


def report(folder: Path, printed: list[str]) -> TrainingResult:
    return training_report.added(
        finished(folder),
        base=Model(key="tiny", title="Tiny"),
        tuned=Model(key="tuned", title="Tuned"),
        suite="mini",
        source=Source(offline=True),
        hardware=Hardware(device="cpu", dtype="float32"),
        report=printed.append,
    )


def test_the_table_is_printed_stored_and_drawn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: list[str]
) -> None:
    measured: list[int] = []
    monkeypatch.setattr(training_report, "compared", lambda *rows, **more: measured.append(1) or ROWS)
    for _ in range(2):
        printed: list[str] = []
        result = report(tmp_path / "tuned", printed)
        assert "1 tasks of mini are not measured, such as mini/shapes: it is not here" in printed[0]
        assert (
            printed[1:-1] == curves.lines(ROWS, title="The suite's own items, %")
            and result.changes[0] == ROWS[0]
            and len(result.changes) == 3
        )
    assert measured == [1]
    page = (tmp_path / "tuned" / "training.html").read_text(encoding="utf-8")
    assert "from 90.0 to 95.0" in page and "from 90.0 to 80.0" in page and "Step 3 was stored" in page
    key = page.partition('<p class="key">')[2].partition("</p>")[0]
    assert "Core 95.0" in key and "Out of distribution 85.0" in key, "of the stored step, not of the last"
    card = (tmp_path / "tuned" / "README.md").read_text(encoding="utf-8")
    assert card.count("| **Core** | 90.0 | 95.0 | +5.0 | +1.0 to +9.0 |") == 1 and card.endswith("\nAfter.\n")


def test_a_task_whose_data_came_later_is_measured_and_one_whose_data_went_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: list[str]
) -> None:
    monkeypatch.setattr(training_report, "compared", lambda *rows, **more: ROWS)
    report(tmp_path / "tuned", [])
    more = [*ROWS, replace(ROWS[1], key="mini/contrast", title="Contrast", side="ood", before=0.7, after=0.6)]
    monkeypatch.setattr(training_report, "compared", lambda *rows, **given: more)
    present.append("mini/contrast")
    assert report(tmp_path / "tuned", []).changes == tuple(more)
    card = (tmp_path / "tuned" / "README.md").read_text(encoding="utf-8")
    assert card.count("| **Core** |") == 1 and "| Contrast | 70.0 | 60.0 |" in card and card.endswith("\nAfter.\n")
    monkeypatch.setattr(training_report, "compared", None)
    del present[0]
    assert len(report(tmp_path / "tuned", []).changes) == 4


def test_a_damaged_table_says_what_to_remove(tmp_path: Path) -> None:
    finished(tmp_path / "tuned")
    path = tmp_path / "tuned" / "training" / training_report.EVALUATION
    path.write_text(json.dumps([{"key": "core"}]), encoding="utf-8")
    with pytest.raises(BadInput, match=r"evaluation.json is damaged .* Remove it"):
        report(tmp_path / "tuned", [])


def test_the_similarities_of_a_single_image_are_kept():
    alone = torch.nn.functional.normalize(torch.ones(1, 4), dim=-1)
    assert float(preserving.similarity_distance(alone, alone.flip(1))) == 0.0
