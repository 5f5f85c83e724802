"""Studies being made for visitors, a couple of seconds a turn, so that the queue lets others in between.

Those of the shipped photographs are made once for everyone. A visitor's own is dropped as soon as the browser has it:
from then on the browser sends it with each request about it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from weakref import WeakSet

from compute.eyes import asking, photographs
from compute.eyes.making import MODES, MOST, MakingStep, Materials, StudyMaking
from compute.eyes.study import ASKS, LONGEST_TEXT, MOST_QUESTIONS, Judgment, Kind, Study
from compute.io import forms
from compute.io.forms import BLANK, Form, FormField
from compute.io.tables import read_table
from compute.live import inputs
from compute.live.archive import TABLES, Archive
from compute.live.batch import LARGEST_TABLE
from compute.live.decoder import POOL
from compute.training.examples import QUALITY_PROMPT
from compute.types import BadInput, Model
from leaderboard.live.live import MOST_MODELS, Live, sender

TURN = 2.0  # seconds of work before it is the others' turn
MOST_MADE, IDLE = 8, 15.0  # visitors' own studies at a time; seconds without a turn until one gives its place away
MOST_PROMPTS = 200
KEY = ("eyes", "study")  # among the session's results
PHOTOGRAPHS, FOLDER, UPLOAD = "photographs", "folder", "upload"
ALTERNATIVES = ("alternative_1", "alternative_2")
FORMS = (
    Form(
        "questions",
        (FormField("reference", ("prompt",), optional=True), *(FormField(name, kind=BLANK) for name in ALTERNATIVES)),
    ),
    Form("prompts", (FormField("prompt", kind=BLANK),)),
)


class TimedMaking:
    """One study that is being made, in turns, for a sender; empty: for everyone."""

    def __init__(self, making: StudyMaking, *, sender: str = "") -> None:
        self.making, self.sender = making, sender
        self.used, self.step = time.monotonic(), MakingStep(0.0, "Reading the images")
        self._steps = making.steps()

    @property
    def nbytes(self) -> int:
        """Bytes in memory, about."""
        return self.making.nbytes

    def turn(self) -> None:
        """Works for TURN seconds, or until the study is there."""
        began = time.monotonic()
        for step in self._steps:
            self.step, self.used = step, time.monotonic()
            if self.used - began >= TURN:
                return


class Studies:
    """All studies of the app that are being made, and those that it keeps. For the queue's one thread."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._shipped: dict[Kind, TimedMaking] = {}
        self._own: WeakSet[TimedMaking] = WeakSet()

    def turn(self, payload: dict[str, Any], request: Any) -> dict[str, Any]:
        """The next turn of a study: {session, source, kind, seed, file}, with `file` only at the start of a visitor's
        own. How far it is, or the study with a rater's order of the seed. Raises BadInput."""
        source, kind, seed = payload.get("source"), payload.get("kind"), payload.get("seed")
        if kind not in ASKS or not isinstance(seed, int) or not 0 <= seed < 2**53:
            raise BadInput("The request is not one of this page. Reload it and try again")
        if source == UPLOAD:
            return self._turn_own(payload, request, kind=kind, seed=seed)
        if kind not in self._shipped:
            self._shipped[kind] = self._begun(photographs.materials(kind))
        try:
            self._shipped[kind].turn()
        except Exception:
            del self._shipped[kind]
            raise
        return self._facts(self._shipped[kind], source=PHOTOGRAPHS, seed=seed)

    def _turn_own(self, payload: dict[str, Any], request: Any, *, kind: Kind, seed: int) -> dict[str, Any]:
        session, file = str(payload.get("session", "")), payload.get("file")
        results = self._live.uploads.results(session)
        timed = results.get(KEY)
        if what := self._waits(timed, sender(request)):
            # The page asks again, with the file where it was not read yet.
            return {"state": "running", "share": 0.0, "what": what, "waits": True, "file": file or ""}
        if file:
            self._live.admit(request)
            materials = uploaded(self._live.uploads.file(session, str(file)), kind=kind)
            timed = results[KEY] = self._begun(materials, sender=sender(request))
            self._own.add(timed)
        if timed is None:
            raise BadInput("The images are no longer available. Add them again")
        timed.turn()
        if timed.making.study:
            del results[KEY]
        return self._facts(timed, source=UPLOAD, seed=seed)

    def _waits(self, timed: TimedMaking | None, sender: str) -> str:
        """Why a session's study, None for its first, is not made now; empty where it is.

        A sender has one place, and a study that got no turn for IDLE seconds has none until there is room again.
        """
        since = time.monotonic() - IDLE
        made = [each for each in self._own if each is not timed and each.used > since and not each.making.study]
        if any(each.sender == sender for each in made):
            return "Waiting: another study from your address is being made"
        if (timed is None or timed.used <= since) and len(made) >= MOST_MADE:
            return f"Waiting: {len(made)} studies of other visitors are being made"
        return ""

    def _begun(self, materials: Materials, *, sender: str = "") -> TimedMaking:
        making = StudyMaking(materials=materials, models=self._models(materials.kind), run=self._live.run)
        return TimedMaking(making, sender=sender)

    def _models(self, kind: Kind) -> list[Model]:
        """Those that are asked first, are ready here and cost nobody anything."""
        return self._live.roster.usual(*MODES[kind])[:MOST_MODELS]

    @staticmethod
    def _facts(timed: TimedMaking, *, source: str, seed: int) -> dict[str, Any]:
        if timed.making.study is None:
            return {"state": "running", **timed.step._asdict()}
        return opened(timed.making.study, source=source, seed=seed)


