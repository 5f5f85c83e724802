"""What visitors bring, in memory only: nothing here is ever written to a disk, and all of it is gone when they leave.

A session is a random id that the page made; whoever does not know it reaches nothing in it. Sessions end when the page
says so, after half an hour without use, or, the longest unused first, when all together take too much memory.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

from compute.types import BadInput
from leaderboard.html.formatting import webp

SESSION = re.compile(r"[0-9a-f-]{16,64}")
IMAGES = 24  # a session
IMAGE_BYTES = 160_000_000  # a session, decoded: nine of the largest, 16 MB each, which is what one question takes
FILES = 2  # a session
FILE_BYTES = 50_000_000  # a session
SESSIONS = 4096
MOST_BYTES = 768_000_000  # all sessions together
IDLE = 1800.0  # seconds
SWEEP = 60.0  # seconds between looks for sessions that have ended
MADE = 2048  # entries a session keeps of what models made of its inputs
MADE_BYTES = 16_000_000
GONE = "is no longer here. Add it again"
NO_SESSION = "The page has lost its session. Reload it and try again"


class Memory(MutableMapping):
    """What models made of one session's inputs; the oldest entries go when there are too many. Thread-safe."""

    def __init__(self, *, most: int = MADE, most_bytes: int = MADE_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._values: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.nbytes = 0

    def __getitem__(self, key: Any) -> Any:
        with self._lock:
            self._values.move_to_end(key)
            return self._values[key][0]

    def __setitem__(self, key: Any, value: Any) -> None:
        size = _size(key) + _size(value)  # a judge's reply goes by the whole question
        with self._lock:
            self._drop(key)
            self._values[key] = value, size
            self.nbytes += size
            while len(self._values) > 1 and (len(self._values) > self._most or self.nbytes > self._most_bytes):
                self._drop(next(iter(self._values)))

    def __delitem__(self, key: Any) -> None:
        with self._lock:
            if key not in self._values:
                raise KeyError(key)
            self._drop(key)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            return iter(list(self._values))

    def items(self) -> list[tuple[Any, Any]]:  # type: ignore[override]
        """All entries as they are now: an entry may go while a view would be walked."""
        with self._lock:
            return [(key, value) for key, (value, _) in self._values.items()]

    def _drop(self, key: Any) -> None:
        _, size = self._values.pop(key, (None, 0))
        self.nbytes -= size


@dataclass(kw_only=True, eq=False)
class _Session:
    used: float
    images: OrderedDict[str, tuple[Any, int]] = field(default_factory=OrderedDict)  # key -> input, bytes
    files: OrderedDict[str, tuple[bytes, int]] = field(default_factory=OrderedDict)
    memory: Memory = field(default_factory=Memory)

    @property
    def nbytes(self) -> int:
        return sum(size for held in (self.images, self.files) for _, size in held.values()) + self.memory.nbytes


class Uploads:
    """All sessions. Thread-safe; reading an image happens outside the lock.

    read_image(bytes, name), read_text(words, name), read_example(key) -> an input with `key`, `content` and `note`,
    each raising BadInput; thumbnail(image) -> WebP. `sweep` is how often ended sessions are looked for, None: only when
    something is asked.
    """

    def __init__(
        self,
        *,
        read_image: Callable[[bytes, str], Any],
        read_text: Callable[[str, str], Any],
        read_example: Callable[[str], Any],
        thumbnail: Callable[[Any], bytes],
        images: int = IMAGES,
        image_bytes: int = IMAGE_BYTES,
        files: int = FILES,
        file_bytes: int = FILE_BYTES,
        sessions: int = SESSIONS,
        most_bytes: int = MOST_BYTES,
        idle: float = IDLE,
        sweep: float | None = SWEEP,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read_image, self._read_text, self._read_example = read_image, read_text, read_example
        self._thumbnail = thumbnail
        self._images, self._image_bytes, self._files, self._file_bytes = images, image_bytes, files, file_bytes
        self._most_sessions, self._most_bytes, self._idle = sessions, most_bytes, idle
        self._every, self._clock = sweep, clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()  # the longest unused first
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None

    def keep_image(self, session: str, data: bytes) -> dict[str, Any]:
        """Reads one image file into the session: key, width, height, thumbnail (a data URI), note. Raises BadInput.

        The longest unused of the session's images go where they would be too many.
        """
        _check(session)
        found = self._read_image(data, "The image")
        width, height = found.content.size
        small = webp(self._thumbnail(found.content))
        key = found.key.decode()
        with self._lock:
            held = self._of(session)
            held.images[key] = found, 4 * width * height  # Pillow keeps RGB in four bytes
            held.images.move_to_end(key)
            _trim(held.images, most=self._images, most_bytes=self._image_bytes)
            self._make_room()
        return {"key": key, "width": width, "height": height, "thumbnail": small, "note": found.note}

    def image(self, session: str, key: str, *, name: str = "The image") -> Any:
        """An image of the session as an input. Raises BadInput where it is no longer, or never was, there."""
        return self._held(session, "images", key, name)

    def keep_file(self, session: str, data: bytes) -> str:
        """Keeps a file's bytes as they are and hands back its key. Raises BadInput."""
        _check(session)
        if not data:
            raise BadInput("The file is empty. Choose another one")
        if len(data) > self._file_bytes:
            raise BadInput(
                f"The file has {len(data) / 1e6:.0f} MB, more than {self._file_bytes / 1e6:.0f} MB. "
                "Split it and try again"
            )
        key = blake2b(data, digest_size=16).hexdigest()
        with self._lock:
            held = self._of(session)
            held.files[key] = data, len(data)
            held.files.move_to_end(key)
            _trim(held.files, most=self._files, most_bytes=self._file_bytes)
            self._make_room()
        return key

    def file(self, session: str, key: str) -> bytes:
        """A file's bytes. Raises BadInput where it is no longer, or never was, there."""
        return self._held(session, "files", key, "The file")

    def input(self, session: str, entry: Any, *, place: int) -> Any:
        """One of a request's inputs: {"kind": "image" or "example", "key"} or {"kind": "text", "text"}.

        Raises BadInput.
        """
        name, asked = f"Input {place + 1}", entry if isinstance(entry, Mapping) else {}
        kind = asked.get("kind")
        value = asked.get("text" if kind == "text" else "key")
        if kind not in ("image", "text", "example") or not isinstance(value, str):
            raise BadInput(f"{name} is neither an image, a text nor an example")
        if kind == "text":
            return self._read_text(value, name)
        if kind == "example":
            return self._read_example(value)
        return replace(self.image(session, value, name=name), name=name)

    def memory(self, session: str) -> Memory:
        """What models made of the session's inputs; gone with it. Raises BadInput for what is no session id."""
        _check(session)
        with self._lock:
            held = self._of(session)
            self._make_room()
            return held.memory

    def forget(self, session: str) -> None:
        """Ends the session."""
        with self._lock:
            self._sessions.pop(session, None)

    def sweep(self) -> None:
        """Ends sessions that were not used for a while."""
        with self._lock:
            before = self._clock() - self._idle
            while self._sessions and next(iter(self._sessions.values())).used < before:
                self._sessions.popitem(last=False)

    @property
    def nbytes(self) -> int:
        """Bytes that all sessions hold."""
        with self._lock:
            return sum(session.nbytes for session in self._sessions.values())

    def __len__(self) -> int:
        """Sessions that are there."""
        with self._lock:
            return len(self._sessions)

    def _held(self, session: str, kind: str, key: str, name: str) -> Any:
        with self._lock:
            self.sweep()
            held = self._sessions.get(session)
            things = getattr(held, kind) if held else {}
            if key not in things:
                raise BadInput(f"{name} {GONE}")
            self._of(session)
            things.move_to_end(key)
            return things[key][0]

    def _of(self, session: str) -> _Session:
        """The session, made where it is new, as the last used. Only under the lock."""
        self.sweep()
        held = self._sessions.setdefault(session, _Session(used=0.0))
        held.used = self._clock()
        self._sessions.move_to_end(session)
        while len(self._sessions) > self._most_sessions:
            self._sessions.popitem(last=False)
        self._wake()
        return held

    def _make_room(self) -> None:
        total = sum(session.nbytes for session in self._sessions.values())
        while total > self._most_bytes and len(self._sessions) > 1:
            total -= self._sessions.popitem(last=False)[1].nbytes

    def _wake(self) -> None:
        if self._every is not None and self._timer is None:
            self._timer = threading.Timer(self._every, self._tick)
            self._timer.daemon = True
            self._timer.start()

    def _tick(self) -> None:
        with self._lock:
            self._timer = None
            self.sweep()
            if self._sessions:
                self._wake()


def _check(session: str) -> None:
    if not SESSION.fullmatch(session):
        raise BadInput(NO_SESSION)


def _trim(held: OrderedDict[str, tuple[Any, int]], *, most: int, most_bytes: int) -> None:
    total = sum(size for _, size in held.values())
    while len(held) > 1 and (len(held) > most or total > most_bytes):
        total -= held.popitem(last=False)[1][1]


def _size(value: Any) -> int:
    """Bytes of a value, about: what says so itself or an array by that, what holds others by what is in it."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    if is_dataclass(value):
        return sum(_size(getattr(value, part.name)) for part in fields(value))
    return sys.getsizeof(value)
