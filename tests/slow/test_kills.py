"""Killed at any moment, the next start makes it good: a whole database, no drafts or child, a free port.

A process kills itself when it comes to some step, with nothing tidied up, or is killed while it answers others. Runs
are killed in tests/compute/engine/test_faults.py.
"""

import contextlib
import json
import re
import shutil
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import psutil
import pytest

from compute import paths
from compute.database import store
from compute.engine import run_folders
from compute.io.files import DRAFT, DRAFT_FOLDER, write_text
from tests import serving
from tests.compute.live.pictures import png
from tests.serving import wait
from tests.slow.visitor import Visitor

ROOT = paths.ROOT
PATIENCE = 600  # seconds for one start on a busy machine
APP, BUILD = (str(ROOT / "app.py"),), ("compute", "build")
# Runs a module or a script whose step of one kind is its last.
CHILD = """
import os, runpy, signal, sys
from pathlib import Path

from compute.database import store

event, *sys.argv = sys.argv[1:]


def end(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


if event == "move":
    os.replace = end
if event == "table":
    store._fill = end
if sys.argv[0].endswith(".py"):
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def begun(folder, *words, event="never"):
    """A process with results and temporary files in the folder, and no network."""
    (folder / "temporary").mkdir(exist_ok=True)
    names = {"LIKENESS_RESULTS": "results", "LIKENESS_DATABASE": "own.duckdb", "TMPDIR": "temporary"}
    place = {name: str(folder / where) for name, where in names.items()} | {"HF_HUB_OFFLINE": "1"}
    return serving.begun("-u", "-c", CHILD, event, *words, log=folder / "log", OMP_NUM_THREADS="1", **place)


def drafts(folder):
    return [p for p in folder.rglob("*") if (DRAFT_FOLDER if p.is_dir() else DRAFT).fullmatch(p.name)]


def scores(folder):
    """The database's scores in order. Raises DatabaseError for one that is not whole."""
    frame = store.frames(folder / "own.duckdb", names=["scores"])["scores"]
    return frame.sort_values(["run", "subset", "metric"], ignore_index=True)


def make_stale(folder):
    """Changes a run's record in the folder's results, but none of its scores."""
    shipped = next(run_folders.every(paths.COMPUTED))
    own = (folder / "results").joinpath(*shipped.parts[-3:])
    if not own.exists():
        shutil.copytree(shipped, own)
    record = json.loads((own / run_folders.MARK).read_text())
    record["seconds"] = (record["seconds"] or 0) + 1
    write_text(own / run_folders.MARK, json.dumps(record))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    make_stale(folder)
    assert begun(folder, *BUILD).wait(PATIENCE) == 0, (folder / "log").read_text()
    return folder, scores(folder)


@pytest.mark.parametrize("event", ["move", "table"])
def test_a_killed_build_is_made_good(built, event):
    """While it replaces a database, before it is filled and before the new one is moved into place."""
    folder, expected = built
    make_stale(folder)
    assert begun(folder, *BUILD, event=event).wait(PATIENCE) == -signal.SIGKILL
    pd.testing.assert_frame_equal(scores(folder), expected)
    assert begun(folder, *BUILD).wait(PATIENCE) == 0, (folder / "log").read_text()
    pd.testing.assert_frame_equal(scores(folder), expected)
    assert not drafts(folder)


@pytest.mark.parametrize("event", ["move", "never"])
def test_a_killed_app_is_made_good(built, event):
    """While it builds, and while it answers others; the next one takes the same port."""
    folder, expected = built
    make_stale(folder)
    process, words = begun(folder, *APP, event=event), APP
    if event == "never":
        answers(folder, process)
        words = (*APP, "--port", str(port(folder)))
        with disturbing(port(folder)):
            children = psutil.Process(process.pid).children(recursive=True)
            process.kill()
        wait(lambda: not any(map(alive, children)), seconds=10)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    pd.testing.assert_frame_equal(scores(folder), expected)
    again = begun(folder, *words)
    try:
        answers(folder, again)
        assert len([path for path in (folder / "temporary").glob("likeness-*") if path.is_dir()]) <= 1
    finally:
        again.kill()
        again.wait()
    pd.testing.assert_frame_equal(scores(folder), expected)
    assert not drafts(folder)


def answers(folder, app):
    """Waits for the app's first page."""
    wait(lambda: Visitor(port(folder)).get("/").status == 200, running=app, said=(folder / "log").read_text)


def port(folder):
    """The port of the app, once its log tells it."""
    found = re.search(r"http://127\.0\.0\.1:(\d+)", (folder / "log").read_text())
    return int(found[1]) if found else 0


def alive(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@contextlib.contextmanager
def disturbing(port):
    """Has the app at work when the context is entered: half a request, downloads and uploads."""
    with socket.create_connection(("127.0.0.1", port)) as client, ThreadPoolExecutor(6) as pool:
        client.sendall(b"POST /live/input HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf")
        for _ in range(3):
            pool.submit(Visitor(port).get, "/export/everything?format=csv")
            pool.submit(Visitor(port).upload, png("black", (1000, 1000)))
        yield
