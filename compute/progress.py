"""Progress of long passes: a bar with rate and time left on a terminal, elsewhere an occasional plain line."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO, TypeVar

Item = TypeVar("Item")
FIRST, EVERY = 1.5, 30.0  # seconds: first report of a silent command, and interval without a terminal


@dataclass
class SilentPass:
    """A pass without a bar, as `working` reports it."""

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


_passes: list[SilentPass] = []  # in progress, the innermost last


@contextmanager
def working(name: str, *, stream: TextIO | None = None, first: float = FIRST, every: float = EVERY) -> Iterator[None]:
    """Reports on stderr that a command is working, after `first` seconds. Without a terminal, a line follows every
    `every` seconds with the progress.
    """
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
    """Progress bars on `stream` (stderr) if it is a terminal or a notebook, unless `watched=False`. Otherwise `working`
    reports the passes.
    """

    def __init__(self, *, stream: TextIO | None = None, watched: bool = True) -> None:
        self._stream = stream
        self._watched = watched

    @contextmanager
    def bar(self, title: str, *, total: int, done: int = 0, unit: str = "item") -> Iterator[Callable[[int], None]]:
        """Shows a bar of `total` items, `done` of them already finished. Yields a function that takes how many more
        were done.
        """
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
        """Wraps `report` for lines within a pass: the bar, if there is one, is redrawn below each line."""

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
        """Returns where bars go, or None if nobody watches."""
        stream = self._stream or sys.stderr
        return stream if self._watched and (stream.isatty() or in_notebook(stream)) else None

    def tell(self, line: str) -> None:
        """Prints a line that must be seen even without a terminal, such as why nothing moves."""
        print(line, file=self._stream or sys.stderr, flush=True)


def followed(items: Sequence[Item], title: str, unit: str = "image") -> Iterator[Item]:
    """Yields the items and shows a bar."""
    with Progress().bar(title, total=len(items), unit=unit) as advance:
        for item in items:
            yield item
            advance(1)


def in_notebook(stream: TextIO) -> bool:
    """Returns whether a stream belongs to a notebook's kernel, which shows bars although it is not a terminal."""
    return type(stream).__module__.startswith("ipykernel.")


def duration(seconds: float) -> str:
    """Formats a duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
