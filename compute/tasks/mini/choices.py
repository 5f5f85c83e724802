"""Which of several: nearest image, image for a text, text for an image, quality, attributes, odd one out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import numpy as np

from compute.arrays import Floats32, Ints
from compute.content.items import Column, texts
from compute.tasks.data import Choices, Data, OddOneOut
from compute.tasks.drawing import compose, distortions
from compute.tasks.drawing.captions import Caption, caption
from compute.tasks.drawing.lexicon import DAMAGES, PHOTOGRAPHS, TEXTURES, TONES
from compute.tasks.drawing.render import Pixels
from compute.tasks.drawing.scenes import Background, Scene, facts
from compute.tasks.drawing.variants import Shown, distorted, shift
from compute.tasks.mini.album import PART, at_random, column, lots, names, placed, unlike

ITEMS, FEWER = 160, 120
MOST = 8  # alternatives
TRIES = 20  # single changes tried before a scene is changed twice
# Least differences in grey levels (brightness, contrast) or the measure's own unit (colourfulness) of two images.
GAPS = {"brightness": 15.0, "colorfulness": 12.0, "contrast": 10.0}
_DAMAGES, _TONES = tuple(DAMAGES), tuple(TONES)


def image_choice() -> dict[str, Data]:
    """A reference, and two images: one less distorted, or with fewer changes, than the other."""
    found = []
    for number in range(ITEMS):
        rng = lots("image-choice", number)
        found.append(unlike(partial(_distortions if number % 2 else _changes, rng)))
    reference, near, far = zip(*found, strict=True)
    return _choice("image-choice", near, (far,), reference=column(reference, of="mini/image-choice, reference"))


def _distortions(rng: Random) -> tuple[Shown, Shown, Shown]:
    scene, kind, weak = compose.scene(rng, part=PART), rng.choice((*_DAMAGES, *_TONES)), rng.randint(1, 3)
    return Shown(scene=scene), distorted(scene, kind, weak, rng), distorted(scene, kind, rng.randint(weak + 1, 5), rng)


def _changes(rng: Random) -> tuple[Shown, Shown, Shown]:
    """The same scene moved and a little lighter or darker, or with one change; the other has three."""
    scene = compose.scene(rng, part=PART)
    far = once = compose.edited(scene, rng)
    for _ in range(2):
        far = compose.edited(far, rng)
    if rng.random() < 0.5:
        near = Shown(scene=scene, shift=shift(rng), kind=rng.choice(("lighten", "darken")), strength=1)
    else:
        near = Shown(scene=once, shift=shift(rng))
    return Shown(scene=scene), near, Shown(scene=far, shift=shift(rng))


def _choice(
    task: str, right: tuple, others: tuple[tuple, ...], *, reference: Column | None = None, question: str = "reference"
) -> dict[str, Data]:
    answer = at_random(task, len(right), len(others) + 1)
    columns = placed(right, others, answer)
    made = texts if isinstance(right[0], str) else column
    return {
        "default": Choices(
            names=names(len(right)),
            answer=answer,
            reference=reference,
            question=question,
            alternatives=tuple(made(part, of=f"mini/{task}, {chr(65 + at)}") for at, part in enumerate(columns)),
        )
    }


def told(rng: Random) -> tuple[Scene, Caption]:
    """A scene and a true caption."""
    scene = compose.scene(rng, part=PART)
    return scene, caption(scene, rng)


def untrue(scene: Scene, stated: Caption, rng: Random, *, changed: bool) -> Scene:
    """A scene that the caption does not hold for: the given one with as few changes as it takes, or another."""
    other, tried = scene, 0
    while stated.facts <= facts(other):
        if not changed:
            other = compose.scene(rng, part=PART)
        else:
            other, tried = compose.edited(scene if tried < TRIES else other, rng), tried + 1
    return other


def image_for_text() -> dict[str, Data]:
    """A caption, its image and another: the same scene changed in what the caption states, or any other scene."""
    rows = []
    for number in range(ITEMS):
        rng = lots("image-for-text", number)
        scene, stated = told(rng)
        rows.append((stated.text, scene, untrue(scene, stated, rng, changed=number % 2 == 0)))
    captions, right, wrong = zip(*rows, strict=True)
    return _choice("image-for-text", right, (wrong,), reference=texts(captions, of="mini/image-for-text, caption"))


def text_for_image() -> dict[str, Data]:
    """An image, its caption, and a caption of the scene changed, or of another, that is false of it."""
    rows = []
    for number in range(ITEMS):
        rng = lots("text-for-image", number)
        scene, stated = told(rng)
        known = facts(scene)
        while True:
            other = compose.edited(scene, rng) if number % 2 else compose.scene(rng, part=PART)
            false = caption(other, rng)
            if not false.facts <= known and false.text != stated.text:
                break
        rows.append((scene, stated.text, false.text))
    shown, right, wrong = zip(*rows, strict=True)
    return _choice("text-for-image", right, (wrong,), reference=column(shown, of="mini/text-for-image, image"))


def alternatives() -> dict[str, Data]:
    """A caption and 2 to 8 images, a subset a number; fewer alternatives are the first of the eight."""
    captions, right, others = [], [], []
    for number in range(FEWER // 2):
        rng = lots("alternatives", number)
        scene, stated = told(rng)
        captions.append(stated.text)
        right.append(scene)
        wrong: list[Scene] = []
        while len(wrong) < MOST - 1:
            other = untrue(scene, stated, rng, changed=len(wrong) < 2)
            wrong += [] if other in wrong else [other]
        others.append(wrong)
    columns = [column(part, of="mini/alternatives") for part in (right, *zip(*others, strict=True))]
    reference = texts(captions, of="mini/alternatives, caption")
    out: dict[str, Data] = {}
    for count in range(2, MOST + 1):
        answer = np.arange(len(right)) % count
        out[str(count)] = Choices(
            names=names(len(right)), reference=reference, answer=answer, alternatives=_turned(columns[:count], answer)
        )
    return out


def _turned(columns: Sequence[Column], answer: Ints) -> tuple[Column, ...]:
    """Columns with the first one's item moved to the place of the answer: row i is rolled by answer[i]."""
    count = len(columns)

    def at(place: int) -> Column:
        source = (place - answer) % count
        return Column(
            modality="image",
            keys=np.array([columns[where].keys[row] for row, where in enumerate(source)]),
            read=lambda row: columns[source[row]].read(row),
            name=lambda row: columns[source[row]].name(row),
        )

    return tuple(at(place) for place in range(count))


