"""Dual encoders of the transformers library, each loaded by its real path and compared with the library's own call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoImageProcessor, AutoModel, AutoTokenizer, BlipForImageTextRetrieval

from compute.models import hardware, load
from compute.types import BadInput, CannotDo, NotHere
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, LONG, TEXTS, cosines, embedded, images, row

KINDS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "clip": ("clip", checkpoints.clip),
    "siglip": ("siglip", checkpoints.siglip),
    "siglip2": ("siglip", checkpoints.siglip2),
    "align": ("align", checkpoints.align),
    "blip": ("blip", checkpoints.blip),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("checkpoints")
    return {kind: write(home / kind) for kind, (_, write) in KINDS.items()}


def by_library(folder: Path, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Images and texts by transformers itself, as its own examples show it; texts in one padded batch."""
    processor, tokenizer = AutoImageProcessor.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    pixels = [processor(images=image, return_tensors="pt") for image in images()]
    length = {"clip": 16, "siglip": 16, "siglip2": 16, "align": 24, "blip": 24}[kind]
    words = tokenizer(
        [*TEXTS, LONG],
        padding="max_length" if kind.startswith("siglip") else True,
        truncation=True,
        max_length=length,
        return_tensors="pt",
    )
    with torch.no_grad():
        if kind == "blip":
            model = BlipForImageTextRetrieval.from_pretrained(folder).eval()
            # The model's own contrastive score of an image and a text is the product of what is compared here.
            seen = [
                torch.nn.functional.normalize(model.vision_proj(model.vision_model(**one)[0][:, 0]), dim=-1)
                for one in pixels
            ]
            read = torch.nn.functional.normalize(
                model.text_proj(
                    model.text_encoder(input_ids=words["input_ids"], attention_mask=words["attention_mask"])[0][:, 0]
                ),
                dim=-1,
            )
        else:
            model = AutoModel.from_pretrained(folder).eval()
            given = {"input_ids": words["input_ids"]}
            if not kind.startswith("siglip"):
                given["attention_mask"] = words["attention_mask"]
            seen = [model.get_image_features(**one).pooler_output for one in pixels]
            read = model.get_text_features(**given).pooler_output
    return torch.cat(seen).numpy(), read.numpy()


@pytest.mark.parametrize("kind", list(KINDS))
def test_vectors_are_the_librarys(folders: dict[str, Path], kind: str) -> None:
    """Reference: transformers called directly on the same images and texts, one longer than the model takes."""
    encoder = load(row(folders[kind], KINDS[kind][0]), hardware=CPU)
    seen, read = by_library(folders[kind], kind)
    shown = [encoder.prepare("image", image) for image in images()]
    words = [encoder.prepare("text", text) for text in [*TEXTS, LONG]]
    ours = encoder.embed("image", shown), encoder.embed("text", words)
    for found, expected in zip(ours, (seen, read), strict=True):
        assert found.dtype == np.float32
        assert found.shape == expected.shape
        assert np.std(expected, axis=0).max() > 1e-3, "the reference tells items apart"
        np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-5)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
    alone = np.concatenate([encoder.embed("text", [one]) for one in words])
    np.testing.assert_allclose(alone, ours[1], atol=1e-5)
    np.testing.assert_allclose(np.concatenate([encoder.embed("image", [one]) for one in shown]), ours[0], atol=1e-5)
    assert encoder.settings["image"]["image_mean"]
    assert encoder.settings["text"]["max_tokens"] == (24 if kind in ("align", "blip") else 16)


def test_an_old_checkpoint_without_safetensors(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = checkpoints.clip(tmp_path / "old", binary=True)
    old, new = (load(row(each, "clip"), hardware=CPU) for each in (folder, folders["clip"]))
    one = [new.prepare("text", TEXTS[0])]
    np.testing.assert_allclose(old.embed("text", one), new.embed("text", one), atol=1e-6)
    torch.save({"x": Path}, folder / "pytorch_model.bin")  # with code in it
    with pytest.raises((BadInput, NotHere), match="tiny-clip"):
        load(row(folder, "clip"), hardware=CPU)


def test_options_change_what_they_say(folders: dict[str, Path]) -> None:
    plain = load(row(folders["clip"], "clip"), hardware=CPU)
    led = load(row(folders["clip"], "clip", text_prefix="a photo of "), hardware=CPU)
    assert led.prepare("text", "a cat") == plain.prepare("text", "a photo of a cat")
    short = load(row(folders["clip"], "clip", max_tokens=6, normalise=True), hardware=CPU)
    assert len(short.prepare("text", LONG)) == 6
    vectors = embedded(short, "image", images())
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    half = load(row(folders["clip"], "clip"), hardware=hardware("cpu", "bf16"))
    one = [plain.prepare("text", LONG)]
    found, expected = half.embed("text", one), plain.embed("text", one)
    assert found.dtype == np.float32 and 0 < abs(found - expected).max() < 0.1
    other = load(row(folders["clip"], "clip"), hardware=replace(CPU, attention="eager"))
    assert other.module.config._attn_implementation == "eager"
    np.testing.assert_allclose(other.embed("text", one), expected, atol=1e-5)
    with pytest.raises(BadInput, match="Flash"):
        load(row(folders["clip"], "clip"), hardware=replace(CPU, attention="flash_attention_3"))
    with pytest.raises(BadInput, match="text_prefx"):
        load(row(folders["clip"], "clip", text_prefx=""), hardware=CPU)
    bare = [load(row(folders["clip"], "clip", random=True, seed=seed), hardware=CPU) for seed in (3, 3, 4)]
    first, again, other = (each.embed("text", [each.prepare("text", LONG)]) for each in bare)
    assert (first == again).all() and abs(first - other).max() > 1e-3


def test_what_cannot_be_done_is_said(folders: dict[str, Path], tmp_path: Path) -> None:
    encoder = load(row(folders["clip"], "clip"), hardware=CPU)
    with pytest.raises(CannotDo, match="pair"):
        encoder.prepare("pair", (images()[0], "a cat"))
    with pytest.raises(BadInput, match="siglip"):
        load(row(folders["clip"], "siglip"), hardware=CPU)
