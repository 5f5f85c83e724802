"""Ready inputs: freely licensed photographs from scikit-image, drawn scenes, and texts about both.

Credits and licences are those in the docstrings of skimage.data (0.26). Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from compute.content.items import content_key
from compute.live.inputs import Input, text, thumbnail
from compute.live.questions import LiveQuestion
from compute.tasks.drawing.render import photo_path
from compute.types import BadInput

LONG_SIDE = 512  # pixels a photograph is shown at, at most
MOST = 12  # decoded examples in memory
DRAWINGS = Path(__file__).parent / "drawn"  # scenes of 64 pixels a side; the bundled model was trained on none
DRAWN_SIDE = 256  # pixels that they are shown at
CC0, PUBLIC = "CC0", "public domain"
DRAWN = "drawn by this program"


@dataclass(frozen=True)
class Example:
    """One ready input. Images are `file` of scikit-image or drawn; a text is its own title."""

    key: str
    title: str
    file: str = ""
    modality: str = "image"  # image | text
    credit: str = "Likeness"
    licence: str = CC0
    source: str = ""
    change: Callable[[Image.Image], Image.Image] | None = None  # what was done to the photograph

    @property
    def synthetic(self) -> bool:
        """Whether this program draws it."""
        return self.modality == "image" and not self.file


@dataclass(frozen=True, kw_only=True)
class ReadyQuestion:
    """A question about examples, ready to ask. `mode` and `question` (the attribute) as in compute.live.questions.

    `expected` is the index of the right option; of a pair it is None, and the two match. Which models get it is
    computed, never written down.
    """

    key: str
    title: str
    mode: str
    inputs: tuple[str, ...]  # keys of EXAMPLES, in order
    expected: int | None
    lesson: str  # what the comparison is for, in a sentence
    question: str = ""

    @property
    def live(self) -> LiveQuestion:
        """The question with its inputs. Raises NotHere where scikit-image's files are missing."""
        return LiveQuestion(
            mode=self.mode, inputs=tuple(load(key) for key in self.inputs), attribute=self.question or "quality"
        )


def _cat_face(whole: Image.Image) -> Image.Image:
    return whole.crop((130, 70, 370, 270))


def _cat_cheek(whole: Image.Image) -> Image.Image:
    return whole.crop((0, 100, 150, 300))


def _cat_turned(whole: Image.Image) -> Image.Image:
    return _cat_face(whole).convert("L").convert("RGB").rotate(180)


def _in_the_cats_colours(whole: Image.Image) -> Image.Image:
    """Each channel's histogram matched to the cat's."""
    from skimage.exposure import match_histograms

    cat = load("cat").content
    return Image.fromarray(match_histograms(np.asarray(whole), np.asarray(cat), channel_axis=-1).astype(np.uint8))


def _blurred(whole: Image.Image) -> Image.Image:
    return whole.filter(ImageFilter.GaussianBlur(3))


_CAT = {"file": "chelsea.png", "credit": "Stefan van der Walt"}
_COFFEE = {"file": "coffee.png", "credit": "Rachel Michetti, courtesy of Pikolo Espresso Bar"}
_ASTRONAUT = Example(
    "astronaut",
    "An astronaut",
    "astronaut.png",
    credit="NASA",
    licence=PUBLIC,
    source="NASA Great Images, https://flic.kr/p/r9qvLn",
)
_ROCKET = Example(
    "rocket",
    "A rocket",
    "rocket.jpg",
    credit="SpaceX",
    licence=PUBLIC,
    source="https://www.flickr.com/photos/spacexphotos/16511594820/",
)
_GALAXIES = Example(
    "galaxies",
    "Galaxies",
    "hubble_deep_field.jpg",
    credit="NASA",
    licence=PUBLIC,
    source="http://hubblesite.org/newscenter/archive/releases/2012/37/image/a/",
)
_PHOTOGRAPHER = Example("photographer", "A photographer", "camera.png", credit="Lav Varshney")
_BRICKS = Example(
    "bricks",
    "Bricks",
    "brick.png",
    credit="CC0Textures",
    source="https://cc0textures.com/view.php?tex=Bricks25",
)