def quality() -> dict[str, Data]:
    """Two strengths of one distortion of a scene, or two scenes of which one is more distorted by two steps or more."""
    rows = []
    for number in range(ITEMS):
        rng = lots("quality", number)
        rows.append(unlike(partial(_better_and_worse, rng, one_scene=number % 2 == 1)))
    good, bad = zip(*rows, strict=True)
    return _choice("quality", good, (bad,), question="quality")


def _better_and_worse(rng: Random, *, one_scene: bool) -> tuple[Shown, Shown]:
    first = compose.scene(rng, part=PART, kind=rng.choice((compose.view, compose.pair)))
    weak, kind = rng.randint(0, 3), rng.choice(_DAMAGES)
    if one_scene:
        other, worse, strong = first, kind, rng.randint(weak + 1, 5)
    else:
        other = compose.scene(rng, part=PART, kind=rng.choice((compose.view, compose.pair)))
        worse, strong = rng.choice(_DAMAGES), rng.randint(weak + 2, 5)
    return distorted(first, kind, weak, rng), distorted(other, worse, strong, rng)


def _measured(question: str, measure: Callable[[Pixels], Floats32], kinds: tuple[str, ...]) -> dict[str, Data]:
    """Pairs of distorted scenes of which one has more of what is measured; nearer pairs than the gap are redrawn."""
    rows = []
    for number in range(FEWER):
        rng = lots(question, number)
        while True:
            two = [
                distorted(
                    compose.scene(rng, part=PART, kind=rng.choice((compose.view, compose.several))),
                    rng.choice(kinds),
                    rng.randint(0, 4),
                    rng,
                )
                for _ in range(2)
            ]
            levels = measure(np.stack([one.pixels() for one in two]))
            if abs(levels[0] - levels[1]) >= GAPS[question]:
                break
        rows.append(two if levels[0] > levels[1] else two[::-1])
    more, less = zip(*rows, strict=True)
    return _choice(question, more, (less,), question=question)


