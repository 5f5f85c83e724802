"""What was trained as a folder: the same model to the normal adapter, merged or as an adapter, and its card."""

from dataclasses import replace

import numpy as np
import pytest

from compute import models
from compute.models.own import checkpoints as own_checkpoints
from compute.training import exported
from compute.training.evaluation import TaskChange
from compute.types import CannotDo
from tests.compute.models import checkpoints
from tests.compute.training.small_training import CPU, PLAN, scores, sets, trained

TEXTS = ["a photo of a cat", "dog", "two red squares"]


def vectors(encoder):
    """(n, m + d): the logits, which are cosines of pictures with texts, and the pictures' own vectors.

    The small ALIGN's towers differ in length, so of it there are no logits.
    """
    seen = encoder.embed("image", [encoder.prepare("image", picture) for picture in checkpoints.images()])
    read = encoder.embed("text", [encoder.prepare("text", text) for text in TEXTS])
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (seen, read)]
    logits = [unit[0] @ unit[1].T] if unit[0].shape[1] == unit[1].shape[1] else []
    return np.concatenate([*logits, unit[0]], axis=1)


@pytest.mark.parametrize(
    "adapter, tune, save",
    [
        ("clip", "lora", "merged"),
        ("siglip", "lora", "adapter"),
        ("blip", "lora", "merged"),
        ("align", "full", "merged"),
        ("open_clip", "lora", "merged"),
        *((adapter, "both", "merged") for adapter in ("clip", "siglip", "open_clip")),
    ],
)
def test_the_stored_model_gives_the_logits_of_the_one_in_memory(bases, tmp_path, adapter, tune, save):
    encoder = bases(adapter)
    ways = {"tune": "full", "towers": "both"} if tune == "both" else {"tune": tune}
    plan = replace(PLAN, **ways, samples=8, warm_up=0, learning_rate=1e-2 if tune == "lora" else 1e-3)
    before = vectors(encoder.towers)
    parts = sets("image-choice") if adapter == "align" else sets("image-choice", "image-for-text")
    trained(tmp_path / "tuned", encoder, plan=plan, parts=parts)
    in_memory = vectors(encoder.towers)
    assert np.abs(in_memory - before).max() > 1e-3
    exported.write_model(encoder, tmp_path / "tuned", save=save)
    stored = own_checkpoints.from_folder(tmp_path / "tuned").row
    assert vectors(models.load(stored, hardware=CPU)) == pytest.approx(in_memory, abs=2e-6)
    names = {file.name for file in (tmp_path / "tuned").iterdir()}
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", "draft"))]
    assert ("adapter_model.safetensors" in names) == (save == "adapter")


CHANGE = TaskChange(key="core", title="Core", side="core", before=0.5, after=0.75, low=0.2, high=0.3)


def test_the_card_says_how_it_was_made_what_it_scored_and_what_it_has_learnt_from(bases, tmp_path):
    encoder = bases()
    folder, state = trained(tmp_path / "tuned", encoder, measure=scores((0.5, 0.4), (0.75, 0.35), (0.7, None)))
    exported.write_model(encoder, folder.path, save="merged")
    usual = encoder.row
    for of_base, learnt, named in (
        ((), ["nights", "hpdv2"], ["nights", "hpdv2"]),
        (("laion-2b", "nights"), ["nights"], ["laion-2b", "nights"]),
        (("drawn-scenes-training",), ["hpdv2"], ["drawn-scenes-training", "hpdv2"]),
    ):
        encoder.row = replace(usual, trained_on=of_base)
        data = [{"task": "quality", "dataset": dataset, "examples": 6} for dataset in learnt]
        of_data = replace(folder, identity={**folder.identity, "data": data})
        exported.write_card(encoder, of_data, state, [CHANGE], save="merged", plan=PLAN, compared="No image is of any")
        assert own_checkpoints.from_folder(folder.path).row.trained_on == tuple(named)
        card = (folder.path / "README.md").read_text()
        assert f"| quality | {learnt[0]} | 6 |" in card
    assert "| **Core** | 50.0 | 75.0 | +25.0 | +20.0 to +30.0 |" in card
    assert "step 3 of 6" in card and "| 6 | 70.0 |  |" in card
    assert all(f"| {name} |" in card for name in ("rank", "margin", "seed", "learning_rate"))
    assert "No image is of any." in card and encoder.revision in card and str(tmp_path.parent) not in card


@pytest.mark.parametrize("adapter, tune", [("clip", "full"), ("open_clip", "lora")])
def test_what_could_not_be_read_again_is_refused(tmp_path, adapter, tune):
    with pytest.raises(CannotDo, match="adapter"):
        exported.check_save(checkpoints.row(tmp_path, adapter), save="adapter", plan=replace(PLAN, tune=tune))
