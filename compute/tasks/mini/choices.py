"""Which of several: nearest image, image for a text, text for an image, quality, attributes, odd one out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import numpy as np

from compute.content.items import Column, images, texts
from compute.tasks.data import Choices, OddOneOut
from compute.tasks.drawing import compose, distortions
from compute.tasks.drawing.captions import Caption, caption
from compute.tasks.drawing.distortions import Shown, distorted, shift
from compute.tasks.drawing.lexicon import DAMAGES, DISTORTIONS, PHOTOGRAPHS, TEXTURES
from compute.tasks.drawing.scenes import Background, Scene, differing, facts
from compute.tasks.mini.album import SUITE, at_random, column, draws, files, names, placed, scene, unlike

ITEMS, FEWER = 160, 120
MOST = 8  # alternatives
TRIES = 20  # single changes tried before a scene is changed twice
_DAMAGES = tuple(DAMAGES)
# What is measured, the distortions that change it, and the least difference of two images, in grey levels (brightness,
# contrast) or the measure's own unit (colourfulness).
MEASURES = {
    "brightness": (distortions.brightness, ("darken", "lighten"), 15.0),
    "colorfulness": (distortions.colourfulness, ("grey", "vivid"), 12.0),
    "contrast": (distortions.contrast, ("fade", "vivid"), 10.0),
}


def image_choice(*, seed: str = SUITE, count: int = ITEMS) -> Choices:
    """A reference, and two images: one less distorted, or with fewer changes, than the other."""
    return _choice("image-choice", _image_choice, count, reference="reference", seed=seed)


def _choice(
    task: str,
    draw: Callable[[Random, int], Sequence],
    count: int,
    *,
    reference: str = "",
    question: str = "reference",
    seed: str,
) -> Choices:
    """Of what `draw` gives item by item: the reference where it is named, the right alternative and the wrong one."""
    *given, right, wrong = zip(*(draw(rng, number) for number, rng in draws(task, count, seed=seed)), strict=True)
    answer = at_random(task, count, 2, seed=seed)
    both = zip("AB", placed(right, [wrong], answer), strict=True)
    return Choices(
        names=names(count),
        answer=answer,
        reference=_column(given[0], of=f"mini/{task}, {reference}") if given else None,
        question=question,
        alternatives=tuple(_column(part, of=f"mini/{task}, {letter}") for letter, part in both),
    )


def _column(shown: Sequence, *, of: str) -> Column:
    return (texts if isinstance(shown[0], str) else column)(shown, of=of)


def image_for_text(*, seed: str = SUITE, count: int = ITEMS) -> Choices:
    """A caption, its image and another: the same scene changed in what the caption states, or any other scene."""
    return _choice("image-for-text", _image_for_text, count, reference="caption", seed=seed)


def text_for_image(*, seed: str = SUITE, count: int = ITEMS) -> Choices:
    """An image, its caption, and a caption of the scene changed, or of another, that is false of it."""
    return _choice("text-for-image", _text_for_image, count, reference="image", seed=seed)


def alternatives() -> dict[str, Choices]:
    """A caption and 2 to 8 images, a subset a number; fewer alternatives are the first of the eight.

    The right image is the first; row i is rolled by its answer.
    """
    captions, rows = [], []
    for _, rng in draws("alternatives", FEWER // 2):
        shown, true = stated(rng)
        captions.append(true.text)
        row = [shown]
        while len(row) < MOST:
            other = untrue(shown, true, rng, changed=len(row) < 3)
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
    return _choice("quality", _quality, count, question="quality", seed=seed)


def measured(question: str, *, seed: str = SUITE, count: int = FEWER) -> Choices:
    """Pairs of distorted scenes of which one has more of what is measured; nearer pairs than the gap are redrawn."""
    measure, kinds, gap = MEASURES[question]

    def draw(rng: Random, number: int) -> Sequence[Shown]:
        while True:
            two = [distorted(_busy(rng), rng.choice(kinds), rng.randint(0, 4), rng) for _ in range(2)]
            levels = measure(np.stack([image.pixels() for image in two]))
            if abs(levels[0] - levels[1]) >= gap:
                return two if levels[0] > levels[1] else two[::-1]

    return _choice(question, draw, count, question=question, seed=seed)


def _busy(rng: Random) -> Scene:
    return scene(rng, rng.choice((compose.view, compose.several)))


def sharpness(*, seed: str = SUITE, count: int = FEWER) -> Choices:
    """Two scenes, one blurred more than the other."""

    def draw(rng: Random, number: int) -> Sequence[Shown]:
        weak = rng.randint(0, 3)
        return [distorted(_busy(rng), "blur", strength, rng) for strength in (weak, rng.randint(weak + 1, 5))]

    return _choice("sharpness", draw, count, question="sharpness", seed=seed)


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
    return tuple(single(rng, *name) for name in (odd, shared, shared))


def single(rng: Random, shape: str, colour: str, *, photographs: float = 0.0) -> Scene:
    """One thing on a background that it stands out from."""

    def made(lot: Random, part: str) -> Scene:
        while True:
            ground = compose.background(lot, part=part, photographs=photographs, textures=0.0)
            if colour in compose.free_colours(ground):
                return Scene(background=ground, things=compose.placed(lot, [(shape, colour)]))

    return scene(rng, made)


# ---- one item each of the four core tasks, by rules that training's groups follow too (training/question_groups.py).
# `number` decides which of a task's two forms the item has, so that any range of numbers has as many of each.


def _image_choice(rng: Random, number: int) -> tuple[Shown, Shown, Shown]:
    """A reference, and two images: one less distorted, or with fewer changes, than the other, the better one first."""
    return unlike(_distortions if number % 2 else _changes, rng)


def _distortions(rng: Random) -> tuple[Shown, Shown, Shown]:
    shown, kind, weak = scene(rng), rng.choice(DISTORTIONS), rng.randint(1, 3)
    return Shown(scene=shown), distorted(shown, kind, weak, rng), distorted(shown, kind, rng.randint(weak + 1, 5), rng)


def _changes(rng: Random) -> tuple[Shown, Shown, Shown]:
    """The same scene moved and a little lighter or darker, or with one change; the other has three.

    Drawn again where the nearer scene does not differ in fewer facts: changes may undo each other, and one may replace
    all there is.
    """
    while True:
        first = scene(rng)
        far = once = compose.edited(first, rng)
        for _ in range(2):
            far = compose.edited(far, rng)
        if rng.random() < 0.5:
            near = Shown(scene=first, shift=shift(rng), kind=rng.choice(("lighten", "darken")), strength=1)
        else:
            near = Shown(scene=once, shift=shift(rng))
        if differing(first, near.scene) < differing(first, far):
            return Shown(scene=first), near, Shown(scene=far, shift=shift(rng))


def stated(rng: Random) -> tuple[Scene, Caption]:
    """A scene and a true caption."""
    shown = scene(rng)
    return shown, caption(shown, rng)


def untrue(shown: Scene, true: Caption, rng: Random, *, changed: bool) -> Scene:
    """A scene that the caption does not hold for: the given one with as few changes as needed, or another."""
    other, tried = shown, 0
    while true.facts <= facts(other):
        if not changed:
            other = scene(rng)
        else:
            other, tried = compose.edited(shown if tried < TRIES else other, rng), tried + 1
    return other


def _image_for_text(rng: Random, number: int) -> tuple[str, Scene, Scene]:
    """A caption, its image and another: the same scene changed in what the caption states, or any other scene."""
    shown, true = stated(rng)
    return true.text, shown, untrue(shown, true, rng, changed=number % 2 == 0)


def _text_for_image(rng: Random, number: int) -> tuple[Scene, str, str]:
    """An image, its caption, and a caption of the scene changed, or of another, that is false of it."""
    shown, true = stated(rng)
    known = facts(shown)
    while True:
        false = caption(compose.edited(shown, rng) if number % 2 else scene(rng), rng)
        if not false.facts <= known and false.text != true.text:
            return shown, true.text, false.text


def _quality(rng: Random, number: int) -> tuple[Shown, Shown]:
    """Two strengths of one distortion of a scene, or two scenes of which one is more distorted by two steps or more;
    the better one first."""
    return unlike(partial(_better_and_worse, one_scene=number % 2 == 1), rng)


def _better_and_worse(rng: Random, *, one_scene: bool) -> tuple[Shown, Shown]:
    first = scene(rng, rng.choice((compose.view, compose.pair)))
    weak, kind = rng.randint(0, 3), rng.choice(_DAMAGES)
    if one_scene:
        other, worse, strong = first, kind, rng.randint(weak + 1, 5)
    else:
        other = scene(rng, rng.choice((compose.view, compose.pair)))
        worse, strong = rng.choice(_DAMAGES), rng.randint(weak + 2, 5)
    return distorted(first, kind, weak, rng), distorted(other, worse, strong, rng)
