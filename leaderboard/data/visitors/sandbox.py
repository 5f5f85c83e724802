"""Visitors' queries, each in a separate process: the server's end of `visitor_queries`.

The process reads the file that the pages read at that moment, so an answer always comes from the newest database.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from compute import bare_process
from compute.paths import IMPORTED_FROM
from compute.types import BadInput, nearest
from leaderboard.data.database import Database
from leaderboard.web.limits import QUERIES

STARTING = 20.0  # seconds until the process must have started, on a machine that does much else
PATIENCE = 1.5  # seconds that it may run then: what `visitor_queries` allows itself
MOST_BYTES = 40_000_000  # of an answer: at most six bytes a character, with room to spare
COMMAND = (sys.executable, "-S", "-m", f"{__package__}.visitor_queries")
STOPPED = (
    "The query was stopped: it took too much time or memory in a single function. Read fewer rows, or shorter texts "
    "and lists"
)
log = logging.getLogger(__name__)
turns = threading.BoundedSemaphore(QUERIES)  # of the page and the endpoint together


def answer(db: Database, sql: str) -> dict[str, Any]:
    """Returns the answer to a visitor's SELECT as `run`. If it has no rows, `hint` lists its quoted texts that are not
    keys or titles in the database, and the nearest ones. Raises BadInput.
    """
    result = run(db.copy, sql)
    if result["rows"]:
        return result
    known = set(db.query("names")["name"].dropna())
    texts = dict.fromkeys(text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')+)'", sql))
    unknown = [text for text in texts if text not in known and not set("%_") & set(text)][:3]
    near = ((text, nearest(text[:80], known)) for text in unknown)
    hint = " ".join(f"Nothing is called {text[:80]!r}{f'; near: {other!r}' if other else ''}." for text, other in near)
    return result | {"hint": hint}


def run(path: Path, sql: str, *, command: tuple[str, ...] = COMMAND) -> dict[str, Any]:
    """Returns the answer to one SELECT over the database at `path`, as `visitor_queries.answer`, and `seconds`.

    Raises BadInput with a sentence for the visitor.
    """
    with turns:
        began = time.monotonic()
        result = _answer(json.dumps({"path": str(path), "sql": sql}).encode(), command)
    if "error" in result:
        raise BadInput(str(result["error"]))
    return {**result, "seconds": round(time.monotonic() - began, 2)}


def _answer(query: bytes, command: tuple[str, ...]) -> dict[str, Any]:
    process = subprocess.Popen(
        [*command, str(os.getpid())],
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
