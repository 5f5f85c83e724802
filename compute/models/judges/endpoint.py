"""Judges behind an OpenAI-compatible chat endpoint: vLLM, SGLang, TGI, `transformers serve`, or a hosted service.

Its address and key come only from the environment: LIKENESS_ENDPOINT (such as http://localhost:8000/v1) and
LIKENESS_ENDPOINT_KEY. LIKENESS_ENDPOINT_CONCURRENCY, _ATTEMPTS and _TIMEOUT (seconds) control requests. _INPUT_PRICE
and _OUTPUT_PRICE (US dollars per million tokens) give the cost of an answer if the endpoint does not report it. The key
is sent only to that address. Without a key, none is sent, not even the hub's.
"""

from __future__ import annotations

import math
import os
import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from compute.content import decoding
from compute.content.messages import REFUSAL, Picture, Question, Reply
from compute.models.adapter import Hardware
from compute.models.judges.answer_limit import USUAL, limited, options_of, rule
from compute.models.judges.answer_log import AnswerLog
from compute.models.judges.images import image_part
from compute.types import BadInput, Model, NoService, NotHere

if TYPE_CHECKING:
    import openai

URL, KEY = "LIKENESS_ENDPOINT", "LIKENESS_ENDPOINT_KEY"
DEFAULTS: dict[str, Any] = {
    "model": "",  # the name that the endpoint serves; empty: the row's weights, else its key
    "max_tokens": None,  # of an answer; None: the question's, else answer_limit.USUAL
    "seed": 0,
    "extra": {},  # additional fields of every request, such as {"chat_template_kwargs": {"enable_thinking": false}}
}
RECENT = 32  # encoded images in memory, because consecutive questions share some
DENIED = (401, 403)  # the key is refused for all judges, so the whole run stops
FINAL = (402, 404, 405)  # no question to this model can succeed, as after a redirect
# Fields that some endpoints refuse, and patterns for such refusals. They are then no longer sent and recorded as None.
# `max_completion_tokens`, which includes thinking, replaces max_tokens.
OPTIONAL = {
    "seed": re.compile("seed", re.IGNORECASE),
    "temperature": re.compile("temperature", re.IGNORECASE),
    "max_tokens": re.compile(r"(?:unsupported|unknown) .*\bmax_tokens|\bmax_tokens\b.* not supported", re.IGNORECASE),
}
THINKING = 4096  # tokens for thinking in addition to an answer's, unless the row limits the total


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on requests to an endpoint. Pauses between attempts are openai's: a Retry-After of up to two minutes."""

    concurrency: int = 8
    attempts: int = 8  # per question, including the first
    timeout: float = 120.0  # seconds per request


