"""Makes a study from images: draws the questions, then collects each model's picks.

The pool follows from the images' colours and structure and a seed, so the first question is available before a model is
asked. Models see images reduced to SIDE pixels. Work is done in small steps, so that a host can serve others in
between.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image

from compute.arrays import Floats, Ints
from compute.content import near_copies
from compute.content.items import Column, content_key
from compute.eyes import asking
from compute.eyes.study import LONGEST_TEXT, MOST_NOTES, MOST_QUESTIONS, NO_PICK, Kind, Study
from compute.features.subject import Name
from compute.live import inputs
from compute.live.inputs import Input
from compute.procedures import choice
from compute.tasks.data import Choices
from compute.types import BadInput, LikenessError, Model, shortened

SIDE = 384  # pixels, the longer side: encoders use less, and SSIM takes half the time of 512
FEWEST, MOST = 3, 200  # images of a study; the maximum is for visitors' images
QUESTIONS = 400  # of a drawn pool
NEIGHBOURS = 10  # of a reference: one alternative is among them, and in half of the questions the other as well
TRIES = 20  # draws per requested question
STEP, CHUNK = 4, 8  # images and questions per step
DECODED = 100  # reduced images in memory, 0.4 MB each
MODES: dict[Kind, tuple[str, tuple[str, ...]]] = {  # modes of compute.live.questions, with input modalities
    "image": ("choice", ("image", "image", "image")),
    "text": ("choice", ("text", "image", "image")),
    "quality": ("quality", ("image", "image")),
}
Run = Callable[..., tuple[Any, dict[Name, Any]]]  # like `compute.live.pool.Pool.run`
Question = tuple[int, int, int]

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class Materials:
    """The materials of a study. `images`: readers by name; `questions`: by names, if given."""

    kind: Kind
    images: Mapping[str, Callable[[], Input]]
    prompts: Sequence[str] = ()
    questions: Sequence[tuple[str, str, str]] | None = None  # reference or "", first and second
    notes: Sequence[str] = ()


MakingStep = tuple[float, str]  # progress from 0 to 1, and a description
Steps = Generator[MakingStep, None, Study]


def finished(steps: Steps, tell: Callable[[MakingStep], object] = lambda step: None) -> Study:
    """Runs the steps and returns the study; `tell` is called with each step."""
    while True:
        try:
            tell(next(steps))
        except StopIteration as end:
            return end.value


def drawn(given: Materials, *, seed: int = 0) -> Steps:
    """Reads the images, skips duplicates, and draws the questions, before any model is asked.

    Raises BadInput if there are too few images.
    """
    notes, names, keys = [*given.notes], [], {}
    shapes: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # hashes and colours of images checked for duplicates
    looks: list[tuple[np.ndarray, np.ndarray]] = []
    for at, (name, read) in enumerate(given.images.items()):
        if at % STEP == 0:
            yield (at / len(given.images), f"Reading image {at + 1} of {len(given.images)}")
        try:
            image = read()
        except BadInput as error:
            notes.append(shortened(f"{name} was skipped: {error}", 300))
            continue
        if given.questions is None:
            small = reduced(image.content)
            look = near_copies.hashes(small), near_copies.colours(small)
            is_told = given.kind != "quality" and near_copies.has_structure(small)
            same = keys.get(image.key, "")
            if not same and is_told and shapes:
                hashes, colours = zip(*shapes.values(), strict=True)
                near = near_copies.near(look[0], hashes) & near_copies.same_colours(look[1], np.stack(colours))
                same = list(shapes)[int(np.argmax(near))] if near.any() else ""
            if same:
                notes.append(shortened(f"{name} was skipped: it shows the same as {same}", 300))
                continue
            looks.append(look)
            if is_told:
                shapes[name] = look
        keys[image.key] = name
        names.append(name)
    prompts = []
    if given.kind == "text":
        prompts = [
            *dict.fromkeys(given.prompts if given.questions is None else next(zip(*given.questions, strict=True)))
        ]
    for prompt in prompts:
        if not 0 < len(prompt) <= LONGEST_TEXT:
            raise BadInput(f"A prompt has 1 to {LONGEST_TEXT:,} characters; one has {len(prompt):,}. Change it")
        inputs.text(prompt, name="A prompt")
    names += prompts
    if given.questions is None:
        questions = _pool(given.kind, looks, len(prompts), np.random.default_rng(seed))
    else:
        number = {name: at for at, name in enumerate(names)} | {"": -1}
        known = [each for each in given.questions if number.keys() >= {*each}]
        if missing := len(given.questions) - len(known):
            notes.append(f"{missing} questions were skipped: an image of theirs is missing")
        if not known:
            raise BadInput("No question of the table has all its images. Add the images that it names")
        if (more := len(known) - MOST_QUESTIONS) > 0:
            notes.append(f"{more} questions were skipped: a study has {MOST_QUESTIONS}")
        questions = [tuple(number[name] for name in each) for each in known[:MOST_QUESTIONS]]
    used = sorted({at for question in questions for at in question if at >= 0})
    place = {-1: -1} | {at: number for number, at in enumerate(used)}
    return Study(
        kind=given.kind,
        contents=[names[at] for at in used],
        questions=[tuple(place[at] for at in question) for question in questions],
        notes=_fewer(notes),
    )


def answered(study: Study, images: Mapping[str, Callable[[], Input]], models: Sequence[Model], run: Run) -> Steps:
    """Asks the models; returns the study with their picks, and the chance of each question.

    A model that fails is skipped, with a note.
    """

    @lru_cache(DECODED)
    def small(name: str) -> Input:
        read = images[name]()
        return replace(read, key=content_key(name), name=name, content=reduced(read.content))

    def column(names: Sequence[str]) -> Column:
        if names[0] not in images:
            return inputs.column_of([inputs.text(name, name="A prompt") for name in names])
        return Column(
            modality="image",
            keys=np.array([content_key(name) for name in names], dtype="S32"),  # unique in the study
            name=lambda row: names[row],
            read=lambda row: small(names[row]).file(),
            image=lambda row: small(names[row]).content,
        )

    def picked(model: Model, questions: Sequence[Question], known: dict[Name, Any]) -> list[int]:
        names = [[study.contents[at] for at in part] for part in zip(*questions, strict=True) if part[0] >= 0]
        columns = [column(part) for part in names]
        data = Choices(
            names=tuple(map(str, range(len(questions)))),
            reference=None if study.kind == "quality" else columns[0],
            alternatives=tuple(columns[-2:]),
            answer=np.zeros(len(questions), dtype=np.int64),
            question="quality" if study.kind == "quality" else "reference",
        )
        needed = [
            small(name)
            for name in dict.fromkeys(sum(names, []))
            if name in images and ("image", model.key, content_key(name).decode()) not in known
        ]
        evidence, new = run(model, needed, known, choice.run, data, choice.PROCEDURE.usual)
        known.update({name: value for name, value in new.items() if name[0] in ("image", "text")})
        # The first alternative counts as right.
        return [NO_PICK if mark is None else int(not mark) for mark in evidence.items["correct"]]

    notes, picks, asked = [], {}, study.questions
    for number, model in enumerate(models):
        own, known = [], {}  # vectors of single images and texts
        try:
            for at in range(0, len(asked), CHUNK):
                yield ((number + at / len(asked)) / len(models), f"Asking {model.title}")
                own += picked(model, asked[at : at + CHUNK], known)
            picks[model.key] = own
        except Exception as error:  # the model's library may raise anything
            log.warning("%s could not be asked", model.key, exc_info=not isinstance(error, LikenessError))
            why = str(error) if isinstance(error, LikenessError) else "it failed; the log says why"
            notes.append(shortened(f"{model.title} was skipped: {why}", 300))
    return study.model_copy(
        update={
            "chance": asking.chances(np.array(list(picks.values())).reshape(len(picks), len(asked))).tolist(),
            "models": {model.key: model.title for model in models if model.key in picks},
            "picks": picks,
            "notes": _fewer([*notes, *study.notes]),
        }
    )


def reduced(image: Image.Image) -> Image.Image:
    """Returns an image at the size that models see."""
    if max(image.size) > SIDE:
        image = image.copy()
        image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return image


def _pool(
    kind: Kind, looks: Sequence[tuple[np.ndarray, np.ndarray]], prompts: int, rng: np.random.Generator
) -> list[Question]:
    """Draws questions about images with these hashes and colours, by index; `prompts` follow the images."""
    count, fewest = len(looks), FEWEST if kind == "image" else 2
    if count < fewest:
        raise BadInput(f"{count} different images are too few: a study needs {fewest} or more. Add some")
    if kind == "text" and not prompts:
        raise BadInput("There is no prompt: add a table with a column prompt, or write prompts, one a line")
    structure = np.stack([np.unpackbits(hashes[:1].view(np.uint8)) for hashes, _ in looks])
    near = [_nearest(structure), _nearest(np.stack([colours[0] for _, colours in looks]))]
    found: dict[Question, None] = {}
    for _ in range(TRIES * QUESTIONS):
        if len(found) == QUESTIONS:
            break
        start = int(rng.integers(*(count, count + prompts) if kind == "text" else (count,)))
        first, second = (
            # Without a model, no neighbours of a text are known.
            int(rng.choice(near[int(rng.integers(2))][start]))
            if kind != "text" and rng.random() < share
            else int(rng.integers(count))
            for share in (1.0, 0.5)
        )
        if kind == "quality":
            first, start = start, -1
        if len({start, first, second}) == 3:
            found[start, *sorted((first, second))] = None
    return sorted(found)  # ordered by image, so that few are decoded twice


def _nearest(rows: np.ndarray) -> Ints:
    """Returns the nearest other images, sorted by distance [images, NEIGHBOURS]."""
    values: Floats = rows.astype(float)
    distance = (values**2).sum(axis=1) - 2 * values @ values.T
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1)[:, : min(NEIGHBOURS, len(rows) - 1)]


def _fewer(notes: Sequence[str]) -> list[str]:
    more = len(notes) - MOST_NOTES + 1
    return [*notes] if more < 2 else [*notes[:-more], f"and {more} more like these"]
