"""A study from images: which questions can be asked, and what each model picks in them.

Models see images reduced to SIDE pixels. Work comes in small steps, so that a host can answer others in between.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from cachetools import LRUCache
from PIL import Image

from compute.arrays import Floats, unit
from compute.content import near_copies
from compute.content.items import Column
from compute.eyes import asking
from compute.eyes.study import LONGEST_TEXT, MOST_NOTES, MOST_QUESTIONS, NO_PICK, Kind, Study
from compute.features.memory import Name
from compute.features.subject import Subject
from compute.live import inputs
from compute.live.inputs import Input
from compute.models import abilities
from compute.procedures import choice
from compute.tasks.data import Choices
from compute.types import BadInput, LikenessError, Model, shortened

SIDE = 384  # pixels, the longer side: encoders see less, and SSIM takes half the time of 512
FEWEST, MOST = 3, 200  # images of a study, of those that visitors add
QUESTIONS = 400  # of a drawn pool
NEIGHBOURS = 10  # of a reference: one alternative is among them, and the other in half of the questions
TRIES = 20  # draws for each question that is wanted
STEP, CHUNK = 4, 8  # images, and questions, of one step
DECODED = 40  # images in memory
MODES: dict[Kind, tuple[str, tuple[str, ...]]] = {  # of compute.live.questions, with the inputs' modalities
    "image": ("choice", ("image", "image", "image")),
    "text": ("choice", ("text", "image", "image")),
    "quality": ("quality", ("image", "image")),
}
Run = Callable[..., tuple[Any, dict[Name, Any]]]  # as `compute.live.pool.Pool.run`

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class Materials:
    """What a study is made of. `images`: how each is read, by name; `questions` by names where they are given."""

    kind: Kind
    images: Mapping[str, Callable[[], Input]]
    prompts: Sequence[str] = ()
    questions: Sequence[tuple[str, str, str]] | None = None  # reference or "", first and second
    notes: Sequence[str] = ()


class MakingStep(NamedTuple):
    """How far it is: a number from 0 to 1, and what is going on."""

    share: float
    what: str


@dataclass(kw_only=True, eq=False)
class StudyMaking:
    """Makes one study. `steps` does a little work at each; then `study` is there. Not for several threads at once."""

    materials: Materials
    models: Sequence[Model]
    run: Run
    seed: int = 0
    study: Study | None = None
    _keys: dict[str, bytes] = field(default_factory=dict)  # content keys by name
    _cache: dict[Name, Any] = field(default_factory=dict)  # vectors and scores of single inputs
    _hashes: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)  # of structure, and colours
    _decoded: LRUCache = field(default_factory=lambda: LRUCache(DECODED))
    _notes: list[str] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """Bytes of its vectors and decoded images, about."""
        vectors = sum(value.nbytes for value in self._cache.values() if hasattr(value, "nbytes"))
        return vectors + sum(each.nbytes for each in list(self._decoded.values()))

    def steps(self) -> Iterator[MakingStep]:
        """Reads the images, draws the questions, and asks the models. Raises BadInput where there are too few images.

        A model that fails is skipped, and a note says why.
        """
        given = self.materials
        self._notes += given.notes
        models = list(self.models)
        for at in range(0, len(given.images), STEP):
            yield MakingStep(0.5 * at / len(given.images), f"Reading image {at + 1} of {len(given.images)}")
            self._read(list(given.images)[at : at + STEP], models)
        names = [*self._keys, *given.prompts] if given.kind == "text" else list(self._keys)
        for prompt in given.prompts:
            if not 0 < len(prompt) <= LONGEST_TEXT:
                raise BadInput(f"A prompt has 1 to {LONGEST_TEXT:,} characters; one has {len(prompt):,}. Change it")
            yield MakingStep(0.5, "Reading the prompts")
            self._embed([inputs.text(prompt, name="A prompt")], models)
        questions = self._questions(names)
        used = sorted({at for question in questions for at in question if at >= 0})
        place = {-1: -1} | {at: number for number, at in enumerate(used)}
        contents = [names[at] for at in used]
        asked = [tuple(place[at] for at in question) for question in questions]
        picks: dict[str, list[int]] = {}
        for number, model in enumerate(models):
            own: list[int] = []
            for at in range(0, len(asked), CHUNK):
                share = 0.5 + 0.5 * (number + at / len(asked)) / len(models)
                yield MakingStep(share, f"Asking {model.title}")
                try:
                    own += self._picked(model, contents, asked[at : at + CHUNK])
                except Exception as error:  # whatever the model's library raises
                    log.warning("%s could not be asked", model.key, exc_info=not isinstance(error, LikenessError))
                    why = str(error) if isinstance(error, LikenessError) else "it failed; the log says why"
                    self._notes.append(shortened(f"{model.title} was skipped: {why}", 300))
                    break
            else:
                picks[model.key] = own
        chance = asking.chances(np.array(list(picks.values())).reshape(len(picks), len(asked)))
        if more := len(self._notes) - MOST_NOTES + 1 if len(self._notes) > MOST_NOTES else 0:
            self._notes[-more:] = [f"and {more} more like these"]
        self.study = Study(
            kind=given.kind,
            contents=contents,
            questions=asked,
            chance=chance.tolist(),
            models={model.key: model.title for model in models if model.key in picks},
            picks=picks,
            notes=self._notes,
        )
        self._cache.clear()
        self._decoded.clear()

    # ---- images

    def _read(self, names: Sequence[str], models: Sequence[Model]) -> None:
        """Decodes images, skips copies of earlier ones, and embeds the others."""
        new = []
        for name in names:
            try:
                image = self._input(name)
            except BadInput as error:
                self._notes.append(shortened(f"{name} was skipped: {error}", 300))
                continue
            if same := self._copy_of(name, image):
                self._notes.append(shortened(f"{name} was skipped: it shows the same as {same}", 300))
                continue
            self._keys[name] = image.key
            new.append(image)
        self._embed(new, models)

    def _copy_of(self, name: str, image: Input) -> str:
        """The earlier image that this one is a copy of, empty where it is none or is asked for."""
        if self.materials.questions is not None:
            return ""
        if image.key in self._keys.values():
            return next(other for other, key in self._keys.items() if key == image.key)
        if self.materials.kind == "quality" or not near_copies.has_structure(image.content):
            return ""
        own, tones = near_copies.hashes(image.content), near_copies.colours(image.content)
        if self._hashes:
            hashes, colours = zip(*self._hashes.values(), strict=True)
            same = near_copies.near(own, hashes) & near_copies.same_colours(tones, np.stack(colours))
            if same.any():
                return list(self._hashes)[int(np.argmax(same))]
        self._hashes[name] = (own, tones)
        return ""

    def _input(self, name: str) -> Input:
        """An image, at most SIDE pixels large, or a text."""
        if name not in self.materials.images:
            return inputs.text(name, name="A prompt")
        if name not in self._decoded:
            read = self.materials.images[name]()
            small = read.content
            if max(small.size) > SIDE:
                small = small.copy()
                small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
            self._decoded[name] = Input(modality="image", key=read.key, name=name, content=small)
        return self._decoded[name]

    def _embed(self, new: Sequence[Input], models: Sequence[Model]) -> None:
        for model in models:
            if new and f"embed_{new[0].modality}" in model.abilities:
                with suppress(Exception):  # it fails again when it is asked, and the note is written there
                    self._run(model, new, Subject.prepare, [inputs.column_of(new)])

    def _run(self, model: Model, needed: Sequence[Input], ask: Callable[..., Any], *asked: Any) -> Any:
        known = {name: value for name, value in self._cache.items() if name[1] == model.key}
        result, new = self.run(model, needed, known, ask, *asked)
        self._cache.update({name: value for name, value in new.items() if name[0] in ("image", "text")})
        return result

    # ---- questions

    def _questions(self, names: Sequence[str]) -> list[tuple[int, int, int]]:
        """Numbers of names. Raises BadInput where there are too few."""
        given, at = self.materials, {name: number for number, name in enumerate(names)}
        if given.questions is not None:
            known = [each for each in given.questions if all(name in at for name in each if name)]
            if missing := len(given.questions) - len(known):
                self._notes.append(f"{missing} questions were skipped: an image of theirs is missing")
            if not known:
                raise BadInput("No question of the table has all its images. Add the images that it names")
            if (more := len(known) - MOST_QUESTIONS) > 0:
                self._notes.append(f"{more} questions were skipped: a study has {MOST_QUESTIONS}")
            return [
                (at[reference] if reference else -1, at[one], at[two]) for reference, one, two in known[:MOST_QUESTIONS]
            ]
        count, rng = len(self._keys), np.random.default_rng(self.seed)
        fewest = FEWEST if given.kind == "image" else 2
        if count < fewest:
            raise BadInput(f"{count} different images are too few: a study needs {fewest} or more. Add some")
        if given.kind == "text" and not given.prompts:
            raise BadInput("There is no prompt: add a table with a column prompt, or write prompts, one a line")
        starts = range(count, len(names)) if given.kind == "text" else range(count)
        near = self._neighbours(names, count)
        found: dict[tuple[int, int, int], None] = {}
        for _ in range(TRIES * QUESTIONS):
            if len(found) == QUESTIONS:
                break
            start = int(rng.choice(starts))
            first = self._other(start, near, count, rng, is_near=True)
            second = self._other(start, near, count, rng, is_near=bool(rng.random() < 0.5))
            if given.kind == "quality":
                first, start = start, -1
            if len({start, first, second}) == 3:
                found[start, *sorted((first, second))] = None
        return sorted(found)  # one image after the other: few are decoded twice

    def _neighbours(self, names: Sequence[str], count: int) -> list[Floats]:
        """The images by distance [names, NEIGHBOURS], of each model that has vectors of all."""
        out = []
        for model in self.models:
            named = [self._vector(model, name) for name in names]
            if not all(name in self._cache for name in named):
                continue
            if len(names) > count and not abilities.scores(model, "image-text"):
                continue
            vectors = unit(np.stack([self._cache[name] for name in named]))
            similar = vectors @ vectors[:count].T
            similar[np.arange(count), np.arange(count)] = -np.inf
            out.append(np.argsort(-similar, axis=1)[:, :NEIGHBOURS])
        return out

    @staticmethod
    def _other(start: int, near: Sequence[np.ndarray], count: int, rng: np.random.Generator, *, is_near: bool) -> int:
        """Another image: a neighbour by a model drawn at random, or any."""
        if near and is_near:
            return int(rng.choice(near[int(rng.integers(len(near)))][start]))
        return int(rng.integers(count))

    # ---- picks

    def _picked(self, model: Model, contents: Sequence[str], questions: Sequence[tuple[int, ...]]) -> list[int]:
        """What a model picks: 0, 1, or NO_PICK."""
        columns = [[contents[at] for at in column] for column in zip(*questions, strict=True) if column[0] >= 0]
        needed = [name for name in dict.fromkeys(sum(columns, [])) if self._vector(model, name) not in self._cache]
        parts = [self._column(names) for names in columns]
        data = Choices(
            names=tuple(map(str, range(len(questions)))),
            reference=None if self.materials.kind == "quality" else parts[0],
            alternatives=tuple(parts[-2:]),
            answer=np.zeros(len(questions), dtype=np.int64),
            question="quality" if self.materials.kind == "quality" else "reference",
        )
        evidence = self._run(model, [*map(self._input, needed)], choice.run, data, choice.PROCEDURE.usual)
        # The first alternative counts as right.
        return [NO_PICK if mark is None else int(not mark) for mark in evidence.items["correct"]]

    def _vector(self, model: Model, name: str) -> Name:
        """What the vector of an image or a text is stored under."""
        is_image = name in self._keys
        key = self._keys[name] if is_image else inputs.text(name, name=name).key
        return "image" if is_image else "text", model.key, key.decode()

    def _column(self, names: Sequence[str]) -> Column:
        is_text = names[0] not in self._keys
        return Column(
            modality="text" if is_text else "image",
            keys=np.array([self._input(name).key if is_text else self._keys[name] for name in names], dtype="S32"),
            name=lambda row: names[row],
            read=lambda row: names[row] if is_text else self._input(names[row]).file(),
            image=None if is_text else lambda row: self._input(names[row]).content,
        )
