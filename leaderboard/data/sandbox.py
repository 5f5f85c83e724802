"""Visitors' queries, each in a process of its own that is started for it: the server's end of `visitor_queries`.

The process reads the file that the pages read at that moment, so an answer always comes from the newest database.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from compute import bare_process
from compute.paths import IMPORTED_FROM
from compute.types import BadInput

MOST = 2  # queries at a time; of one visitor one
STARTING = 20.0  # seconds until the process must have started, on a machine that does much else
PATIENCE = 3.0  # seconds that it may run then: what `visitor_queries` allows itself
MOST_BYTES = 40_000_000  # of an answer: six bytes a character at the most, with much room
COMMAND = (sys.executable, "-S", "-m", f"{__package__}.visitor_queries")
BUSY = f"{MOST} queries are running at this moment, which is the most. Try again in a few seconds"
OWN = "Your query before this one is still running. Try again when it has ended"
STOPPED = (
    "The query was stopped: it took too much time or memory in a single function. Read fewer rows, or shorter texts "
    "and lists"
)
log = logging.getLogger(__name__)


class SandboxBusy(BadInput):
    """As many queries are running as may: nothing is wrong with the query, and it may be sent again."""


class Sandbox:
    """Runs visitors' queries, MOST at a time and one of each visitor. Thread-safe."""

    def __init__(self, *, most: int = MOST, command: tuple[str, ...] = COMMAND) -> None:
        self._most, self._command = most, command
        self._running: set[str] = set()
        self._lock = threading.Lock()

    def run(self, path: Path, sql: str, *, visitor: str) -> dict[str, Any]:
        """The answer to one SELECT over the database at `path`, as `visitor_queries.answer` gives it, and `seconds`.

        Raises BadInput with a sentence for the visitor, SandboxBusy where others' queries are running.
        """
        with self._lock:
            if visitor in self._running:
                raise SandboxBusy(OWN)
            if len(self._running) >= self._most:
                raise SandboxBusy(BUSY)
            self._running.add(visitor)
        try:
            began = time.monotonic()
            result = self._answer(json.dumps({"path": str(path), "sql": sql}).encode())
        finally:
            with self._lock:
                self._running.discard(visitor)
        if "error" in result:
            raise BadInput(str(result["error"]))
        return {**result, "seconds": round(time.monotonic() - began, 2)}

    def _answer(self, query: bytes) -> dict[str, Any]:
        process = subprocess.Popen(
            [*self._command, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=True,
            cwd=IMPORTED_FROM,
            env=bare_process.environment(),
            start_new_session=True,
        )
        timer = threading.Timer(STARTING + PATIENCE, process.kill)
        timer.daemon = True
        timer.start()
        content = b""
        try:
            process.stdin.write(query)
            process.stdin.close()
            content = process.stdout.read(MOST_BYTES)
        except BrokenPipeError:  # it ended before it read the query
            pass
        finally:
            timer.cancel()
            process.kill()
            status = process.wait()
            process.stdout.close()
        try:
            return json.loads(content)
        except ValueError as error:
            log.warning("A visitor's query ended its process with status %s", status)
            raise BadInput(STOPPED) from error
