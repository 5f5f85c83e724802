"""Ready inputs: freely licensed photographs from scikit-image, drawn scenes, and texts about both. examples.toml lists
them, and nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from compute.content.items import content_key
from compute.io.files import words_beside
from compute.live.inputs import Input, text, thumbnail
from compute.tasks.drawing.render import photo_path
from compute.types import BadInput

LONG_SIDE = 512  # most pixels on the longer side of a photograph
MOST = 12  # decoded examples in memory
DRAWINGS = Path(__file__).parent / "drawn"  # scenes of 64 x 64 pixels; the bundled model was not trained on any of them
DRAWN_SIDE = 256  # pixels per side when shown


@dataclass(frozen=True, kw_only=True)
class Example:
    """One ready input. An image is `file` of scikit-image or drawn; a text is its own title."""

    key: str
    title: str
    file: str = ""
    modality: str = "image"  # image | text
    credit: str = "Likeness"
    licence: str = "CC0"
    source: str = ""
    change: str = ""  # a key of CHANGES: what was done to the photograph

    @property
    def synthetic(self) -> bool:
        """Returns whether this program draws it."""
        return self.modality == "image" and not self.file


def _cat_face(whole: Image.Image) -> Image.Image:
    return whole.crop((130, 70, 370, 270))


def _in_the_cats_colours(whole: Image.Image) -> Image.Image:
    """Matches each channel's histogram to the cat's."""
    from skimage.exposure import match_histograms

    cat = load("cat").content
    return Image.fromarray(match_histograms(np.asarray(whole), np.asarray(cat), channel_axis=-1).astype(np.uint8))


# Changes of photographs, by their names in examples.toml.
CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "": lambda whole: whole,
    "face": _cat_face,
    "cheek": lambda whole: whole.crop((0, 100, 150, 300)),
    "turned": lambda whole: _cat_face(whole).convert("L").convert("RGB").rotate(180),
    "in the cat's colours": _in_the_cats_colours,
    "blurred": lambda whole: whole.filter(ImageFilter.GaussianBlur(3)),
}
_KNOWN = words_beside(__file__)
EXAMPLES, UNLIKE = (tuple(Example(**facts) for facts in _KNOWN[name]) for name in ("examples", "unlike"))


@lru_cache(maxsize=MOST)
def load(key: str) -> Input:
    """Returns the example as an input. Raises BadInput for an unknown key, NotHere if scikit-image's files are
    missing.
    """
    example = next((example for example in EXAMPLES if example.key == key), None)
    if example is None:
        raise BadInput(f"There is no example {key[:40]!r}; there are: {', '.join(known.key for known in EXAMPLES)}")
    return _input(example)


@cache
def unrelated(modality: str) -> tuple[Input, ...]:
    """Returns images or texts unrelated to each other and to most visitors' inputs."""
    if modality == "text":
        return tuple(text(words, name=words) for words in _KNOWN["unlike_texts"])
    return tuple(_input(example) for example in UNLIKE)


@cache
def listing() -> dict[str, list[dict[str, Any]]]:
    """Returns every example and ready comparison, as JSON; `thumbnail` is relative to the app's root.

    A comparison's `mode` and `question` (the attribute) are as in compute.live.questions. `expected` is the index of
    the correct option, or None if the two inputs of a pair match.
    """

    def listed(example: Example) -> dict[str, Any]:
        names = ("key", "title", "modality", "credit", "licence", "synthetic")
        source = example.source or (f"scikit-image, {example.file}" if example.file else "")
        entry = {name: getattr(example, name) for name in names} | {"source": source}
        if example.modality == "text":
            return entry | {"text": example.title}
        width, height = load(example.key).content.size
        return entry | {"thumbnail": f"live/example/{example.key}.webp", "width": width, "height": height}

    return {
        "inputs": [listed(example) for example in EXAMPLES],
        "comparisons": [{"expected": None, "question": ""} | facts for facts in _KNOWN["comparisons"]],
    }


@cache
def picture(key: str) -> bytes:
    """Returns an example's image as a small WebP. Raises BadInput for an unknown key and for a text."""
    content = load(key).content
    if isinstance(content, str):
        raise BadInput(f"The example {key!r} is a text")
    return thumbnail(content)


def _input(example: Example) -> Input:
    if example.modality == "text":
        return text(example.title, name=example.title)
    if example.file:
        with Image.open(photo_path(example.file)) as stored:
            image = stored.convert("RGB")
        image.thumbnail((LONG_SIDE, LONG_SIDE), Image.Resampling.LANCZOS)
        image.info.clear()
        image = CHANGES[example.change](image)
    else:
        with Image.open(DRAWINGS / f"{example.key}.png") as drawn:
            image = drawn.convert("RGB").resize((DRAWN_SIDE, DRAWN_SIDE), Image.Resampling.BICUBIC)
    return Input(modality="image", key=content_key(image.tobytes()), name=example.title, content=image)
