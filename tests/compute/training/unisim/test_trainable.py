"""Bases that can be tuned and that cannot, their towers' gradients, and texts that are encoded once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from compute.catalog import shipped
from compute.models import load
from compute.training.unisim import loop, trainable
from compute.types import CannotDo
from tests.compute.models import checkpoints
from tests.compute.training.unisim.small_training import CPU, PLAN, base


@pytest.mark.parametrize("tune", ["lora", "full"])
@pytest.mark.parametrize("adapter", ["clip", "siglip", "blip", "open_clip"])
def test_images_have_gradients_in_the_vision_tower_alone_and_vectors_are_the_adapter_s(
    tmp_path: Path, adapter: str, tune: str
) -> None:
    encoder = base(tmp_path / "base", adapter)
    usual = load(encoder.row, hardware=CPU)
    loop.tune(encoder, replace(PLAN, tune=tune))
    pictures = checkpoints.images()[:3]
    vectors = encoder.image_vectors([encoder.prepared(picture) for picture in pictures])
    same = torch.from_numpy(usual.embed("image", [usual.prepare("image", picture) for picture in pictures]))
    assert torch.allclose(vectors, torch.nn.functional.normalize(same, dim=-1), atol=1e-5)
    vectors[0].sum().backward()
    with_gradient = {name for name, weight in encoder.module.named_parameters() if weight.grad is not None}
    assert with_gradient and with_gradient <= encoder.parameters().keys()
    assert all(name.partition(".")[0] in encoder.family.vision for name in with_gradient)
    texts = encoder.text_vectors(["a cat", "dog"])
    assert not texts.requires_grad and texts.norm(dim=-1).tolist() == pytest.approx([1, 1])


@pytest.mark.parametrize("adapter", ["clip", "siglip", "align", "blip", "open_clip"])
def test_both_towers_have_gradients_and_texts_the_adapter_s_vectors(tmp_path: Path, adapter: str) -> None:
    """What has no gradient of the tower's weights is what its family does not use for a text's vector."""
    encoder = base(tmp_path / "base", adapter)
    usual = load(encoder.row, hardware=CPU)
    loop.tune(encoder, replace(PLAN, tune="full", towers="both"))
    texts = ["a cat", "two red squares", "a picture of a dog on green grass"]
    vectors = encoder.text_vectors(texts)
    same = torch.from_numpy(usual.embed("text", [usual.prepare("text", text) for text in texts]))
    assert torch.allclose(vectors, torch.nn.functional.normalize(same, dim=-1), atol=1e-5)
    vectors[0].sum().backward()
    trained = encoder.parameters()
    with_gradient = {name for name, weight in trained.items() if weight.grad is not None}
    of_text = {name for name in trained if name.partition(".")[0] in encoder.family.text}
    assert with_gradient <= of_text and {name.partition(".")[0] for name in with_gradient} == {
        name for name in encoder.family.text if getattr(encoder.module, name, None) is not None
    }
    unused = ("crossattention", "text_model.head", "pooler") if adapter in ("blip", "align", "siglip") else ()
    assert all(any(part in name for part in unused) for name in of_text - with_gradient)
    rest = {name for name, _ in encoder.module.named_parameters()} - trained.keys()
    assert all(name.startswith(("logit_", "temperature", "itm_head", "text_proj")) for name in rest)
    encoder.checkpoint_activations()
    encoder.training(True)
    encoder.text_vectors(texts).sum().backward()


def test_a_full_align_is_trained_with_its_norms_statistics_as_they_are(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base", "align")
    loop.tune(encoder, replace(PLAN, tune="full"))
    statistics = {name: value.clone() for name, value in encoder.module.named_buffers()}
    encoder.training(True)
    encoder.image_vectors([encoder.prepared(picture) for picture in checkpoints.images()[:3]]).sum().backward()
    assert all(torch.equal(value, statistics[name]) for name, value in encoder.module.named_buffers())


def test_each_text_is_encoded_once_and_whatever_stands_beside_it(tmp_path: Path, monkeypatch) -> None:
    encoder, again = base(tmp_path / "base"), base(tmp_path / "base")
    texts = ["a cat", "two red squares", "dog", "a cat"]
    together = encoder.text_vectors(texts)
    alone = torch.cat([again.text_vectors([text]) for text in reversed(texts)]).flip(0)
    assert torch.equal(together, alone)
    monkeypatch.setattr(encoder.towers, "embed", lambda *_: pytest.fail("a text was encoded twice"))
    assert torch.equal(encoder.text_vectors(texts[::-1]), together.flip(0))
    usual = load(encoder.row, hardware=CPU)
    reference = usual.embed("text", [usual.prepare("text", text) for text in texts])
    reference /= np.linalg.norm(reference, axis=1, keepdims=True)
    assert together.numpy() == pytest.approx(reference, abs=1e-5)


def test_what_the_base_gave_is_known_while_it_is_tuned(tmp_path: Path) -> None:
    for tune, towers in (("lora", "vision"), ("full", "vision"), ("full", "both")):
        encoder, texts = base(tmp_path / "base"), ["a cat", "two red squares"]
        text_before = encoder.text_vectors(texts)
        prepared = [encoder.prepared(picture) for picture in checkpoints.images()[:2]]
        before = encoder.image_vectors(prepared)
        loop.tune(encoder, replace(PLAN, tune=tune, towers=towers), keep_base=True)
        with torch.no_grad():
            for weight in encoder.parameters().values():
                weight += 0.1
        assert not torch.allclose(encoder.image_vectors(prepared), before, atol=1e-3)
        assert torch.allclose(encoder.base_vectors(prepared)[0], before, atol=1e-6)
        # The base's texts: the frozen tower's own, or those of the copy.
        of_base = encoder.base_vectors(prepared, texts)[1]
        assert torch.allclose(of_base, text_before, atol=1e-6) and not of_base.requires_grad
        encoder.training(False)
        alone = encoder.image_vectors(prepared), encoder.text_vectors(texts)
        assert all(map(torch.equal, encoder.vectors(prepared, texts), alone))
        assert torch.equal(encoder.text_vectors(texts), text_before) == (towers == "vision")


def test_a_base_without_a_tower_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    rows = {row.key: row for row in shipped().models}
    texts = next(row for row in rows.values() if row.abilities == ("embed_text",) and row.adapter)
    with pytest.raises(CannotDo, match="has no vision tower"):
        trainable.load(texts, hardware=CPU)
    with pytest.raises(CannotDo, match="adapter 'vision' cannot be tuned. Those of clip"):
        trainable.load(checkpoints.row(tmp_path, "vision"), hardware=CPU)
    folder = checkpoints.clip(tmp_path / "images")
    row = replace(checkpoints.row(folder, "clip"), abilities=("embed_image",), modalities=("image",))
    with pytest.raises(CannotDo, match="no text tower, which the task image-for-text needs"):
        trainable.load(row, hardware=CPU, tasks=("image-choice", "image-for-text"))
    assert trainable.load(row, hardware=CPU, tasks=("image-choice",)).towers.text is None


def test_the_cache_of_texts_holds_their_vectors_alone_and_only_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes in memory are those of the vectors; the text that is used most lately stays."""
    monkeypatch.setattr(trainable, "TEXTS", 3)
    encoder = base(tmp_path / "base")
    first = encoder.text_vectors(["a cat", "dog"])
    stored = list(encoder._texts.values())
    assert sum(vector.untyped_storage().nbytes() for vector in stored) == first.numel() * first.element_size()
    texts = [f"{color} {thing}" for color in ("red", "green", "blue") for thing in ("cat", "dog")]
    assert len(encoder.text_vectors(["a cat", *texts])) == 7  # more than are cached
    for text in texts:
        encoder.text_vectors(["a cat", text])
    assert list(encoder._texts) == [texts[-2], "a cat", texts[-1]]
    assert torch.equal(encoder.text_vectors(["dog", "a cat"]), first.flip(0))


def test_the_base_s_vectors_are_without_dropout(tmp_path: Path) -> None:
    """Also where the tower itself has dropout, which is on while the tuned model trains."""
    encoder = base(tmp_path / "base")
    images = [encoder.prepared(picture) for picture in checkpoints.images()[:3]]
    with torch.no_grad():
        expected = encoder.image_vectors(images)
    for module in encoder.module.vision_model.modules():
        if hasattr(module, "dropout") and isinstance(module.dropout, float):
            module.dropout = 0.5
    loop.tune(encoder, PLAN)
    encoder.training(True)
    assert not torch.allclose(encoder.image_vectors(images), expected, atol=1e-4)
    assert torch.allclose(encoder.base_vectors(images)[0], expected, atol=1e-5)
    assert encoder.vision_parts()[0].training
