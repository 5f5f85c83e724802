"""Fetches a model's weights in a process of its own, which can be watched, stopped and resumed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compute.paths import ROOT
from compute.types import Model, NotHere

LOOK = 0.3  # seconds between two looks at what has come
LINE = re.compile(r"(\d+) (\d+)")  # what `compute fetch --lines` says: bytes here, bytes in all


@dataclass(frozen=True, kw_only=True)
class DownloadProgress:
    """How many bytes are here, and in all once the hub has said it. `behind`: title of the model that comes first."""

    here: int = 0
    whole: int | None = None
    behind: str = ""


class Fetcher:
    """Downloads one model at a time. Whoever asks for the same one meanwhile watches it; for another, waits."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._row: Model | None = None
        self._come = DownloadProgress()

    def fetch(
        self,
        row: Model,
        *,
        room: int = 0,
        needed: Callable[[], bool] = lambda: True,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[DownloadProgress]:
        """Yields how far it is until all is here, with `room` bytes of memory for the loaded model (0: any number).

        `needed` says whether it is not here yet, and is asked again when its turn has come. Raises NotHere where it
        fails or is stopped. Closing the iterator stops it too; one who waits for the same model then goes on with it.
        """
        if not needed():
            return
        while not self._turn.acquire(timeout=LOOK):
            if stop():
                raise _stopped(row)
            first, come = self._row, self._come
            yield come if first is None or first.key == row.key else DownloadProgress(behind=first.title)
        try:
            self._row, self._come = row, DownloadProgress()
            for come in _run(row, room=room, stop=stop) if needed() else ():
                self._come = come
                yield come
        finally:
            self._row = None
            self._turn.release()


def _run(row: Model, *, room: int, stop: Callable[[], bool]) -> Iterator[DownloadProgress]:
    process = subprocess.Popen(
        [sys.executable, "-m", "compute", "fetch", "--models", row.key, "--room", str(room), "--lines"],
        cwd=ROOT,
        env=os.environ | {"HF_HUB_DISABLE_PROGRESS_BARS": "1"},
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    heard = _Output()
    ears = threading.Thread(target=heard.listen, args=(process.stdout,), daemon=True, name="fetching")
    ears.start()
    try:
        while ears.is_alive():
            if stop():
                raise _stopped(row)
            yield heard.come
            ears.join(LOOK)
        if process.wait():
            raise NotHere(heard.error or f"The download of {row.title} failed. Try again later")
        yield heard.come
    finally:
        process.kill()  # a large file goes on from its draft, of small ones there are none
        process.wait()
        ears.join()
        process.stdout.close()


class _Output:
    """What the process has said last."""

    def __init__(self) -> None:
        self.come, self.error = DownloadProgress(), ""

    def listen(self, said: Iterator[str]) -> None:
        for line in said:
            if found := LINE.fullmatch(line.strip()):
                here, whole = map(int, found.groups())
                self.come = DownloadProgress(here=here, whole=whole)
            elif line.startswith("Error: "):
                self.error = line.removeprefix("Error: ").strip()


def _stopped(row: Model) -> NotHere:
    return NotHere(f"The download of {row.title} was stopped; what has come is kept")
