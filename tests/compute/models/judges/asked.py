"""A judge at the stand-in's address, and questions for it."""

from dataclasses import replace

import numpy as np
from PIL import Image

from compute.content import items
from compute.content.messages import Question
from compute.models.adapter import Hardware
from compute.models.judges.endpoint import DEFAULTS, Endpoint, Limits
from compute.procedures.shared import prompts
from compute.types import Model
from tests.compute.content.pictures import picture
from tests.compute.content.test_decoding import saved
from tests.compute.procedures.pairs import rated_pairs

ROW = Model(key="org/stand-in", title="Stand-in", kind="mllm", adapter="endpoint", weights="Org/Stand-In")
CPU = Hardware(device="cpu", dtype="float32")
QUICK = Limits(attempts=4, timeout=5.0)
BRIGHT = prompts.TABLE_7["attribute"].format(attribute="bright")


def judge(server, *, limits=QUICK, key="", **options):
    return Endpoint(row=ROW, url=server.url, key=key, limits=limits, options={**DEFAULTS, **options})


def question(number):
    """A question of its own a number; the brighter image is the second."""
    colours = (number % 200, 0, 0), (250, 250, number % 200)
    shown = [picture(saved(np.full((16, 16, 3), colour, np.uint8))) for colour in colours]
    words = BRIGHT.split("<image>")
    return Question(item=f"item {number}", parts=(words[0], *shown, words[2]), choices=("(A) Image 1", "(B) Image 2"))


def drawn(number, size=(48, 40), *, noise=0.0):
    """An image of its own a number, under noise."""
    draw = np.random.default_rng(number)
    coarse = Image.fromarray(draw.integers(0, 255, (4, 4, 3), dtype=np.uint8)).resize(size)
    return saved((np.asarray(coarse) + noise * draw.standard_normal((*size[::-1], 3))).clip(0, 255).astype(np.uint8))


def rated(second="image"):
    """Three pairs of drawn images of different sizes, or of an image and a text, whose lengths differ."""
    pairs = rated_pairs(1, second=second, transformations=("rotate",) if second == "image" else ("position",))
    first, other = (
        items.images([drawn(3 * side + row, (30 + 5 * row, 40)) for row in range(3)], of="drawn") for side in range(2)
    )
    return replace(pairs, first=first, second=other if second == "image" else pairs.second)
