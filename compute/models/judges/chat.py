"""One request to an OpenAI-compatible chat endpoint, with limits on all that comes back.

The endpoint is another's program: its reply is read in parts, up to MAX_REPLY as it is and unpacked, and awaited for a
total time, however slowly it drips. Redirects are not followed: they would send what is asked, and the key, to another
address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import threading
import weakref
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

MAX_REPLY = 1 << 20  # bytes, packed and unpacked; an answer in words takes under 10 kB
MAX_TOLD = 2000  # characters of an error's text
WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}  # how zlib is told of each packing


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
        self._headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "likeness"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None

    def complete(self, body: bytes) -> Any:
        """The reply to a request, parsed. `body` is JSON.

        Raises BadStatus, ReplyTooLarge, TimeoutError after the timeout in all, ValueError and RecursionError for what
        is no JSON, and the HTTP library's TransportError.
        """
        return json.loads(asyncio.run_coroutine_threadsafe(self._bounded(body), self._running()).result())

    def _running(self) -> asyncio.AbstractEventLoop:
        """The loop that all requests share, in a thread of its own."""
        with self._lock:
            if self._loop is None:
                loop = self._loop = asyncio.new_event_loop()
                threading.Thread(target=loop.run_forever, daemon=True, name="chat").start()
                weakref.finalize(self, loop.call_soon_threadsafe, loop.stop)  # the thread ends with its client
            return self._loop

    async def _bounded(self, content: bytes) -> bytes:
        async with asyncio.timeout(self._timeout):
            return await self._post(content)

    async def _post(self, content: bytes) -> bytes:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=self._timeout,
                follow_redirects=False,
                trust_env=not is_loopback(self._url),  # no proxy stands between a machine and itself
                limits=httpx2.Limits(max_connections=self._concurrency),
            )
        headers = {**self._headers, "content-type": "application/json"}
        async with self._client.stream("POST", self._url, content=content, headers=headers) as response:
            data = await _read(response)
            if response.is_success:
                return data
            filtered = False
            if response.has_redirect_location:
                host = urlsplit(response.headers["location"][:MAX_TOLD]).netloc.rpartition("@")[2]
                message = f"it redirects to {host or 'another path'}"
            else:
                record = _record(data)
                message, filtered = _told(record, data) or response.reason_phrase, _is_filtered(record)
            raise BadStatus(response.status_code, message, response.headers, filtered=filtered)


async def _read(response: Any) -> bytes:
    """A response's content, unpacked. Raises ReplyTooLarge, and ValueError for a packing that was not offered."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", *WINDOWS):
        raise ValueError(f"it is packed as {packing[:20]}, which no client offered")
    unpacker = zlib.decompressobj(WINDOWS[packing]) if packing in WINDOWS else None
    data, received = bytearray(), 0
    async for part in response.aiter_raw():
        received += len(part)
        if received <= MAX_REPLY and unpacker is not None:
            try:
                part = unpacker.decompress(part, MAX_REPLY + 1 - len(data))
            except zlib.error as error:
                raise ValueError(f"it cannot be unpacked ({error})") from error
        data += part
        if max(received, len(data)) > MAX_REPLY:
            raise ReplyTooLarge(f"a reply of more than {MAX_REPLY >> 20} MB, which is not read further")
    return bytes(data)


def _record(data: bytes) -> dict[str, Any]:
    """An error's content; empty where it is no JSON object."""
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _told(record: Mapping[str, Any], data: bytes) -> str:
    """What an error's content says: its `error` or `message`, else its text."""
    for name in ("error", "message", "detail"):
        if inner := record.get(name):
            return str(inner.get("message") or inner if isinstance(inner, dict) else inner)[:MAX_TOLD]
    return data[: 4 * MAX_TOLD].decode("utf-8", "replace")[:MAX_TOLD]


def _is_filtered(record: Mapping[str, Any]) -> bool:
    """Whether an error declines a message's content: Azure's code `content_filter`, OpenRouter's moderation reasons."""
    error = record.get("error")
    if not isinstance(error, dict):
        return False
    metadata = error.get("metadata")
    return error.get("code") == "content_filter" or (isinstance(metadata, dict) and "flagged_input" in metadata)
