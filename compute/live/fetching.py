"""Downloads of models' weights in a separate process, which can be watched and stopped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compute.paths import IMPORTED_FROM, PACKAGE
from compute.types import Model, NotHere

LOOK = 0.3  # seconds between two checks of the progress
GRACE = 5.0  # seconds that a stopped download has to exit by itself
LINE = re.compile(r"(\d+) (\d+)")  # output of `compute fetch --lines`: bytes downloaded, total bytes


@dataclass(frozen=True, kw_only=True)
class DownloadProgress:
    """Bytes downloaded, and the total once the hub reports it. `behind` is the title of the model that is downloaded
    first.
    """

    done: int = 0
    total: int | None = None
    behind: str = ""


class Fetcher:
    """Downloads one model at a time. A second visitor watches the same download, or waits for it if the model
    differs.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._row: Model | None = None
        self._progress = DownloadProgress()

    def fetch(
        self,
        row: Model,
        *,
        room: int = 0,
        needed: Callable[[], bool] = lambda: True,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[DownloadProgress]:
        """Yields the progress until the end. The loaded model may take `room` bytes of memory (0: no limit).

        `needed` returns whether files are missing, and is called again when the download may start. Raises NotHere if
        the download fails or is stopped. Closing the iterator also stops the download; a visitor who waits for the same
        model then starts it.
        """
        if not needed():
            return
        while not self._turn.acquire(timeout=LOOK):
            if stop():
                raise _stopped(row)
            current, progress = self._row, self._progress
            yield progress if current is None or current.key == row.key else DownloadProgress(behind=current.title)
        try:
            self._row, self._progress = row, DownloadProgress()
            for progress in _run(row, room=room, stop=stop) if needed() else ():
                self._progress = progress
                yield progress
        finally:
            self._row = None
            self._turn.release()


def _run(row: Model, *, room: int, stop: Callable[[], bool]) -> Iterator[DownloadProgress]:
    process = subprocess.Popen(
        [sys.executable, "-m", PACKAGE, "fetch", "--models", row.key, "--room", str(room), "--lines"],
        cwd=IMPORTED_FROM,
        env=os.environ | {"HF_HUB_DISABLE_PROGRESS_BARS": "1"},
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    current, problem = DownloadProgress(), ""

    def read() -> None:
        nonlocal current, problem
        for line in process.stdout:
            if match := LINE.fullmatch(line.strip()):
                done, total = map(int, match.groups())
                current = DownloadProgress(done=done, total=total)
            elif line.startswith("Error: "):
                problem = line.removeprefix("Error: ").strip()

    reader = threading.Thread(target=read, daemon=True, name="fetching")
    reader.start()
    try:
        while reader.is_alive():
            if stop():
                raise _stopped(row)
            yield current
            reader.join(LOOK)
        if process.wait():
            raise NotHere(problem or f"The download of {row.title} failed. Try again later")
        yield current
    finally:
        process.terminate()  # the process removes the incomplete file
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join()
        process.stdout.close()


def _stopped(row: Model) -> NotHere:
    return NotHere(f"The download of {row.title} was stopped")
