"""Studies under construction for visitors, a couple of seconds per turn, so that the queue serves others in between.

The browser gets a study as soon as its questions are drawn, and what models pick once they are done. From then on the
visit's session has it, so that answers alone come back; a browser whose session ended sends it once more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial
from hmac import compare_digest
from pathlib import PurePosixPath
from typing import Any
from weakref import WeakSet

from compute.eyes import asking, exchange, making
from compute.eyes.folder import StudyFolder
from compute.eyes.making import MODES, MOST, Materials
from compute.eyes.study import ASKS, LONGEST_TEXT, MOST_QUESTIONS, Judgment, Kind, Study, parsed
from compute.io.tables import read_table
from compute.live import inputs
from compute.live.archive import TABLES, Archive
from compute.live.batch import LARGEST_TABLE
from compute.live.decoder import POOL
from compute.tasks.image_lists import is_image_name
from compute.types import BadInput, Model
from leaderboard.live.live import MOST_MODELS, sender
from leaderboard.page import Site

TURN = 2.0  # seconds of work before it is the others' turn
MOST_MADE, IDLE = 8, 15.0  # visitors' own studies at a time; seconds without a turn until one gives its place away
MOST_PROMPTS = 200
KEY = ("eyes", "study")  # among the session's results
PHOTOGRAPHS, FOLDER, UPLOAD = "photographs", "folder", "upload"

log = logging.getLogger(__name__)


class TimedMaking:
    """One study under construction, in turns, for a sender; empty: for everyone who has the host's key. A given
    `study`, which the browser already has, is only asked about.
    """

    def __init__(
        self, materials: Materials, models: Sequence[Model], run: making.Run, *, study: Study | None, sender: str = ""
    ) -> None:
        self.study, self.sender = study, sender
        self.is_sent, self.is_done = study is not None, False
        self.used, self.step = time.monotonic(), (0.0, "Reading the images")
        self._steps = self._work(materials, models, run)

    def turn(self) -> None:
        """Works for TURN seconds, or until the questions or the picks are ready."""
        began, had = time.monotonic(), self.study
        for step in self._steps:
            self.step, self.used = step, time.monotonic()
            if self.study is not had or self.used - began >= TURN:
                return
        self.is_done = True

    def _work(self, materials: Materials, models: Sequence[Model], run: making.Run) -> making.Steps:
        if self.study is None:
            self.study = yield from making.drawn(materials)
            yield 0.0, "Asking the models"
        if not self.study.chance:
            self.study = yield from making.answered(self.study, materials.images, models, run)
        return self.study


class Studies:
    """All studies under construction in the app. Only for the queue's single thread."""

    def __init__(self, site: Site) -> None:
        self._site, self._live = site, site.live
        self._folder: TimedMaking | None = None
        self._own: WeakSet[TimedMaking] = WeakSet()

    def turn(self, payload: dict[str, Any], request: Any) -> dict[str, Any]:
        """Returns the next turn of a study: {session, source, kind, seed, early, key, file, study}. `file` comes only
        at the start of a visitor's own, with the `study` if the browser has it; `early` is that of `asking.order`.

        Returns its progress, the study once its questions exist, and at the end what models pick. Raises BadInput.
        """
        source, kind, seed, early = (payload.get(name, 0) for name in ("source", "kind", "seed", "early"))
        if kind not in ASKS or not all(isinstance(each, int) and 0 <= each < 2**53 for each in (seed, early)):
            raise BadInput("The request is not one of this page. Reload it and try again")
        session = str(payload.get("session", ""))
        if source == FOLDER:
            if (folder := own(self._site, str(payload.get("key", "")))) is None:
                raise BadInput("The study is not there for you. Reload the page")
            if self._folder is None:
                models = folder.models(warn=log.warning)
                self._folder = TimedMaking(folder.materials(), models, self._live.run, study=folder.study)
            timed = self._folder
        else:
            timed = self._of_visitor(payload, session, request, kind=kind)
            if isinstance(timed, str):  # the page asks again, with the file where it was not read yet
                return {"state": "running", "share": 0.0, "what": timed, "waits": True, "file": payload.get("file", "")}
        timed.turn()
        facts = {"state": "running", "share": timed.step[0], "what": timed.step[1]}
        if timed.study and not timed.is_sent:
            timed.is_sent = True
            facts |= opened(timed.study, source=UPLOAD, seed=seed)
        if timed.is_done:
            if source == FOLDER:
                self._site.study.save(timed.study)
            else:
                self._live.uploads.forget(session)  # the images
                self._live.uploads.results(session)[KEY] = timed
            facts |= {
                "state": "done",
                "picked": timed.study.model_dump(include={"models", "picks", "chance", "notes"}),
                "order": ordered(timed.study, seed=seed, early=early),
                "id": hold(self._site, timed.study, session=session, request=request),
            }
        return facts

    def _of_visitor(self, payload: dict[str, Any], session: str, request: Any, *, kind: Kind) -> TimedMaking | str:
        """Returns the study of a session, or what it waits for."""
        results, file = self._live.uploads.results(session), payload.get("file")
        timed = results.get(KEY)
        if what := self._waits(timed, sender(request)):
            return what
        if file:
            self._live.admit(request)
            materials, study = uploaded(self._live.uploads.file(session, str(file)), kind=kind), None
            if given := payload.get("study"):
                study = parsed({"study": given}, name="The study").study
                if missing := {study.contents[at] for at in exchange.images_of(study)} - set(materials.images):
                    raise BadInput(f"{min(missing)[:80]} is missing. Add the same images again")
            models = self._live.roster.usual(*MODES[materials.kind])[:MOST_MODELS]
            timed = results[KEY] = TimedMaking(materials, models, self._live.run, study=study, sender=sender(request))
            self._own.add(timed)
        if timed is None:
            raise BadInput("The images are no longer available. Add them again")
        return timed

    def _waits(self, timed: TimedMaking | None, sender: str) -> str:
        """Returns why a session's study (None for its first) is not made now; empty if it is.

        A sender has one place, and a study that got no turn for IDLE seconds has none until there is room again.
        """
        since = time.monotonic() - IDLE
        made = [each for each in self._own if each is not timed and each.used > since and not each.is_done]
        if any(each.sender == sender for each in made):
            return "Waiting: another study from your address is being made"
        if (timed is None or timed.used <= since) and len(made) >= MOST_MADE:
            return f"Waiting: {len(made)} studies of other visitors are being made"
        return ""


