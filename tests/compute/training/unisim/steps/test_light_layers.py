"""Lighter layers: the library's vectors and gradients in float32, near to them in bfloat16, and no other precision."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from compute.models import load_trainable
from compute.training.unisim.steps import light_layers
from tests.compute.models import checkpoints
from tests.compute.training.unisim.small_training import CPU

FAMILIES = ("clip", "siglip", "align", "blip", "open_clip")


@pytest.mark.parametrize("adapter", FAMILIES)
def test_vectors_and_gradients_are_the_library_s(tmp_path: Path, adapter: str) -> None:
    """Of both towers; texts of unlike lengths, whose mask matters."""
    folder = getattr(checkpoints, adapter)(tmp_path / "base")
    made = []
    for is_light in (False, True):
        towers = load_trainable(checkpoints.row(folder, adapter), hardware=CPU)
        towers.module.eval().requires_grad_(True)
        if is_light:
            light_layers.lighten(towers.module)
        images = [towers.prepare("image", image) for image in checkpoints.images()[:3]]
        texts = [towers.prepare("text", text) for text in ("a cat", "two red squares on grass", "dog")]
        vectors = towers.run("image", images), towers.run("text", texts)
        sum(each.square().sum() for each in vectors).backward()
        gradients = {name: each.grad for name, each in towers.module.named_parameters() if each.grad is not None}
        made.append((vectors, gradients))
    (expected, expected_gradients), (given, given_gradients) = made
    assert all(torch.allclose(*pair, atol=1e-5) for pair in zip(given, expected, strict=True))
    assert given_gradients.keys() == expected_gradients.keys()
    # Keys' biases have a gradient of 0, but for rounding.
    rounding = 1e-6 * max(float(gradient.abs().max()) for gradient in expected_gradients.values())
    for name, gradient in expected_gradients.items():
        near = 1e-4 * float(gradient.abs().max()) + rounding
        assert torch.allclose(given_gradients[name], gradient, rtol=0, atol=near), name


def test_a_family_with_an_attention_of_its_own_keeps_it_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from transformers.utils import logging

    towers = load_trainable(checkpoints.row(checkpoints.blip(tmp_path / "base"), "blip"), hardware=CPU)
    logging.get_logger().addHandler(caplog.handler)
    try:
        light_layers.lighten(towers.module)
    finally:
        logging.get_logger().removeHandler(caplog.handler)
    assert not caplog.records


@pytest.mark.parametrize("adapter", FAMILIES)
def test_norms_give_the_precision_that_runs(tmp_path: Path, adapter: str) -> None:
    folder = getattr(checkpoints, adapter)(tmp_path / "base")
    towers = load_trainable(checkpoints.row(folder, adapter), hardware=CPU)
    light_layers.lighten(towers.module)
    seen = set()
    for module in towers.module.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.register_forward_hook(lambda _module, _inputs, output: seen.add(output.dtype))
    prepared = {
        "image": [towers.prepare("image", image) for image in checkpoints.images()[:2]],
        "text": [towers.prepare("text", text) for text in ("a cat", "two red squares on grass")],
    }
    for modality, items in prepared.items():
        exact = torch.nn.functional.normalize(towers.run(modality, items), dim=-1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            near = torch.nn.functional.normalize(towers.run(modality, items).float(), dim=-1)
        assert exact.dtype == torch.float32 and (exact * near).sum(-1).min() > 0.999
        # ALIGN's vision tower has norms over the batch alone.
        assert seen == (set() if (adapter, modality) == ("align", "image") else {torch.float32, torch.bfloat16})
        seen.clear()
    assert all(weight.dtype == torch.float32 for weight in towers.module.parameters())


def test_attention_is_torch_s_own() -> None:
    """Against torch's fused attention, with a mask and with dropout of all weights."""
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 5, 8)
    mask = torch.zeros(2, 1, 5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf)
    module = SimpleNamespace(training=True)
    for given in (None, mask):
        mixed, weights = light_layers.attention(module, query, key, value, given, scaling=8**-0.5)
        expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=given)
        assert torch.allclose(mixed, expected.transpose(1, 2), atol=1e-6)
        assert torch.allclose(weights.sum(-1), torch.ones(2, 4, 5))
    mixed, _ = light_layers.attention(module, query, key, value, None, scaling=1.0, dropout=1.0)
    assert not mixed.any()
    module.training = False
    assert light_layers.attention(module, query, key, value, None, scaling=1.0, dropout=1.0)[0].any()
