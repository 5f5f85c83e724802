"""Which of several: nearest image, image for a text, text for an image, quality, attributes, odd one out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random

import numpy as np

from compute.content.items import Column, images, texts
from compute.tasks.data import Choices, OddOneOut
from compute.tasks.drawing import compose, distortions
from compute.tasks.drawing.lexicon import PHOTOGRAPHS, TEXTURES
from compute.tasks.drawing.scenes import Background, Scene
from compute.tasks.drawing.variants import distorted
from compute.tasks.mini import triplets
from compute.tasks.mini.album import SUITE, at_random, column, draws, files, names, placed, scene

ITEMS, FEWER = 160, 120
MOST = 8  # alternatives
# What is measured, the distortions that change it, and the least difference of two images, in grey levels (brightness,
# contrast) or the measure's own unit (colourfulness).
MEASURES = {
    "brightness": (distortions.brightness, ("darken", "lighten"), 15.0),
    "colorfulness": (distortions.colourfulness, ("grey", "vivid"), 12.0),
    "contrast": (distortions.contrast, ("fade", "vivid"), 10.0),
}


def image_choice(*, seed: str = SUITE, count: int = ITEMS) -> Choices:
    """A reference, and two images: one less distorted, or with fewer changes, than the other."""
    reference, near, far = _rows(triplets.image_choice, "image-choice", seed=seed, count=count)
    return _choice("image-choice", near, far, reference=column(reference, of="mini/image-choice, reference"), seed=seed)


def _rows(draw: Callable[..., tuple], task: str, *, seed: str, count: int) -> Iterator[tuple]:
    """Column by column what `draw` gives item by item."""
    return zip(*(draw(rng, number) for number, rng in draws(task, count, seed=seed)), strict=True)


def _choice(
    task: str,
    right: Sequence,
    wrong: Sequence,
    *,
    reference: Column | None = None,
    question: str = "reference",
    seed: str = SUITE,
) -> Choices:
    answer = at_random(task, len(right), 2, seed=seed)
    made = texts if isinstance(right[0], str) else column
    return Choices(
        names=names(len(right)),
        answer=answer,
        reference=reference,
        question=question,
        alternatives=tuple(
            made(part, of=f"mini/{task}, {letter}")
            for letter, part in zip("AB", placed(right, [wrong], answer), strict=True)
        ),
    )


def image_for_text(*, seed: str = SUITE, count: int = ITEMS) -> Choices:
    """A caption, its image and another: the same scene changed in what the caption states, or any other scene."""
    captions, right, wrong = _rows(triplets.image_for_text, "image-for-text", seed=seed, count=count)
    reference = texts(captions, of="mini/image-for-text, caption")
    return _choice("image-for-text", right, wrong, reference=reference, seed=seed)


def text_for_image(*, seed: str = SUITE, count: int = ITEMS) -> Choices:
    """An image, its caption, and a caption of the scene changed, or of another, that is false of it."""
    scenes, right, wrong = _rows(triplets.text_for_image, "text-for-image", seed=seed, count=count)
    reference = column(scenes, of="mini/text-for-image, image")
    return _choice("text-for-image", right, wrong, reference=reference, seed=seed)


def alternatives() -> dict[str, Choices]:
    """A caption and 2 to 8 images, a subset a number; fewer alternatives are the first of the eight.

    The right image is the first; row i is rolled by its answer.
    """
    captions, rows = [], []
    for _, rng in draws("alternatives", FEWER // 2):
        shown, true = triplets.stated(rng)
        captions.append(true.text)
        row = [shown]
        while len(row) < MOST:
            other = triplets.untrue(shown, true, rng, changed=len(row) < 3)
            if other not in row[1:]:
                row.append(other)
        rows.append(files(row))
    reference = texts(captions, of="mini/alternatives, caption")
    out = {}
    for count in range(2, MOST + 1):
        answer = np.arange(len(rows)) % count
        rolled = [row[count - at : count] + row[: count - at] for row, at in zip(rows, answer.tolist(), strict=True)]
        columns = tuple(images(part, of="mini/alternatives") for part in zip(*rolled, strict=True))
        out[str(count)] = Choices(names=names(len(rows)), reference=reference, answer=answer, alternatives=columns)
    return out


def quality(*, seed: str = SUITE, count: int = ITEMS) -> Choices:
    """Two strengths of one distortion of a scene, or two scenes of which one is more distorted by two steps or more."""
    better, worse = _rows(triplets.quality, "quality", seed=seed, count=count)
    return _choice("quality", better, worse, question="quality", seed=seed)


def measured(question: str, *, seed: str = SUITE, count: int = FEWER) -> Choices:
    """Pairs of distorted scenes of which one has more of what is measured; nearer pairs than the gap are redrawn."""
    measure, kinds, gap = MEASURES[question]
    rows = []
    for _, rng in draws(question, count, seed=seed):
        while True:
            two = [distorted(_busy(rng), rng.choice(kinds), rng.randint(0, 4), rng) for _ in range(2)]
            levels = measure(np.stack([image.pixels() for image in two]))
            if abs(levels[0] - levels[1]) >= gap:
                break
        rows.append(two if levels[0] > levels[1] else two[::-1])
    return _choice(question, *zip(*rows, strict=True), question=question, seed=seed)


def _busy(rng: Random) -> Scene:
    return scene(rng, rng.choice((compose.view, compose.several)))


def sharpness(*, seed: str = SUITE, count: int = FEWER) -> Choices:
    """Two scenes, one blurred more than the other."""
    rows = []
    for _, rng in draws("sharpness", count, seed=seed):
        weak = rng.randint(0, 3)
        rows.append([distorted(_busy(rng), "blur", strength, rng) for strength in (weak, rng.randint(weak + 1, 5))])
    return _choice("sharpness", *zip(*rows, strict=True), question="sharpness", seed=seed)


def odd_one_out(*, seed: str = SUITE, count: int = ITEMS - 10) -> OddOneOut:
    """Three images: two share their photograph, their texture or their thing, the third does not."""
    kinds = (_photographs, _textures, _things)
    rows = [kinds[number % 3](rng) for number, rng in draws("odd-one-out", count, seed=seed)]
    odd, *others = zip(*rows, strict=True)
    answers = at_random("odd-one-out", len(rows), 3, seed=seed)
    members = tuple(column(part, of="mini/odd-one-out") for part in placed(odd, others, answers))
    return OddOneOut(names=names(len(rows)), members=members, odd=answers)


def _photographs(rng: Random) -> tuple[Scene, ...]:
    odd, shared = rng.sample(tuple(PHOTOGRAPHS), 2)
    return tuple(scene(rng, partial(compose.view, name=name)) for name in (odd, shared, shared))


def _textures(rng: Random) -> tuple[Scene, ...]:
    odd, shared = rng.sample(TEXTURES[1:], 2)
    return tuple(textured(rng, texture) for texture in (odd, shared, shared))


def textured(rng: Random, texture: str) -> Scene:
    """A pattern of this texture in any two colours, with a thing on it so that no two are the same."""

    def made(lot: Random, part: str) -> Scene:
        first, second = lot.sample(compose.COLOUR_NAMES, 2)
        ground = Background(texture=texture, first=first, second=second, part=part)
        return compose.furnished(lot, ground, 1, size="small")

    return scene(rng, made)


def _things(rng: Random) -> tuple[Scene, ...]:
    """The same thing twice and another, each somewhere on some plain background."""
    shared, odd = compose.names(rng, Background(), 2)
    return tuple(alone(rng, *name) for name in (odd, shared, shared))


def alone(rng: Random, shape: str, colour: str, *, photographs: float = 0.0) -> Scene:
    """One thing on a background that it stands out from."""

    def made(lot: Random, part: str) -> Scene:
        while True:
            ground = compose.background(lot, part=part, photographs=photographs, textures=0.0)
            if colour in compose.free_colours(ground):
                return Scene(background=ground, things=compose.placed(lot, [(shape, colour)]))

    return scene(rng, made)
