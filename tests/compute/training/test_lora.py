"""LoRA on the vision tower: which layers, attention split and fused, and what matches nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from compute.training import lora
from compute.types import BadInput
from tests.compute.training.small_training import PLAN, base


@pytest.mark.parametrize(
    ("adapter", "layer", "count"),
    [
        ("clip", ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"), 12),
        ("siglip", ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"), 14),  # its pooling head's perceptron too
        ("blip", ("qkv", "projection", "fc1", "fc2"), 8),
    ],
)
def test_every_named_layer_of_the_vision_tower_is_changed_and_no_other(
    tmp_path: Path, adapter: str, layer: tuple[str, ...], count: int
) -> None:
    encoder = base(tmp_path / "base", adapter)
    lora.apply(encoder, PLAN)
    changed = {name.partition(".lora_")[0] for name in encoder.parameters()}
    assert {name.rpartition(".")[2] for name in changed} == set(layer) and len(changed) == count
    assert all(name.startswith("vision_model.") and ".lora_" in name for name in encoder.parameters())


def test_an_open_clip_tower_is_split_into_the_paper_s_layers(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base", "open_clip")
    blocks = len(encoder.module.visual.transformer.resblocks)
    lora.apply(encoder, PLAN)
    changed = {name.partition(".lora_")[0] for name in encoder.parameters()}
    last = {name.rpartition(".")[2] for name in changed}
    assert last == {"q_proj", "k_proj", "v_proj", "out_proj", "c_fc", "c_proj"} and len(changed) == 6 * blocks
    assert all(name.startswith("visual.") for name in changed)


def test_a_tower_of_convolutions_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="tune=full"):
        lora.apply(base(tmp_path / "align", "align"), PLAN)