def opened(
    study: Study, *, source: str, seed: int, rater: str = "", judgments: Iterable[Judgment] = ()
) -> dict[str, Any]:
    """A study as the browser takes it over: with a rater's order of the seed, as [question, draw, left]."""
    return {
        "state": "done",
        "source": source,
        "study": study.model_dump(),
        "key": study.key,
        "asks": ASKS[study.kind],
        "rater": rater,
        "seed": seed,
        "order": [[each.question, each.draw, each.left] for each in asking.order(study, seed=seed)],
        "judgments": [each.model_dump() for each in judgments],
    }


def uploaded(data: bytes, *, kind: Kind) -> Materials:
    """A visitor's ZIP of images, perhaps with one table: of prompts, or of questions, which then say their kind.

    Raises BadInput.
    """
    archive = Archive(data)
    names = [path for path in archive.paths() if not path.lower().endswith(TABLES) and len(path) <= LONGEST_TEXT]
    if len(names) > MOST:
        raise BadInput(f"{len(names):,} images are too many: a study takes {MOST}. Add fewer")
    images = {name: partial(_image, archive, name) for name in names}
    if len(names) == len(archive.paths()):
        return Materials(kind=kind, images=images)
    path = archive.table()
    file = read_table(
        archive.read(path, most=LARGEST_TABLE),
        name=PurePosixPath(path).name[:100],
        ending=PurePosixPath(path.lower()).suffix,
        most_bytes=LARGEST_TABLE,
        most_rows=MOST_QUESTIONS,
    )
    key, frame, _ = forms.read(file, FORMS)
    if key == "prompts":
        prompts = list(dict.fromkeys(filter(None, frame["prompt"])))
        return Materials(kind="text", images=images, prompts=prompts[:MOST_PROMPTS])
    shown = frame.get("reference", [""] * len(frame))
    cells = zip(shown, *(frame[name] for name in ALTERNATIVES), strict=True)
    questions = [tuple(_named(archive, path, cell) for cell in row) for row in cells]
    asked = {question[0] for question in questions}
    if asked <= {"", QUALITY_PROMPT}:
        questions = [("", one, two) for _, one, two in questions]
        return Materials(kind="quality", images=images, questions=questions)
    is_text = not asked & set(images)
    return Materials(
        kind="text" if is_text else "image",
        images=images,
        prompts=sorted(asked) if is_text else (),
        questions=questions,
    )


def _named(archive: Archive, table: str, cell: object) -> str:
    """The image's path that a cell of the table names, else its text."""
    text = str(cell or "").strip()
    return archive.find(text, beside=table) or text


def _image(archive: Archive, path: str) -> inputs.Input:
    return POOL.image(archive.read(path, most=inputs.LARGEST_IMAGE), name=path)
