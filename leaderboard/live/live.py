"""Asks models about visitors' inputs, for the Try page and programs, within each visitor's rate limit."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from threading import Event, Lock
from typing import Any

from compute.analysis.calibrated import Calibrations, Reference, restored
from compute.arrays import Floats
from compute.catalog import known
from compute.catalog.own import models as own_models
from compute.features.subject import PARTS
from compute.live import changes, examples, inputs, occlusion, questions
from compute.live.changes import ChangedPair, Curve, PairRating
from compute.live.decoder import POOL
from compute.live.fetching import DownloadProgress, Fetcher
from compute.live.inputs import Input, check_length
from compute.live.pool import Pool, borrows_gpu, memory_of
from compute.live.questions import Answer, LiveQuestion
from compute.live.roster import Network, Roster, requests_per_question
from compute.models import model_rows
from compute.tasks.data import CONDITIONS
from compute.types import BadInput, Model, NotHere
from leaderboard.data.database import shared
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.host.accelerator import on_gpu
from leaderboard.live.uploads import Uploads
from leaderboard.web.errors import explain
from leaderboard.web.redact import hide, redact_paths
from leaderboard.web.visitors import Rate, visitor

QUEUE = "accelerator"  # the concurrency_id of every page's event that runs a model: one at a time
MOST_MODELS = 12  # in one question
LONGEST_LOAN = 120  # seconds of a GPU; the most that the Hub lends without an account
LONGEST = 300  # seconds until no further model of a question is started: others wait for it
OUT_OF_TIME = (
    f"Not started: the models before it took over {LONGEST // 60} minutes, the most for one question. "
    "Ask it again, alone or with fewer models"
)
MISSING = "Its weights are not on this machine; the Try page downloads them"
PRESS = "It answers through the host's endpoint, which is asked only when Compare is pressed"
IN_WORDS = "It answers in words through the host's endpoint, which is asked in comparisons only"
OFTEN_TO_JUDGES = "Judges answer a limited number of questions a minute from each visitor, since each costs the host"
VARIABLE = "LIKENESS_RATE"  # comparisons a minute per visitor; 0: no limit
ON_A_SPACE = 20.0
BURST = 10  # at once, before the rate applies
FILES = 4  # uploads per comparison, on average
JUDGE_VARIABLE = "LIKENESS_JUDGE_RATE"  # questions to judges a minute per visitor; 0: no limit
JUDGE_RATE = 30.0  # wherever the app runs: each question is two requests that the host pays for
JUDGE_BURST = 2 * MOST_MODELS  # two comparisons with nothing but judges
Cache = MutableMapping[tuple, Any]
# Counts a question to a judge: 0.0 if it may be asked, else the seconds until it may.
JudgeAllowance = Callable[[], float]


class TooMany(BadInput):
    """A visitor exceeded the rate limit; the message says when to come back."""

    def __init__(self, why: str, seconds: float) -> None:
        seconds = max(1, math.ceil(seconds))
        super().__init__(f"{why}. Try again in {seconds} second{'' if seconds == 1 else 's'}")


class Live:
    """Visitors' uploads, the models in memory, their answers, and rate limits. One instance for the app.

    `own` are the host's models, besides those of the catalogue; `calibrations()` gives the models' distributions.
    """

    def __init__(
        self,
        calibrations: Callable[[], Calibrations] = Calibrations,
        *,
        own: Sequence[Model] = (),
    ) -> None:
        self.calibrations, self.own, self._clock = calibrations, tuple(own), time.monotonic
        self.uploads, self.pool, self.fetcher = Uploads(), Pool(), Fetcher()
        # The models of the catalogue and of the host, and whether they can run.
        self.roster = Roster(known().models, own=self.own, pool=self.pool, network=Network().reachable)
        self.rate, self.judge_rate = rate(), rate(JUDGE_VARIABLE)
        hide(folder for row in self.own for folder in own_models.folders(row))
        self._turn = Lock()
        self._borrowed = on_gpu(self.pool.run, seconds=_seconds)
        self._shared: dict[tuple, Any] = {}  # vectors of the unrelated examples, the same for everyone
        self._downloads: dict[str, Event] = {}  # by session: set to stop its download

    # ---- visitors

    def admit(self, request: Any) -> None:
        """Counts a visitor's request, Gradio's or Starlette's; None counts as one visitor. Raises TooMany."""
        if self.rate and (wait := self.rate.allow(sender(request))):
            raise TooMany("You have sent many questions in a short time", wait)

    def judges(self, request: Any, *, pressed: object) -> JudgeAllowance | None:
        """Returns a function that counts this visitor's questions to judges; None if the visitor has not `pressed`
        (True) for them.
        """
        if pressed is not True:
            return None
        judge_rate, name = self.judge_rate, sender(request)
        return lambda: judge_rate.allow(name) if judge_rate else 0.0

    # ---- questions

    def read(self, payload: Mapping[str, Any]) -> tuple[LiveQuestion, list[Model]]:
        """Returns the page's request as a question with its models. Raises BadInput for anything else."""
        payload = payload if isinstance(payload, Mapping) else {}
        session, entries = str(payload.get("session", "")), payload.get("inputs")
        if not isinstance(entries, list) or not entries:
            raise BadInput("There is nothing to compare yet: add an image or a text")
        question = LiveQuestion(
            mode=str(payload.get("mode", "")),
            inputs=tuple(self.uploads.input(session, entry, index=index) for index, entry in enumerate(entries[:20])),
            attribute=str(payload.get("question") or "quality"),
        ).checked()
        keys = payload.get("models")
        return question, self.models(keys if isinstance(keys, list) else [])

    def models(self, keys: Sequence[object]) -> list[Model]:
        """Returns the roster's models with these distinct keys. Raises BadInput for none, too many, or an unknown
        key.
        """
        models = [self.roster.row(key) for key in dict.fromkeys(map(str, keys))]
        if not models:
            raise BadInput("No model is selected: tick at least one")
        if len(models) > MOST_MODELS:
            raise BadInput(f"{len(models)} models are too many for one question: select at most {MOST_MODELS}")
        return models

    def pair(
        self, contents: Sequence[tuple[str, str | bytes]], keys: Sequence[str]
    ) -> tuple[LiveQuestion, list[Model]]:
        """Returns a program's two inputs (modality or `example`, and content) as a question with its models.

        Without keys, the default models that are ready, MOST_MODELS at most. Raises BadInput.
        """
        read = {"text": inputs.text, "image": POOL.image}
        pair = tuple(
            examples.load(str(content)) if kind == "example" else read[kind](content, name=name)
            for (kind, content), name in zip(contents, ("The first", "The second"), strict=True)
        )
        question = LiveQuestion(mode="pair", inputs=pair).checked()
        if not keys:
            ready = self.roster.listed(mode="pair", kinds=question.kinds)
            keys = [listed.row.key for listed in ready if listed.first][:MOST_MODELS]
        return question, self.models(keys) if keys else []

    # ---- answers

    def answers(
        self,
        question: LiveQuestion,
        models: Sequence[Model],
        *,
        session: str = "",
        cache: Cache | None = None,
        controls: bool = True,
        judges: JudgeAllowance | None = None,
    ) -> Iterator[Answer]:
        """Yields each model's answer in turn; one that fails says why, and the others continue. None is started after
        LONGEST.

        Results for earlier inputs come from `cache`, else from the session. With `controls`, a pair is compared with
        unrelated examples too by a model none of whose distributions gives it a percentile. Without `judges` no model
        is asked that answers through the host's endpoint: that costs money, so only a visitor's press starts it.
        """
        until, calibrations = self._clock() + LONGEST, self.calibrations()
        for row in models:
            own = calibrations.of(row.key, question.pairing)
            among = {"until": until, "session": session, "cache": cache, "judges": judges}
            answer = self._result(row, question.inputs, questions.ask, question, own, controls, **among)
            yield Answer(row=row, problem=answer) if isinstance(answer, str) else answer

    def curves(
        self, image: Input, other: Input | None, models: Sequence[Model], *, kind: str, session: str = ""
    ) -> Iterator[tuple[Model, Curve | str]]:
        """Yields each model's scores as `image` is perturbed more and more, with `other` or itself; or why there are
        none.

        No model is started after LONGEST.
        """
        until, calibrations = self._clock() + LONGEST, self.calibrations()
        for row in models:
            own = calibrations.of(row.key, model_rows.pairing_of(image.modality, (other or image).modality))
            pair = (image, other) if other else (image,)
            yield row, self._result(row, pair, changes.curve, kind, image, other, own, until=until, session=session)

    def ratings(
        self, pair: ChangedPair, models: Sequence[Model], *, session: str = "", judges: JudgeAllowance | None = None
    ) -> Iterator[tuple[Model, str, PairRating | str]]:
        """Yields each model's scores from 1 to 10 of an image and its changed copy, under each condition in turn, or a
        sentence if it has none. A condition counts as one question to a judge.
        """
        among = {"session": session, "judges": judges}
        for row, condition in product(models, CONDITIONS):
            inputs = pair.inputs(row, condition)
            rating = changes.cannot(row) or self._result(row, inputs, changes.rate, pair, condition, **among)
            yield row, condition, rating

    def drops(self, row: Model, pair: Sequence[Input], *, session: str = "") -> tuple[float, list[Floats | None]]:
        """Returns `occlusion.drops` of the model. Raises BadInput if it has no score for the two inputs, or fails."""
        found = self._result(row, pair, occlusion.drops, *pair, session=session)
        if isinstance(found, str):
            raise BadInput(f"{row.title}: {found}")
        return found

    def _result(
        self,
        row: Model,
        inputs: Sequence[Input],
        ask: Callable[..., Any],
        *asked: Any,
        session: str,
        until: float = math.inf,
        cache: Cache | None = None,
        judges: JudgeAllowance | None = None,
    ) -> Any:
        """Returns what `ask(subject, *asked)` returns for the model, once a session; a sentence where it cannot run or
        fails.

        Nothing is started after `until`, by the clock.
        """
        if cache is None:
            cache = self.uploads.results(session) if session else {}
        name = (ask.__name__, row.key, *(getattr(each, "key", each) for each in asked))  # equal for equal questions
        with suppress(KeyError):
            return cache[name]
        try:
            if row.key not in self.pool.loaded() and not (availability := self.roster.availability(row)).is_ready:
                return MISSING if availability.is_downloadable else availability.why
            if self._clock() >= until:
                return OUT_OF_TIME
            check_length(row, inputs)
            if requests_per_question(row):
                if judges is None:
                    return PRESS if ask is questions.ask else IN_WORDS
                if wait := judges():
                    raise TooMany(OFTEN_TO_JUDGES, wait)
            known = {
                key: value
                for results in (self._shared, cache)
                for key, value in list(results.items())
                if key[1] == row.key and key[0] in PARTS
            }
            result, new = self.run(row, inputs, known, ask, *asked)
        except Exception as error:
            return redact_paths(explain(error, action=row.key))
        self._shared.update(
            {key: value for key, value in new.items() if key[0] in ("image", "text") and key[2] in self._controls}
        )
        cache.update(new | {name: result})
        return result

    def run(self, row: Model, *work: Any) -> tuple[Any, dict[tuple, Any]]:
        """Runs as `Pool.run`, on a borrowed GPU if the model needs one; pages and programs take turns."""
        with self._turn:
            return (self._borrowed if borrows_gpu(row) else self.pool.run)(row, *work)

    @cached_property
    def _controls(self) -> frozenset[str]:
        """Returns the content keys of the unrelated examples; none without scikit-image's photographs."""
        with suppress(NotHere):
            return frozenset(each.key.decode() for kind in ("image", "text") for each in examples.unrelated(kind))
        return frozenset()

    def needs_loading(self, row: Model) -> bool:
        """Returns whether the model must be read from disk before it answers."""
        return bool(row.weights) and row.key not in self.pool.loaded()

    # ---- for programs

    def score(
        self, inputs: Sequence[tuple[str, str | bytes]], models: Sequence[str], request: Any = None
    ) -> list[dict[str, Any]]:
        """Returns how similar two inputs are to each model; without keys, models are chosen automatically.

        `request` is the visitor's, whose questions to judges are counted. A row has `model` and `pairing` (image-image,
        image-text or text-text); the rest is shown as it is. No input is stored.
        """
        question, rows = self.pair(inputs, models)
        judges = self.judges(request, pressed=True)  # a program names the models that it asks
        answers = self.answers(question, rows, cache={}, judges=judges)
        note = "; ".join(f"{each.name}: {each.note}" for each in question.inputs if each.note)
        return [_record(answer, question.pairing) | {"note": note} for answer in answers]

    # ---- downloads

    def download(self, models: Sequence[Model], *, session: str) -> Iterator[tuple[Model, DownloadProgress]]:
        """Downloads missing weights, one model after another, and yields the progress; at first the total is the
        catalogue's.

        One that fails leaves the others. Raises NotHere with what went wrong at the end, or once the visitor stops it.
        """
        previous, stop = self._downloads.get(session), Event()
        if previous is not None:
            previous.set()  # a visitor has one download at a time
        self._downloads[session] = stop
        problems = []
        try:
            for row in models:
                needed, room = partial(self._is_missing, row), self.pool.room()
                try:
                    for progress in self.fetcher.fetch(row, room=room, needed=needed, stop=stop.is_set):
                        total = progress.total or self.roster.availability(row).bytes
                        yield row, replace(progress, total=total)
                except NotHere as error:
                    problems.append(redact_paths(str(error)))
                    if stop.is_set():
                        break
                finally:
                    self.roster.forget(row)
        finally:
            if self._downloads.get(session) is stop:  # not that of a later download of the same visitor
                del self._downloads[session]
        if problems:
            raise NotHere(". ".join(problems))

    def stop(self, session: str) -> None:
        """Stops the session's download, if there is one."""
        self._downloads.get(session, Event()).set()

    def _is_missing(self, row: Model) -> bool:
        """Returns whether the model's weights still have to be downloaded, checked again."""
        self.roster.forget(row)
        return self.roster.availability(row).is_downloadable