EXAMPLES: tuple[Example, ...] = (
    Example("cat", "A cat", **_CAT),
    Example("cat-face", "The cat's face", change=_cat_face, **_CAT),
    Example("cat-cheek", "The cat's cheek", change=_cat_cheek, **_CAT),
    Example("coffee", "A cup of coffee", **_COFFEE),
    Example("coffee-blurred", "The cup, blurred", change=_blurred, **_COFFEE),
    Example("cat-turned", "The cat's face, grey and upside down", change=_cat_turned, **_CAT),
    Example("coffee-as-cat", "The cup, in the cat's colours", change=_in_the_cats_colours, **_COFFEE),
    _ASTRONAUT,
    _ROCKET,
    Example("heart-left", "A heart left of a square", source=DRAWN),
    Example("heart-left-moved", "The same, moved a little", source=DRAWN),
    Example("heart-right", "Their positions, swapped", source=DRAWN),
    Example("heart-orange", "Their colours, swapped", source=DRAWN),
    Example("text-heart-left", "a purple heart left of an orange square", modality="text"),
    Example("text-heart-right", "an orange square left of a purple heart", modality="text"),
    Example("text-heart-orange", "an orange heart left of a purple square", modality="text"),
    Example("text-astronaut", "a photo of an astronaut", modality="text"),
    Example("text-cat", "a photo of a cat", modality="text"),
    Example("text-coffee", "a photo of a cup of coffee", modality="text"),
    Example("text-rocket", "a photo of a rocket", modality="text"),
    Example("text-asleep", "a cat is asleep on the sofa", modality="text"),
    Example("text-nap", "a kitten naps on the couch", modality="text"),
    Example("text-food", "the cat food is on the shelf", modality="text"),
    Example("text-train", "a man waits for the train", modality="text"),
)
COMPARISONS: tuple[ReadyQuestion, ...] = (
    ReadyQuestion(
        key="copy",
        title="Which is a copy of it?",
        mode="choice",
        inputs=("coffee", "cat", "coffee-blurred", "rocket"),
        expected=1,
        lesson="Metrics on pixels are made for this: the same photograph, made worse.",
    ),
    ReadyQuestion(
        key="photographs",
        title="Which photograph is the odd one out?",
        mode="odd",
        inputs=("coffee", "coffee-blurred", "astronaut"),
        expected=2,
        lesson="Metrics on pixels can do this too: two of the three show the same pixels, one of them blurred.",
    ),
    ReadyQuestion(
        key="subject",
        title="Which shows the same subject?",
        mode="choice",
        inputs=("cat", "cat-turned", "coffee-as-cat"),
        expected=0,
        lesson="What metrics on pixels cannot do: the cup has the cat's colours and light; the cat has lost both.",
    ),
    ReadyQuestion(
        key="photo-captions",
        title="Which caption fits the photograph?",
        mode="choice",
        inputs=("coffee", "text-cat", "text-coffee", "text-rocket"),
        expected=1,
        lesson="This takes a model with images and texts in one space.",
    ),
    ReadyQuestion(
        key="caption",
        title="A photograph and its caption",
        mode="pair",
        inputs=("astronaut", "text-astronaut"),
        expected=None,
        lesson="This takes a model that has seen what the photograph shows: ImageNet has no class for astronauts.",
    ),
    ReadyQuestion(
        key="sentences",
        title="Which sentence says the same?",
        mode="choice",
        inputs=("text-asleep", "text-food", "text-nap", "text-train"),
        expected=1,
        lesson="Different words, the same meaning; another sentence has the cat in it but means something else.",
    ),
    ReadyQuestion(
        key="captions",
        title="Which caption fits the drawing?",
        mode="choice",
        inputs=("heart-left", "text-heart-left", "text-heart-right", "text-heart-orange"),
        expected=0,
        lesson="The words are the same, but their order is not: this takes a model that reads the order.",
    ),
    ReadyQuestion(
        key="odd",
        title="Which drawing is the odd one out?",
        mode="odd",
        inputs=("heart-left", "heart-left-moved", "heart-right"),
        expected=2,
        lesson="Two differ only by a small shift; in the third the shapes have swapped places.",
    ),
    ReadyQuestion(
        key="quality",
        title="Which is of better quality?",
        mode="quality",
        inputs=("coffee", "coffee-blurred"),
        expected=0,
        question="quality",
        lesson="This takes a metric of quality, or a model that can be asked in words.",
    ),
)

# Unlike anything above, so that a similarity can be compared with chance.
_UNLIKE = (
    _ASTRONAUT,
    _ROCKET,
    _GALAXIES,
    _PHOTOGRAPHER,
    _BRICKS,
    Example("grass", "Grass", "grass.png", credit="linolafett"),
    Example("retina", "A retina", "retina.jpg", credit="Mikael Häggström"),
    Example("horse", "A horse's outline", "horse.png", credit="Andreas Preuss"),
)
_UNLIKE_TEXTS = (
    "two boats on a lake at dawn",
    "a recipe for lentil soup",
    "the train to the airport leaves at nine",
    "snow on the roof of an old church",
    "a bowl of green apples",
    "how to mend a bicycle tyre",
    "children playing in a fountain",
    "a map of the underground",
)


@lru_cache(maxsize=MOST)
def load(key: str) -> Input:
    """The example as an input. Raises BadInput for an unknown key, NotHere where scikit-image's files are missing."""
    example = next((example for example in EXAMPLES if example.key == key), None)
    if example is None:
        raise BadInput(f"There is no example {key[:40]!r}; there are: {', '.join(known.key for known in EXAMPLES)}")
    return _input(example)


@cache
def unrelated(modality: str) -> tuple[Input, ...]:
    """Images or texts unrelated to each other and to most visitors' inputs."""
    if modality == "text":
        return tuple(text(words, name=words) for words in _UNLIKE_TEXTS)
    return tuple(_input(example) for example in _UNLIKE)


@cache
def listing() -> dict[str, list[dict[str, Any]]]:
    """Every example and ready question, as JSON; `thumbnail` is relative to the app's root."""

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
        "comparisons": [asdict(ready) | {"inputs": list(ready.inputs)} for ready in COMPARISONS],
    }


@cache
def picture(key: str) -> bytes:
    """An example's image as a small WebP. Raises BadInput for an unknown key and for a text."""
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
        image = example.change(image) if example.change else image
    else:
        with Image.open(DRAWINGS / f"{example.key}.png") as drawn:
            image = drawn.convert("RGB").resize((DRAWN_SIDE, DRAWN_SIDE), Image.Resampling.BICUBIC)
    return Input(modality="image", key=content_key(image.tobytes()), name=example.title, content=image)