def brightness() -> dict[str, Data]:
    return _measured("brightness", distortions.brightness, ("darken", "lighten"))


def colourfulness() -> dict[str, Data]:
    return _measured("colorfulness", distortions.colourfulness, ("grey", "vivid"))


def contrast() -> dict[str, Data]:
    return _measured("contrast", distortions.contrast, ("fade", "vivid"))


def sharpness() -> dict[str, Data]:
    """Two scenes, one blurred more than the other."""
    rows = []
    for number in range(FEWER):
        rng = lots("sharpness", number)
        weak = rng.randint(0, 3)
        rows.append(
            [
                distorted(
                    compose.scene(rng, part=PART, kind=rng.choice((compose.view, compose.several))),
                    "blur",
                    strength,
                    rng,
                )
                for strength in (weak, rng.randint(weak + 1, 5))
            ]
        )
    sharp, blurred = zip(*rows, strict=True)
    return _choice("sharpness", sharp, (blurred,), question="sharpness")


def odd_one_out() -> dict[str, Data]:
    """Three images: two share their photograph, their texture or their thing, the third does not."""
    rows = [(_photographs, _textures, _things)[number % 3](lots("odd-one-out", number)) for number in range(ITEMS - 10)]
    odd, one, other = zip(*rows, strict=True)
    place = at_random("odd-one-out", len(rows), 3)
    members = tuple(column(part, of="mini/odd-one-out") for part in placed(odd, (one, other), place))
    return {"default": OddOneOut(names=names(len(rows)), members=members, odd=place)}


def _photographs(rng: Random) -> tuple[Scene, Scene, Scene]:
    odd, shared = rng.sample(tuple(PHOTOGRAPHS), 2)
    return tuple(
        compose.scene(
            rng,
            part=PART,
            kind=lambda lot, part, name=name: Scene(background=compose.photograph(lot, part=part, name=name)),
        )
        for name in (odd, shared, shared)
    )


def _textures(rng: Random) -> tuple[Scene, Scene, Scene]:
    odd, shared = rng.sample(TEXTURES[1:], 2)
    return tuple(textured(rng, texture) for texture in (odd, shared, shared))


def textured(rng: Random, texture: str) -> Scene:
    """A pattern of this texture in any two colours, with a thing on it so that no two are the same."""

    def made(lot: Random, part: str) -> Scene:
        first, second = lot.sample(compose.COLOUR_NAMES, 2)
        ground = Background(texture=texture, first=first, second=second, part=part)
        return Scene(background=ground, things=compose.placed(lot, compose.names(lot, ground, 1), size="small"))

    return compose.scene(rng, part=PART, kind=made)


def _things(rng: Random) -> tuple[Scene, Scene, Scene]:
    """The same thing twice and another, each somewhere on some plain background."""
    shared, odd = compose.names(rng, Background(), 2)
    return tuple(alone(rng, *name) for name in (odd, shared, shared))


def alone(rng: Random, shape: str, colour: str, *, photographs: float = 0.0) -> Scene:
    """One thing on a background that it can be told from."""

    def made(lot: Random, part: str) -> Scene:
        while True:
            ground = compose.background(lot, part=part, photographs=photographs, textures=0.0)
            if colour in compose.free_colours(ground):
                return Scene(background=ground, things=compose.placed(lot, [(shape, colour)]))

    return compose.scene(rng, part=PART, kind=made)
