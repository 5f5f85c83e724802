"""The app as it is hosted: on a machine without network and without a home, and with its database from the hub."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from tests.leaderboard.hub import REPO, serving

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "",
    "board?suite=mieb",
    "model",
    "task",
    "about",
    "claims",
    "data/board/unisim-core",
    "data/rank/unisim-core?w=IQA:2",
    "data/claims",
    "export/everything?format=csv",
)
NO_NETWORK = ("unshare", "--net", "--map-root-user")


def bare(**given: str) -> dict[str, str]:
    """An environment of PATH alone, and a home that nobody can make or write: it lies below a file."""
    return {"PATH": os.environ["PATH"], "HOME": "/dev/null/home", **given}


def visited(*words: str, place: dict[str, str]) -> dict:
    """What tests/hosted.py tells of the app, cut off from every network but the loopback."""
    apart = shutil.which("unshare") and subprocess.run([*NO_NETWORK, "true"], capture_output=True).returncode == 0
    if not apart:  # no namespace to be had: Python itself refuses every address but this machine's
        place = {**place, "PYTHONPATH": str(ROOT / "tests" / "no_network")}
    ended = subprocess.run(
        [*(NO_NETWORK if apart else ()), sys.executable, "tests/hosted.py", *words],
        cwd=ROOT,
        env=place,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout)


def assert_served(found: dict) -> None:
    assert {path: status for path, (status, _) in found["pages"].items()} == dict.fromkeys(PAGES, 200)
    assert all(size > 500 for _, size in found["pages"].values())
    assert "Traceback" not in found["log"] and found["network"] is False, found["log"][-3000:]


def test_everything_answers_without_network_and_without_a_home(tmp_path: Path) -> None:
    """Its database is built on the way, as on a first start."""
    path = tmp_path / "likeness.duckdb"
    assert_served(visited(*PAGES, place=bare(LIKENESS_DATABASE=str(path), LIKENESS_RESULTS=str(tmp_path / "none"))))
    assert path.is_file()


def test_a_data_set_that_cannot_be_reached_is_said_and_does_not_hold_up_the_start(
    database: Path, tmp_path: Path
) -> None:
    copy = shutil.copy(database, tmp_path)  # newer than every source, so that nothing is built
    found = visited(*PAGES, place=bare(LIKENESS_DATABASE=str(copy), LIKENESS_DATA="someone/likeness"))
    assert_served(found)
    assert "The data set someone/likeness is not shown" in found["log"]
    assert "come with the program" in found["log"] and found["seconds"] < 60


@contextmanager
def app(*words: str, log: Path, place: dict[str, str]) -> Iterator[str]:
    """The app in a process of its own; its address once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-u", "app.py", "--port", str(port), *words],
            cwd=ROOT,
            env=place,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        for _ in range(600):
            if f":{port}" in log.read_text():
                yield f"http://127.0.0.1:{port}/"
                break
            if process.poll() is not None:
                pytest.fail(f"app.py ended with {process.returncode}: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        else:
            pytest.fail(f"app.py did not answer within a minute: {log.read_text()[-2000:]}")
    finally:
        ended = process.poll()
        process.terminate()
        process.wait(timeout=60)
        assert ended is None, f"the app ended by itself with {ended}: {log.read_text()[-3000:]}"
    assert "Traceback" not in log.read_text(), log.read_text()[-3000:]


def version(address: str) -> str:
    with urllib.request.urlopen(f"{address}data/board/unisim-core", timeout=60) as answer:
        return json.load(answer)["version"]


def test_the_database_is_fetched_at_start_renewed_while_running_and_kept_for_offline(
    database: Path, tmp_path: Path
) -> None:
    with serving() as hub:
        hub.publish(database.read_bytes(), commit="a")
        place = {
            **os.environ,
            "HF_ENDPOINT": hub.address,
            "LIKENESS_DATA": REPO,
            "LIKENESS_REFRESH": "0.005",
            "LIKENESS_CACHE": str(tmp_path / "cache"),
            "LIKENESS_DATABASE": str(tmp_path / "unused.duckdb"),
            "HF_HOME": str(tmp_path / "hf"),
            "PYTHONFAULTHANDLER": "1",
        }
        place.pop("HF_HUB_OFFLINE", None)
        with app(log=tmp_path / "log", place=place) as address:
            before = version(address)
            with duckdb.connect(shutil.copy(database, tmp_path / "next.duckdb")) as connection:
                connection.execute("UPDATE models SET title = 'Renewed' WHERE key = 'cfred'")
            hub.publish((tmp_path / "next.duckdb").read_bytes(), commit="b")
            for _ in range(300):
                if version(address) != before:
                    break
                time.sleep(0.1)
            else:
                pytest.fail("the new commit was not shown within half a minute")
        hub.asked.clear()
        assert not (tmp_path / "unused.duckdb").exists()
        with app("--offline", log=tmp_path / "log", place=place) as address:
            with urllib.request.urlopen(f"{address}data/model?model=cfred", timeout=60) as answer:
                assert answer.status == 200
            with urllib.request.urlopen(f"{address}export/everything?format=duckdb", timeout=60) as answer:
                assert answer.read() == hub.content
        assert hub.asked == []