class Endpoint:
    """A judge at an address."""

    def __init__(
        self,
        *,
        row: Model,
        url: str,
        key: str = "",
        limits: Limits | None = None,
        options: Mapping[str, Any] = DEFAULTS,
        prices: tuple[float, float] | None = None,  # of input and output, US dollars per million tokens
    ) -> None:
        self._max_tokens = options["max_tokens"]
        self._thinking = 0 if self._max_tokens else THINKING
        self.settings: dict[str, Any] = {
            "model": row.key,
            "served": options["model"] or row.weights or row.key,
            "temperature": 0,
            "seed": options["seed"],
            "max_tokens": self._max_tokens or USUAL,
            "extra": dict(options["extra"]),
            "images": f"as files; PNG where they are not upright RGB in PNG, JPEG or WebP; decoding {decoding.VERSION}",
        }
        self.answers = AnswerLog(row, settings={"adapter": "endpoint", **self.settings})
        self.settings["max_tokens_holds"] = rule(self._max_tokens)
        self.limits, self.prices = limits or Limits(), prices
        parts = urlsplit(url)
        self._shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
        hidden = [parts.query and url, parts.query, *(value for _, value in parse_qsl(parts.query))]
        self._redacted = _hiding([key, *hidden])
        self.settings["host"] = parts.hostname
        self._url, self._key = url, key

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Returns one reply per question, in order; answered questions are not asked again.

        If the endpoint refuses a question or its reply is malformed, the reply has an `error`. Raises NoService if the
        endpoint is unreachable or refuses the key, another LikenessError if no question can succeed, and BadItem for an
        unreadable image. Earlier answers are stored.
        """
        return [self._priced(reply) for reply in self.answers.answered(limited(questions, self._max_tokens), self._ask)]

    def _priced(self, reply: Reply) -> Reply:
        """Adds the cost if the endpoint does not report it but prices and tokens are known."""
        if not self.prices or reply.cost is not None or None in (reply.input_tokens, reply.output_tokens):
            return reply
        asked, said = self.prices
        return replace(reply, cost=(reply.input_tokens * asked + reply.output_tokens * said) / 1e6)

    @cached_property
    def _client(self) -> openai.OpenAI:
        from compute.models.judges import chat

        # No proxy is needed for this machine.
        proxies = not is_loopback(self._url)
        return chat.connect(self._url, proxies=proxies, redacted=self._redacted, **asdict(self.limits))

    def _ask(self, questions: Sequence[Question]) -> Iterator[tuple[int, Reply]]:
        """Yields replies as they arrive. After a fatal failure, only requests in progress are finished, because they
        are paid for.
        """
        # A visitor's images are not stored and not held beyond the visit.
        image_url = lru_cache(RECENT)(image_part)
        todo, done, stop = iter(range(len(questions))), queue.SimpleQueue(), threading.Event()
        failures: list[Exception] = []

        def work() -> None:
            try:
                for position in todo:  # a range's iterator gives each position to only one thread
                    if stop.is_set():
                        break
                    done.put((position, self._reply(questions[position], image_url)))
            except Exception as error:
                failures.append(error)
                stop.set()
            done.put(None)

        threads = min(self.limits.concurrency, len(questions))
        for _ in range(threads):  # daemons, so that an interrupted run does not wait for them
            threading.Thread(target=work, daemon=True, name="endpoint").start()
        try:
            for _ in range(threads):
                yield from iter(done.get, None)
        finally:
            stop.set()
        if failures:
            raise failures[0]

    def _reply(self, question: Question, image_url: Callable[[Picture], dict[str, Any]]) -> Reply:
        """Asks one question; openai's client decides on retries. Raises a LikenessError that ends the run."""
        import openai

        from compute.models.judges import chat

        settings, limit = self.settings, question.longest or self.settings["max_tokens"]
        fields = {name: settings[name] for name in ("seed", "temperature") if settings[name] is not None}
        is_thinking = "thinking_tokens" in settings
        fields |= {"max_completion_tokens": limit + self._thinking} if is_thinking else {"max_tokens": limit}
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=self.settings["served"],
                messages=question.chat(image_url),
                extra_body=self.settings["extra"],
                extra_headers={"Authorization": f"Bearer {self._key}" if self._key else openai.omit},
                **fields,
            )
        except openai.APIError as error:
            message = self._redacted(chat.said(error.body) or str(error.__cause__ or error))
            message = " ".join(message.split())[:300] or type(error).__name__
            is_refused = isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError)
            for name, names in OPTIONAL.items():
                if is_refused and name in fields and names.search(message):
                    settings |= {"thinking_tokens": self._thinking} if name == "max_tokens" else {name: None}
                    return self._reply(question, image_url)
            return self._failed(question, error, message)
        reply, seconds = chat.read(response.content), response.elapsed.total_seconds()
        return replace(reply, item=question.item, seconds=round(seconds, 4))

    def _failed(self, question: Question, error: openai.APIError, message: str) -> Reply:
        """Returns the reply for a client's error. Raises LikenessError without chaining, because the cause may contain
        the key.
        """
        import httpx2
        import openai

        from compute.models.judges import chat

        if isinstance(error.__cause__, httpx2.ConnectError):
            raise NoService(
                f"No endpoint answers at {self._shown} ({message}). Start the server, or set {URL}. "
                "Stored answers are not asked for twice"
            ) from None
        if isinstance(error, openai.APITimeoutError):
            return Reply(item=question.item, error=f"no answer within {self.limits.timeout:g} s")
        if not isinstance(error, openai.APIStatusError):
            return Reply(item=question.item, error=message)
        # Content moderation: Azure's code `content_filter`, OpenRouter's moderation reasons.
        if error.code == "content_filter" or "flagged_input" in str(error.body):
            return Reply(item=question.item, text=message, finish=REFUSAL)
        status = f"status {error.status_code}"
        if error.status_code in DENIED:
            sent = f"the key in {KEY} is not accepted" if self._key else f"{KEY} is not set"
            raise NoService(
                f"The endpoint {self._shown} refused with {status}: {sent}. "
                f"Set {KEY} to a key that it accepts and run again ({message})"
            ) from None
        if chat.SPENT.search(str(error.body)):
            raise NoService(f"The endpoint {self._shown} has no quota left for this key: {message}") from None
        if error.status_code in FINAL or error.status_code < 400:
            raise NotHere(
                f"The endpoint {self._shown} refused with {status}: {message}. "
                f"Check {URL} and the model's name there: {self.settings['served']}"
            ) from None
        return Reply(item=question.item, error=f"{status}: {message}")


