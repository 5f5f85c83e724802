"""Judges behind an OpenAI-compatible chat endpoint: vLLM, SGLang, TGI, `transformers serve`, or a hosted one.

Where it is and its key come from the environment alone: LIKENESS_ENDPOINT (such as http://localhost:8000/v1) and
LIKENESS_ENDPOINT_KEY. LIKENESS_ENDPOINT_CONCURRENCY, _ATTEMPTS and _TIMEOUT (seconds) change how it is asked,
_INPUT_PRICE and _OUTPUT_PRICE (US dollars for a million tokens) let replies state their cost. The key is sent to that
address and goes nowhere else; without one, none is sent, not even the hub's.
"""

from __future__ import annotations

import json
import math
import os
import queue
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from compute.content import decoding
from compute.content.messages import LENGTH, REFUSAL, STOP, Picture, Question, Reply
from compute.models.adapter import Hardware
from compute.models.judges.answer_limit import AnswerLimit, options_of
from compute.models.judges.answer_log import AnswerLog
from compute.models.judges.chat import BadStatus, ChatClient, ReplyTooLarge, is_loopback
from compute.models.judges.images import ReadyImages, data_url, grouped
from compute.types import BadInput, LikenessError, Model, NoService, NotHere

URL, KEY = "LIKENESS_ENDPOINT", "LIKENESS_ENDPOINT_KEY"
DEFAULTS: dict[str, Any] = {
    "model": "",  # the name the endpoint serves it under; empty: the row's weights, or the key of one without
    "max_tokens": None,  # of an answer; None: as the question says, else answer_limit.USUAL
    "seed": 0,  # left out, and recorded as such, where the endpoint refuses it
    "extra": {},  # further fields of every request, such as {"chat_template_kwargs": {"enable_thinking": false}}
    "structured": False,  # whether a question's JSON schema is sent as `response_format`: it changes answers
    "prices": {},  # {"input": ..., "output": ...}, US dollars for a million tokens; else from the environment
}
FORMAT_WORDS = ("response_format", "json_schema", "guided", "grammar", "structured")  # of a server that refuses it
# Of `finish_reason`: OpenAI's words, and those of TGI and Anthropic where they differ. Others mean none of the three.
FINISHES = {
    "stop": STOP,
    "eos_token": STOP,
    "stop_sequence": STOP,
    "end_turn": STOP,
    "length": LENGTH,
    "max_tokens": LENGTH,
    "content_filter": REFUSAL,
    "refusal": REFUSAL,
}
PASSING = (408, 425, 429)  # and 5xx: asked again
DENIED = (401, 403)  # no judge gets in with this key: the whole run stops
FINAL = (402, 404, 405)  # no question to this model can succeed
REFUSALS = 3  # attempts while nothing listens at the address and nothing ever answered there
IN_A_ROW = 20  # questions that fail one after another before the run stops


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How patiently an endpoint is asked. Seconds, except the first two."""

    concurrency: int = 8
    attempts: int = 8  # a question, the first one included
    timeout: float = 120.0  # of one request
    first_delay: float = 1.0  # doubled with every attempt, and shortened by up to a half at random
    longest_delay: float = 60.0
    patience: float = 600.0  # an endpoint that wants a longer pause stops the run


class Passing(Exception):
    """A failure that may pass. `after`: seconds the endpoint asked to wait; `unreachable`: nothing listens there."""

    def __init__(self, problem: str, *, after: float = 0.0, unreachable: bool = False) -> None:
        super().__init__(problem)
        self.after, self.unreachable = after, unreachable


class Unanswerable(Exception):
    """A question the endpoint will not answer however often it is asked."""


class Declined(Exception):
    """A question whose content the endpoint's filter declines: its own text is the answer."""


