"""A judge at the stand-in's address, and questions for it."""

import io

import numpy as np
from PIL import Image

from compute.content import items
from compute.content.messages import Question
from compute.models.adapter import Hardware
from compute.models.judges.endpoint import DEFAULTS, Endpoint, Limits
from compute.procedures.shared import prompts
from compute.tasks.data import RatedPairs
from compute.types import Model
from tests.compute.content.pictures import picture

ROW = Model(key="org/stand-in", title="Stand-in", kind="mllm", adapter="endpoint", weights="Org/Stand-In")
CPU = Hardware(device="cpu", dtype="float32")
QUICK = Limits(attempts=4, timeout=5.0)
BRIGHT = prompts.TABLE_7["attribute"].format(attribute="bright")


def judge(server, *, limits=QUICK, key="", **options):
    return Endpoint(row=ROW, url=server.url, key=key, limits=limits, options={**DEFAULTS, **options})


def encoded(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def question(number):
    """A question of its own a number; the brighter image is the second."""
    colours = (number % 200, 0, 0), (250, 250, number % 200)
    shown = [picture(encoded(np.full((16, 16, 3), colour))) for colour in colours]
    words = BRIGHT.split("<image>")
    return Question(item=f"item {number}", parts=(words[0], *shown, words[2]), choices=("(A) Image 1", "(B) Image 2"))


def drawn(number, size=(48, 40), *, noise=0.0):
    """An image of its own a number, under noise."""
    draw = np.random.default_rng(number)
    coarse = Image.fromarray(draw.integers(0, 255, (4, 4, 3), dtype=np.uint8)).resize(size)
    return encoded((np.asarray(coarse) + noise * draw.standard_normal((*size[::-1], 3))).clip(0, 255))


def rated(count, *, second="image"):
    """Pairs of an image and itself under noise, or a text; their sizes and lengths differ."""
    sizes = [(30 + 5 * (row % 7), 30 + 4 * (row % 5)) for row in range(count)]
    others = {
        "image": items.images([drawn(row, size, noise=40.0) for row, size in enumerate(sizes)], of="noisy"),
        "text": items.texts([f"A cup {'far ' * row}to the left of a book." for row in range(count)], of="captions"),
    }
    return RatedPairs(
        names=tuple(f"{row}/transformed" for row in range(count)),
        first=items.images([drawn(row, size) for row, size in enumerate(sizes)], of="drawn"),
        second=others[second],
        expected=np.full(count, 8),
        types=np.full(count, "transformed"),
        sources=np.arange(count).astype(str),
        templates=np.arange(count) % 5,
        condition="sensitive",
        transformations=("position",) if second == "text" else ("rotate",),
    )
