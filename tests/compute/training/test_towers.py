"""Bases that can be tuned and that cannot, their towers' gradients, and which layers LoRA changes."""

from dataclasses import replace
from itertools import product

import pytest
import torch

from compute.catalog import shipped
from compute.models import load
from compute.training import lora, towers
from compute.types import BadInput, CannotDo
from tests.compute.models import checkpoints
from tests.compute.training.small_training import CPU, PLAN, image_vectors

TEXTS = ["a cat", "two red squares", "a picture of a dog on green grass"]


@pytest.mark.parametrize(
    "adapter, tune",
    [  # ALIGN's tower has no layer that LoRA changes
        *product(("clip", "siglip", "blip", "open_clip"), ("lora", "both")),
        ("clip", "full"),
        *product(("align",), ("full", "both")),
    ],
)
def test_the_trained_towers_have_gradients_and_vectors_are_the_adapter_s(bases, adapter, tune):
    encoder = bases(adapter)
    usual = load(encoder.row, hardware=CPU)
    if tune == "lora":
        lora.apply(encoder, PLAN)
    else:
        encoder.unfreeze(text=tune == "both")
    statistics = {name: value.clone() for name, value in encoder.module.named_buffers()}
    images, texts = image_vectors(encoder), encoder.text_vectors(TEXTS)
    for modality, vectors, contents in (("image", images, checkpoints.images()[:4]), ("text", texts, TEXTS)):
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


def test_a_base_without_a_tower_is_refused(tmp_path):
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


@pytest.mark.parametrize(
    "adapter, layer, count",
    [
        ("clip", ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"), 12),
        ("siglip", ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"), 14),  # its pooling head's perceptron too
        ("blip", ("qkv", "projection", "fc1", "fc2"), 8),
        ("open_clip", ("q_proj", "k_proj", "v_proj", "out_proj", "c_fc", "c_proj"), 12),  # split as in the paper
    ],
)
def test_every_named_layer_of_the_vision_tower_is_changed_and_no_other(bases, adapter, layer, count):
    encoder = bases(adapter)
    lora.apply(encoder, PLAN)
    changed = {name.partition(".lora_")[0] for name in encoder.parameters()}
    assert {name.rpartition(".")[2] for name in changed} == set(layer) and len(changed) == count
    assert all(name.startswith(("vision_model.", "visual.")) and ".lora_" in name for name in encoder.parameters())


def test_a_tower_of_convolutions_alone_is_refused(bases):
    with pytest.raises(BadInput, match="tune=full"):
        lora.apply(bases("align"), PLAN)