class Endpoint:
    """A judge behind an address."""

    def __init__(
        self,
        *,
        row: Model,
        url: str,
        key: str = "",
        limits: Limits | None = None,
        options: Mapping[str, Any] = DEFAULTS,
        prices: Mapping[str, float] | None = None,
        answers: AnswerLog | None = None,
    ) -> None:
        self._limit = AnswerLimit(options["max_tokens"])
        self.settings: dict[str, Any] = {
            "model": row.key,
            "served": options["model"] or row.weights or row.key,
            "temperature": 0,
            "seed": options["seed"],
            "max_tokens": self._limit.tokens,
            "extra": dict(options["extra"]),
            "images": f"as files; PNG where they are not upright RGB in PNG, JPEG or WebP; decoding {decoding.VERSION}",
        }
        if options["structured"]:  # not named where it is off, as in the logs before there was a choice
            self.settings["structured"] = True
        self.answers = answers or AnswerLog(row, settings={"adapter": "endpoint", **self.settings})
        self.settings["max_tokens_holds"] = self._limit.rule
        self.prices = dict(prices or {})
        if self.prices:
            self.settings["dollars_per_million_tokens"] = self.prices
        self.limits = limits or Limits()
        self.images = ReadyImages(_part, folder=self.answers.folder)
        parts = urlsplit(url)
        self._shown = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self._secrets = [secret for secret in (url, key, parts.password, parts.query) if secret]
        self._client = ChatClient(url=url, key=key, concurrency=self.limits.concurrency)
        self._has_key = bool(key)
        self._answered = False  # at least one question
        self._lock = threading.Lock()

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """One reply a question, in order; what has been answered before is not asked.

        A question the endpoint refuses or garbles comes back with an `error`. Raises NoService where nobody is there or
        the key is refused, another LikenessError where no question can succeed, and BadItem for an image that cannot be
        read; answers that came before are stored.
        """
        return [self._priced(reply) for reply in self.answers.answered(self._limit.applied(questions), self._ask)]

    def _redacted(self, text: str) -> str:
        """A text without the key, or what an address hides."""
        for secret in self._secrets:
            text = text.replace(secret, "...")
        return text

    def _priced(self, reply: Reply) -> Reply:
        """With its cost, where the endpoint has not stated it and the prices of all its tokens are known."""
        if reply.cost is not None or None in (reply.input_tokens, reply.output_tokens) or len(self.prices) < 2:
            return reply
        cost = reply.input_tokens * self.prices["input"] + reply.output_tokens * self.prices["output"]
        return replace(reply, cost=cost / 1e6)

    def _ask(self, questions: Sequence[Question]) -> Iterator[tuple[int, Reply]]:
        """Yields replies as they come, from threads that end with the last question, or as soon as one is hopeless."""
        todo, done, stop = iter(grouped(questions)), queue.SimpleQueue(), threading.Event()
        # What a visitor compares is stored nowhere, and not beyond the visit.
        images = self.images if self.answers.lasting else ReadyImages(_part, folder=None)

        def work() -> None:
            while not stop.is_set():
                with self._lock:
                    position = next(todo, None)
                if position is None:
                    break
                try:
                    done.put((position, self._reply(questions[position], images, stop)))
                except Exception as error:  # the other threads finish what is under way: it is paid for
                    done.put((position, error))
                    stop.set()
            done.put(None)

        busy = min(self.limits.concurrency, len(questions))
        for _ in range(busy):
            threading.Thread(target=work, daemon=True, name="endpoint").start()
        failed: Exception | None = None
        in_a_row = 0
        try:
            while busy:
                outcome = done.get()
                if outcome is None:
                    busy -= 1
                    continue
                position, reply = outcome
                if isinstance(reply, Exception):
                    failed = failed or reply
                    continue
                in_a_row = in_a_row + 1 if reply.error else 0
                if in_a_row >= IN_A_ROW and failed is None:
                    failed = NotHere(
                        f"The endpoint failed {in_a_row} questions in a row; the last: {reply.error}. "
                        "Repair it and run again: stored answers are not asked for twice"
                    )
                    stop.set()
                yield position, reply
        finally:
            stop.set()
        if failed is not None:
            raise failed

    def _reply(self, question: Question, images: ReadyImages, stop: threading.Event) -> Reply:
        """Asks one question until it is answered, declined, or the attempts are used up."""
        content = b", ".join(
            question.each(text=lambda text: json.dumps({"type": "text", "text": text}).encode(), image=images.of)
        )
        for attempt in range(1, self.limits.attempts + 1):
            if stop.is_set():
                raise LikenessError("The run was stopped")
            try:
                return self._request(question, content)
            except Declined as error:
                return Reply(item=question.item, text=str(error), finish=REFUSAL)
            except Unanswerable as error:
                return Reply(item=question.item, error=str(error))
            except Passing as error:
                problem = error
            if problem.unreachable and not self._answered and attempt >= REFUSALS:
                break
            if problem.after > self.limits.patience:
                raise NotHere(
                    f"The endpoint asks for a pause of {problem.after:.0f} s ({problem}). Run again after it: "
                    "stored answers are not asked for twice"
                )
            if attempt < self.limits.attempts:
                delay = min(self.limits.longest_delay, self.limits.first_delay * 2 ** (attempt - 1))
                stop.wait(problem.after + delay * random.uniform(0.5, 1))
        if problem.unreachable:
            again = ". Stored answers are not asked for twice" if self._answered else f", or set {URL}"
            raise NoService(f"No endpoint answers at {self._shown} ({problem}). Start the server{again}")
        return Reply(item=question.item, error=f"{problem}, after {self.limits.attempts} attempts")

    def _request(self, question: Question, content: bytes) -> Reply:
        """One request and its answer. `content`: the message's parts as JSON, which are long and not encoded again."""
        seed, schema = self.settings["seed"], question.schema if "structured" in self.settings else ""
        fields = {
            "model": self.settings["served"],
            "temperature": 0,
            "max_tokens": self._limit.of(question),
            **({} if seed is None else {"seed": seed}),
            "stream": False,
            **self.settings["extra"],
        }
        if schema:
            answer = {"name": "answer", "strict": True, "schema": json.loads(schema)}
            fields = {"response_format": {"type": "json_schema", "json_schema": answer}, **fields}
        message = b'"messages": [{"role": "user", "content": [' + content + b"]}]"
        began = time.perf_counter()
        try:
            body = b"{" + message + b", " + json.dumps(fields)[1:].encode()
            completion = self._client.complete(body, timeout=self.limits.timeout)
            seconds = time.perf_counter() - began
            text, finish = _answer(completion["choices"][0])
            text = text and self._redacted(text)
            usage = completion.get("usage") or {}
            stated = [_stated(usage, name) for name in ("prompt_tokens", "completion_tokens", "cost")]
        except Exception as error:  # whatever a broken reply makes the client raise
            failure = self._failure(error)
            if seed is not None and isinstance(failure, Unanswerable) and "seed" in str(failure).lower():
                self.settings["seed"] = None
                return self._request(question, content)
            if schema and isinstance(failure, Unanswerable) and any(word in str(failure) for word in FORMAT_WORDS):
                failure = NotHere(
                    f"The endpoint {self._shown} does not take structured output ({failure}). Ask without it "
                    "(option structured), or serve the model where it is supported"
                )
            # Not chained: the client's own error may repeat the key.
            raise failure from None
        if text is None:
            raise Passing("a reply without text")
        self._answered = True
        return Reply(
            item=question.item,
            text=text,
            finish=finish,
            input_tokens=stated[0],
            output_tokens=stated[1],
            seconds=round(seconds, 4),
            cost=stated[2],  # US dollars, as OpenRouter states it
        )

    def _failure(self, error: Exception) -> Exception:
        """What a failed request means: Passing, Unanswerable, or a LikenessError that ends the run."""
        import httpx2

        message = (" ".join(self._redacted(str(error)).split()) or type(error).__name__)[:300]
        if isinstance(error, ReplyTooLarge):
            return Unanswerable(message)
        if isinstance(error, BadStatus):
            status = error.status
            if error.filtered:
                return Declined(message)
            if status in DENIED:
                sent = f"the key in {KEY} is not accepted" if self._has_key else f"{KEY} is not set"
                return NoService(
                    f"The endpoint {self._shown} refused with status {status}: {sent}. "
                    f"Set {KEY} to a key that it accepts and run again ({message})"
                )
            if status in FINAL or 300 <= status < 400:
                return NotHere(
                    f"The endpoint {self._shown} refused with status {status}: {message}. "
                    f"Check {URL} and the model's name there: {self.settings['served']}"
                )
            if status in PASSING or status >= 500:
                pause = error.headers.get("retry-after", "")  # seconds; a date counts as none
                return Passing(f"status {status}: {message}", after=float(pause) if pause.isdecimal() else 0.0)
            return Unanswerable(f"status {status}: {message}")
        if isinstance(error, httpx2.TimeoutException):
            return Passing(f"no answer within {self.limits.timeout:g} s")
        if isinstance(error, httpx2.TransportError):
            return Passing(f"connection lost: {message}", unreachable=isinstance(error, httpx2.ConnectError))
        return Passing(f"a reply that is no chat completion ({type(error).__name__}: {message})")


