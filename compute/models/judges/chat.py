"""One request to an OpenAI-compatible chat endpoint, with limits on what comes back.

Redirects are not followed: they would send what is asked, and the key, to another address.
"""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit, urlunsplit

MAX_REPLY = 1 << 20  # bytes; an answer in words takes under 10 kB
MAX_TOLD = 2000  # characters of an error's text


class BadStatus(Exception):
    """An answer of another status than success, with what the endpoint says of it.

    `filtered`: it declined what the message holds, rather than the request.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str], *, filtered: bool = False) -> None:
        super().__init__(message)
        self.status, self.headers, self.filtered = status, headers, filtered


class ReplyTooLarge(Exception):
    """A reply beyond MAX_REPLY."""


def address(url: str) -> str:
    """Where chat completions are asked for: below `url`, which may end with the version or with the whole path."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path += "/chat/completions" if path.endswith("/v1") else "/v1/chat/completions"
    return urlunsplit(parts._replace(path=path))


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own, so that asking it leaves no trace on any network."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class ChatClient:
    """Asks one endpoint, from any thread; connections are used again."""

    def __init__(self, *, url: str, key: str, timeout: float, concurrency: int) -> None:
        self._url, self._timeout, self._concurrency = address(url), timeout, concurrency
        self._headers = {"accept": "application/json", "content-type": "application/json", "user-agent": "likeness"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"

    @cached_property
    def _client(self) -> Any:
        import httpx2

        return httpx2.Client(
            headers=self._headers,
            timeout=self._timeout,
            follow_redirects=False,
            trust_env=not is_loopback(self._url),  # no proxy stands between a machine and itself
            limits=httpx2.Limits(max_connections=self._concurrency),
        )

    def complete(self, body: bytes) -> Any:
        """The reply to a request, parsed. `body` is JSON.

        Raises BadStatus, ReplyTooLarge, TimeoutError, ValueError and RecursionError for what is not JSON, and the HTTP
        library's TransportError.
        """
        began, data = time.monotonic(), bytearray()
        with self._client.stream("POST", self._url, content=body) as response:
            for part in response.iter_bytes():
                data += part
                if len(data) > MAX_REPLY:
                    raise ReplyTooLarge(f"a reply of more than {MAX_REPLY >> 20} MB, which is not read further")
                if time.monotonic() - began > self._timeout:
                    raise TimeoutError
            if response.is_success:
                return json.loads(data)
            try:
                record = json.loads(data)
            except (ValueError, RecursionError):
                record = {}
            record = record if isinstance(record, dict) else {}
            # What declines a message's content: Azure's code `content_filter`, OpenRouter's moderation reasons.
            error = record.get("error")
            error = error if isinstance(error, dict) else {}
            filtered = error.get("code") == "content_filter" or "flagged_input" in (error.get("metadata") or {})
            message = _told(record, data) or response.reason_phrase
            raise BadStatus(response.status_code, message, response.headers, filtered=filtered)


def _told(record: Mapping[str, Any], data: bytes) -> str:
    """What an error's content says: its `error` or `message`, else its text."""
    for name in ("error", "message", "detail"):
        if inner := record.get(name):
            return str(inner.get("message") or inner if isinstance(inner, dict) else inner)[:MAX_TOLD]
    return data.decode("utf-8", "replace")[:MAX_TOLD]
