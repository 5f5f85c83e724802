"""The tables of the shipped figures, and of the same with one import beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.queries import Database
from leaderboard.routes import Boards

MODEL = "google/siglip-so400m-patch14-224"


@pytest.fixture(scope="session")
def boards(database: Path) -> Boards:
    """Tables, rankings and payloads of the shipped figures."""
    return Boards(Database(database))


@pytest.fixture(scope="session")
def imported_boards(tmp_path_factory: pytest.TempPathFactory) -> Boards:
    """The same with one model measured again on every task of unisim-core but the last, from a file."""
    from compute.build import build
    from compute.catalog import shipped
    from compute.importing import collection, read_scores_csv

    folder = tmp_path_factory.mktemp("imported")
    tasks = [task for task in shipped().tasks if "unisim-core" in task.suites][:-1]
    lines = [
        "benchmark,model,task,metric,value,n",
        *(f"unisim,{MODEL},{task.key},accuracy,0.5,100" for task in tasks),
    ]
    (folder / "again.csv").write_text("\n".join(lines))
    found = read_scores_csv(folder / "again.csv", catalog=shipped())
    collection.save(found, name="scores-again", folder=folder / "results" / "imported")
    return Boards(Database(build(folder / "likeness.duckdb", results=folder / "results").path))
