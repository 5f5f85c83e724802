"""Batches that the bundled model learns from: drawn images, captions, and what is known of every pair."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

import numpy as np

from compute.arrays import Bools, Floats32, Ints
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import PLACES, Caption, article, caption, counted, located, related
from compute.tasks.drawing.compose import Scene, facts, place, relation, sentence, sharing
from compute.tasks.drawing.lexicon import (
    CELLS,
    COLOURS,
    DAMAGES,
    DISTORTIONS,
    OPPOSITE,
    PHOTOGRAPHS,
    SHAPES,
    SIZES,
    TEXTURES,
    TONES,
    WORDS,
)
from compute.tasks.drawing.render import SIDE, Pixels, Shown, distorted, shift

ANSWERS = 4  # of a question on where or how many
QUESTIONS = 4  # images for one question
TEXTS = 3  # captions an image: two true ones and a false one
# What images are ordered by, and the prompts for more and for less of it that benchmarks use.
MORE = (
    ("A high quality photo.", "A high-quality photo.", "Good photo."),
    ("A bright photo.", "Bright photo."),
    ("A very colorful photo.", "Colorful photo."),
    ("A high contrast photo.", "High contrast photo."),
    ("A very sharp photo", "Sharp photo."),
)
LESS = ("Bad photo.", "Dark photo.", "Dull photo", "Low contrast photo.", "Blurry photo.")
GAPS = (0.5, 12.0, 10.0, 8.0, 0.5)  # least difference at which two images are put in order
# The facts that a head of the training names for each image, besides the captions.
NAMED = (
    *(f"name {colour} {shape}" for colour in COLOURS for shape in SHAPES),
    *(f"shape {shape}" for shape in SHAPES),
    *(f"colour {colour}" for colour in COLOURS),
    *(f"texture {texture}" for texture in TEXTURES),
    *(f"paint {colour}" for colour in COLOURS),
    *(f"ground {title}" for title in PHOTOGRAPHS.values()),
    *(f"word {word}" for word in WORDS),
    *(f"{n} things" for n in range(7)),
    *(f"ninth {row}{column} {what}" for row in range(3) for column in range(3) for what in (*COLOURS, *SHAPES)),
)
PATCH = 8  # pixels
# What a patch of the image shows: nothing (0) or one of these, by head.
PATCH_HEADS = (tuple(COLOURS), SHAPES, WORDS)
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One batch of n images; text TEXTS * i + j is the j-th of image i, the last of them false."""

    images: Pixels  # (n, 64, 64, 3)
    texts: tuple[str, ...]  # (n * TEXTS,)
    true: Bools  # (n, n * TEXTS): whether the text holds for the image
    asked: Ints  # (q,) images with their own question
    answers: tuple[str, ...]  # (q * ANSWERS,) texts that differ in one word or number; a question's first one is true
    families: int  # the first 3 * families images are (reference, nearer, farther)
    named: Floats32  # (n, len(NAMED)) of 0 and 1
    patches: Ints  # (n, patches, len(PATCH_HEADS)), row by row; 0 for nothing
    # (n, 5): quality, brightness, colorfulness, contrast, sharpness; higher is more; NaN where none is known
    qualities: Floats32


def lesson(*, seed: int, step: int, images: int, part: str = "train") -> Lesson:
    """The batch of one step: a function of its arguments alone, so that a run can be resumed where it stopped."""
    rng = Random(f"lesson {seed} {step}")
    families = images // 8
    shown = [image for _ in range(families) for image in family(rng, part=part)]
    shown += [_single(rng, part=part) for _ in range(images - len(shown))]
    known = [facts(image.scene) for image in shown]
    captions = [text for image, true in zip(shown, known, strict=True) for text in _captions(image, true, rng)]
    pixels = np.stack([image.pixels() for image in shown])
    rows, answers = _questions(shown, rng)
    known = [
        true | quality_facts(kind=image.kind, strength=image.strength) | _ninths(image)
        for image, true in zip(shown, known, strict=True)
    ]
    return Lesson(
        images=pixels,
        texts=tuple(text.text for text in captions),
        true=_holds(known, captions),
        asked=rows,
        answers=answers,
        families=families,
        named=np.array([[name in true for name in NAMED] for true in known], np.float32),
        patches=np.stack([_patches(image) for image in shown]),
        qualities=_qualities(shown, pixels),
    )


