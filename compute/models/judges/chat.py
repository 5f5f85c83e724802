"""One request to an OpenAI-compatible chat endpoint, with a limit on what comes back.

Redirects are not followed: they would send what is asked, and the key, to another address.
"""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

MAX_REPLY = 1 << 20  # bytes; an answer in words takes under 10 kB


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

    def __init__(self, *, url: str, key: str, concurrency: int) -> None:
        import httpx2

        headers = {"accept": "application/json", "content-type": "application/json", "user-agent": "likeness"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        self._url = address(url)
        self._client = httpx2.Client(
            headers=headers,
            follow_redirects=False,
            trust_env=not is_loopback(url),  # no proxy stands between a machine and itself
            limits=httpx2.Limits(max_connections=concurrency),
        )

    def complete(self, body: bytes, *, timeout: float) -> Any:
        """The reply to a request, parsed. `body` is JSON.

        Raises BadStatus, ReplyTooLarge, ValueError and RecursionError for what is not JSON, and the HTTP library's
        TransportError.
        """
        import httpx2

        began, data = time.monotonic(), bytearray()
        with self._client.stream("POST", self._url, content=body, timeout=timeout) as response:
            for part in response.iter_bytes():
                data += part
                if len(data) > MAX_REPLY:
                    raise ReplyTooLarge(f"a reply of more than {MAX_REPLY >> 20} MB")
                if time.monotonic() - began > timeout:
                    raise httpx2.ReadTimeout("the whole reply took too long")
        if response.is_success:
            return json.loads(data)
        try:
            record = json.loads(data)
        except (ValueError, RecursionError):
            record = {}
        record = record if isinstance(record, dict) else {}
        error = record.get("error") or record.get("message") or record.get("detail") or data.decode("utf-8", "replace")
        detail = error if isinstance(error, dict) else {}
        # What declines a message's content: Azure's code `content_filter`, OpenRouter's moderation reasons.
        filtered = detail.get("code") == "content_filter" or "flagged_input" in (detail.get("metadata") or {})
        message = str(detail.get("message") or error or response.reason_phrase)
        raise BadStatus(response.status_code, message, response.headers, filtered=filtered)
