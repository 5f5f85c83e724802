"""The only file that loads models, and only inside functions: what the Compare page and the endpoints ask of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from threading import Event
from types import ModuleType
from typing import TYPE_CHECKING, Any

from compute.types import BadInput, LikenessError, Model, NotHere
from leaderboard.host.accelerator import on_gpu
from leaderboard.live.uploads import Uploads
from leaderboard.web.redact import redact_paths

if TYPE_CHECKING:
    from compute.live.answers import Answer, Asked
    from compute.live.batch import Batch
    from compute.live.inputs import Input
    from compute.live.models.fetching import DownloadProgress, Fetcher
    from compute.live.models.pool import Pool
    from compute.live.models.roster import Roster
    from compute.live.models.states import State
    from compute.live.models.subject import LiveSubject
    from compute.live.patches import PatchMap

QUEUE = "accelerator"  # every event that runs a model shares this concurrency_id: one at a time
WAITING = 64  # events that may wait; more are told to come back
MOST_MODELS = 12
PARTS = ("vector", "compare", "reply")  # what a session keeps of single inputs, beside whole answers
AWAY = "Its weights are not on this machine; the page Compare downloads them"
FAILED = "Something failed while it ran. Try again; if it stays so, the host's log says what happened"
log = logging.getLogger(__name__)


class Live:
    """Visitors' inputs, the models in memory, and how both meet. One for the whole app."""

    def __init__(self) -> None:
        self.uploads = Uploads(
            read_image=lambda data, name: _inputs().image(data, name=name),
            read_text=lambda words, name: _inputs().text(words, name=name),
            read_example=lambda key: _examples().load(key),
            thumbnail=lambda picture: _inputs().thumbnail(picture),
        )
        self._own: dict[tuple, Any] = {}  # what models made of the unrelated examples, which are the same for everyone
        self._fetching: dict[str, Event] = {}  # by session: set once its download is to end

    # ---- what can be asked

    def plan(self, *, kinds: Sequence[str], mode: str = "") -> dict[str, Any]:
        """What fits these inputs, and which models can do it in which state; ready to be sent. Raises BadInput."""
        return _roster().plan(kinds=kinds, mode=mode)

    def row(self, key: str) -> Model:
        """A row of the catalogue; visitors can name no other model. Raises BadInput."""
        return _roster().row(key)

    def state(self, row: Model) -> State:
        """Whether the row's model can run here."""
        return _roster().state(row)

    # ---- what is asked

    def read(self, payload: Mapping[str, Any]) -> tuple[Asked, list[Model]]:
        """A request of the page as a question and the rows to ask. Raises BadInput, as a sentence, for all else."""
        from compute.live.answers import Asked

        session, listed = str(payload.get("session", "")), payload.get("inputs")
        if not isinstance(listed, list) or not listed:
            raise BadInput("There is nothing to compare yet: add an image or a text")
        inputs = tuple(self.uploads.input(session, one, place=place) for place, one in enumerate(listed[:20]))
        asked = Asked(
            mode=str(payload.get("mode", "")), inputs=inputs, question=str(payload.get("question") or "quality")
        ).checked()
        keys = payload.get("models")
        rows = [self.row(str(key)) for key in dict.fromkeys(keys if isinstance(keys, list) else [])]
        if not rows:
            raise BadInput("No model is chosen: tick at least one")
        if len(rows) > MOST_MODELS:
            raise BadInput(f"{len(rows)} models are more than can be asked at once: choose at most {MOST_MODELS}")
        return asked, rows

    def table(self, session: str, key: str) -> Batch:
        """A file of pairs that the session holds. Raises BadInput, as a sentence, where it cannot be read."""
        from compute.live import batch

        return batch.read(self.uploads.file(session, key))

    def judge(
        self,
        asked: Asked,
        rows: Sequence[Model],
        *,
        session: str = "",
        kept: dict | None = None,
        calibrated: Container[str] = (),
    ) -> Iterator[Answer]:
        """Each model's answer, one after another; one that fails says why, and the others go on.

        What was made of earlier inputs is taken from `kept`, else from the session's memory. A pair is held against
        unrelated examples too by a model that is not among the `calibrated`.
        """
        from compute.live import answers

        for row in rows:
            job = partial(answers.timed, asked=asked, controls=row.key not in calibrated)
            found = self._kept(row, ("answer", asked.name, row.key in calibrated), job, asked.inputs, session, kept)
            yield answers.Answer(model=row.key, problem=found) if isinstance(found, str) else found

    def curves(
        self, image: Input, other: Input | None, rows: Sequence[Model], *, kind: str, session: str = ""
    ) -> Iterator[tuple[Model, tuple[float, ...] | str]]:
        """Each model's scores as `image` is changed more and more, beside `other` or itself; or why there are none."""
        from compute.live import curves

        inputs = (image, other) if other else (image,)
        for row in rows:
            job = partial(curves.curve, image=image, other=other, kind=kind)
            yield row, self._kept(row, ("curve", kind, image.key, other and other.key), job, inputs, session, None)

    def perturbed(self, image: Input, *, kind: str, strength: float) -> bytes:
        """The changed image as a small WebP, to be looked at. Raises BadInput."""
        from compute.live import curves

        return _inputs().thumbnail(curves.changed(image, kind=kind, strength=strength).content)

    def small(self, image: Input) -> bytes:
        """An image as a small WebP."""
        return _inputs().thumbnail(image.content)

    def has_patches(self, row: Model) -> bool:
        """Whether a map of similar places may be asked of the row's model."""
        from compute.models import has_patches

        return has_patches(row)

    def patches(self, first: Input, second: Input, row: Model, *, session: str = "") -> PatchMap:
        """Where two images agree to one model. Raises LikenessError where it has no patch tokens or fails."""
        from compute.live import patches

        found = self._kept(
            row,
            ("patches", first.key, second.key),
            partial(patches.agree, first=first, second=second),
            (first, second),
            session,
            None,
        )
        if isinstance(found, str):
            raise BadInput(f"{row.title}: {found}")
        return found

    def _kept(
        self,
        row: Model,
        name: tuple,
        job: Callable[[LiveSubject], Any],
        inputs: Sequence[Input],
        session: str,
        kept: dict | None,
    ) -> Any:
        """What `job` gives for the row's model, made once a session; a sentence where it cannot be had."""
        from compute.live.models.states import DOWNLOAD, READY

        kept = kept if kept is not None else self.uploads.memory(session) if session else {}
        whole = (name[0], row.key, *name[1:])
        if whole in kept:
            return kept[whole]
        try:
            state = _roster().state(row)
            if state.state != READY:
                return AWAY if state.state == DOWNLOAD else state.why
            mine = {
                key: value
                for held in (self._own, kept)
                for key, value in list(held.items())
                if key[1] == row.key and key[0] in PARTS
            }
            found, made = _work(row, job, inputs, mine)
        except LikenessError as error:
            return redact_paths(str(error))
        except Exception:
            log.exception("%s failed", row.key)
            return FAILED
        self._own.update({key: value for key, value in made.items() if key[0] == "vector" and key[3] in _unrelated()})
        kept.update(made | {whole: found})
        return found

    def to_load(self, row: Model) -> bool:
        """Whether the row's model must be read from disk before it answers."""
        return bool(row.weights) and row.key not in _pool().loaded()

    # ---- weights

    def fetch(self, rows: Sequence[Model], *, session: str) -> Iterator[tuple[Model, DownloadProgress]]:
        """Downloads what rows lack, one after another, and yields how far it is: in all, at first by the catalogue.

        One that fails leaves the others. Raises NotHere with what went wrong at the end, or once the visitor stops it.
        """
        before, stop = self._fetching.get(session), Event()
        if before is not None:
            before.set()  # a visitor has one download at a time
        self._fetching[session] = stop
        problems = []
        try:
            for row in rows:
                try:
                    for come in _fetcher().fetch(
                        row, room=_pool().room(), needed=partial(_lacks, row), stop=stop.is_set
                    ):
                        yield row, come if come.whole else replace(come, whole=_roster().state(row).bytes)
                except NotHere as error:
                    problems.append(redact_paths(str(error)))
                    if stop.is_set():
                        break
                finally:
                    _roster().forget(row)
        finally:
            if self._fetching.get(session) is stop:  # not that of a later download of the same visitor
                del self._fetching[session]
        if problems:
            raise NotHere(". ".join(problems))

    def stop(self, session: str) -> None:
        """Ends the session's download, if there is one."""
        self._fetching.get(session, Event()).set()

    # ---- for programs

    def pair(self, given: Sequence[tuple[str, str | bytes]], models: Sequence[str]) -> tuple[Asked, list[Model]]:
        """Two inputs of a program (modality or `example`, and content) as a question, and the rows to ask: without
        keys, all that are ready and first. Raises BadInput."""
        from compute.live.answers import Asked

        read = {"text": _inputs().text, "image": _inputs().image}
        found = tuple(
            _examples().load(str(what)) if kind == "example" else read[kind](what, name=name)
            for (kind, what), name in zip(given, ("The first", "The second"), strict=True)
        )
        asked = Asked(mode="pair", inputs=found).checked()
        if not models:
            models = [one.row.key for one in _roster().listed(mode="pair", kinds=asked.kinds) if one.first]
        if len(models) > MOST_MODELS:
            raise BadInput(f"{len(models)} models are more than can be asked at once: name at most {MOST_MODELS}")
        return asked, [self.row(key) for key in models]

    def examples(self) -> dict[str, Any]:
        """Every example and ready comparison, as the page takes them."""
        return _examples().listing()

    def example_picture(self, key: str) -> bytes:
        """An example's image as a small WebP. Raises BadInput."""
        return _examples().picture(key)

    def models(self, mode: str = "") -> list[dict[str, Any]]:
        """Every model that can do a mode with images, or any at all, with its state. Raises BadInput."""
        return _roster().told(mode)