def family(rng: Random, *, part: str) -> tuple[Shown, Shown, Shown]:
    """A reference, an image nearer to it and one farther from it, by construction."""
    lot = rng.random()
    if lot < 0.2:
        return _sentences(rng, part=part)
    scene = compose.scene(rng, part=part)
    reference = Shown(scene)
    if lot < 0.6:  # the same distortion, or two, of different strengths
        kinds = tuple(DAMAGES if rng.random() < 0.7 else TONES)
        kind = rng.choice(kinds)
        weak = rng.randint(0, 3)
        other = kind if rng.random() < 0.6 or weak > 2 else rng.choice(kinds)
        strong = rng.randint(weak + 1 if other == kind else weak + 2, 5)
        return reference, distorted(scene, kind, weak, rng), distorted(scene, other, strong, rng)
    changed = compose.edited(scene, rng)
    if lot < 0.8:  # the same scene seen a little differently, and another scene
        near = Shown(scene, shift(rng), kind=rng.choice(tuple(TONES)), strength=rng.randint(0, 3))
        return reference, near, Shown(changed)
    far = changed
    for _ in range(2):
        far = compose.edited(far, rng)
    return reference, Shown(changed, shift(rng)), Shown(far, shift(rng))


def _sentences(rng: Random, *, part: str) -> tuple[Shown, Shown, Shown]:
    """Texts of four words: the nearer one shares more words with the first."""
    first = sentence(rng, part=part)
    near = rng.randint(1, 3)
    others = (sharing(first, near, rng, part=part), sharing(first, rng.randint(0, near - 1), rng, part=part))
    return Shown(first), Shown(others[0]), Shown(others[1])


def _single(rng: Random, *, part: str) -> Shown:
    scene = compose.scene(rng, part=part)
    if rng.random() > 0.4:
        return Shown(scene)
    kind = rng.choice(DISTORTIONS)
    return distorted(scene, kind, rng.randint(1, 3 if scene.words else 5), rng)


def _questions(shown: list[Shown], rng: Random) -> tuple[Ints, tuple[str, ...]]:
    """Images with things, and four statements each that differ only in the relation, the position or the number."""
    rows, answers = [], []
    for at in rng.sample(range(len(shown)), len(shown)):
        if len(rows) < len(shown) // QUESTIONS and shown[at].scene.things:
            texts = _question(shown[at].scene, rng)
            if texts:
                rows.append(at)
                answers += texts
    return np.array(rows), tuple(answers)


def _question(scene: Scene, rng: Random) -> list[str]:
    """Four statements, the first one true; none where things stand too near a border to tell."""
    kind = rng.choice(("relation", "relation", "place", "number"))
    counts = Counter(thing.name for thing in scene.things)
    thing = rng.choice(scene.things)
    n, others = counts[thing.name], [other for other in scene.things if other is not thing and counts[other.name] == 1]
    if kind == "relation" and n == 1 and others:
        other = rng.choice(others)
        how = relation(thing, other)
        if not how:
            return []
        hows = [how, *(another for another in OPPOSITE if another != how)]
        return [related(thing.name, each, other.name, wording=rng.randint(0, 1)).text for each in hows]
    if kind == "number" or n > 1:
        numbers = [n, *rng.sample([number for number in range(1, 7) if number != n], ANSWERS - 1)]
        return [counted(thing.name, number) for number in numbers]
    corner = place(thing)
    alike = [name for name in PLACES if len(name.split()) == len(corner.split()) and name not in (corner, "middle")]
    return [located(thing.name, each) for each in (corner, *rng.sample(alike, ANSWERS - 1))] if corner else []


def _ninths(image: Shown) -> frozenset[str]:
    """What is in which ninth of the image."""
    occupied = set()
    for thing in image.scene.things:
        row, column = (
            min(2, max(0, int(3 * (at + moved))))
            for at, moved in ((thing.y, image.shift[1]), (thing.x, image.shift[0]))
        )
        occupied |= {f"ninth {row}{column} {thing.colour}", f"ninth {row}{column} {thing.shape}"}
    return frozenset(occupied)


def _patches(image: Shown) -> Ints:
    """Colour, shape and word of each patch whose middle is on a thing, or in a word's cell."""
    side = SIDE // PATCH
    grid = np.zeros((side, side, len(PATCH_HEADS)), np.int64)
    middle = (np.arange(side) + 0.5) / side
    for thing in image.scene.things:
        away = np.hypot(middle[None, :] - thing.x - image.shift[0], middle[:, None] - thing.y - image.shift[1])
        grid[away < SIZES[thing.size], :2] = (1 + PATCH_HEADS[0].index(thing.colour), 1 + SHAPES.index(thing.shape))
    for position, word in enumerate(image.scene.words):
        if word:
            line, column = divmod(position, CELLS[1])
            height, width = side // CELLS[0], side // CELLS[1]
            grid[line * height : (line + 1) * height, column * width : (column + 1) * width, 2] = 1 + WORDS.index(word)
    return grid.reshape(side * side, len(PATCH_HEADS))