@shared
def calibrations(suite_cache: SuiteCache) -> Calibrations:
    """Returns every model's distributions and their domains."""
    rows = suite_cache.db.query("calibrations").to_dict("records")
    records = suite_cache.db.query("calibration_domains")["record"]
    return Calibrations(
        references=tuple(Reference(**row) for row in rows),
        domains=tuple(restored(json.loads(record)) for record in records),
    )


def _seconds(row: Model, inputs: Sequence[Input], *asked: object) -> int:
    """Estimates how long a question occupies a GPU: a process starts, weights are read, and each input passes the
    model. For a shorter time, the Hub lends a GPU sooner and requires less of the visitor's quota.
    """
    gigabytes = (memory_of(row) or 0) / 1e9
    return min(LONGEST_LOAN, math.ceil(10 + gigabytes * (1.5 + 0.5 * len(inputs))))


def _record(answer: Answer, pairing: str) -> dict[str, Any]:
    """Returns one model's answer about a pair, for programs; None for unknown values."""
    standing = answer.standings[0] if answer.standings else None
    return {
        "model": answer.row.key,
        "title": answer.row.title,
        "pairing": pairing,
        "percentile": standing and round(standing.percentile, 2),
        "reading": standing.reading if standing else "",
        "above_unrelated": standing and standing.above_unrelated,
        "above_matching": standing and standing.above_matching,
        "calibrated_on": answer.reference.source if answer.reference else "",
        "synthetic": bool(answer.reference and answer.reference.synthetic),
        "no_percentile": answer.why,
        "nearer_than_unrelated": list(answer.controls) if answer.controls else None,
        "score": answer.scores[0] if answer.scores else None,
        "score_is": answer.unit,
        "replies": list(answer.replies),
        "seconds": round(answer.seconds, 4),
        "problem": answer.problem,
    }


def rate(variable: str = VARIABLE, *, files: int = 1) -> Rate | None:
    """Returns a visitor's rate limit: the variable's a minute; LIKENESS_RATE is by default ON_A_SPACE on a Space and
    none elsewhere, for uploads so many `files` a comparison; LIKENESS_JUDGE_RATE is JUDGE_RATE everywhere.

    Raises BadInput if the variable is not a number.
    """
    default, burst = (ON_A_SPACE if os.environ.get("SYSTEM") == "spaces" else 0.0), BURST
    if variable == JUDGE_VARIABLE:
        default, burst = JUDGE_RATE, JUDGE_BURST
    value = os.environ.get(variable, "")
    try:
        a_minute = float(value or default)
    except ValueError:
        a_minute = math.nan
    if not 0 <= a_minute < math.inf:
        raise BadInput(f"{variable} is a number of requests a minute, 0 for no limit; got {value[:40]!r}")
    return Rate(a_minute=a_minute * files, burst=burst * files) if a_minute else None


def sender(request: Any) -> str:
    """Returns the visitor's address in a request, Gradio's or Starlette's; None counts as one visitor."""
    request = getattr(request, "request", request)
    return "unknown" if request is None else visitor(request)