def own(site: Site, key: str) -> StudyFolder | None:
    """Returns the host's study, for those who may see it."""
    return site.study if compare_digest(key.encode(), site.study_key.encode()) or not site.study_key else None


def hold(site: Site, study: Study, *, session: str, request: Any) -> str:
    """Stores a study in the visit's session, under the name returned. Raises BadInput for an invalid session."""
    return site.live.uploads.add_file(session, study.model_dump_json().encode(), owner=sender(request))


def opened(
    study: Study, *, source: str, seed: int, rater: str = "", judgments: Sequence[Judgment] = ()
) -> dict[str, Any]:
    """Returns a study in the form for the browser, with a rater's order of the seed."""
    early = asking.early(study, [each for each in judgments if (each.rater, each.seed) == (rater, seed)])
    return {
        "source": source,
        "study": study.model_dump(exclude_defaults=True),
        "key": study.key,
        "asks": ASKS[study.kind],
        "rater": rater,
        "seed": seed,
        "order": ordered(study, seed=seed, early=early),
    }


def ordered(study: Study, *, seed: int, early: int) -> list[tuple[int, str, int]]:
    """Returns a rater's questions, as (question, draw, left)."""
    return [(each.question, each.draw, each.left) for each in asking.order(study, seed=seed, early=early)]


def uploaded(data: bytes, *, kind: Kind) -> Materials:
    """Returns a visitor's ZIP of images, perhaps with one table: of prompts, or of questions, which then say their
    kind.

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
    if sum(is_image_name(str(cell)) for cell in file.rows()[0].values()) < 2:  # of alternatives there are two
        return Materials(kind="text", images=images, prompts=exchange.prompts(file)[:MOST_PROMPTS])
    found = exchange.questions(file, exchange.image_finder(names))
    notes = [found.skipped] if found.skipped else []
    return Materials(kind=found.kind, images=images, questions=found.questions, notes=notes)


def _image(archive: Archive, path: str) -> inputs.Input:
    return POOL.image(archive.read(path, most=inputs.LARGEST_IMAGE), name=path)
