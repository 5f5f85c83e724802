"""One drawn item for each type of task: what goes in, what is asked, and what counts as right.

The drawings are made here, by the code that draws the mini suite; no item of a data set is shown.
"""

from __future__ import annotations

import io
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup
from PIL import Image

from compute.tasks.drawing import distortions, render
from compute.tasks.drawing.scenes import Background, Scene, Thing
from leaderboard.html.labels import is_synthetic
from leaderboard.html.templates import macros


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A part of an item: a drawing or a text, with what it is called. `distortion` is a kind and its strength."""

    role: str
    scene: Scene | None = None
    text: str = ""
    distortion: tuple[str, int] = ("", 0)
    right: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnExample:
    """A drawn item of a type of tasks: those of one procedure in some categories, or in all others where none is named.

    `title` names the type. `modalities` are those of the tasks, where these tell the types of a category apart. `asks`
    and `right` are a sentence each; `drawn` is what is right where a program draws the items, empty for the same.
    """

    key: str
    title: str
    procedure: str
    categories: tuple[str, ...] = ()
    modalities: frozenset[str] = frozenset()
    asks: str
    right: str
    drawn: str = ""
    tiles: tuple[Tile, ...]


def example_of(*, procedure: str, category: str, modalities: Collection[str]) -> DrawnExample | None:
    """The example of a task's type; None for a procedure without one."""
    own = [each for each in EXAMPLES if each.procedure == procedure]
    fitting = [each for each in own if not each.modalities or each.modalities == frozenset(modalities)]
    named = [each for each in fitting if category in each.categories]
    return next(iter([*named, *(each for each in fitting if not each.categories)]), None)


def markup(*, procedure: str, category: str, modalities: Collection[str], benchmark: str) -> Markup:
    """The example of a task's type with its drawings; empty for none."""
    example = example_of(procedure=procedure, category=category, modalities=modalities)
    if example is None:
        return Markup("")
    right = example.drawn if example.drawn and is_synthetic(benchmark) else example.right
    return macros("html/drawn_examples.html").whole(example, right, pictures(example))


def short_markup(example: DrawnExample) -> Markup:
    """An example's drawings and its question, small; that they are drawn must be said where it stands."""
    return macros("html/drawn_examples.html").short(example, pictures(example))


def pictures(example: DrawnExample) -> list[bytes]:
    """The drawing of each tile as WebP, empty for a text."""
    return [picture(tile) if tile.scene else b"" for tile in example.tiles]


@cache
def picture(tile: Tile) -> bytes:
    """A tile's drawing as WebP, without loss, of `render.SIDE` pixels a side."""
    kind, strength = tile.distortion
    pixels = distortions.distort(render.draw(tile.scene), kind=kind, strength=strength)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "WEBP", lossless=True, method=6)
    return out.getvalue()


def alone(name: str, *, size: str = "large", ground: str = "white", x: float = 0.5, y: float = 0.5) -> Scene:
    """A scene of one thing, such as `red circle`."""
    return several((name, x, y), size=size, ground=ground)


def several(*things: tuple[str, float, float], size: str = "large", ground: str = "white") -> Scene:
    """A scene of things by their names and centres, as shares of the image."""
    return Scene(
        background=Background(first=ground, second=ground),
        things=tuple(
            Thing(shape=name.split()[1], colour=name.split()[0], size=size, x=x, y=y) for name, x, y in things
        ),
    )


def page(*words: str) -> Scene:
    """A page with words on it, two a line."""
    return Scene(background=Background(), words=words)


STARS = several(("blue star", 0.3, 0.35), ("red circle", 0.7, 0.65))
STARS_MOVED = several(("blue star", 0.35, 0.4), ("red circle", 0.72, 0.6))
SWAPPED = several(("red star", 0.3, 0.35), ("blue circle", 0.7, 0.65))
OTHER = several(("green square", 0.35, 0.6), ("purple heart", 0.7, 0.35))
LEFT = several(("red circle", 0.27, 0.5), ("blue square", 0.73, 0.5))
RIGHT_WAY_ROUND = "a red circle left of a blue square"
WRONG_WAY_ROUND = "a blue square left of a red circle"

