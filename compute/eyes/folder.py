"""A study on this machine: a folder with its settings, questions and answers, and copies of the images in answered
questions.

settings.json contains its sources, study.json the questions once they are drawn, and judgments.jsonl one answer per
row, which is on disk before the next question is shown. manifest.csv and images/ are the answers as user data:
`likeness run --data FOLDER` scores any model on them, on any machine.
"""

from __future__ import annotations

import io
import logging
import random
import re
import shlex
import shutil
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Self

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from compute.content import decoding
from compute.content.items import content_key
from compute.engine import named_models
from compute.eyes import exchange, making
from compute.eyes.making import Materials
from compute.eyes.study import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_JUDGMENTS,
    MOST_RATERS,
    Judgment,
    Kind,
    Study,
    StudyFile,
)
from compute.io.files import is_inside, reserved, validated, write_text
from compute.live import questions
from compute.live.inputs import Input
from compute.live.pool import Pool
from compute.live.roster import Roster
from compute.models.own.own_model import ADAPTER as OWN
from compute.progress import Progress
from compute.tasks.image_lists import image_files, is_image_name
from compute.types import BadInput, CannotWrite, Model, NotHere

MOST_IMAGES = 1_000  # per study; from more, a sample is taken
SHOWN = 1_600  # pixels, the longer side of an image sent to a browser
AS_STORED = ("JPEG", "PNG", "WEBP", "GIF")  # formats that browsers show
SETTINGS, STUDY, LOG, MANIFEST, IMAGES = "settings.json", "study.json", "judgments.jsonl", "manifest.csv", "images"
LOCK = ".lock"
NOT_TEXT = re.compile("[\\ud800-\\udfff]")  # bytes in a name that are not UTF-8, as Python represents them

log = logging.getLogger(__name__)


