"""CLIP without the transformers library, against that library; and which checkpoints are left to it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from PIL import Image

from compute.models import load
from compute.models.encoders import clip
from compute.models.encoders.towers import Towers
from compute.paths import ROOT
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, LONG, TEXTS, row

BUNDLED = ROOT / "assets" / "tiny"
WORDS = (
    *TEXTS,
    LONG,
    "",
    "  A Red\tcircle,\n\n LEFT of 3 blue squares!  ",
    "don't we'll i'm <|endoftext|> he<|startoftext|>llo",
    "caf\u00e9 cafe\u0301 \u4e2d\u6587 \U0001f600 \u0130stanbul \u00df \u2014 12345",
    "word" * 60,
)
SIZES = ((64, 64), (512, 512), (65, 64), (64, 201), (700, 333), (3, 2), (1, 90), (1023, 1024))


def by_library(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Towers:
    with monkeypatch.context() as patch:
        patch.setattr(clip, "read", lambda _: None)
        return load(row(folder, "clip", **options), hardware=CPU)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With other sizes, means and activation than the bundled checkpoint."""
    return checkpoints.clip(tmp_path_factory.mktemp("checkpoints") / "clip")


def drawn(width: int, height: int) -> Image.Image:
    rng = np.random.default_rng(width * height)
    return Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


@pytest.mark.parametrize(
    ("of", "options"), [("bundled", {}), ("other", {"text_prefix": "a ", "max_tokens": 9, "normalise": True})]
)
def test_the_numbers_are_the_librarys(
    other: Path, monkeypatch: pytest.MonkeyPatch, of: str, options: dict[str, Any]
) -> None:
    """Reference: the transformers library, on texts and images of many kinds, to the last bits of float32."""
    folder = BUNDLED if of == "bundled" else other
    assert clip.read(folder), "this checkpoint is not left to the library"
    ours, theirs = load(row(folder, "clip", **options), hardware=CPU), by_library(folder, monkeypatch, **options)
    assert ours.settings == theirs.settings
    tokens = [ours.prepare("text", text) for text in WORDS]
    assert tokens == [theirs.prepare("text", text) for text in WORDS]
    np.testing.assert_allclose(ours.embed("text", tokens), theirs.embed("text", tokens), rtol=0, atol=2e-6)
    for size in SIZES:
        image = drawn(*size)
        pixels, expected = (model.prepare("image", image)["pixel_values"].numpy() for model in (ours, theirs))
        np.testing.assert_array_equal(pixels, expected)
        assert ours.seen(image) == theirs.seen(image)
    shown = [ours.prepare("image", drawn(*size)) for size in SIZES]
    np.testing.assert_allclose(ours.embed("image", shown), theirs.embed("image", shown), rtol=0, atol=2e-6)
    np.testing.assert_allclose(ours.patches(image), theirs.patches(image), rtol=0, atol=5e-6)


def change(name: str, **values: Any) -> Callable[[Path], object]:
    def write(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        for key, value in values.items():
            target = content
            *path, last = key.split("__")
            for part in path:
                target = target[part]
            target[last] = value
        (folder / name).write_text(json.dumps(content))

    return write


UNLIKE: dict[str, Callable[[Path], object]] = {
    "another resampling": change("preprocessor_config.json", resample=2),
    "a setting more": change("preprocessor_config.json", do_pad=True),
    "another activation": change("config.json", text_config__hidden_act="tanh"),
    "another tokenizer": change("tokenizer_config.json", tokenizer_class="RobertaTokenizer"),
    "a tokenizer of its own": lambda folder: (folder / "tokenizer.json").write_text("{}"),
    "cut weights": lambda folder: (folder / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}"),
}


@pytest.mark.parametrize("what", list(UNLIKE))
def test_what_is_unlike_it_is_left_to_the_library(tmp_path: Path, what: str) -> None:
    folder = Path(copytree(BUNDLED, tmp_path / "copy"))
    assert clip.read(folder)
    UNLIKE[what](folder)
    assert clip.read(folder) is None


HEAVY = ("transformers", "torchvision", "torch._dynamo", "torch._inductor", "sympy", "sklearn", "accelerate")
AS_A_SERVER = f"""
import sys
from PIL import Image
from compute.catalog import shipped
from compute.live.pool import load
model = load(next(row for row in shipped().models if row.key == "tiny"))
model.embed("text", [model.prepare("text", "a cat")])
model.embed("image", [model.prepare("image", Image.new("RGB", (90, 70)))])
model.patches(Image.new("RGB", (90, 70)))
print(*[name for name in {(*HEAVY, "scipy.stats")!r} if name in sys.modules])
"""


def test_the_bundled_model_loads_no_heavy_library_but_torch() -> None:
    """As a server loads it: these libraries would take 0.3 GB for a model of 4 MB."""
    done = subprocess.run([sys.executable, "-c", AS_A_SERVER], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
