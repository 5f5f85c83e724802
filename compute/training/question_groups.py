"""Groups of drawn training examples: related images and captions, and the questions that they answer together.

A step's time goes into its images. One question takes two or three; a scene that is changed five times, with captions,
answers dozens, of three tasks. So examples are drawn a group at a time, tasks share groups, and a step embeds each
image once. What is asked follows the suite's rules (compute/tasks/mini/choices.py), from scenes that the suite never
shows, with the hard form of each more often: what any two scenes have in common is learnt already.
Two side effects of what is reserved for the suite are imitated: which changes are frequent (`_edited`), and how much a
photograph is enlarged (CROP).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, permutations, product
from random import Random

import numpy as np

from compute.arrays import Floats, Ints
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import Caption, caption
from compute.tasks.drawing.distortions import Shown, distorted, shift
from compute.tasks.drawing.lexicon import DAMAGES, DISTORTIONS
from compute.tasks.drawing.scenes import Scene, facts
from compute.tasks.mini.album import scene, unlike
from compute.training.examples import QUALITY_PROMPT

VERSION = 6  # of what is drawn: content keys that are stored are of this one
PART = "train"
QUESTIONS = 144  # of a group, for each of its tasks
SCENES = 6  # of a group of changes
CHANGES = 5  # to a scene, one after the other
TRIES = 100  # changes tried for one that keeps the scene's eighth, before another is taken
CROP = 2 / 3  # times a crop's side: the suite's part of a photograph is so much narrower than training's (PARTS)
FAR = 3  # changes of the farther image at least, where the nearer one has one; the suite's number
MOVED = 0.75  # share of changed scenes that are moved: the suite compares images moved, and texts with images unmoved
CAPTIONS = 2  # of a scene
ACROSS = 48  # of a group's questions with texts: how many have the wrong alternative from another scene
DISTORTED = 16  # one group of image-choice in so many is of distortions
DISTORTED_SCENES = 16  # of such a group, each with all strengths of one distortion
STRENGTHS = range(1, 6)  # of a distortion
WEAKEST = 3  # the highest strength of the better of two images
DAMAGED = 10  # scenes of a group, each in two strengths of one distortion

Question = tuple[int, int, int]  # which contents are the reference, the preferred alternative, and the other


@dataclass(frozen=True)
class QuestionGroup:
    """Contents, images and texts, and QUESTIONS about them by task."""

    contents: tuple[Shown | str, ...]
    questions: Mapping[str, tuple[Question, ...]]


def kind_of(task: str, number: int) -> str:
    """The kind, of KINDS, of a task's group. Tasks whose groups of one number are of one kind share the group.

    Of image-choice one group in DISTORTED is of distortions, the others are of changes, the harder of the suite's two
    forms: of 800 such items of another seed the bundled model found 79.5% of the changes and 99% of the distortions.
    """
    if task == "quality":
        return "damages"
    return "distortions" if task == "image-choice" and number % DISTORTED == DISTORTED - 1 else "changes"


def drawn(kind: str, *, seed: int, number: int) -> QuestionGroup:
    """A group of a kind; the same for the same arguments."""
    return KINDS[kind](Random(f"unisim {seed} {kind} {number}"))


def changes(rng: Random) -> QuestionGroup:
    """Scenes changed again and again, and captions of all states."""
    images: list[Shown] = []
    known: list[frozenset[str]] = []  # of each image
    captions: list[Caption] = []
    choices: list[Question] = []
    for _ in range(SCENES):
        states = [_scene(rng)]
        for _ in range(CHANGES):
            states.append(_edited(states[-1], rng))
        seen = _seen(states, rng)
        of_seen = [facts(image.scene) for image in seen]
        choices += [tuple(len(images) + at for at in question) for question in _nearer(of_seen)]
        images += seen
        known += of_seen
        captions += [caption(state, rng) for state in states for _ in range(CAPTIONS)]
    share = np.array([[len(text.facts & image) / len(text.facts) for image in known] for text in captions])
    of_images, of_texts = (np.arange(len(each)) * SCENES // len(each) for each in (images, captions))
    texts = [text.text for text in captions]
    for_texts = _true(share, of_texts, of_images, images, rng)
    for_images = _true(share.T, of_images, of_texts, texts, rng)
    start = len(images)  # of the texts among the contents
    return QuestionGroup(
        (*images, *texts),
        {
            "image-choice": _as_many(choices, QUESTIONS, rng),
            "image-for-text": tuple((start + text, right, wrong) for text, right, wrong in for_texts),
            "text-for-image": tuple((image, start + right, start + wrong) for image, right, wrong in for_images),
        },
    )


def _scene(rng: Random, kind: Callable[..., Scene] | None = None) -> Scene:
    """A scene that training may show, of the given kind, else of any, with a photograph enlarged as in the suite."""
    while True:
        drawn = _enlarged(scene(rng, kind, part=PART))
        if not drawn.held_out():
            return drawn


def _enlarged(before: Scene) -> Scene:
    """The scene with the suite's scale of its photograph; one without a photograph as it is."""
    if not before.background.photograph:
        return before
    x, y, side = before.background.crop
    return replace(before, background=replace(before.background, crop=(x, y, CROP * side)))


