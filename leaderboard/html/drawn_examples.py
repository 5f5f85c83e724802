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


@dataclass(frozen=True)
class Tile:
    """A part of an item: what it is called, and a drawing or a text. `distortion` is a kind and its strength."""

    role: str
    shows: Scene | str
    distortion: tuple[str, int] = ("", 0)
    right: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnExample:
    """A drawn item of a type of tasks: those of one procedure in some categories, or in all others where none is named.

    `title` names the type. `modality` is the tasks' only one, where that tells the types of a category apart. `asks`
    and `right` are a sentence each; `drawn` is what is right where a program draws the items, empty for the same.
    """

    key: str
    title: str
    procedure: str
    categories: tuple[str, ...] = ()
    modality: str = ""
    asks: str
    right: str
    drawn: str = ""
    tiles: tuple[Tile, ...]


def example_of(*, procedure: str, category: str, modalities: Collection[str]) -> DrawnExample | None:
    """The example of a task's type; None for a procedure without one."""
    own = [each for each in EXAMPLES if each.procedure == procedure]
    fitting = [each for each in own if not each.modality or {each.modality} == set(modalities)]
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
    return [b"" if isinstance(tile.shows, str) else picture(tile) for tile in example.tiles]


@cache
def picture(tile: Tile) -> bytes:
    """A tile's drawing as WebP, without loss, of `render.SIDE` pixels a side."""
    kind, strength = tile.distortion
    pixels = distortions.distort(render.draw(tile.shows), kind=kind, strength=strength)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "WEBP", lossless=True, method=6)
    return out.getvalue()