EXAMPLES: tuple[DrawnExample, ...] = (
    DrawnExample(
        key="image-2afc",
        title="Likeness to a reference",
        procedure="choice",
        categories=("Img-2AFC",),
        asks="Three images go in: which of A and B looks more like the reference?",
        right="The image that people chose.",
        drawn="The image that was drawn with the smaller change.",
        tiles=(
            Tile(role="reference", scene=STARS),
            Tile(role="A", scene=STARS_MOVED, right=True),
            Tile(role="B", scene=OTHER),
        ),
    ),
    DrawnExample(
        key="image-text-2afc",
        title="Image for a text",
        procedure="choice",
        categories=("IT-2AFC",),
        asks="A text and two images go in: which image fits the text better?",
        right="The image that the data set labels as fitting: by what people chose, or by how it was made.",
        drawn="The image that was drawn after the text.",
        tiles=(
            Tile(role="text", text="a blue star and a red circle"),
            Tile(role="A", scene=SWAPPED),
            Tile(role="B", scene=STARS, right=True),
        ),
    ),
    DrawnExample(
        key="text-2afc",
        title="Text for an image",
        procedure="choice",
        categories=("Text-2AFC",),
        asks="An image and two texts go in: which text describes the image better?",
        right="The text that the data set labels as fitting: by what people chose, or by how the image was made.",
        drawn="The text that the image was drawn after.",
        tiles=(
            Tile(role="image", scene=STARS),
            Tile(role="A", text="a blue star and a red circle", right=True),
            Tile(role="B", text="two green squares"),
        ),
    ),
    DrawnExample(
        key="quality",
        title="Image quality",
        procedure="choice",
        categories=("IQA",),
        asks="Two images go in: which has the better quality?",
        right="The image that the data set labels as better: by people’s ratings, or by how it was damaged.",
        drawn="The image that was drawn with less damage.",
        tiles=(
            Tile(role="A", scene=STARS, distortion=("noise", 4)),
            Tile(role="B", scene=STARS, right=True),
        ),
    ),
    DrawnExample(
        key="attributes",
        title="Perceptual attributes",
        procedure="choice",
        categories=("PAA",),
        asks="Two images go in: which is brighter (or more colourful, richer in contrast, sharper)?",
        right="The image that the data set labels so: by people’s ratings, or by how it was made.",
        drawn="The image that was drawn so.",
        tiles=(
            Tile(role="A", scene=STARS, right=True),
            Tile(role="B", scene=STARS, distortion=("darken", 3)),
        ),
    ),
    DrawnExample(
        key="odd-one-out",
        title="Odd one out",
        procedure="odd_one_out",
        asks="Three images go in: which does not belong to the others?",
        right="The image of another kind; here the third, since the others are stars.",
        tiles=(
            Tile(role="1", scene=alone("blue star")),
            Tile(role="2", scene=alone("red star", ground="yellow", x=0.4)),
            Tile(role="3", scene=alone("green moon"), right=True),
        ),
    ),
    DrawnExample(
        key="image-retrieval",
        title="Image retrieval",
        procedure="retrieval",
        modalities=frozenset({"image"}),
        asks="An image goes in: which images of a collection show the same?",
        right="The relevant images, the nearer to the top of the ranking the better.",
        tiles=(
            Tile(role="query", scene=alone("red heart", ground="cyan")),
            Tile(role="1st hit", scene=alone("red heart", x=0.4, y=0.6), right=True),
            Tile(role="2nd hit", scene=alone("red circle", ground="cyan")),
            Tile(role="3rd hit", scene=alone("green moon")),
        ),
    ),
    DrawnExample(
        key="text-retrieval",
        title="Text retrieval",
        procedure="retrieval",
        modalities=frozenset({"text"}),
        asks="A question goes in: which texts of a collection answer it?",
        right="The relevant texts, the nearer to the top of the ranking the better.",
        tiles=(
            Tile(role="query", text="What colour is the star?"),
            Tile(role="1st hit", text="The star is blue.", right=True),
            Tile(role="2nd hit", text="The moon is green."),
        ),
    ),
    DrawnExample(
        key="document-retrieval",
        title="Document retrieval",
        procedure="retrieval",
        categories=("Document Understanding",),
        asks="A question goes in: which pages, as images, answer it?",
        right="The relevant pages, the nearer to the top of the ranking the better.",
        tiles=(
            Tile(role="query", text="What does the bird do?"),
            Tile(role="1st hit", scene=page("bird", "sings", "fish", "hides"), right=True),
            Tile(role="2nd hit", scene=page("gold", "salt", "wolf", "waits")),
        ),
    ),
    DrawnExample(
        key="multilingual-retrieval",
        title="Multilingual retrieval",
        procedure="retrieval",
        categories=("Multilingual Retrieval",),
        asks="A text in one of many languages goes in, here German: which images of a collection does it describe?",
        right="The relevant images, the nearer to the top of the ranking the better.",
        tiles=(
            Tile(role="query", text="ein blauer Stern und ein roter Kreis"),
            Tile(role="1st hit", scene=STARS, right=True),
            Tile(role="2nd hit", scene=SWAPPED),
            Tile(role="3rd hit", scene=OTHER),
        ),
    ),
    DrawnExample(
        key="image-text-retrieval",
        title="Image-text retrieval",
        procedure="retrieval",
        asks="A query goes in, here a text (elsewhere an image, or both): what in a collection belongs to it?",
        right="The relevant items, the nearer to the top of the ranking the better.",
        tiles=(
            Tile(role="query", text="a blue star and a red circle"),
            Tile(role="1st hit", scene=STARS, right=True),
            Tile(role="2nd hit", scene=SWAPPED),
            Tile(role="3rd hit", scene=OTHER),
        ),
    ),
    DrawnExample(
        key="linear-probe",
        title="Linear probing",
        procedure="probe",
        asks="A few images of each class go in with their names, then a new image: of which class is it?",
        right="Its own class; here “star”.",
        tiles=(
            Tile(role="star", scene=alone("blue star")),
            Tile(role="star", scene=alone("red star", size="small")),
            Tile(role="moon", scene=alone("green moon")),
            Tile(role="moon", scene=alone("orange moon", size="small")),
            Tile(role="new: star", scene=alone("purple star", x=0.4), right=True),
        ),
    ),
    DrawnExample(
        key="zero-shot",
        title="Zero-shot classification",
        procedure="zero_shot",
        asks="An image and a prompt for each class go in: which prompt is nearest?",
        right="The prompt of the image's class; nothing is trained.",
        tiles=(
            Tile(role="image", scene=alone("red heart")),
            Tile(role="A", text="a photo of a star"),
            Tile(role="B", text="a photo of a heart", right=True),
            Tile(role="C", text="a photo of a moon"),
        ),
    ),
    DrawnExample(
        key="clustering",
        title="Clustering",
        procedure="clustering",
        asks="Images without names go in: which belong together?",
        right="Groups that are the true classes, whatever their numbers; here stars and moons.",
        tiles=(
            Tile(role="group 1", scene=alone("blue star"), right=True),
            Tile(role="group 1", scene=alone("red star", size="small"), right=True),
            Tile(role="group 2", scene=alone("green moon"), right=True),
            Tile(role="group 2", scene=alone("orange moon", size="small"), right=True),
        ),
    ),
    DrawnExample(
        key="visual-sts",
        title="Likeness of texts as images",
        procedure="sts",
        asks="Two texts go in, drawn as images: how alike are they in meaning?",
        right="Pairs that people rate as more alike have the higher cosine similarity.",
        drawn="Pairs with more words in common have the higher cosine similarity.",
        tiles=(
            Tile(role="first", scene=page("big", "dog", "runs", "fast")),
            Tile(role="second", scene=page("big", "dog", "runs", "slow"), right=True),
            Tile(role="less alike", scene=page("cold", "lake", "old", "ship")),
        ),
    ),
    DrawnExample(
        key="compositionality",
        title="Compositionality",
        procedure="matching",
        asks="An image goes in with captions that differ in one relation, attribute or order: which belongs to it?",
        right="The true caption has the higher cosine similarity; elsewhere two images compete, or both.",
        tiles=(
            Tile(role="image", scene=LEFT),
            Tile(role="A", text=RIGHT_WAY_ROUND, right=True),
            Tile(role="B", text=WRONG_WAY_ROUND),
        ),
    ),
    DrawnExample(
        key="multiple-choice",
        title="Multiple choice",
        procedure="multiple_choice",
        asks="An image, a question and a few possible answers go in: which answers it?",
        right="The true answer, which must be the nearest to image and question.",
        tiles=(
            Tile(
                role="image",
                scene=several(("red circle", 0.25, 0.3), ("red circle", 0.7, 0.35), ("blue star", 0.5, 0.75)),
            ),
            Tile(role="question", text="How many circles are there?"),
            Tile(role="A", text="one"),
            Tile(role="B", text="two", right=True),
            Tile(role="C", text="three"),
        ),
    ),
    DrawnExample(
        key="judging-image-text",
        title="Rating of image and text",
        procedure="judging",
        categories=("WU-IT", "Positions, image and text"),
        asks="An image and a caption go in, in both orders: how alike are they, from 1 to 10?",
        right="Expected are 10 for a caption that belongs to the image, 1 for an irrelevant one, and for a changed one "
        "8 where the judge is told that the change matters, 10 where it is to ignore it.",
        tiles=(
            Tile(role="left", scene=LEFT),
            Tile(role="identical: 10", text=RIGHT_WAY_ROUND, right=True),
            Tile(role="transformed: 8 or 10", text=WRONG_WAY_ROUND),
            Tile(role="irrelevant: 1", text="a green moon"),
        ),
    ),
    DrawnExample(
        key="judging",
        title="Rating of two images",
        procedure="judging",
        asks="Two images go in, in both orders: how alike are they, from 1 to 10?",
        right="Expected are 10 for an identical pair, 1 for an irrelevant one, and for a transformed one 8 where the "
        "judge is told that the change matters, 10 where it is to ignore it.",
        tiles=(
            Tile(role="left", scene=STARS),
            Tile(role="identical: 10", scene=STARS, right=True),
            Tile(role="transformed: 8 or 10", scene=STARS, distortion=("blur", 4)),
            Tile(role="irrelevant: 1", scene=OTHER),
        ),
    ),
    DrawnExample(
        key="generators",
        title="Ranking of generators",
        procedure="frechet",
        asks="The images that several generators draw for the same prompts go in: which generator is better?",
        right="A metric is right where it orders the generators as people's preferences do.",
        drawn="A metric is right where it orders the generators by the strength of their noise.",
        tiles=(
            Tile(role="prompt", text="a blue star and a red circle"),
            Tile(role="generator A", scene=STARS, right=True),
            Tile(role="generator B", scene=SWAPPED),
            Tile(role="generator C", scene=STARS, distortion=("noise", 5)),
        ),
    ),
    DrawnExample(
        key="generators-by-backbone",
        title="Generators by backbone",
        procedure="cfred-grid",
        asks="The images that several generators draw for the same prompts go in: how far is each from the reference, "
        "seen by one image and one text backbone?",
        right="The lower cFreD is the better; nothing else says which generator is right.",
        tiles=(
            Tile(role="prompt", text="a blue star and a red circle"),
            Tile(role="reference", scene=STARS),
            Tile(role="generator A", scene=STARS_MOVED, right=True),
            Tile(role="generator B", scene=OTHER),
        ),
    ),
)
