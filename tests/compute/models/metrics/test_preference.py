"""Preference models from tiny random checkpoints in their public file layout, against direct calls of the libraries."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from torchvision import transforms
from transformers import AutoProcessor, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer

from compute.models import load
from compute.models.metrics import preference
from compute.types import BadInput, CannotDo
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, embedded, noise

TEXTS = ["a dog", "two birds sit on a wire", "red and black"]
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
row = partial(checkpoints.row, "tiny", "preference")
PICTURES = noise((40, 60), (91, 30), (32, 32))


def same(found: np.ndarray, wanted: torch.Tensor) -> None:
    wanted = wanted.detach().numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=1e-4)
    cosine = (found * wanted).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(wanted, axis=1)
    np.testing.assert_allclose(cosine, 1, atol=1e-5)
    assert np.abs(found[0] - found[1]).max() > 1e-3


# HPSv2


@pytest.fixture(scope="module")
def hpsv2(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.nn.Module]:
    folder = checkpoints.open_clip(tmp_path_factory.mktemp("made") / "hpsv2")
    model = open_clip.create_model(f"local-dir:{folder}").eval()
    torch.save({"epoch": 1, "state_dict": model.state_dict()}, folder / "HPS_v2_compressed.pt")
    return folder, model


def test_hpsv2_is_the_open_clip_call(hpsv2: tuple) -> None:
    """Reference: OpenCLIP's model on images fitted and padded by torchvision, whose square one has no margin."""
    folder, model = hpsv2
    encoder = preference.load_hpsv2(row(), CPU, folder)
    shown = []
    for image, (height, width) in zip(PICTURES, [(32, 21), (11, 32), (32, 32)], strict=True):
        small = transforms.functional.resize(
            transforms.functional.to_tensor(image),
            [height, width],
            transforms.InterpolationMode.BICUBIC,
            antialias=True,
        )
        canvas = torch.zeros(3, 32, 32)
        top, left = (32 - height) // 2, (32 - width) // 2
        canvas[:, top : top + height, left : left + width] = small
        shown.append(transforms.functional.normalize(canvas, MEAN, STD))
    with torch.no_grad():
        same(embedded(encoder, "image", PICTURES), model.encode_image(torch.stack(shown)))
        same(embedded(encoder, "text", TEXTS), model.encode_text(open_clip.get_tokenizer(f"local-dir:{folder}")(TEXTS)))
    json.dumps(encoder.settings)


def test_hpsv2_says_what_is_wrong_with_its_files(hpsv2: tuple, tmp_path: Path) -> None:
    folder, _ = hpsv2
    (tmp_path / "open_clip_config.json").write_bytes((folder / "open_clip_config.json").read_bytes())
    torch.save({"state_dict": {"visual.proj": torch.zeros(3)}}, tmp_path / "HPS_v2_compressed.pt")
    with pytest.raises(BadInput, match="does not fit"):
        preference.load_hpsv2(row(), CPU, tmp_path)
    torch.save({"state_dict": Path("/")}, tmp_path / "HPS_v2_compressed.pt")
    with pytest.raises(BadInput, match="tensors"):
        preference.load_hpsv2(row(), CPU, tmp_path)
    with pytest.raises(CannotDo, match="pair"):
        preference.load_hpsv2(row(), CPU, folder).prepare("pair", (PICTURES[0], "a dog"))


# PickScore and the aesthetic predictor


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A CLIP checkpoint, and another with nothing but a processor."""
    model, beside = tmp_path_factory.mktemp("made") / "model", tmp_path_factory.mktemp("processor")
    checkpoints.clip(model)
    parts = CLIPImageProcessor.from_pretrained(model), CLIPTokenizer.from_pretrained(model)
    CLIPProcessor(*parts).save_pretrained(beside)
    return model, beside


def test_pickscore_is_the_library_call_with_the_other_processor(clip: tuple) -> None:
    """Reference: CLIPModel's embeddings for the processor's batch, padded to its longest text, with its mask."""
    folder, beside = clip
    encoder = load(
        checkpoints.row(folder, "pickscore", processor={"weights": str(beside), "revision": ""}), hardware=CPU
    )
    model, processor = CLIPModel.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(beside)
    long = [*TEXTS, "very " * 100]
    batch = processor(text=long, images=PICTURES, padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        wanted = model(**batch, return_dict=True)
    units = [
        found / np.linalg.norm(found, axis=1, keepdims=True)
        for found in (embedded(encoder, "image", PICTURES), embedded(encoder, "text", long))
    ]
    same(units[0], wanted.image_embeds)
    same(units[1], wanted.text_embeds)
    json.dumps(encoder.settings)


def unit_embeddings(folder: Path) -> torch.Tensor:
    model, processor = CLIPModel.from_pretrained(folder), CLIPImageProcessor.from_pretrained(folder)
    with torch.no_grad():
        pooled = model.vision_model(**processor(PICTURES, return_tensors="pt")).pooler_output
        return torch.nn.functional.normalize(model.visual_projection(pooled))


@pytest.mark.parametrize("kind", ["linear", "layers"])
def test_aesthetic_is_its_head_on_the_unit_embedding(
    clip: tuple, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reference: torch's own modules with dropout, as the public predictors are built, on transformers' embedding."""
    torch.manual_seed(2)
    layer = torch.nn.Linear
    layers = torch.nn.Sequential(layer(24, 16), torch.nn.Dropout(0.2), layer(16, 1))
    head = layer(24, 1) if kind == "linear" else torch.nn.ModuleDict({"layers": layers})
    torch.save(head.state_dict(), tmp_path / "head.pth")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    model = preference.load_aesthetic(row(head={"url": (tmp_path / "head.pth").as_uri()}), CPU, clip[0])
    with torch.no_grad():
        wanted = (head if kind == "linear" else layers).eval()(unit_embeddings(clip[0]))[:, 0].numpy()
    found = model.compare(None, PICTURES)
    assert found == pytest.approx(wanted, abs=1e-5) and found.dtype == np.float64
    assert np.ptp(found) > 1e-4
