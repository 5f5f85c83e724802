"""openai's client for a judge's endpoint: replies have a bounded size, and replies without an answer are errors.

Redirects are not followed, because they would send the question and the key to another address.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import httpx2
import openai

from compute.content.messages import LENGTH, REFUSAL, STOP, Reply, is_answer

MAX_REPLY = 1 << 20  # bytes; a text answer takes less than 10 kB
# Values of `finish_reason` in lower case: OpenAI's, and those of other services. Any other value has no meaning here.
FINISHES = {
    "stop": STOP,
    "eos_token": STOP,
    "stop_sequence": STOP,
    "end_turn": STOP,
    "length": LENGTH,
    "incomplete": LENGTH,
    "max_tokens": LENGTH,
    "max_output_tokens": LENGTH,
    "model_length": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "content_filter": REFUSAL,
    "refusal": REFUSAL,
    "safety": REFUSAL,
    "sensitive": REFUSAL,
}
FAILURES = ("error", "abort", "cancelled", "network_error", "insufficient_system_resource")
HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")  # that openai's client reads
SPENT = re.compile(r"insufficient_quota")  # an account's quota, in an error of any status


class BoundedClient(httpx2.Client):
    """A client that reads replies completely and removes secrets by `redacted`, as logs and errors show the reply.
    openai's client retries only if this raises httpx2.RequestError.
    """

    answered = False  # whether the address has replied to anything so far

    def __init__(self, *, redacted: Callable[[str], str], **options: Any) -> None:
        super().__init__(**options)
        self._redacted = redacted

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        data, end = bytearray(), time.monotonic() + request.extensions["timeout"]["read"]
        try:
            with closing(super().send(request, **{**options, "stream": True})) as response:
                for part in response.iter_bytes():
                    data += part
                    if len(data) > MAX_REPLY:
                        problem = f"a reply of more than {MAX_REPLY >> 20} MB"
                        raise openai.APIConnectionError(message=problem, request=request)
                    if time.monotonic() > end:
                        raise httpx2.ReadTimeout("the whole reply took too long")
        except httpx2.ConnectError as error:
            if self.answered:
                raise
            raise openai.APIConnectionError(request=request) from error  # nothing listens: no retry
        self.answered = True
        text, status = self._redacted(data.decode("utf-8-sig", errors="replace")), response.status_code
        headers = {name: response.headers[name] for name in HEADERS if name in response.headers}
        if SPENT.search(text):
            headers["x-should-retry"] = "false"
        if response.is_success:
            try:
                read(text)
            except openai.OpenAIError as error:
                raise openai.APIConnectionError(message=str(error), request=request) from None
            except httpx2.RemoteProtocolError:
                if "x-should-retry" not in headers:
                    raise
                status = 400
            except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
                raise httpx2.RemoteProtocolError(f"no chat completion: {text[:200]}") from None
        whole = httpx2.Response(status, headers=headers, content=text.encode(), request=request)
        whole.elapsed = response.elapsed
        return whole


def connect(
    url: str, *, concurrency: int, attempts: int, timeout: float, proxies: bool, redacted: Callable[[str], str]
) -> openai.OpenAI:
    """Returns a client for the endpoint at `url`, which may end with the version or the path of chat completions.

    Environment variables for OpenAI's own service do not apply to this address, and its key is never read. Each request
    has the key in its headers, or omits it.
    """
    # At lower levels, logs show addresses and an endpoint's headers, which may contain the key.
    for name, level in (("httpcore2", logging.WARNING), ("httpx2", logging.WARNING), ("openai", logging.INFO)):
        logging.getLogger(name).setLevel(level)
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    base = path.removesuffix("/chat/completions")
    if base == path and not path.endswith("/v1"):
        base += "/v1"
    return openai.OpenAI(
        base_url=urlunsplit(parts._replace(path=base, query="")),
        default_query=dict(parse_qsl(parts.query)),
        api_key="in each request's headers",
        default_headers={"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit},
        max_retries=attempts - 1,
        timeout=timeout,
        http_client=BoundedClient(
            redacted=redacted, limits=httpx2.Limits(max_connections=concurrency), trust_env=proxies
        ),
    )


def read(data: str | bytes) -> Reply:
    """Returns the answer in a chat completion, with its tokens and cost. Raises openai.OpenAIError if it has no text,
    which a retry would not change; httpx2.RemoteProtocolError if it reports a failure; a LookupError, TypeError or
    similar for anything else.

    A refusal is taken from the API, in the field `refusal` or `finish_reason`, and never guessed from the text.
    """
    completion = json.loads(data)
    if completion.get("error"):  # how a router reports its provider's failure, with status 200
        raise httpx2.RemoteProtocolError(said(completion["error"]))
    choice, usage = completion["choices"][0], completion.get("usage") or {}
    message, ended = choice["message"], str(choice.get("finish_reason") or "").lower()
    finish = REFUSAL if message.get("refusal") else FINISHES.get(ended, "")
    text = message.get("content") or message.get("refusal") or ""
    if isinstance(text, list):  # parts; one of them may be the model's thinking
        text = "".join(part["text"] for part in text if part.get("type") == "text")
    if choice.get("error") or ended in FAILURES:
        raise httpx2.RemoteProtocolError(said(choice.get("error")) or "a reply without text")
    if not is_answer(text, finish):
        raise openai.OpenAIError(f"a reply without text{' but with calls of tools' * bool(message.get('tool_calls'))}")

    def stated(name: str) -> Any:
        count = usage.get(name)
        return count if isinstance(count, int | float) and 0 <= count < 1e9 else None

    return Reply(
        item="",
        text=text,
        finish=finish,
        input_tokens=stated("prompt_tokens"),
        output_tokens=stated("completion_tokens"),
        cost=stated("cost"),  # US dollars, as OpenRouter reports it
    )


def said(error: Any) -> str:
    """Returns an endpoint's message about a failure, from the `error` or the whole body of its reply."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return str(error or "")