def _hiding(secrets: list[str]) -> Callable[[str], str]:
    """Returns a function that removes secrets from a text: verbatim, or escaped in JSON or percent-encoded, fully or
    partly.

    A secret shorter than 8 characters is removed only as a whole word, because it could match letters within answers.
    """
    forms = []
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        signs = (rf"(?:\\?{re.escape(sign)}|%(?:25)*(?i:{ord(sign):02x})|\\u(?i:{ord(sign):04x}))" for sign in secret)
        plain = "".join(signs) if secret.isascii() else re.escape(secret)
        forms.append(plain if len(secret) > 7 else rf"(?<![^\W_]){plain}(?![^\W_])")
    pattern = re.compile("|".join(forms) or r"(?!)")
    return lambda text: pattern.sub("...", text)


def load(row: Model, hardware: Hardware, folder: Path | None) -> Endpoint:
    """Returns the endpoint that the environment names. It runs elsewhere, so `hardware` and local weights are ignored.

    Raises NotHere if none is named, BadInput for an invalid setting.
    """
    options, url = options_of(row, DEFAULTS), _address()
    if not url:
        how = (
            f"Serve it (vllm serve {row.weights}), then: export {URL}=http://localhost:8000/v1"
            if row.weights
            else f"Its weights are not public: export {URL} and {KEY} for a service that offers it"
        )
        raise NotHere(f"{row.key} is asked through an OpenAI-compatible endpoint, and {URL} is not set. {how}")
    if is_offline() and (problem := offline_problem()):
        raise NotHere(f"{row.key} cannot be asked: {problem}")
    limits = Limits(
        concurrency=int(_number("CONCURRENCY", Limits.concurrency)),
        attempts=int(_number("ATTEMPTS", Limits.attempts)),
        timeout=_number("TIMEOUT", Limits.timeout),
    )
    sides = [side for side in ("INPUT_PRICE", "OUTPUT_PRICE") if os.environ.get(f"{URL}_{side}")]
    prices = tuple(_number(side, 0, lowest=0) for side in sides) if len(sides) == 2 else None
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):  # it cannot be sent, and the client's error would show it
        raise BadInput(f"{KEY} has a line break or an invalid character. Copy the key again")
    return Endpoint(row=row, url=url, key=key, limits=limits, options=options, prices=prices)


def _address() -> str:
    url = os.environ.get(URL, "").strip()
    if url and not _is_address(url):
        raise BadInput(f"{URL} is not an address of the form http://host:port/v1")
    if "@" in urlsplit(url).netloc:  # it would be sent as a header, which the endpoint may repeat
        raise BadInput(f"{URL} holds a user name or a password. Omit them, and set {KEY} to the endpoint's key")
    return url


def host() -> str:
    """Returns the host of the endpoint in the environment, without its port; empty if there is none. Raises
    BadInput.
    """
    return urlsplit(_address()).hostname or ""


def is_offline() -> bool:
    """Returns whether this process must not contact other machines: `--offline`, or HF_HUB_OFFLINE."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def offline_problem() -> str:
    """Returns why the endpoint in the environment is not used offline; empty if it is on this machine."""
    url = os.environ.get(URL, "").strip()
    if not url or not _is_address(url) or is_loopback(url):
        return ""
    return (
        f"its endpoint is on another machine, and --offline (HF_HUB_OFFLINE) asks none. Omit it, or set {URL} to "
        "a server on this machine"
    )


def is_loopback(url: str) -> bool:
    """Returns whether an address belongs to this machine, so that requests to it do not reach any network."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number
        return False


def _number(name: str, default: float, *, lowest: float = 1) -> float:
    """Returns the number in LIKENESS_ENDPOINT_<name>, at least `lowest`."""
    given = os.environ.get(f"{URL}_{name}", "")
    try:
        number = float(given or default)
    except ValueError:
        number = math.nan
    if not lowest <= number <= 1e6:
        raise BadInput(f"{URL}_{name} is a number from {lowest:g}; got {given!r}")
    return number