def _edited(before: Scene, rng: Random) -> Scene:
    """The scene with one change that keeps its eighth of all scenes, as the suite's changes keep theirs.

    So a fifth of the changes to several things move one within its ninth of the image, which changes no description;
    of changes into any of training's eighths it would be 3%. Where TRIES find none, as there may be none for a single
    word, the change leads into another of training's eighths.
    """
    for tried in count():
        changed = compose.edited(before, rng)
        if changed.background != before.background:
            changed = _enlarged(changed)
        if changed.eighth() == before.eighth() or (tried >= TRIES and not changed.held_out()):
            return changed


def _seen(states: Sequence[Scene], rng: Random) -> list[Shown]:
    """An image of each state, most of them moved; then the first and the last moved and a little lighter or darker."""
    images = [Shown(scene=states[0])]
    images += [Shown(scene=state, shift=shift(rng) if rng.random() < MOVED else (0.0, 0.0)) for state in states[1:]]
    return images + [
        Shown(scene=state, shift=shift(rng), kind=rng.choice(("lighten", "darken")), strength=1)
        for state in (states[0], states[-1])
    ]


def _true(
    share: Floats, of_references: Ints, of_alternatives: Ints, alternatives: Sequence[Shown | str], rng: Random
) -> tuple[Question, ...]:
    """QUESTIONS of references about alternatives of the other modality: a true one of their scene, and a false one.

    share: (references, alternatives), how much of what the caption states holds for the image; then the scenes of each.
    The false alternative is another of the same scene or, in ACROSS of the questions, the one of the other scenes of
    which most holds. It is never the same text: `a blue moon` may mean the only moon, or one of several.
    """
    within: list[Question] = []
    across: list[Question] = []
    for reference, scene_of_it in enumerate(of_references):
        own, true = of_alternatives == scene_of_it, share[reference] == 1
        right = np.flatnonzero(own & true).tolist()
        within += [(reference, *pair) for pair in product(right, np.flatnonzero(own & ~true).tolist())]
        others = np.where(own | true, -1.0, share[reference])
        if right and others.max() >= 0:
            # Any of the best: the first would mostly be an image that is not moved, and be known by that.
            across.append((reference, rng.choice(right), rng.choice(np.flatnonzero(others == others.max()).tolist())))
    within, across = (
        [each for each in asked if alternatives[each[1]] != alternatives[each[2]]] for asked in (within, across)
    )
    return _as_many([*_as_many(within, QUESTIONS - ACROSS, rng), *_as_many(across, ACROSS, rng)], QUESTIONS, rng)


def _nearer(known: Sequence[frozenset[str]]) -> list[Question]:
    """A state's neighbour is nearer than a state at least FAR changes away; the first and the last, seen differently,
    are nearer to themselves than any other state.

    Dropped where the near state does not differ in fewer facts than the far one, as in the suite.
    """
    states = range(CHANGES + 1)
    differently = {0: CHANGES + 1, CHANGES: CHANGES + 2}
    asked = [
        (state, near, far)
        for state, far in permutations(states, 2)
        for near in (state - 1, state + 1)
        if near in states and abs(far - state) >= FAR
    ]
    asked += [(state, same, far) for state, same in differently.items() for far in states if far != state]
    return [
        (state, near, far)
        for state, near, far in asked
        if len(known[state] ^ known[near]) < len(known[state] ^ known[far])
    ]


def distortions(rng: Random) -> QuestionGroup:
    """Scenes, each with all strengths of one distortion."""
    images: list[Shown] = []
    questions: list[Question] = []
    for _ in range(DISTORTED_SCENES):
        start = len(images)
        images += unlike(_all_strengths, rng)
        questions += [
            (start, start + weak, start + strong)
            for weak in STRENGTHS
            for strong in STRENGTHS
            if weak <= WEAKEST and weak < strong
        ]
    return QuestionGroup(tuple(images), {"image-choice": _as_many(questions, QUESTIONS, rng)})


def _all_strengths(rng: Random) -> tuple[Shown, ...]:
    shown, kind = _scene(rng), rng.choice(DISTORTIONS)
    return (Shown(scene=shown), *(distorted(shown, kind, strength, rng) for strength in STRENGTHS))


def damages(rng: Random) -> QuestionGroup:
    """Scenes in two strengths of a distortion each: two strengths of one scene, or two scenes two steps apart."""
    images: list[Shown] = []
    for _ in range(DAMAGED):
        shown = _scene(rng, rng.choice((compose.view, compose.pair)))
        kind, weak = rng.choice(tuple(DAMAGES)), rng.randint(0, WEAKEST)
        images += [distorted(shown, kind, strength, rng) for strength in (weak, rng.randint(weak + 1, 5))]
    questions = [
        (len(images), better, worse)
        for better, worse in permutations(range(len(images)), 2)
        if images[better].strength <= WEAKEST
        and images[worse].strength - images[better].strength >= (1 if better // 2 == worse // 2 else 2)
    ]
    return QuestionGroup((*images, QUALITY_PROMPT), {"quality": _as_many(questions, QUESTIONS, rng)})


def _as_many(questions: Sequence[Question], count: int, rng: Random) -> tuple[Question, ...]:
    """`count` of the questions in any order: without repetition where there are enough, else all, and some again."""
    more = max(0, count - len(questions))
    return (*rng.sample(questions, count - more), *rng.choices(questions, k=more))


KINDS: dict[str, Callable[[Random], QuestionGroup]] = {
    "changes": changes,
    "distortions": distortions,
    "damages": damages,
}
