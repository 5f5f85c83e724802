"""What an encoder saw of an image, against the place that its own preprocessing gives to every pixel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from compute.models import load
from compute.models.encoders import framing
from compute.models.encoders.framing import UNKNOWN, Frame, Seen
from compute.models.encoders.towers import Towers
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, SIDE, row

SHAPES = [(64, 48), (33, 71), (32, 32), (201, 40), (40, 300)]  # width, height


def slopes(width: int, height: int) -> Image.Image:
    """Red grows with x, green with y: a pixel's colours tell where it came from."""
    shown = np.zeros((height, width, 3), np.uint8)
    shown[..., 0] = np.round(np.linspace(0, 255, width))[None]
    shown[..., 1] = np.round(np.linspace(0, 255, height))[:, None]
    return Image.fromarray(shown)


def measured(encoder: Towers, width: int, height: int) -> tuple[float, float, float, float]:
    """Left, top, right, bottom by what comes out of the preprocessing: no configuration is read."""

    def values(image: Image.Image) -> np.ndarray:
        return encoder.prepare("image", image)["pixel_values"].numpy().astype(float)

    # What black and white become, in the middle, where no filling is.
    black, white = (
        values(Image.new("RGB", (width, height), (level,) * 3))[:, SIDE // 2, SIDE // 2] for level in (0, 255)
    )
    found = (values(slopes(width, height)) - black[:, None, None]) / (white - black)[:, None, None]
    ends = []
    for shown, length in ((found[0], width), (found[1].T, height)):
        line = shown[SIDE // 4 : -SIDE // 4].mean(axis=0)
        places = (line * (length - 1) + 0.5) / length  # of the pixels' centres, as fractions of the image
        inner = slice(len(line) // 4, len(line) - len(line) // 4)  # away from edges, where neighbours are lacking
        slope, start = np.polyfit(np.arange(len(line))[inner] + 0.5, places[inner], 1)
        ends.append((start, start + slope * len(line)))
    return ends[0][0], ends[1][0], ends[0][1], ends[1][1]


def processor(kind: str, **more: Any) -> Callable[[Path], Path]:
    """DINOv2's weights behind another preprocessing."""

    def write(folder: Path) -> Path:
        checkpoints.vision(folder, "dinov2")
        checkpoints.image_processor(folder, kind, **more)
        return folder

    return write


def longest(folder: Path) -> Path:
    file = checkpoints.open_clip(folder) / "open_clip_config.json"
    file.write_text(file.read_text().replace('"resize_mode": "shortest"', '"resize_mode": "longest"'))
    return folder


def timm_mode(mode: str, kept: float) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        checkpoints.timm_folder(folder, img_size=SIDE, patch_size=8, embed_dim=32, depth=1, num_heads=2, num_classes=0)
        file = folder / "config.json"
        said = file.read_text().replace('"crop_pct": 0.9', f'"crop_pct": {kept}')
        file.write_text(said.replace('"crop_mode": "center"', f'"crop_mode": "{mode}"'))
        return folder

    return write


CASES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "clip": ("clip", checkpoints.clip),
    "a larger side before the crop": ("vision", processor("BitImageProcessor", crop=True, size={"shortest_edge": 40})),
    "convnext": ("vision", processor("ConvNextImageProcessor", size={"shortest_edge": SIDE}, crop_pct=0.7)),
    "open_clip longest": ("open_clip", longest),
    "timm center": ("timm", timm_mode("center", 0.8)),
    "timm border": ("timm", timm_mode("border", 0.8)),
}


@pytest.mark.parametrize("case", list(CASES))
def test_what_is_derived_is_what_the_preprocessing_does(tmp_path: Path, case: str) -> None:
    """Reference: slopes of colour sent through the real preprocessing. Within a pixel and a half of the model's 32."""
    adapter, write = CASES[case]
    encoder = load(row(write(tmp_path / "tiny"), adapter), hardware=CPU)
    for width, height in SHAPES:
        if case.endswith(("longest", "border")) and max(width, height) > 2 * min(width, height):
            continue  # of so thin a strip too few pixels are left to measure by
        seen = encoder.seen(slopes(width, height))
        found, expected = (seen.left, seen.top, seen.right, seen.bottom), measured(encoder, width, height)
        room = [1.5 / SIDE * (high - low) for low, high in ((found[0], found[2]), (found[1], found[3]))]
        assert abs(np.subtract(found, expected)).max() < max(room), (width, height, found, expected)
        assert bool(seen.note) == (case.endswith(("longest", "border")) and width != height)


def test_closed_forms() -> None:
    """A central square of a wide image, all of a squashed one, and borders beyond a fitted one."""
    cut = Frame(resize="shortest", size=(224, 224), crop=(224, 224))
    assert cut.seen(width=448, height=224) == Seen(left=0.25, right=0.75)
    assert cut.seen(width=100, height=400) == Seen(top=0.375, bottom=0.625)
    assert Frame(resize="shortest", size=(256, 256), crop=(224, 224)).seen(width=50, height=50) == Seen(
        left=0.0625, top=0.0625, right=0.9375, bottom=0.9375
    )
    assert Frame(resize="squash", size=(224, 224)).seen(width=640, height=10) == Seen()
    fitted = Frame(resize="longest", size=(100, 100), crop=(100, 100)).seen(width=400, height=200)
    assert (fitted.left, fitted.top, fitted.right, fitted.bottom) == (0.0, -0.5, 1.0, 1.5)
    assert "borders" in fitted.note


@pytest.mark.parametrize(
    "said",
    [
        {"processor": "SomeoneElsesImageProcessor", "size": {"height": 32, "width": 32}},
        {"processor": "CLIPImageProcessor", "size": {"shortest_edge": 32}, "do_pad": True},
    ],
)
def test_what_may_differ_is_not_guessed(said: dict[str, Any]) -> None:
    assert framing.of_processor(said) is None
    assert "not known" in UNKNOWN.note
