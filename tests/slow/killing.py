"""Kills `run`, `build` and the app at chosen moments, and looks at what they leave: files, scores, processes, ports.

A moment is the n-th time that a process comes to some step, such as a file's move into place: it kills itself there,
with nothing tidied up. Others are seen from outside: a draft appears, or the app answers.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd
from PIL import Image

from compute import paths
from compute.database import store
from compute.engine import run_folders
from compute.io.files import DRAFT, DRAFT_FOLDER, write_text

ROOT = paths.ROOT
MODEL, TASKS = "colour-histogram", "mini/photographs,mini/image-choice"
PATIENCE = 600  # seconds for one start on a busy machine

# Runs a module or a script whose n-th step of one kind is its last.
CHILD = """
import os, runpy, signal, sys
from pathlib import Path

event, at, *sys.argv = sys.argv[1:]
seen = 0


def end(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def step(owner, name, kind, *, half=None):
    old = getattr(owner, name)

    def counted(*arguments, **options):
        global seen
        seen += event == kind
        if event == kind and seen == int(at):
            if half:
                half(old, *arguments, **options)
            end()
        return old(*arguments, **options)

    setattr(owner, name, counted)


from compute.io.files import DRAFT, DRAFT_FOLDER, write_text
from compute.database import store
from compute.features import shards

step(os, "replace", "move")
step(os, "replace", "moved", half=lambda old, *arguments: old(*arguments))
step(store, "_fill", "table")
step(store, "write_parquet", "parquet")
step(shards, "put", "shard", half=lambda old, handle, data: (old(handle, data[: len(data) // 2]), handle.flush()))
if sys.argv[0].endswith(".py"):
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""

NEVER = ("never", 0)
RUN_MOMENTS = (
    ("shard", 2),
    ("move", 1),
    ("parquet", 2),
    ("moved", 4),
)
BUILD_MOMENTS = (
    ("move", 1),
    ("table", 2),
    ("draft", 2_000_000),
)
APP_MOMENTS = (
    ("move", 1),
    ("export", 0),
    ("upload", 0),
    ("half a request", 0),
)


@dataclass(kw_only=True)
class Kill:
    """What one kill left, and what was left after the next start."""

    command: str
    moment: tuple[str, int]
    killed: bool = False
    left: list[str] = field(default_factory=list)  # drafts and temporary folders after the kill
    problems: list[str] = field(default_factory=list)  # anything that is not as it should be

    def __str__(self) -> str:
        state = "; ".join(self.problems) or "whole, the same scores, nothing left"
        return f"{self.command:5} {self.moment[0]:>14} {self.moment[1]:>9,}  {len(self.left)} drafts after it; {state}"


def environment(folder: Path) -> dict[str, str]:
    """Results and temporary files in the folder, and no network."""
    temporary = folder / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    return os.environ | {
        "LIKENESS_RESULTS": str(folder / "results"),
        "LIKENESS_DATABASE": str(folder / "own.duckdb"),
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }


def begun(folder: Path, moment: tuple[str, int], *arguments: str) -> subprocess.Popen[str]:
    log = (folder / "log").open("w")
    return subprocess.Popen(
        [sys.executable, "-u", "-c", CHILD, moment[0], str(moment[1]), *arguments],
        cwd=ROOT,
        env=environment(folder),
        stdout=log,
        stderr=subprocess.STDOUT,
        text=True,
    )


def half_written(folder: Path) -> list[str]:
    """The drafts below a folder, by name."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if (DRAFT_FOLDER if path.is_dir() else DRAFT).fullmatch(path.name)
    )


def run_scores(folder: Path) -> dict[str, float]:
    """Every score of every run below a results folder. Raises BadInput for a run that is not whole."""
    return {
        f"{stored.run.id} {score.subset} {score.metric}": score.value
        for stored in map(run_folders.read, run_folders.every(folder))
        for score in stored.scores
    }


def database_scores(path: Path) -> pd.DataFrame:
    """A database's scores in order. Raises DatabaseError for one that is not whole."""
    frame = store.frames(path, names=["scores"])["scores"]
    return frame.sort_values(["run", "subset", "metric"], ignore_index=True)


def awaited(what: Callable[[], bool], *, seconds: float = PATIENCE) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.005)
    return False


def kill_run(folder: Path, moment: tuple[str, int], *, expected: dict[str, float]) -> Kill:
    """Kills `run` on a folder without runs, then runs it undisturbed."""
    results, kill = folder / "runs", Kill(command="run", moment=moment)
    shutil.rmtree(results, ignore_errors=True)
    arguments = ("compute", "run", "--suite", "mini", "--models", MODEL, "--tasks", TASKS, "--results", str(results))
    kill.killed = begun(folder, moment, *arguments).wait(PATIENCE) == -signal.SIGKILL
    kill.left = half_written(folder)
    done = run_scores(results)  # what is there is whole
    if any(expected.get(name) != value for name, value in done.items()):
        kill.problems.append("a run made before the kill has other scores")
    if begun(folder, NEVER, *arguments).wait(PATIENCE):
        kill.problems.append(f"the next run failed: {(folder / 'log').read_text()[-300:]}")
    return _judged(kill, folder, same=run_scores(results) == expected)


def undisturbed_run(folder: Path) -> dict[str, float]:
    """The scores of a run that nobody kills."""
    folder.mkdir(parents=True)
    kill = kill_run(folder, NEVER, expected={})
    scores = run_scores(folder / "runs")
    if kill.killed or not scores:
        raise RuntimeError((folder / "log").read_text())
    return scores


def make_stale(folder: Path) -> None:
    """Changes a run's record in the folder's results, but none of its scores."""
    shipped = next(run_folders.every(paths.COMPUTED))
    own = (folder / "results").joinpath(*shipped.parts[-3:])
    if not own.exists():
        shutil.copytree(shipped, own)
    record = json.loads((own / run_folders.MARK).read_text())
    record["seconds"] = (record["seconds"] or 0) + 1
    write_text(own / run_folders.MARK, json.dumps(record))


def kill_build(folder: Path, moment: tuple[str, int], *, expected: pd.DataFrame) -> Kill:
    """Kills `build` while it replaces a database, looks at the old one, then builds undisturbed."""
    kill, path = Kill(command="build", moment=moment), folder / "own.duckdb"
    make_stale(folder)
    process = begun(folder, NEVER if moment[0] == "draft" else moment, "compute", "build")
    _end_at_draft(process, path, moment)
    kill.killed = process.wait(PATIENCE) == -signal.SIGKILL
    kill.left = half_written(folder)
    if not database_scores(path).equals(expected):
        kill.problems.append("the database beneath the kill is not whole")
    if begun(folder, NEVER, "compute", "build").wait(PATIENCE):
        kill.problems.append(f"the next build failed: {(folder / 'log').read_text()[-300:]}")
    return _judged(kill, folder, same=database_scores(path).equals(expected))


def undisturbed_build(folder: Path) -> pd.DataFrame:
    """The scores of a database that is built where nobody kills."""
    folder.mkdir(parents=True, exist_ok=True)
    make_stale(folder)
    if begun(folder, NEVER, "compute", "build").wait(PATIENCE):
        raise RuntimeError((folder / "log").read_text())
    return database_scores(folder / "own.duckdb")


def kill_app(folder: Path, moment: tuple[str, int], *, expected: pd.DataFrame) -> Kill:
    """Kills the app while it builds or serves, then starts it again, on the same port if it had one, and ends that."""
    kill, path, app = Kill(command="app", moment=moment), folder / "own.duckdb", str(ROOT / "app.py")
    inside, port = moment[0] == "move", None
    if inside:
        make_stale(folder)
    process = begun(folder, moment if inside else NEVER, app)
    if not inside:
        if not awaited(lambda: _port(folder) is not None or process.poll() is not None):
            kill.problems.append(f"it did not start: {(folder / 'log').read_text()[-300:]}")
        port = _port(folder)
        with _disturbing(moment[0], port):
            children = _descendants(process.pid)
            process.kill()
        if not awaited(lambda: not any(map(_alive, children)), seconds=10):
            kill.problems.append(f"{sum(map(_alive, children))} of {len(children)} children live on")
    kill.killed = process.wait(PATIENCE) == -signal.SIGKILL
    kill.left = [*half_written(folder), *_temporary(folder)]
    if not database_scores(path).equals(expected):
        kill.problems.append("the database beneath the kill is not whole")
    again = begun(folder, NEVER, app, *(("--port", str(port)) if port else ()))  # refused where the port is taken
    if not awaited(lambda: _port(folder) is not None or again.poll() is not None) or not _answers(_port(folder)):
        kill.problems.append(f"it does not start again: {(folder / 'log').read_text()[-300:]}")
    if len(_temporary(folder)) > 1:
        kill.problems.append(f"temporary folders are left: {', '.join(_temporary(folder))}")
    again.kill()
    again.wait()
    return _judged(kill, folder, same=database_scores(path).equals(expected))


def _judged(kill: Kill, folder: Path, *, same: bool) -> Kill:
    if not kill.killed:
        kill.problems.append("it was not killed at that moment")
    if left := half_written(folder):
        kill.problems.append(f"drafts are left: {', '.join(left)}")
    if not same:
        kill.problems.append("the scores are others")
    return kill


def _end_at_draft(process: subprocess.Popen[str], path: Path, moment: tuple[str, int]) -> None:
    """Kills a process as soon as its draft of a database has so many bytes."""
    draft = path.with_name(f"{path.name}.draft-{process.pid}")

    def there() -> bool:
        with contextlib.suppress(OSError):
            return draft.stat().st_size >= moment[1]
        return False

    if moment[0] == "draft" and awaited(lambda: there() or process.poll() is not None):
        process.kill()


def _port(folder: Path) -> int | None:
    """The port of the app, once its log tells it."""
    found = re.search(r"http://127\.0\.0\.1:(\d+)", (folder / "log").read_text())
    return int(found[1]) if found else None


def _answers(port: int | None) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port or 0}/", timeout=60) as answer:
        return answer.status == 200
    return False


@contextlib.contextmanager
def _disturbing(what: str, port: int):
    """Has the app at work when the context is entered."""

    def ask(path: str, data: bytes | None = None, **headers: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data, headers=headers)
            urllib.request.urlopen(request, timeout=60).read()

    picture = io.BytesIO()
    Image.new("RGB", (1000, 1000)).save(picture, "png")
    upload = partial(ask, "/live/input", picture.getvalue(), **{"X-Likeness-Session": "0" * 32})
    calls: list[Callable[[], None]] = {
        "export": [partial(ask, "/export/everything?format=csv")] * 3,
        "upload": [upload] * 3,
    }.get(what, [])
    awaited(lambda: _answers(port))
    for call in calls:
        threading.Thread(target=call, daemon=True).start()
    with contextlib.ExitStack() as stack:
        if what == "half a request":
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(b"POST /live/input HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf")
        yield


def _descendants(pid: int) -> list[tuple[int, str]]:
    """The processes below one, by id and the time they began."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parts = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = (int(parts[1]), parts[19])
    below, last = [], {pid}
    while last:
        last = {child for child, (parent, _) in parents.items() if parent in last}
        below += [(child, parents[child][1]) for child in last]
    return below


def _alive(process: tuple[int, str]) -> bool:
    pid, began = process
    with contextlib.suppress(OSError):
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return parts[19] == began and parts[0] != "Z"
    return False


def _temporary(folder: Path) -> list[str]:
    """The app's own temporary folders."""
    return sorted(path.name for path in (folder / "temporary").glob("likeness-*") if path.is_dir())
