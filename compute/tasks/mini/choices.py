"""Choice tasks: nearest image, image for a text, text for an image, quality, attributes, odd one out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from compute.content.items import Column, texts
from compute.tasks.data import Choices, OddOneOut
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import caption
from compute.tasks.drawing.compose import Background, Scene, differing, facts
from compute.tasks.drawing.lexicon import DAMAGES, DISTORTIONS, PHOTOGRAPHS, TEXTURES
from compute.tasks.drawing.render import Shown, distorted, shift
from compute.tasks.mini.album import at_random, column, draws, names, placed, scene, unlike

ITEMS = 160
TRIES = 20  # single changes tried before a scene is changed a second time


def choice(task: str) -> Choices:
    """Returns the items of a task of DRAWN, with the correct alternative in a random position."""
    draw, reference, count = DRAWN[task]
    items = [draw(rng, number) for number, rng in draws(task, count)]
    *given, right, wrong = zip(*items, strict=True)
    answer = at_random(task, len(items), 2)
    both = zip("AB", placed(right, [wrong], answer), strict=True)
    return Choices(
        names=names(len(items)),
        answer=answer,
        reference=_column(given[0], of=f"mini/{task}, {reference}") if given else None,
        question="reference" if given else task,
        alternatives=tuple(_column(part, of=f"mini/{task}, {letter}") for letter, part in both),
    )


def _column(shown: Sequence, *, of: str) -> Column:
    return (texts if isinstance(shown[0], str) else column)(shown, of=of)


def odd_one_out() -> OddOneOut:
    """Returns items of three images: two share their photograph, their texture or their thing, the third does not."""
    kinds = (_photographs, _textures, _things)
    rows = [kinds[number % 3](rng) for number, rng in draws("odd-one-out", ITEMS - 10)]
    odd, *others = zip(*rows, strict=True)
    answers = at_random("odd-one-out", len(rows), 3)
    members = tuple(column(part, of="mini/odd-one-out") for part in placed(odd, others, answers))
    return OddOneOut(names=names(len(rows)), members=members, odd=answers)


def _photographs(rng: Random) -> tuple[Scene, ...]:
    odd, shared = rng.sample(tuple(PHOTOGRAPHS), 2)
    return tuple(scene(rng, partial(compose.view, name=name)) for name in (odd, shared, shared))


def _textures(rng: Random) -> tuple[Scene, ...]:
    """Returns patterns in random colours, each with a thing on it so that no two are equal."""
    odd, shared = rng.sample(TEXTURES[1:], 2)

    def made(lot: Random, part: str, texture: str) -> Scene:
        first, second = lot.sample(compose.COLOUR_NAMES, 2)
        ground = Background(texture=texture, first=first, second=second, part=part)
        return compose.furnished(lot, ground, 1, size="small")

    return tuple(scene(rng, partial(made, texture=texture)) for texture in (odd, shared, shared))


def _things(rng: Random) -> tuple[Scene, ...]:
    """Returns the same thing twice and another thing, each at a random position on a plain background."""
    shared, odd = compose.names(rng, Background(), 2)
    return tuple(single(rng, *name) for name in (odd, shared, shared))


def single(rng: Random, shape: str, colour: str, *, photographs: float = 0.0) -> Scene:
    """Returns one thing on a background that it stands out from."""

    def made(lot: Random, part: str) -> Scene:
        while True:
            ground = compose.background(lot, part=part, photographs=photographs, textures=0.0)
            if colour in compose.free_colours(ground):
                return Scene(ground, compose.placed(lot, [(shape, colour)]))

    return scene(rng, made)


# ---- one item each. `number` selects one of a task's two forms: any range of numbers has equally many of each.


def _image_choice(rng: Random, number: int) -> tuple[Shown, Shown, Shown]:
    """Returns a reference and two images, the second of which is more distorted or has more changes than the first."""
    return unlike(_distortions if number % 2 else _changes, rng)


def _distortions(rng: Random) -> tuple[Shown, Shown, Shown]:
    shown, kind, weak = scene(rng), rng.choice(DISTORTIONS), rng.randint(1, 3)
    return Shown(shown), distorted(shown, kind, weak, rng), distorted(shown, kind, rng.randint(weak + 1, 5), rng)


def _changes(rng: Random) -> tuple[Shown, Shown, Shown]:
    """Returns a scene, then the scene shifted and slightly lighter or darker, or with one change, and last the scene
    with three changes.

    It is drawn again unless the nearer scene differs in fewer facts, because changes may cancel and a single change may
    replace everything.
    """
    while True:
        first = scene(rng)
        far = once = compose.edited(first, rng)
        for _ in range(2):
            far = compose.edited(far, rng)
        if rng.random() < 0.5:
            near = Shown(first, shift(rng), kind=rng.choice(("lighten", "darken")), strength=1)
        else:
            near = Shown(once, shift(rng))
        if differing(first, near.scene) < differing(first, far):
            return Shown(first), near, Shown(far, shift(rng))


def _image_for_text(rng: Random, number: int) -> tuple[str, Scene, Scene]:
    """Returns a caption, its image, and an image that the caption does not describe: the same scene with as few changes
    as necessary, or any other.
    """
    shown = scene(rng)
    true = caption(shown, rng)
    other, tried = shown, 0
    while true.facts <= facts(other):
        if number % 2:
            other = scene(rng)
        else:
            other, tried = compose.edited(shown if tried < TRIES else other, rng), tried + 1
    return true.text, shown, other


def _text_for_image(rng: Random, number: int) -> tuple[Scene, str, str]:
    """Returns an image, its caption, and a false caption, of the changed scene or of another."""
    shown = scene(rng)
    true, known = caption(shown, rng), facts(shown)
    while True:
        false = caption(compose.edited(shown, rng) if number % 2 else scene(rng), rng)
        if not false.facts <= known and false.text != true.text:
            return shown, true.text, false.text


def _quality(rng: Random, number: int) -> tuple[Shown, Shown]:
    """Returns two strengths of one distortion of a scene, or two scenes whose distortions differ by at least two steps;
    the better one first.
    """

    def both(rng: Random) -> tuple[Shown, Shown]:
        first = scene(rng, rng.choice((compose.view, compose.pair)))
        weak, kind = rng.randint(0, 3), rng.choice(tuple(DAMAGES))
        if number % 2:
            other, worse, strong = first, kind, rng.randint(weak + 1, 5)
        else:
            other = scene(rng, rng.choice((compose.view, compose.pair)))
            worse, strong = rng.choice(tuple(DAMAGES)), rng.randint(weak + 2, 5)
        return distorted(first, kind, weak, rng), distorted(other, worse, strong, rng)

    return unlike(both, rng)


def _sharpness(rng: Random, number: int) -> list[Shown]:
    """Returns two scenes, the second of which is more blurred."""
    weak = rng.randint(0, 3)
    return [
        distorted(scene(rng, rng.choice((compose.view, compose.several))), "blur", strength, rng)
        for strength in (weak, rng.randint(weak + 1, 5))
    ]


# By task: the function that draws an item, the name of its reference, if it has one, and the number of items.
DRAWN: dict[str, tuple[Callable[[Random, int], Sequence], str, int]] = {
    "image-choice": (_image_choice, "reference", ITEMS),
    "image-for-text": (_image_for_text, "caption", ITEMS),
    "text-for-image": (_text_for_image, "image", ITEMS),
    "quality": (_quality, "", ITEMS),
    "sharpness": (_sharpness, "", 120),
}