@on_gpu
def _work(row: Model, job: Callable[[LiveSubject], Any], inputs: Sequence[Input], kept: dict) -> tuple[Any, dict]:
    """What a job gives for one model, and the encodings it made on the way; all that needs the accelerator is in here.

    Everything that goes in or comes out can be pickled: ZeroGPU runs it in a process of its own.
    """
    from compute.live.models.subject import LiveSubject

    with _pool().use(row) as model:
        subject = LiveSubject(row=row, model=model, inputs={one.key: one for one in inputs}, kept=dict(kept))
        found = job(subject)
        return found, {name: value for name, value in subject.kept.items() if name not in kept}


@cache
def _unrelated() -> frozenset[str]:
    """Content keys of the examples that pairs are held against for want of a distribution; none without pictures."""
    with suppress(NotHere):
        return frozenset(one.key.decode() for kind in ("image", "text") for one in _examples().unrelated(kind))
    return frozenset()


@cache
def _pool() -> Pool:
    from compute.live.models import states
    from compute.live.models.loading import load
    from compute.live.models.pool import Pool

    return Pool(load=load, size=states.memory_of)


@cache
def _fetcher() -> Fetcher:
    from compute.live.models.fetching import Fetcher

    return Fetcher()


def _lacks(row: Model) -> bool:
    """Whether the row's weights are still to be fetched, looked at anew."""
    from compute.live.models.states import DOWNLOAD

    _roster().forget(row)
    return _roster().state(row).state == DOWNLOAD


@cache
def _roster() -> Roster:
    from compute.catalog import shipped
    from compute.live.models.roster import Roster
    from compute.live.models.states import Network

    return Roster(shipped().models, pool=_pool(), network=Network().reachable)


def _inputs() -> ModuleType:
    from compute.live import inputs

    return inputs


def _examples() -> ModuleType:
    from compute.live import examples

    return examples
