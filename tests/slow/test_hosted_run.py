"""The app as it is hosted: on a machine without network and without a home, and with its database from the hub."""

from __future__ import annotations

import json
import os
import re
import shutil
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

ROOT = Path(__file__).resolve().parents[2]
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
NO_NETWORK = str(ROOT / "tests" / "no_network")


def bare(**given: str) -> dict[str, str]:
    """An environment of PATH alone, and a home that nobody can make or write: it lies below a file."""
    return {"PATH": os.environ["PATH"], "HOME": "/dev/null/home", **given}


def visit(address: str) -> tuple[int, int]:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.status, len(answer.read())


def test_everything_answers_without_network_and_without_a_home(tmp_path):
    """Its database is built on the way, as on a first start; Python refuses every address but this machine's."""
    path = tmp_path / "likeness.duckdb"
    place = bare(LIKENESS_DATABASE=str(path), LIKENESS_RESULTS=str(tmp_path / "none"), PYTHONPATH=NO_NETWORK)
    with app(log=tmp_path / "log", place=place) as address:
        found = {page: visit(address + page) for page in PAGES}
    assert {status for status, _ in found.values()} == {200} and min(size for _, size in found.values()) > 500
    assert path.is_file()


def test_a_data_set_that_cannot_be_reached_is_said_and_does_not_hold_up_the_start(database, tmp_path):
    copy = shutil.copy(database, tmp_path)  # newer than every source, so that nothing is built
    place = bare(LIKENESS_DATABASE=str(copy), LIKENESS_DATA="someone/likeness", PYTHONPATH=NO_NETWORK)
    with app(log=tmp_path / "log", place=place) as address:
        assert visit(f"{address}board?suite=mieb")[0] == 200
    assert "The data set someone/likeness is not shown" in (tmp_path / "log").read_text()


@contextmanager
def app(*words: str, log: Path, place: dict[str, str]) -> Iterator[str]:
    """The app in a process of its own; its address once it answers."""
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-u", "app.py", *words],
            cwd=ROOT,
            env=place,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        for _ in range(6000):
            if address := re.search(r"http://127\.0\.0\.1:\d+", log.read_text()):
                yield f"{address[0]}/"
                break
            if process.poll() is not None:
                pytest.fail(f"app.py ended with {process.returncode}: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        else:
            pytest.fail(f"app.py did not answer within ten minutes: {log.read_text()[-2000:]}")
    finally:
        ended = process.poll()
        process.terminate()
        process.wait(timeout=60)
        assert ended is None, f"the app ended by itself with {ended}: {log.read_text()[-3000:]}"
    assert "Traceback" not in log.read_text(), log.read_text()[-3000:]


def version(address: str) -> str:
    with urllib.request.urlopen(f"{address}data/board/unisim-core", timeout=60) as answer:
        return json.load(answer)["version"]


def test_the_database_is_fetched_at_start_renewed_while_running_and_kept_for_offline(database, tmp_path):
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
