"""The bundled CLIP without the transformers library, against that library."""

import numpy as np
import pytest

from compute.models import load
from compute.models.encoders import clip
from compute.paths import ROOT
from tests.compute.models.checkpoints import CPU, LONG, TEXTS, noise, row
from tests.serving import ended

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


def by_library(folder, monkeypatch, **options):
    with monkeypatch.context() as patch:
        patch.setattr(clip, "FOLDER", None)
        return load(row(folder, "clip", **options), hardware=CPU)


@pytest.mark.parametrize("options", [{}, {"text_prefix": "a ", "max_tokens": 9, "normalise": True}])
def test_the_numbers_are_the_librarys(monkeypatch, options):
    """Reference: the transformers library, on texts and images of many kinds, to the last bits of float32."""
    ours, theirs = load(row(BUNDLED, "clip", **options), hardware=CPU), by_library(BUNDLED, monkeypatch, **options)
    assert ours.module is None and theirs.module is not None and ours.settings == theirs.settings
    tokens = [ours.prepare("text", text) for text in WORDS]
    assert tokens == [theirs.prepare("text", text) for text in WORDS]
    np.testing.assert_allclose(ours.embed("text", tokens), theirs.embed("text", tokens), rtol=0, atol=2e-6)
    images = noise(*SIZES)
    for image in images:
        pixels, expected = (model.prepare("image", image)["pixel_values"].numpy() for model in (ours, theirs))
        np.testing.assert_array_equal(pixels, expected)
    shown = [ours.prepare("image", image) for image in images]
    np.testing.assert_allclose(ours.embed("image", shown), theirs.embed("image", shown), rtol=0, atol=2e-6)


HEAVY = ("transformers", "torchvision", "torch._dynamo", "torch._inductor", "sympy", "sklearn", "accelerate")
AS_A_SERVER = f"""
import sys
from PIL import Image
from compute.catalog import shipped
from compute.live.pool import load
model = load(next(row for row in shipped().models if row.key == "tiny"))
model.embed("text", [model.prepare("text", "a cat")])
model.embed("image", [model.prepare("image", Image.new("RGB", (90, 70)))])
print(*[name for name in {(*HEAVY, "scipy.stats")!r} if name in sys.modules])
"""


def test_the_bundled_model_loads_no_heavy_library_but_torch():
    """As a server loads it: these libraries would take 0.3 GB for a model of 4 MB."""
    done = ended("-c", AS_A_SERVER)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
