"""Visitors' uploads, in memory only: nothing is written to disk, and everything is dropped when the visitor leaves.

A session is a random id that the page made; nobody without it can reach its contents. Sessions end when the page says
so, after half an hour without use, or when all together take too much memory: then those of the visitor who has most of
it go first, the least recently used before the others, so that nobody crowds the others out.
"""

from __future__ import annotations

import math
import re
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

from cachetools import Cache, LRUCache

from compute.live import examples, inputs
from compute.live.batch import LARGEST_FILE
from compute.live.decoder import POOL
from compute.live.inputs import Input
from compute.types import BadInput
from leaderboard.html.formatting import webp

SESSION = re.compile(r"[0-9a-f-]{16,64}")
IDLE, SWEEP = 1800.0, 60.0  # seconds without use until a session ends, and between two searches for such sessions
# Bytes in memory: of all sessions, and in each of images, files and models' results.
ALL, IMAGES, FILES, RESULTS = 512_000_000, 160_000_000, 2 * LARGEST_FILE, 16_000_000
LEAST = 100_000  # bytes that a session counts as at least, so that there are a few thousand
ENTRY = 1_000  # bytes that an entry counts as besides its content
GONE = "is no longer available. Add it again"
NO_SESSION = "The page has lost its session. Reload it and try again"


class RecentlyUsed(LRUCache):
    """Entries of at most `most` bytes in total; the newest always stays, regardless of its size. Thread-safe."""

    def __init__(self, most: int = RESULTS) -> None:
        super().__init__(math.inf, getsizeof=lambda value: ENTRY + _size(value))
        self._most, self._lock = most, threading.RLock()

    def __getitem__(self, key: Any) -> Any:
        with self._lock:
            return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        with self._lock:
            super().__setitem__(key, value)
            while len(self) > 1 and self.currsize > self._most:
                self.popitem()

    def items(self) -> list[tuple[Any, Any]]:  # type: ignore[override]
        """Returns a copy of all entries: a view could lose one while it is read."""
        with self._lock:
            return [(key, Cache.__getitem__(self, key)) for key in self]


class _Session:
    """One page's images (Input), files (bytes) and models' results, each by key; `used` is a time of the clock.

    `owner` is the address that uploads come from, empty as long as there are none.
    """

    def __init__(self) -> None:
        self.used, self.owner = 0.0, ""
        self.images, self.files, self.results = map(RecentlyUsed, (IMAGES, FILES, RESULTS))

    @property
    def nbytes(self) -> int:
        return LEAST + self.images.currsize + self.files.currsize + self.results.currsize


class Uploads:
    """All sessions. Thread-safe; images are decoded outside the lock."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()  # the least recently used first
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None

    def add_image(self, session: str, data: bytes, *, owner: str = "") -> dict[str, Any]:
        """Decodes an image file into the session: key, width, height, thumbnail (a data URI), note. Raises BadInput.

        `owner`: the visitor's address. The session's least recently used images are dropped if there are too many.
        """
        _check(session)
        image, small = POOL.image_with_thumbnail(data, name="The image")
        width, height = image.content.size
        thumbnail, key = webp(small), image.key.decode()
        with self._lock:
            self._session(session, owner=owner).images[key] = image
            self._make_room()
        return {"key": key, "width": width, "height": height, "thumbnail": thumbnail, "note": image.note}

    def image(self, session: str, key: str, *, name: str = "The image") -> Input:
        """Returns an image of the session as an input. Raises BadInput if it is gone or never existed."""
        return self._get(session, "images", key, name)

    def add_file(self, session: str, data: bytes, *, owner: str = "") -> str:
        """Stores a file's bytes and returns its key. `owner`: the visitor's address. Raises BadInput."""
        _check(session)
        if not data:
            raise BadInput("The file is empty. Choose another one")
        key = blake2b(data, digest_size=16).hexdigest()
        with self._lock:
            self._session(session, owner=owner).files[key] = data
            self._make_room()
        return key

    def file(self, session: str, key: str) -> bytes:
        """Returns a file's bytes. Raises BadInput if it is gone or never existed."""
        return self._get(session, "files", key, "The file")

    def input(self, session: str, entry: Any, *, index: int) -> Input:
        """Returns one of a request's inputs: {"kind": "image" or "example", "key"} or {"kind": "text", "text"}.

        Raises BadInput.
        """
        name, fields = f"Input {index + 1}", entry if isinstance(entry, Mapping) else {}
        kind = fields.get("kind")
        value = fields.get("text" if kind == "text" else "key")
        if kind not in ("image", "text", "example") or not isinstance(value, str):
            raise BadInput(f"{name} is neither an image, a text nor an example")
        if kind == "text":
            return inputs.text(value, name=name)
        if kind == "example":
            return examples.load(value)
        return replace(self.image(session, value, name=name), name=name)

    def results(self, session: str) -> RecentlyUsed:
        """Returns models' results for the session's inputs, which are dropped with it. Raises BadInput for an invalid
        session id.
        """
        _check(session)
        with self._lock:
            return self._session(session).results

    def forget(self, session: str) -> None:
        """Ends the session."""
        with self._lock:
            self._sessions.pop(session, None)

    def sweep(self) -> None:
        """Ends sessions that have been idle too long."""
        with self._lock:
            oldest = self._clock() - IDLE
            while self._sessions and next(iter(self._sessions.values())).used < oldest:
                self._sessions.popitem(last=False)

    @property
    def nbytes(self) -> int:
        """Returns the bytes of all sessions."""
        with self._lock:
            return sum(session.nbytes for session in self._sessions.values())

    def __len__(self) -> int:
        """Returns the number of sessions."""
        with self._lock:
            return len(self._sessions)

    def _get(self, session: str, kind: str, key: str, name: str) -> Any:
        with self._lock:
            self.sweep()
            entries = getattr(self._sessions[session], kind) if session in self._sessions else {}
            if key not in entries:
                raise BadInput(f"{name} {GONE}")
            self._session(session)
            return entries[key]

    def _session(self, session: str, *, owner: str = "") -> _Session:
        """Returns the session, new or existing, and marks it as used now. Requires the lock."""
        self.sweep()
        current = self._sessions.setdefault(session, _Session())
        current.used, current.owner = self._clock(), owner or current.owner
        self._sessions.move_to_end(session)
        self._make_room()
        self._start_timer()
        return current

    def _make_room(self) -> None:
        """Ends the least recently used sessions of the visitor with most bytes, except the last one, which is in
        use.
        """
        while len(self._sessions) > 1 and self.nbytes > ALL:
            *others, _ = self._sessions
            weights: Counter[str] = Counter()
            for session in self._sessions.values():
                weights[session.owner] += session.nbytes
            del self._sessions[max(others, key=lambda key: weights[self._sessions[key].owner])]  # of several the first

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(SWEEP, self._tick)
            self._timer.daemon = True
            self._timer.start()

    def _tick(self) -> None:
        with self._lock:
            self._timer = None
            self.sweep()
            if self._sessions:
                self._start_timer()


def _check(session: str) -> None:
    if not SESSION.fullmatch(session):
        raise BadInput(NO_SESSION)


def _size(value: Any) -> int:
    """Returns the approximate bytes of a value: its `nbytes`, the bytes of a file, or the sum of its parts."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    if is_dataclass(value):
        return sum(_size(getattr(value, part.name)) for part in fields(value))
    return sys.getsizeof(value)