def _captions(image: Shown, true: frozenset[str], rng: Random) -> tuple[Caption, Caption, Caption]:
    """What the image shows, something else true of it, and the first statement made false."""
    first = Random(rng.getrandbits(32))
    state = first.getstate()
    content = caption(image.scene, first)
    if rng.random() < (0.5 if image.strength else 0.12):
        second = quality(rng, kind=image.kind, strength=image.strength)
    else:
        second = caption(image.scene, rng)
    return content, second, _false(image.scene, true, rng, state)


def _false(scene: Scene, true: frozenset[str], rng: Random, state: object) -> Caption:
    """A caption of a changed scene, worded as the true one where that gives a false statement."""
    again = Random()
    for attempt in range(12):
        again.setstate(state)
        candidate = caption(compose.edited(scene, rng), again if attempt < 8 else rng)
        if not candidate.facts <= true:
            return candidate
    return Caption(text="nothing", facts=frozenset({"nothing"}))


def _holds(known: list[frozenset[str]], captions: list[Caption]) -> Bools:
    """(images, texts): whether an image has all the facts that a text states."""
    number = {fact: index for index, fact in enumerate(sorted(frozenset().union(*(text.facts for text in captions))))}
    stated = np.zeros((len(captions), len(number)), np.float32)
    for row, text in enumerate(captions):
        stated[row, [number[fact] for fact in text.facts]] = 1
    presence = np.zeros((len(known), len(number)), np.float32)
    for row, true in enumerate(known):
        presence[row, [number[fact] for fact in true if fact in number]] = 1
    return presence @ stated.T >= stated.sum(axis=1) - 0.5


def _qualities(shown: list[Shown], pixels: Pixels) -> Floats32:
    damage = np.array([-image.strength if image.kind in DAMAGES else 0 for image in shown], np.float32)
    unclear = np.array([image.strength > 0 and image.kind in ("noise", "blocks", "fade") for image in shown])
    return np.stack(
        [
            damage,
            brightness(pixels),
            colourfulness(pixels),
            contrast(pixels),
            np.where(unclear, np.nan, damage),
        ],
        axis=1,
    )


def quality_facts(*, kind: str = "", strength: int = 0) -> frozenset[str]:
    """What is true of an image after one distortion; a tone (lighter, duller) takes no quality away."""
    facts = {"quality high"} if kind not in DAMAGES or strength <= 1 else set()
    if kind not in DAMAGES or strength <= 2:
        facts.add("quality good")
    if kind in DAMAGES and strength >= 3:
        facts |= {"quality bad", f"damage {kind}"}
    if kind in TONES and strength >= 3:
        facts.add(f"tone {kind}")
    return frozenset(facts)


def quality(rng: Random, *, kind: str, strength: int) -> Caption:
    """A statement on quality or tone that holds after one distortion."""
    known = {
        "quality high": ("A high quality photo.", "high quality", "A high-quality photo."),
        "quality good": ("Good photo.", "good quality", "a good picture"),
        "quality bad": ("Bad photo.", "low quality", "a bad picture", "A low quality photo."),
        **{
            f"{kind} {name}": (article(f"{word} photo"), article(f"{word} picture"))
            for kind, words in (("damage", DAMAGES), ("tone", TONES))
            for name, word in words.items()
        },
    }
    fact = rng.choice(sorted(quality_facts(kind=kind, strength=strength)))
    return Caption(text=rng.choice(known[fact]), facts=frozenset({fact}))


def brightness(images: Pixels) -> Floats32:
    """(n,) mean luma of (n, h, w, 3), in grey levels: what SICE's labels rest on."""
    return (images.astype(np.float32) @ _LUMA).mean(axis=(1, 2))


def contrast(images: Pixels) -> Floats32:
    """(n,) standard deviation of luma, in grey levels."""
    return (images.astype(np.float32) @ _LUMA).std(axis=(1, 2))


def colourfulness(images: Pixels) -> Floats32:
    """(n,) Hasler and Süsstrunk (2003), `Measuring colourfulness in natural images`, the measure M3."""
    red, green, blue = np.moveaxis(images.astype(np.float32), -1, 0)
    across, along = red - green, (red + green) / 2 - blue
    spread = np.hypot(across.std(axis=(1, 2)), along.std(axis=(1, 2)))
    return spread + 0.3 * np.hypot(across.mean(axis=(1, 2)), along.mean(axis=(1, 2)))
