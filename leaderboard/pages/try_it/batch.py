"""Many pairs at once: a visitor's table, scored a few pairs per turn so that others are answered in between.

All of it is in memory and ends with the visitor's session; the table is dropped as soon as its last pair is scored.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakSet

import gradio as gr
import pandas as pd

from compute.live.batch import PREVIEW, Batch, PairRow, read
from compute.live.questions import Answer, cannot
from compute.live.roster import requests_per_question
from compute.types import BadInput, Model, shortened
from leaderboard.html.components import scripted
from leaderboard.live.live import MOST_MODELS, QUEUE, JudgeAllowance, Live, sender
from leaderboard.live.uploads import RecentlyUsed
from leaderboard.page import QUIET, Site, payload_of, script_json
from leaderboard.pages.try_it.answers import reasons
from leaderboard.web.errors import explain
from leaderboard.web.redact import redact_paths
from leaderboard.web.responses import csv_bytes

TURN = 2.0  # seconds of work before it is the others' turn
CHUNK = 10  # pairs per model before the next one: two that do not fit into memory together alternate less
MOST, MOST_OF_SENDER = 8, 6  # tables being scored at once, and of these from one address
IDLE = 120.0  # seconds without a turn after which another table may take its place
CACHE_BYTES = 24_000_000  # of encodings, for one table
ANSWER_BYTES = 1_000  # of an answer with its words, about
PREVIEW_ROWS = 10
KEY = ("batch", "table")  # among the session's results
RUNNING, DONE, STOPPED, FAILED = "running", "done", "stopped", "failed"
Pair = tuple[PairRow, list[Answer | None], str]  # with each model's answer, and why scores are missing


@dataclass(kw_only=True, eq=False)
class PairScoring:
    """One table and the models that score it. One turn at a time; `stop` may be called meanwhile."""

    batch: Batch | None  # None once it is over
    models: Sequence[Model]
    sender: str = ""  # the visitor's address
    judges: JudgeAllowance | None = None  # counts the visitor's questions to judges; without it none is asked
    clock: Callable[[], float] = time.monotonic
    used: float = field(init=False)  # when its last turn began
    _rows: tuple[PairRow, ...] = field(init=False)
    _left: deque[tuple[int, Model]] = field(init=False)  # rows, and models that compare such pairs, still to be scored
    _count: int = field(init=False)  # of these at first
    _started: float | None = None  # when the first answer was there: before it the model was loaded
    _pause: float = 0.0  # seconds until a judge may be asked
    _answers: dict[tuple[int, str], Answer] = field(default_factory=dict)  # by index of the row and model
    _refused: dict[int, str] = field(default_factory=dict)  # rows that no model can score, with the reason
    _cache: RecentlyUsed = field(default_factory=lambda: RecentlyUsed(CACHE_BYTES))  # encodings of the inputs

    def __post_init__(self) -> None:
        self._rows, self.used = self.batch.rows, self.clock()
        self._left = deque(
            (index, model)
            for start in range(0, len(self._rows), CHUNK)
            for model in self.models
            for index in range(start, min(start + CHUNK, len(self._rows)))
            if not cannot(model, "pair", self._rows[index].kinds)
        )
        self._count = len(self._left)
        for index in set(range(len(self._rows))) - {index for index, _ in self._left}:
            self._refused[index] = self._rows[index].problem or "None of the models compares such a pair"

    @property
    def nbytes(self) -> int:
        """Returns the bytes of its texts and of all scores to come; embeddings are limited separately."""
        texts = [text for row in self._rows for text in (row.name, row.first, row.second, row.problem)]
        return sum(map(sys.getsizeof, texts)) + ANSWER_BYTES * len(self._rows) * len(self.models)

    def turn(self, live: Live, *, seconds: float = TURN) -> None:
        """Scores for `seconds`, at least one pair with one model unless a judge must wait."""
        self.used = began = self.clock()
        while self._left and (batch := self.batch):
            index, model = self._left[0]
            is_counted = self.judges and index not in self._refused and requests_per_question(model)
            self._pause = self.judges() if is_counted else 0.0
            if self._pause:
                return
            if index not in self._refused:
                self._score(batch, index, model, live)
            self._left.popleft()
            self._started = self._started or self.clock()
            if self.clock() - began >= seconds:
                break
        if not self._left:
            self.stop()

    def stop(self) -> None:
        """Ends the scoring; finished pairs stay. A current turn ends after its pair."""
        self.batch, self._cache = None, RecentlyUsed()

    def record(self) -> dict[str, Any]:
        """Returns the progress as JSON; with the results at the end."""
        pairs = self._pairs()
        waiting = {index for index, _ in self._left if index not in self._refused}
        count, left = self._count, len(self._left)
        facts: dict[str, Any] = {
            "state": RUNNING if self.batch else DONE if not left else STOPPED,
            "done": len(self._rows) - len(waiting),
            "of": len(self._rows),
            "share": 1 - left / count if count else 1.0,
            "left": None,  # estimated seconds, including other visitors' turns
            "problems": sum(bool(problem) for *_, problem in pairs),
            "pause": self._pause,  # a turn before that does nothing
        }
        if self.batch:
            answered = count - left - 1  # since the first
            if answered > 0:
                facts["left"] = (self.clock() - self._started) / answered * left
            return facts
        frame = table(self.models, pairs)
        return facts | {
            "csv": csv_bytes(frame).decode(),
            "preview": [[*frame], *frame.head(PREVIEW_ROWS).to_numpy().tolist()],
            "source": source(every := [answer for _, answers, _ in pairs for answer in answers if answer]),
            "why": reasons(every),
        }

    def _score(self, batch: Batch, index: int, model: Model, live: Live) -> None:
        try:
            question = batch.question(self._rows[index])
            (answer,) = live.answers(
                question,
                [model],
                cache=self._cache,
                controls=False,
                judges=self.judges and (lambda: 0.0),  # it was counted before
            )
            if not answer.problem and (not answer.scores or math.isnan(answer.scores[0])):
                answer = replace(answer, problem="It gave no number")
            self._answers[index, model.key] = answer
        except Exception as error:
            self._refused[index] = explain(error, action="A pair of a table")

    def _pairs(self) -> list[Pair]:
        """Returns the pairs that any model was asked about."""
        stopped = set() if self.batch else {(index, model.key) for index, model in self._left}
        pairs = []
        for index, row in enumerate(self._rows):
            answers = [self._answers.get((index, model.key)) for model in self.models]
            if index not in self._refused and not any(answers):
                continue
            problems: dict[str, list[str]] = {}
            for model, answer in zip(self.models, answers, strict=True):
                if problem := answer.problem if answer else "Stopped before its turn" * ((index, model.key) in stopped):
                    problems.setdefault(problem, []).append(model.key)
            said = "; ".join(f"{', '.join(keys)}: {problem}" for problem, keys in problems.items())
            pairs.append((row, answers, self._refused.get(index, said)))
        return pairs


def table(models: Sequence[Model], pairs: Iterable[Pair]) -> pd.DataFrame:
    """Formats values for programs and spreadsheets: numbers with six digits, the visitor's texts shortened; empty
    columns are dropped except the first two.
    """
    of_models = [f"{model.key} {part}" for model in models for part in ("score", "percentile", "reading")]
    rows = []
    for row, answers, problem in pairs:
        texts = [shortened(text, PREVIEW) for text in (row.name, row.first, row.second)]
        parts = [part for answer in answers for part in _parts(answer)]
        rows.append([str(row.number), problem, *texts, *parts, source(answers)])
    heads = ["number", "problem", "name", "first", "second", *of_models, "source"]
    frame = pd.DataFrame(rows, columns=heads, dtype=str)
    return frame.loc[:, [at < 2 or (frame[name] != "").any() for at, name in enumerate(frame)]]


def source(answers: Iterable[Answer | None]) -> str:
    """Returns what these scores are based on; empty if there are none."""
    scored = [answer.reference for answer in answers if answer and not answer.problem]
    if not scored:
        return ""
    named = dict.fromkeys(f"{each.source} (synthetic)" if each.synthetic else each.source for each in scored if each)
    return f"computed live; {'calibrated on ' + ' and '.join(named) if named else 'not calibrated'}"


def _parts(answer: Answer | None) -> tuple[str, str, str]:
    """Returns a score, its percentile and its reading; empty what is missing."""
    if answer is None or answer.problem:
        return "", "", ""
    score = f"{answer.scores[0]:.6g}"
    if not answer.standings:
        return score, "", "a rating from 1 to 10" if answer.unit == "rating" else answer.why
    return score, f"{answer.percentiles[0]:.6g}", answer.standings[0].reading


class Tables:
    """The tables being scored: one per session, which ends with it, and a limited number in the app."""

    def __init__(self, site: Site) -> None:
        self._live = site.live
        self._running: WeakSet[PairScoring] = WeakSet()

    def start(self, payload: dict[str, Any], request: Any) -> PairScoring:
        """Returns a table with its first turn: {session, file, models, judges}. Raises BadInput.

        `models` is null if the visitor left the choice as it was. `judges` is true where the visitor chose that
        judges, which cost the host, score the table too.
        """
        self._live.admit(request)
        session, keys = str(payload.get("session", "")), payload.get("models")
        batch = read(self._live.uploads.file(session, str(payload.get("file", ""))))
        models = self._able(keys if isinstance(keys, list) else [], batch)
        for model in models:
            availability = self._live.roster.availability(model)
            if availability.is_downloadable:
                raise BadInput(
                    f"{model.title} is not on this machine yet. Compare one pair with it first, which downloads it, "
                    "or untick it"
                )
            if not availability.is_ready:
                raise BadInput(f"{model.title} cannot run here: {availability.why}. Untick it")
        results = self._live.uploads.results(session)
        scoring = PairScoring(
            batch=batch,
            models=models,
            sender=sender(request),
            judges=self._live.judges(request, pressed=payload.get("judges")),
        )
        if previous := results.get(KEY):
            previous.stop()
        running = [each for each in self._running if each.batch]
        own = [each for each in running if each.sender == scoring.sender]
        for tables, most, whose in ((own, MOST_OF_SENDER, "from your network"), (running, MOST, "of other visitors")):
            if len(tables) < most:
                continue
            oldest = min(tables, key=lambda each: each.used)
            if oldest.clock() - oldest.used < IDLE:
                raise BadInput(f"{most} tables {whose} are being scored, which is the most. Try again in a minute")
            oldest.stop()
        self._running.add(scoring)
        results[KEY] = scoring
        scoring.turn(self._live)
        return scoring

    def _able(self, keys: list[object], batch: Batch) -> list[Model]:
        """Returns the named models that can compare any pair of the table; if there are none, the default ones that
        can.
        """
        pairings = sorted({row.kinds for row in batch.rows})
        named = self._live.models(keys) if keys else []
        able = [row.key for row in named if not all(cannot(row, "pair", kinds) for kinds in pairings)]
        if not able:
            listed = (each for kinds in pairings for each in self._live.roster.listed(mode="pair", kinds=kinds))
            able = list(dict.fromkeys(each.row.key for each in listed if each.first))[:MOST_MODELS]
        return self._live.models(able)

    def turn(self, payload: dict[str, Any]) -> PairScoring:
        """Returns the next turn: {session}. Raises BadInput if the table is gone."""
        scoring = self._current(payload)
        scoring.turn(self._live)
        return scoring

    def stop(self, payload: dict[str, Any]) -> PairScoring:
        """Stops the table: {session}. The finished part is returned at once, without the queue. Raises BadInput."""
        scoring = self._current(payload)
        scoring.stop()
        return scoring

    def _current(self, payload: dict[str, Any]) -> PairScoring:
        scoring = self._live.uploads.results(str(payload.get("session", ""))).get(KEY)
        if scoring is None:
            raise BadInput("The table is no longer available. Add it again")
        return scoring


def section(site: Site) -> None:
    """Builds the section. The browser requests each turn, so that the queue lets other visitors in between.

    The component's events are `batch` {session, file, models, judges, turn}, `turn` and `stop` {session, turn}.
    """
    tables = Tables(site)
    batch = scripted(
        site.assets,
        script="pages/try_it/batch.js",
        css_class="likeness-batch lk-try",
        early=False,
        events=("batch", "turn", "stop"),
        run="const view = module.mount(target, { trigger: fire });"
        " gradio.then(({ props, watch }) =>"
        " watch('value', () => { if (props.value) view.show(JSON.parse(props.value)); }));",
    )

    def start(event: gr.EventData, request: gr.Request) -> str:
        return answered(event, lambda payload: tables.start(payload, request))

    def turn(event: gr.EventData) -> str:
        return answered(event, tables.turn)

    def stop(event: gr.EventData) -> str:
        return answered(event, tables.stop)

    quiet = {"outputs": [batch], "trigger_mode": "multiple", **QUIET}
    batch.batch(start, concurrency_id=QUEUE, **quiet)
    batch.turn(turn, concurrency_id=QUEUE, **quiet)
    batch.stop(stop, queue=False, **quiet)


def answered(event: gr.EventData, answer: Callable[[dict[str, Any]], PairScoring]) -> str:
    """Returns the scoring as JSON with the payload's `turn`, so that no two answers are equal; an error as a
    sentence.
    """
    payload = payload_of(event)
    try:
        facts = answer(payload).record()
    except Exception as error:
        facts = {"state": FAILED, "message": redact_paths(explain(error, action="A table"))}
    number = payload.get("turn")
    return script_json(facts | {"turn": number if isinstance(number, int) else 0})