def _part(picture: Picture) -> bytes:
    """An image's part of a message, as JSON."""
    return f'{{"type": "image_url", "image_url": {{"url": "{data_url(picture.data)}"}}}}'.encode()


def _answer(choice: Mapping[str, Any]) -> tuple[str | None, str]:
    """The text of a completion's choice, and why it ended. None: there is no text, and no reason why not.

    A refusal is the API's own word, in the field `refusal` or by `finish_reason`, and never guessed from the text.
    """
    message, finish = choice["message"], FINISHES.get(choice.get("finish_reason"), "")
    text, refusal = message.get("content"), message.get("refusal")
    if refusal:
        return text or refusal, REFUSAL
    if text is None and finish in (LENGTH, REFUSAL):
        return "", finish  # all its tokens went to reasoning, or the filter left nothing
    return text, finish


def _stated(usage: Mapping[str, Any], name: str) -> Any:
    """A count or cost of a reply; None for what is not one."""
    value = usage.get(name)
    return value if isinstance(value, int | float) and 0 <= value < 1e9 else None


def load(row: Model, hardware: Hardware, folder: Path | None) -> Endpoint:
    """The endpoint that the environment names. It runs elsewhere: `hardware` and the local weights are not used.

    Raises NotHere where none is named, BadInput for a setting that is none.
    """
    options = options_of(row, DEFAULTS)
    url = os.environ.get(URL, "").strip()
    if not url:
        how = (
            f"Serve it (vllm serve {row.weights}), then: export {URL}=http://localhost:8000/v1"
            if row.weights
            else f"Its weights are not public: export {URL} and {KEY} for a service that offers it"
        )
        raise NotHere(f"{row.key} is asked through an OpenAI-compatible endpoint, and {URL} is not set. {how}")
    if not _is_address(url):
        raise BadInput(f"{URL} is no address of the form http://host:port/v1")
    if is_offline() and (problem := offline_problem()):
        raise NotHere(f"{row.key} cannot be asked: {problem}")
    limits = Limits(
        concurrency=int(_number("CONCURRENCY", Limits.concurrency)),
        attempts=int(_number("ATTEMPTS", Limits.attempts)),
        timeout=_number("TIMEOUT", Limits.timeout),
    )
    prices = dict(options["prices"])
    for side in ("input", "output"):
        if side not in prices and os.environ.get(f"{URL}_{side.upper()}_PRICE"):
            prices[side] = _number(f"{side.upper()}_PRICE", 0.0, lowest=0)
    key = os.environ.get(KEY, "").strip()
    return Endpoint(row=row, url=url, key=key, limits=limits, options=options, prices=prices)


def is_offline() -> bool:
    """Whether this process is to ask no other machine: `--offline`, or HF_HUB_OFFLINE."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def offline_problem() -> str:
    """Why the endpoint that the environment names is not asked offline; empty where it is on this machine."""
    url = os.environ.get(URL, "").strip()
    if not url or not _is_address(url) or is_loopback(url):
        return ""
    return (
        f"its endpoint is on another machine, and --offline (HF_HUB_OFFLINE) asks none. Leave it out, or set {URL} to "
        "a server on this machine"
    )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False


def _number(name: str, default: float, *, lowest: float = 1) -> float:
    """A number from `lowest` on from LIKENESS_ENDPOINT_<name>."""
    given = os.environ.get(f"{URL}_{name}", "")
    try:
        number = float(given or default)
    except ValueError:
        number = math.nan
    if not lowest <= number <= 1e6:
        raise BadInput(f"{URL}_{name} is a number from {lowest:g}; got {given!r}")
    return number
