"""The app as it is hosted: on a machine without network and without a home, and with its database from the hub."""

from __future__ import annotations

import json
import os
import shutil

import duckdb

from tests.leaderboard import hub
from tests.serving import ROOT, serving, wait

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


def test_everything_answers_without_network_and_without_a_home(tmp_path):
    """Its database is built on the way, as on a first start; Python refuses every address but this machine's."""
    path = tmp_path / "likeness.duckdb"
    place = bare(LIKENESS_DATABASE=str(path), LIKENESS_RESULTS=str(tmp_path / "none"), PYTHONPATH=NO_NETWORK)
    with serving(place=place) as server:
        assert min(len(server.get(page)) for page in PAGES) > 500
    assert path.is_file()


def test_a_data_set_that_cannot_be_reached_is_said_and_does_not_hold_up_the_start(database, tmp_path):
    copy = shutil.copy(database, tmp_path)  # newer than every source, so that nothing is built
    place = bare(LIKENESS_DATABASE=str(copy), LIKENESS_DATA="someone/likeness", PYTHONPATH=NO_NETWORK)
    with serving(place=place) as server:
        assert server.get("board?suite=mieb")
        assert "The data set someone/likeness is not shown" in server.log.read_text()


def test_the_database_is_fetched_at_start_renewed_while_running_and_kept_for_offline(database, tmp_path):
    with hub.serving() as holder:
        holder.publish(database.read_bytes(), commit="a")
        place = os.environ | {
            "HF_ENDPOINT": holder.address,
            "LIKENESS_DATA": hub.REPO,
            "LIKENESS_REFRESH": "0.005",
            "LIKENESS_CACHE": str(tmp_path / "cache"),
            "LIKENESS_DATABASE": str(tmp_path / "unused.duckdb"),
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "0",
            "PYTHONFAULTHANDLER": "1",
        }
        with serving(place=place) as server:

            def version() -> str:
                return json.loads(server.get("data/board/unisim-core"))["version"]

            before = version()
            with duckdb.connect(shutil.copy(database, tmp_path / "next.duckdb")) as connection:
                connection.execute("UPDATE models SET title = 'Renewed' WHERE key = 'cfred'")
            holder.publish((tmp_path / "next.duckdb").read_bytes(), commit="b")
            wait(lambda: version() != before, seconds=30)
        holder.asked.clear()
        assert not (tmp_path / "unused.duckdb").exists()
        with serving("--offline", place=place) as server:
            assert server.get("data/model?model=cfred")
            assert server.get("export/everything?format=duckdb") == holder.content
        assert holder.asked == []