def single(name: str, *, size: str = "large", ground: str = "white", x: float = 0.5, y: float = 0.5) -> Scene:
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
            Tile("reference", STARS),
            Tile("A", STARS_MOVED, right=True),
            Tile("B", OTHER),
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
            Tile("text", "a blue star and a red circle"),
            Tile("A", SWAPPED),
            Tile("B", STARS, right=True),
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
            Tile("image", STARS),
            Tile("A", "a blue star and a red circle", right=True),
            Tile("B", "two green squares"),
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
            Tile("A", STARS, distortion=("noise", 4)),
            Tile("B", STARS, right=True),
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
            Tile("A", STARS, right=True),
            Tile("B", STARS, distortion=("darken", 3)),
        ),
    ),
    DrawnExample(
        key="odd-one-out",
        title="Odd one out",
        procedure="odd_one_out",
        asks="Three images go in: which does not belong to the others?",
        right="The image of another kind; here the third, since the others are stars.",
        tiles=(
            Tile("1", single("blue star")),
            Tile("2", single("red star", ground="yellow", x=0.4)),
            Tile("3", single("green moon"), right=True),
        ),
    ),
    DrawnExample(
        key="image-retrieval",
        title="Image retrieval",
        procedure="retrieval",
        modality="image",
        asks="An image goes in: which images of a collection show the same?",
        right="The relevant images, the nearer to the top of the ranking the better.",
        tiles=(
            Tile("query", single("red heart", ground="cyan")),
            Tile("1st hit", single("red heart", x=0.4, y=0.6), right=True),
            Tile("2nd hit", single("red circle", ground="cyan")),
            Tile("3rd hit", single("green moon")),
        ),
    ),
    DrawnExample(
        key="text-retrieval",
        title="Text retrieval",
        procedure="retrieval",
        modality="text",
        asks="A question goes in: which texts of a collection answer it?",
        right="The relevant texts, the nearer to the top of the ranking the better.",
        tiles=(
            Tile("query", "What colour is the star?"),
            Tile("1st hit", "The star is blue.", right=True),
            Tile("2nd hit", "The moon is green."),
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
            Tile("query", "What does the bird do?"),
            Tile("1st hit", page("bird", "sings", "fish", "hides"), right=True),
            Tile("2nd hit", page("gold", "salt", "wolf", "waits")),
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
            Tile("query", "ein blauer Stern und ein roter Kreis"),
            Tile("1st hit", STARS, right=True),
            Tile("2nd hit", SWAPPED),
            Tile("3rd hit", OTHER),
        ),
    ),
    DrawnExample(
        key="image-text-retrieval",
        title="Image-text retrieval",
        procedure="retrieval",
        asks="A query goes in, here a text (elsewhere an image, or both): what in a collection belongs to it?",
        right="The relevant items, the nearer to the top of the ranking the better.",
        tiles=(
            Tile("query", "a blue star and a red circle"),
            Tile("1st hit", STARS, right=True),
            Tile("2nd hit", SWAPPED),
            Tile("3rd hit", OTHER),
        ),
    ),
    DrawnExample(
        key="linear-probe",
        title="Linear probing",
        procedure="probe",
        asks="A few images of each class go in with their names, then a new image: of which class is it?",
        right="Its own class; here “star”.",
        tiles=(
            Tile("star", single("blue star")),
            Tile("star", single("red star", size="small")),
            Tile("moon", single("green moon")),
            Tile("moon", single("orange moon", size="small")),
            Tile("new: star", single("purple star", x=0.4), right=True),
        ),
    ),
    DrawnExample(
        key="zero-shot",
        title="Zero-shot classification",
        procedure="zero_shot",
        asks="An image and a prompt for each class go in: which prompt is nearest?",
        right="The prompt of the image's class; nothing is trained.",
        tiles=(
            Tile("image", single("red heart")),
            Tile("A", "a photo of a star"),
            Tile("B", "a photo of a heart", right=True),
            Tile("C", "a photo of a moon"),
        ),
    ),
    DrawnExample(
        key="clustering",
        title="Clustering",
        procedure="clustering",
        asks="Images without names go in: which belong together?",
        right="Groups that are the true classes, whatever their numbers; here stars and moons.",
        tiles=(
            Tile("group 1", single("blue star"), right=True),
            Tile("group 1", single("red star", size="small"), right=True),
            Tile("group 2", single("green moon"), right=True),
            Tile("group 2", single("orange moon", size="small"), right=True),
        ),
    ),
    DrawnExample(
        key="visual-sts",
        modality="image",
        title="Likeness of texts as images",
        procedure="sts",
        asks="Two texts go in, drawn as images: how similar are they in meaning?",
        right="Pairs that people rate as more similar have the higher cosine similarity.",
        drawn="Pairs with more words in common have the higher cosine similarity.",
        tiles=(
            Tile("first", page("big", "dog", "runs", "fast")),
            Tile("second", page("big", "dog", "runs", "slow"), right=True),
            Tile("less alike", page("cold", "lake", "old", "ship")),
        ),
    ),
    DrawnExample(
        key="text-sts",
        title="Likeness of texts",
        procedure="sts",
        modality="text",
        asks="Two texts go in: how similar are they in meaning?",
        right="Pairs that people rate as more similar have the higher cosine similarity.",
        drawn="Pairs with more words in common have the higher cosine similarity.",
        tiles=(
            Tile("first", "big dog runs fast"),
            Tile("second", "big dog runs slow", right=True),
            Tile("less alike", "cold lake old ship"),
        ),
    ),
    DrawnExample(
        key="compositionality",
        title="Compositionality",
        procedure="matching",
        asks="An image goes in with captions that differ in one relation, attribute or order: which belongs to it?",
        right="The true caption has the higher cosine similarity; elsewhere two images compete, or both.",
        tiles=(
            Tile("image", LEFT),
            Tile("A", RIGHT_WAY_ROUND, right=True),
            Tile("B", WRONG_WAY_ROUND),
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
                "image",
                several(("red circle", 0.25, 0.3), ("red circle", 0.7, 0.35), ("blue star", 0.5, 0.75)),
            ),
            Tile("question", "How many circles are there?"),
            Tile("A", "one"),
            Tile("B", "two", right=True),
            Tile("C", "three"),
        ),
    ),
    DrawnExample(
        key="judging-image-text",
        title="Rating of image and text",
        procedure="judging",
        categories=("WU-IT", "Positions, image and text"),
        asks="An image and a caption go in, in both orders: how similar are they, from 1 to 10?",
        right="Expected are 10 for a caption that belongs to the image, 1 for an irrelevant one, and for a changed one "
        "8 if the judge should count the change, 10 if it should ignore it.",
        tiles=(
            Tile("left", LEFT),
            Tile("identical: 10", RIGHT_WAY_ROUND, right=True),
            Tile("transformed: 8 or 10", WRONG_WAY_ROUND),
            Tile("irrelevant: 1", "a green moon"),
        ),
    ),
    DrawnExample(
        key="judging",
        title="Rating of two images",
        procedure="judging",
        asks="Two images go in, in both orders: how similar are they, from 1 to 10?",
        right="Expected are 10 for an identical pair, 1 for an irrelevant one, and for a transformed one 8 where the "
        "judge is told that the change matters, 10 where it is to ignore it.",
        tiles=(
            Tile("left", STARS),
            Tile("identical: 10", STARS, right=True),
            Tile("transformed: 8 or 10", STARS, distortion=("blur", 4)),
            Tile("irrelevant: 1", OTHER),
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
            Tile("prompt", "a blue star and a red circle"),
            Tile("generator A", STARS, right=True),
            Tile("generator B", SWAPPED),
            Tile("generator C", STARS, distortion=("noise", 5)),
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
            Tile("prompt", "a blue star and a red circle"),
            Tile("reference", STARS),
            Tile("generator A", STARS_MOVED, right=True),
            Tile("generator B", OTHER),
        ),
    ),
)