class EyesSettings(BaseModel):
    """What a study is made from, and who answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str  # the folder of images
    kind: Kind = "image"
    prompts: list[str] = []
    questions: list[tuple[str, str, str]] | None = None  # reference or text or "", and two images, if given
    models: list[str] = []  # keys; empty: all models that are ready
    rater: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)] = "me"
    seed: int = 0


class StudyFolder:
    """One study's folder. Only one process at a time can open it for writing, until it closes `lock`."""

    def __init__(self, path: Path, settings: EyesSettings, *, writes: bool) -> None:
        self.path, self.settings = path, settings
        self._thread, self.lock = threading.Lock(), ExitStack()
        if writes and not self.lock.enter_context(reserved(path / LOCK)):
            raise CannotWrite(f"{path} is open in another process, such as the app. End that one first")
        self.study = Study.model_validate_json((path / STUDY).read_bytes()) if (path / STUDY).exists() else None
        self._judgments = self._read()

    @classmethod
    def opened(cls, path: Path, *, writes: bool = True) -> Self:
        """Opens the folder at a path. Raises NotHere without a study, BadInput for a damaged one, CannotWrite if
        another process writes to it.
        """
        if not (path / SETTINGS).is_file():
            raise NotHere(f"{path} is not a study. Make one: likeness eyes IMAGES --out {shlex.quote(str(path))}")
        try:
            settings = EyesSettings.model_validate_json((path / SETTINGS).read_bytes())
            return cls(path, settings, writes=writes)
        except ValidationError as error:
            raise BadInput(f"{path} has a damaged file: {error.errors()[0]['msg']}. Make the study again") from error

    @classmethod
    def created(cls, path: Path, settings: EyesSettings) -> Self:
        """Creates a folder, or reuses one whose study could not be made. Raises BadInput if it
        contains anything else.
        """
        if path.exists() and not (path.is_dir() and {each.name for each in path.iterdir()} <= {SETTINGS, LOCK}):
            raise BadInput(
                f"{path} exists already. Go on with it: likeness eyes {shlex.quote(str(path))}, or name another --out"
            )
        path.mkdir(parents=True, exist_ok=True)
        write_text(path / SETTINGS, settings.model_dump_json(indent=1))
        return cls.opened(path)

    def change(self, **settings: object) -> None:
        """Changes settings from now on, such as the rater. Raises BadInput."""
        try:
            self.settings = validated(self.settings.model_dump() | settings, EyesSettings)
        except ValueError as error:
            raise BadInput(str(error)) from error
        write_text(self.path / SETTINGS, self.settings.model_dump_json(indent=1))

    def materials(self) -> Materials:
        """Returns the materials of the study: the images of the source, or those in the given questions."""
        source, given = Path(self.settings.source), self.settings.questions
        if not source.is_dir():
            raise NotHere(f"There is no folder {source}, which the study is made from. Put it back")
        found = image_files(source)
        names = [
            name
            for name in found.names
            if is_image_name(name) and NOT_TEXT.search(name) is None and len(name) <= LONGEST_TEXT
        ]
        notes = list(found.notes(source))
        if skipped := len(found.names) - len(names):
            notes.append(f"{skipped} images were skipped: their names do not end as those of images, or are not text")
        if given is not None:
            wanted = {name for question in given for name in question}
            names = [name for name in names if name in wanted]
        elif len(names) > MOST_IMAGES:
            notes.append(f"{MOST_IMAGES:,} of {len(names):,} images were drawn at random")
            names = sorted(random.Random(self.settings.seed).sample(names, MOST_IMAGES))
        return Materials(
            kind=self.settings.kind,
            images={name: partial(_input, source / name, name) for name in names},
            prompts=self.settings.prompts,
            questions=given,
            notes=notes,
        )

    def models(self, *, warn: Callable[[str], None]) -> list[Model]:
        """Returns the models in the settings, else the usual ones that are ready. Raises UnknownKey, and BadInput if a
        model cannot answer such questions here.
        """
        from compute.engine import workspace  # loads the hub's library, which the app sets up first

        mode, kinds = making.MODES[self.settings.kind]
        catalog = workspace.catalog_with_own(None, warn=warn)
        if not self.settings.models:
            return Roster(catalog.models, pool=Pool(), network=lambda: False).usual(mode, kinds)
        rows = [each.row for each in named_models.named(self.settings.models, catalog=catalog, offline=True)]
        for row in rows:
            if row.adapter == OWN:
                raise BadInput(
                    f"{row.key} was an object in Python, which cannot be loaded here. Save it as a checkpoint and "
                    "name its folder in --models, or omit it"
                )
            if why := questions.cannot(row, mode, kinds):
                raise BadInput(f"{row.key} cannot answer these questions: {why}. Omit it from --models")
        return rows

    def draw(self) -> None:
        """Draws the questions and stores them. Raises BadInput if there are too few images."""
        self._make("Reading the images", making.drawn(self.materials(), seed=self.settings.seed))

    def ask(self, rows: list[Model]) -> None:
        """Asks the models and stores their picks."""
        self._make("Asking the models", making.answered(self.study, self.materials().images, rows, Pool().run))

    def _make(self, title: str, steps: making.Steps) -> None:
        done = [0]
        with Progress().bar(title, total=100, unit="part") as advance:

            def tell(share: float) -> None:
                done.append(int(100 * share))
                advance(done[-1] - done[-2])

            study = making.finished(steps, lambda step: tell(step[0]))
            tell(1)
        self.save(study)

    def save(self, study: Study) -> None:
        """Stores the questions, once only because answers refer to their numbers."""
        if self.study is not None and self.study.key != study.key:
            raise BadInput(f"{self.path} has other questions already. Make a study in another folder")
        write_text(self.path / STUDY, study.model_dump_json())
        self.study = study

    def judgments(self) -> list[Judgment]:
        """Returns the log, oldest first."""
        return list(self._judgments)

    def add(self, *judgments: Judgment) -> None:
        """Stores answers, which are on disk on return. Raises BadInput, CannotWrite."""
        with self._thread:
            if self.study is None or any(each.question >= len(self.study.questions) for each in judgments):
                raise BadInput("The answer is to a question that the study has not. Reload the page")
            if len(self._judgments) + len(judgments) > MOST_JUDGMENTS:
                raise BadInput(f"A study holds {MOST_JUDGMENTS:,} answers at most. Make another one")
            if len({(each.rater, each.seed) for each in (*self._judgments, *judgments)}) > MOST_RATERS:
                raise BadInput(f"A study has {MOST_RATERS} raters at most. Make another one")
            exchange.append(self.path / LOG, judgments)
            self._judgments += judgments
            asked = {at for each in judgments for at in self.study.questions[each.question]}
            for name in (self.study.contents[at] for at in asked & exchange.images_of(self.study)):
                path = self.path / IMAGES / name
                if is_inside(path, self.path / IMAGES) and not path.exists():
                    with suppress(NotHere):  # it may be missing for a study that was made elsewhere
                        source = self._file(name)
                        path.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(source, path)
            table = exchange.votes(self.study, self._judgments, folder=f"{IMAGES}/")
            write_text(self.path / MANIFEST, table)

    def merge(self, given: exchange.JudgmentFile | StudyFile) -> str:
        """Adds others' new judgments, and returns a sentence on how all were read. Raises BadInput."""
        new, sentence = exchange.merged(self.study, self._judgments, given, rater=self.settings.rater)
        self.add(*new)
        return sentence

    def images(self) -> list[str]:
        """Returns the names of the study's images."""
        return [self.study.contents[at] for at in sorted(exchange.images_of(self.study))]

    def image(self, name: str) -> bytes:
        """Returns an image of the study as a file for browsers, at most SHOWN pixels large. Raises NotHere, BadInput.

        It shows what models see: the first frame, on white.
        """
        path = self._file(name)
        data = _bytes(path, name)
        try:
            opened = decoding.opened(data)
            plain = not opened.has_transparency_data and not getattr(opened, "is_animated", False)
            if opened.format in AS_STORED and max(opened.size) <= SHOWN and plain:
                return data
            image = decoding.rgb(opened, ground="white")
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from error
        if max(image.size) > SHOWN:
            image = image.copy()
            image.thumbnail((SHOWN, SHOWN), Image.Resampling.LANCZOS)
        out = io.BytesIO()
        image.save(out, "JPEG", quality=95, subsampling=0)
        return out.getvalue()

    def _file(self, name: str) -> Path:
        """Returns the path of an image: a copy, or in the source. The path is checked because a study may come from
        anyone.
        """
        for root in (self.path / IMAGES, Path(self.settings.source)):
            path = root / name
            if is_inside(path, root) and path.is_file():
                return path
        raise NotHere(f"{name} is neither in {self.path / IMAGES} nor in {self.settings.source}")

    def _read(self) -> list[Judgment]:
        """Returns the log without rows that a killed process left unfinished."""
        if self.study is None or not (self.path / LOG).exists():
            return []
        rows, skipped = [], 0
        for line in filter(None, (self.path / LOG).read_bytes().split(b"\n")):
            try:
                rows.append(Judgment.model_validate_json(line))
            except ValidationError:
                skipped += 1
        if skipped:
            log.warning("%s: %d unfinished rows were skipped", self.path / LOG, skipped)
        return [each for each in rows if each.question < len(self.study.questions)]


def _input(path: Path, name: str) -> Input:
    """Returns an image of the user, in any supported format."""
    data = _bytes(path, name)
    image = decoding.rgb(decoding.opened(data), ground="white")
    return Input(modality="image", key=content_key(data), name=name, content=image)


def _bytes(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{name} cannot be read ({error.strerror})") from error
