"""Asks models about visitors' inputs, for the Try page and the endpoints. Loads models only inside functions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from threading import Event
from typing import TYPE_CHECKING, Any

from compute.analysis.domain import Calibrations
from compute.catalog.own import models as own_models
from compute.live import domains, examples, inputs
from compute.live.decoder import POOL
from compute.live.inputs import Input, check_length
from compute.live.question import Answer, LiveQuestion
from compute.models import abilities
from compute.tasks.data import CONDITIONS
from compute.types import BadInput, Model, NotHere
from leaderboard.host.accelerator import on_gpu
from leaderboard.live.uploads import Uploads
from leaderboard.web.errors import explain
from leaderboard.web.redact import hide, redact_paths

if TYPE_CHECKING:
    from compute.live.changed_pair import ChangedPair, PairRating
    from compute.live.curves import Curve
    from compute.live.models.fetching import DownloadProgress, Fetcher
    from compute.live.models.pool import Pool
    from compute.live.models.roster import Roster
    from compute.live.models.subject import LiveSubject
    from compute.live.patches import PatchMap

QUEUE = "accelerator"  # the concurrency_id of every event that runs a model: one at a time
MOST_MODELS = 12  # in one question
LONGEST = 300  # seconds until no further model of a question is started: others wait for it
PARTS = ("vector", "compare", "reply")  # results for single inputs, which later questions reuse
OUT_OF_TIME = (
    f"Not started: the models before it took over {LONGEST // 60} minutes, the most for one question. "
    "Ask it again, alone or with fewer models"
)
MISSING = "Its weights are not on this machine; the Try page downloads them"
PRESS = "It answers through the host's endpoint, which is asked only when Compare is pressed"
IN_WORDS = "It answers in words through the host's endpoint, which is asked in comparisons only"
Cache = MutableMapping[tuple, Any]
# Counts a question to a judge: 0.0 where it may be asked, else the seconds until it may.
JudgeAllowance = Callable[[], float]


OFTEN_TO_JUDGES = "Judges answer a limited number of questions a minute from each visitor, since each costs the host"


class TooMany(BadInput):
    """A visitor asked too often, and is told when to come back."""

    def __init__(self, why: str, seconds: float) -> None:
        seconds = max(1, math.ceil(seconds))
        super().__init__(f"{why}. Try again in {seconds} second{'' if seconds == 1 else 's'}")


class Live:
    """Visitors' uploads, the models in memory, and their answers. One for the whole app.

    `own` are models of the host's, beside those of the catalogue.
    """

    def __init__(self, *, own: Sequence[Model] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self.uploads, self.own, self._clock = Uploads(), tuple(own), clock
        hide(folder for row in self.own for folder in own_models.folders(row))
        self.run = on_gpu(self._run)
        self._shared: dict[tuple, Any] = {}  # vectors of the unrelated examples, the same for everyone
        self._downloads: dict[str, Event] = {}  # by session: set to stop its download

    @cached_property
    def pool(self) -> Pool:
        """The models in memory."""
        from compute.live.models.availability import memory_of
        from compute.live.models.loading import load
        from compute.live.models.pool import Pool

        return Pool(load=load, size=memory_of)

    @cached_property
    def roster(self) -> Roster:
        """The models of the catalogue and of the host, and whether they can run."""
        from compute.catalog import shipped
        from compute.live.models.availability import Network
        from compute.live.models.roster import Roster

        return Roster(shipped().models, own=self.own, pool=self.pool, network=Network().reachable)

    @cached_property
    def fetcher(self) -> Fetcher:
        """Downloads weights."""
        from compute.live.models.fetching import Fetcher

        return Fetcher()

    # ---- questions

    def read(self, payload: Mapping[str, Any]) -> tuple[LiveQuestion, list[Model]]:
        """The page's request as a question with its models. Raises BadInput, as a sentence, for anything else."""
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
        """The roster's models with these keys, each once. Raises BadInput for none, too many, or an unknown key."""
        models = [self.roster.row(key) for key in dict.fromkeys(map(str, keys))]
        if not models:
            raise BadInput("No model is selected: tick at least one")
        if len(models) > MOST_MODELS:
            raise BadInput(f"{len(models)} models are too many for one question: select at most {MOST_MODELS}")
        return models

    def pair(
        self, contents: Sequence[tuple[str, str | bytes]], keys: Sequence[str]
    ) -> tuple[LiveQuestion, list[Model]]:
        """A program's two inputs (modality or `example`, and content) as a question with its models.

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
        calibrations: Calibrations,
        controls: bool = True,
        judges: JudgeAllowance | None = None,
    ) -> Iterator[Answer]:
        """Each model's answer in turn; one that fails says why, and the others go on. None is started after LONGEST.

        Results for earlier inputs come from `cache`, else from the session. With `controls`, a pair is compared with
        unrelated examples too by a model none of whose `calibrations` gives it a percentile. Without `judges` no model
        is asked that answers through the host's endpoint: that costs the host, and is for a visitor's press to start.
        """
        from compute.live import answers

        until = self._clock() + LONGEST
        for row in models:
            own = calibrations.of(row.key, domains.pairing(question))
            job = partial(answers.timed, question=question, calibrations=own, controls=controls)
            key = ("answer", question.key, own.key, controls)
            answer = self._result(
                row, key, job, inputs=question.inputs, until=until, session=session, cache=cache, judges=judges
            )
            if isinstance(answer, str):
                answer = Answer(model=row.key, problem=answer)
            yield answer

    def curves(
        self,
        image: Input,
        other: Input | None,
        models: Sequence[Model],
        *,
        kind: str,
        calibrations: Calibrations,
        session: str = "",
    ) -> Iterator[tuple[Model, Curve | str]]:
        """Each model's scores as `image` is perturbed more and more, with `other` or itself; or why there are none.

        No model is started after LONGEST.
        """
        from compute.live import curves

        until = self._clock() + LONGEST
        for row in models:
            own = calibrations.of(row.key, abilities.pairing_of(image.modality, (other or image).modality))
            job = partial(curves.curve, image=image, other=other, kind=kind, calibrations=own)
            key = ("curve", kind, image.key, other and other.key, own.key)
            pair = (image, other) if other else (image,)
            yield row, self._result(row, key, job, inputs=pair, until=until, session=session)

    def ratings(
        self,
        pair: ChangedPair,
        models: Sequence[Model],
        *,
        session: str = "",
        conditions: Sequence[str] = CONDITIONS,
        judges: JudgeAllowance | None = None,
    ) -> Iterator[tuple[Model, str, PairRating | str | None]]:
        """Each model's scores from 1 to 10 of an image beside its changed copy, under each condition in turn.

        A sentence where it has none. Scored are `conditions`; of others, and of judges in words without `judges`, only
        earlier scores come, else None: a judge's answer takes seconds or costs the host. One condition counts as one
        question to a judge.
        """
        from compute.live import changed_pair

        results = self.uploads.results(session) if session else {}
        for row, condition in product(models, CONDITIONS):
            name = ("rating", *pair.key, condition)
            failed = ("failed", row.key, *name)
            in_words = changed_pair.answers_in_words(row)
            rating = results.get(("rating", row.key, *name[1:]))
            if rating is None and (problem := changed_pair.cannot(row)):
                rating = problem
            elif rating is None and (condition not in conditions or (in_words and judges is None)):
                rating = results.get(failed)
            elif rating is None:
                job = partial(changed_pair.rate, pair=pair, condition=condition)
                images = pair.inputs(row, condition)
                rating = self._result(row, name, job, inputs=images, session=session, cache=results, judges=judges)
                if in_words and isinstance(rating, str):
                    results[failed] = rating  # for the page; the next press asks again
            yield row, condition, rating

    def patches(self, first: Input, second: Input, row: Model, *, session: str = "") -> PatchMap:
        """Where two images agree according to one model. Raises BadInput where it has no patch tokens or fails."""
        from compute.live import patches

        job = partial(patches.agree, first=first, second=second)
        key = ("patches", first.key, second.key)
        patch_map = self._result(row, key, job, inputs=(first, second), session=session)
        if isinstance(patch_map, str):
            raise BadInput(f"{row.title}: {patch_map}")
        return patch_map

    def _result(
        self,
        row: Model,
        name: tuple,
        job: Callable[[LiveSubject], Any],
        *,
        inputs: Sequence[Input],
        session: str,
        until: float = math.inf,
        cache: Cache | None = None,
        judges: JudgeAllowance | None = None,
    ) -> Any:
        """What `job` returns for the model, computed once a session; a sentence where it cannot run or fails.

        Nothing is started after `until`, by the clock.
        """
        if cache is None:
            cache = self.uploads.results(session) if session else {}
        from compute.live.models.availability import requests_per_question

        key = (name[0], row.key, *name[1:])
        with suppress(KeyError):
            return cache[key]
        try:
            availability = self.roster.availability(row)
            if not availability.is_ready:
                return MISSING if availability.is_downloadable else availability.why
            if self._clock() >= until:
                return OUT_OF_TIME
            check_length(row, inputs)
            if requests_per_question(row):
                if judges is None:
                    return PRESS if name[0] == "answer" else IN_WORDS
                if wait := judges():
                    raise TooMany(OFTEN_TO_JUDGES, wait)
            known = {
                key: value
                for results in (self._shared, cache)
                for key, value in list(results.items())
                if key[1] == row.key and key[0] in PARTS
            }
            result, new = self.run(row, job, inputs, known)
        except Exception as error:
            return redact_paths(explain(error, action=row.key))
        self._shared.update(
            {key: value for key, value in new.items() if key[0] == "vector" and key[3] in self._controls}
        )
        cache.update(new | {key: result})
        return result

    def _run(
        self, row: Model, job: Callable[[LiveSubject], Any], inputs: Sequence[Input], known: dict[tuple, Any]
    ) -> tuple[Any, dict[tuple, Any]]:
        """A job's result for one model, and the new results for single inputs; all that needs the accelerator.

        Arguments and results can be pickled: ZeroGPU runs it in a forked process.
        """
        from compute.live.models.subject import LiveSubject

        with self.pool.use(row) as model:
            subject = LiveSubject(row=row, model=model, inputs={each.key: each for each in inputs}, cache=dict(known))
            result = job(subject)
            return result, {key: value for key, value in subject.cache.items() if key not in known}

    @cached_property
    def _controls(self) -> frozenset[str]:
        """Content keys of the unrelated examples; none without scikit-image's photographs."""
        with suppress(NotHere):
            return frozenset(each.key.decode() for kind in ("image", "text") for each in examples.unrelated(kind))
        return frozenset()

    def needs_loading(self, row: Model) -> bool:
        """Whether the model must be read from disk before it answers."""
        return bool(row.weights) and row.key not in self.pool.loaded()

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
        """Whether the model's weights are still to be downloaded, checked again."""
        self.roster.forget(row)
        return self.roster.availability(row).is_downloadable
