"""How far a long pass is: a bar with rate and time left where someone watches, elsewhere a plain line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO, TypeVar

Item = TypeVar("Item")
FIRST, EVERY = 1.5, 30.0  # seconds: when a command that works in silence says so, and how often without a terminal


@dataclass
class SilentPass:
    """A pass without a bar: what `working` says of it."""

    title: str
    unit: str
    total: int
    done: int

    def __post_init__(self) -> None:
        self._first, self._began = self.done, time.monotonic()

    def __str__(self) -> str:
        counts = f"{self.title}: {self.done:,} of {self.total:,} {self.unit}s"
        if self.done == self._first:
            return counts
        rate = (time.monotonic() - self._began) / (self.done - self._first)
        return f"{counts}, {duration(rate * (self.total - self.done))} left"


_passes: list[SilentPass] = []  # under way, the innermost last


@contextmanager
def working(name: str, *, stream: TextIO | None = None, first: float = FIRST, every: float = EVERY) -> Iterator[None]:
    """While a command works: after `first` seconds a line on stderr that it does, and where no terminal shows bars one
    every `every` seconds on how far it is."""
    stream, began, ended = stream or sys.stderr, time.monotonic(), threading.Event()

    def tell() -> None:
        wait = first
        while not ended.wait(wait):
            doing = _passes[-1] if _passes else name
            print(f"Working, {duration(time.monotonic() - began)}: {doing}", file=stream, flush=True)
            if stream.isatty():
                return
            wait = every

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Progress:
    """Bars go to `stream` (stderr) when it is a terminal or a notebook's, but not with `watched=False`; of others
    `working` tells."""

    def __init__(self, *, stream: TextIO | None = None, watched: bool = True) -> None:
        self._stream = stream
        self._watched = watched

    @contextmanager
    def bar(self, title: str, *, total: int, done: int = 0, unit: str = "item") -> Iterator[Callable[[int], None]]:
        """A bar of `total`, `done` of them before it starts; yields a function that takes how many were done more."""
        stream = self._drawn_on()
        if stream is None:
            counted = SilentPass(title, unit, total, done)
            _passes.append(counted)

            def count(more: int) -> None:
                counted.done += more

            try:
                yield count
            finally:
                _passes.remove(counted)
            return
        from tqdm import tqdm

        with tqdm(
            desc=title,
            total=total,
            initial=done,
            unit=f" {unit}",
            file=stream,
            dynamic_ncols=True,
            mininterval=0.2,
            smoothing=0.1,
        ) as drawn:
            yield lambda more: drawn.update(more) and None

    def beside(self, report: Callable[[str], None]) -> Callable[[str], None]:
        """`report` for lines within a pass: the bar makes way for each, if there is one."""

        def said(line: str) -> None:
            stream = self._drawn_on()
            if stream is None:
                report(line)
                return
            from tqdm import tqdm

            with tqdm.external_write_mode(file=stream):
                report(line)

        return said

    def _drawn_on(self) -> TextIO | None:
        """Where bars go, None if nobody watches."""
        stream = self._stream or sys.stderr
        return stream if self._watched and (stream.isatty() or in_notebook(stream)) else None

    def tell(self, line: str) -> None:
        """A line that must be seen even without a terminal: why nothing moves."""
        print(line, file=self._stream or sys.stderr, flush=True)


def followed(items: Sequence[Item], title: str, unit: str = "image") -> Iterator[Item]:
    """Yields the items under a bar."""
    with Progress().bar(title, total=len(items), unit=unit) as advance:
        for item in items:
            yield item
            advance(1)


def in_notebook(stream: TextIO) -> bool:
    """Returns whether a stream is that of a notebook's kernel, which shows bars though it is not a terminal."""
    return type(stream).__module__.startswith("ipykernel.")


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
