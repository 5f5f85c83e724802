"""Bases that can be tuned and that cannot, and their towers' gradients."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from compute.catalog import shipped
from compute.models import load
from compute.training import lora, towers
from compute.types import CannotDo
from tests.compute.models import checkpoints
from tests.compute.training.small_training import CPU, PLAN, base

TEXTS = ["a cat", "two red squares", "a picture of a dog on green grass"]


def image_vectors(encoder) -> torch.Tensor:
    prepared = [encoder.towers.prepare("image", picture) for picture in checkpoints.images()[:3]]
    return encoder.image_vectors({name: torch.stack([each[name] for each in prepared]) for name in prepared[0]})


@pytest.mark.parametrize("tune", ["lora", "full", "both"])
@pytest.mark.parametrize("adapter", ["clip", "siglip", "blip", "open_clip", "align"])
def test_the_trained_towers_have_gradients_and_vectors_are_the_adapter_s(
    tmp_path: Path, adapter: str, tune: str
) -> None:
    if (adapter, tune) == ("align", "lora"):
        pytest.skip("its tower has no layer that LoRA changes")
    encoder = base(tmp_path / "base", adapter)
    usual = load(encoder.row, hardware=CPU)
    if tune == "lora":
        lora.apply(encoder, PLAN)
    else:
        encoder.unfreeze(text=tune == "both")
    statistics = {name: value.clone() for name, value in encoder.module.named_buffers()}
    images, texts = image_vectors(encoder), encoder.text_vectors(TEXTS)
    for modality, vectors, contents in (("image", images, checkpoints.images()[:3]), ("text", texts, TEXTS)):
        same = torch.from_numpy(usual.embed(modality, [usual.prepare(modality, each) for each in contents]))
        assert torch.allclose(vectors, torch.nn.functional.normalize(same, dim=-1), atol=1e-5)
    images[0].sum().backward()
    assert texts.requires_grad == (tune == "both")
    if texts.requires_grad:
        texts[0].sum().backward()
    with_gradient = {name for name, weight in encoder.module.named_parameters() if weight.grad is not None}
    assert with_gradient and with_gradient <= encoder.parameters().keys()
    known = encoder.family.vision + (encoder.family.text if tune == "both" else ())
    assert all(name.partition(".")[0] in known for name in with_gradient)
    encoder.training(True)
    image_vectors(encoder)
    assert all(torch.equal(value, statistics[name]) for name, value in encoder.module.named_buffers()), "of norms"


def test_a_base_without_a_tower_is_refused(tmp_path: Path) -> None:
    texts = next(row for row in shipped().models if row.abilities == ("embed_text",) and row.adapter)
    with pytest.raises(CannotDo, match="vision tower"):
        towers.load(texts, hardware=CPU)
    with pytest.raises(CannotDo, match="adapter 'vision'"):
        towers.load(checkpoints.row(tmp_path, "vision"), hardware=CPU)
    folder = checkpoints.clip(tmp_path / "images")
    row = replace(checkpoints.row(folder, "clip"), abilities=("embed_image",), modalities=("image",))
    with pytest.raises(CannotDo, match="image-for-text"):
        towers.load(row, hardware=CPU, tasks=("image-choice", "image-for-text"))
    assert towers.load(row, hardware=CPU, tasks=("image-choice",)).towers.text is None
