"""What was trained as a folder: the same model to the normal adapter, merged or as an adapter, and its card."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from compute import models
from compute.models.own import checkpoints as own_checkpoints
from compute.training.unisim import results
from compute.types import CannotDo
from tests.compute.models import checkpoints
from tests.compute.training.unisim.small_training import CPU, PLAN, base, sets, trained
from tests.compute.training.unisim.test_loop import Scores

TEXTS = ["a photo of a cat", "dog", "two red squares"]


def vectors(encoder) -> np.ndarray:
    """(n, m + d): the logits, which are cosines of pictures with texts, and the pictures' own vectors.

    The small ALIGN's towers have unlike lengths, so of it there are no logits.
    """
    seen = encoder.embed("image", [encoder.prepare("image", picture) for picture in checkpoints.images()])
    read = encoder.embed("text", [encoder.prepare("text", text) for text in TEXTS])
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (seen, read)]
    logits = [unit[0] @ unit[1].T] if unit[0].shape[1] == unit[1].shape[1] else []
    return np.concatenate([*logits, unit[0]], axis=1)


@pytest.mark.parametrize(
    ("adapter", "tune", "save"),
    [
        ("clip", "lora", "merged"),
        ("clip", "lora", "adapter"),
        ("clip", "full", "merged"),
        ("siglip", "lora", "merged"),
        ("siglip", "lora", "adapter"),
        ("blip", "lora", "merged"),
        ("align", "full", "merged"),
        ("open_clip", "lora", "merged"),
        ("open_clip", "full", "merged"),
        ("clip", "both", "merged"),
        ("siglip", "both", "merged"),
        ("blip", "both", "merged"),
        ("open_clip", "both", "merged"),
    ],
)
def test_the_stored_model_gives_the_logits_of_the_one_in_memory(
    tmp_path: Path, adapter: str, tune: str, save: str
) -> None:
    encoder = base(tmp_path / "base", adapter)
    ways = {"tune": "full", "towers": "both"} if tune == "both" else {"tune": tune}
    plan = replace(PLAN, **ways, learning_rate=1e-2 if tune == "lora" else 1e-3)
    before = vectors(encoder.towers)
    parts = sets("image-choice") if adapter == "align" else sets()
    folder, state = trained(tmp_path / "tuned", encoder, plan=plan, parts=parts)
    in_memory = vectors(encoder.towers)
    assert np.abs(in_memory - before).max() > 1e-3
    results.write(encoder, folder, state, save=save, plan=plan)
    folder.finish(state)
    stored = own_checkpoints.from_folder(tmp_path / "tuned").row
    assert vectors(models.load(stored, hardware=CPU)) == pytest.approx(in_memory, abs=2e-6)
    names = {file.name for file in (tmp_path / "tuned").iterdir()}
    assert "README.md" in names and not [name for name in names if name.endswith((".bin", ".pt", ".pkl"))]
    assert ("adapter_model.safetensors" in names) == (save == "adapter")
    left = {file.name for file in (tmp_path / "tuned" / "training").iterdir()}
    assert left == {"plan.json", "losses.jsonl", "finished.json"}


def test_an_adapter_is_of_the_vision_tower_alone_and_names_its_base(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base")
    folder, state = trained(tmp_path / "tuned", encoder)
    results.write(encoder, folder, state, save="adapter", plan=PLAN)
    config = json.loads((tmp_path / "tuned" / "adapter_config.json").read_text())
    assert (config["peft_type"], config["r"], config["lora_alpha"], config["lora_dropout"]) == ("LORA", 4, 8, 0.2)
    assert config["base_model_name_or_path"] == str(tmp_path / "base")
    assert all(".vision_model." in name for name in load_file(tmp_path / "tuned" / "adapter_model.safetensors"))


def test_the_card_says_how_it_was_made_and_what_it_scored(tmp_path: Path) -> None:
    class Measured(Scores):
        def measure(self, embed_images):
            made = super().measure(embed_images).record()
            at = len(self.vectors) - 1
            task = {"side": "core", "metric": "accuracy", "value": [0.5, 0.75, 0.7][at], "stderr": 0.01, "n": 40}
            record = {**made, "tasks": {"mini/quality": task}}
            return type("Scored", (), {"record": lambda self: record})()

    encoder = base(tmp_path / "base")
    folder, state = trained(tmp_path / "tuned", encoder, evaluator=Measured([0.5, 0.75, 0.7], [0.4, 0.35, 0.3]))
    results.write(encoder, folder, state, save="merged", plan=PLAN)
    card = (tmp_path / "tuned" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: transformers\n")
    assert "| mini/quality | core | accuracy | 50.0 | 75.0 | +25.0 |" in card
    assert "| **ood average** | ood |  | 40.0 | 35.0 | -5.0 |" in card
    assert "step 3 of 6" in card and "| image-choice | noise | 6 |" in card
    assert all(f"| {name} |" in card for name in ("rank", "margin", "seed", "learning_rate"))
    assert encoder.revision in card and str(tmp_path) not in card


@pytest.mark.parametrize(
    ("of_base", "learnt", "named"),
    [
        ((), ["nights", "hpdv2"], ["nights", "hpdv2"]),
        (("laion-2b", "nights"), ["nights", "hpdv2"], ["laion-2b", "nights", "hpdv2"]),
        (("drawn-scenes-training",), ["drawn-scenes-training, plain"], ["drawn-scenes-training"]),
        (("drawn-scenes-training",), ["hpdv2"], ["drawn-scenes-training", "hpdv2"]),
        ((), ["drawn-scenes-training"], []),
        (("laion-2b",), ["drawn-scenes-training"], ["laion-2b"]),
    ],
)
def test_the_card_names_the_training_data_so_that_scores_on_it_are_marked(
    tmp_path: Path, of_base: tuple[str, ...], learnt: list[str], named: list[str]
) -> None:
    encoder = base(tmp_path / "base")
    encoder.row = replace(encoder.row, trained_on=of_base)
    folder, state = trained(tmp_path / "tuned", encoder)
    data = [
        {**folder.identity["data"][0], "dataset": dataset, "key": dataset.removesuffix(", plain")} for dataset in learnt
    ]
    results.write(encoder, replace(folder, identity={**folder.identity, "data": data}), state, save="merged", plan=PLAN)
    assert own_checkpoints.from_folder(tmp_path / "tuned").row.trained_on == tuple(named)
    card = (tmp_path / "tuned" / "README.md").read_text()
    assert ("synthetic scenes" in card) == any("drawn-scenes-training" in dataset for dataset in learnt)


@pytest.mark.parametrize(
    ("adapter", "tune", "save", "message"),
    [
        ("clip", "full", "adapter", "Full tuning makes no adapter"),
        ("open_clip", "lora", "adapter", "'open_clip' read no LoRA adapter"),
        ("clip", "lora", "onnx", "merged or adapter, not 'onnx'"),
    ],
)
def test_what_could_not_be_read_again_is_refused_before_training(
    tmp_path: Path, adapter: str, tune: str, save: str, message: str
) -> None:
    with pytest.raises(CannotDo, match=message):
        results.check_save(base(tmp_path / "base", adapter), save=save, plan=replace(PLAN, tune=tune))
