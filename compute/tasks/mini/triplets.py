"""One item of each of the four core tasks at a time: the rules that the suite and validation share, and training's
groups follow (compute/training/question_groups.py). Scenes are those that training never draws.

`number` decides which of a task's two forms the item has, so that any range of numbers has as many of each.
"""

from __future__ import annotations

from functools import partial
from random import Random

from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import Caption, caption
from compute.tasks.drawing.lexicon import DAMAGES, DISTORTIONS
from compute.tasks.drawing.scenes import Scene, differing, facts
from compute.tasks.drawing.variants import Shown, distorted, shift
from compute.tasks.mini.album import scene, unlike

TRIES = 20  # single changes tried before a scene is changed twice
_DAMAGES = tuple(DAMAGES)


def image_choice(rng: Random, number: int) -> tuple[Shown, Shown, Shown]:
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


def image_for_text(rng: Random, number: int) -> tuple[str, Scene, Scene]:
    """A caption, its image and another: the same scene changed in what the caption states, or any other scene."""
    shown, true = stated(rng)
    return true.text, shown, untrue(shown, true, rng, changed=number % 2 == 0)


def text_for_image(rng: Random, number: int) -> tuple[Scene, str, str]:
    """An image, its caption, and a caption of the scene changed, or of another, that is false of it."""
    shown, true = stated(rng)
    known = facts(shown)
    while True:
        false = caption(compose.edited(shown, rng) if number % 2 else scene(rng), rng)
        if not false.facts <= known and false.text != true.text:
            return shown, true.text, false.text


def quality(rng: Random, number: int) -> tuple[Shown, Shown]:
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
