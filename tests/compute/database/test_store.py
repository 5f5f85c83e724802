"""The database as a contract: keys and rules, whole replacement, readers beside a writer.

Tables and columns are in tests/contract.json, their rows in tests/golden.
"""

import subprocess
import sys

import duckdb
import pandas as pd
import pytest

from compute.database import store
from compute.io.tables import check_unpacked
from compute.metrics import METRICS
from compute.paths import ROOT
from compute.types import Benchmark, DatabaseError, Model, Run, Score, Suite, Task


def frames(**changes):
    """The smallest database with one score."""
    nouns = {
        "benchmarks": [Benchmark(key="b", title="B", paper="", url="", description="", bibtex="")],
        "suites": [
            Suite(key=key, title=key, benchmark="b", aggregate="task-mean", description="") for key in ("s", "t")
        ],
        "metrics": [row for row in METRICS if row.key == "accuracy"],
        "models": [Model(key="m", title="M")],
        "tasks": [Task(key="b/t", title="T", benchmark="b", category="c", dataset="", suites=("t", "s"))],
        "runs": [Run(id="r", model="m", task="b/t", source="Table 1")],
        "scores": [Score(run="r", subset="default", metric="accuracy", value=0.5, printed="50.0")],
    }
    return {name: store.frame(rows) for name, rows in nouns.items()} | changes


def test_a_task_of_two_suites_shows_once_under_the_first(tmp_path):
    path = tmp_path / "small.duckdb"
    store.write(path, frames=frames())
    with store.connect(path) as connection:
        (row,) = connection.execute("SELECT * FROM leaderboard_scores").df().to_dict("records")
    known = [value for value in row.values() if value is not None and value == value]
    assert known == [*"bsc", "b/t", "m", "default", "accuracy", 0.5, "published", "Table 1", "50.0", *"TMB"]


SCORE = {"run": "r", "subset": "default", "metric": "accuracy", "value": 0.5}


@pytest.mark.parametrize(
    "table, again",
    [
        ("scores", [SCORE, SCORE | {"value": 0.6}]),
        ("scores", [SCORE | {"run": "nobody"}]),
        *(("scores", [SCORE | {"value": value}]) for value in (float("inf"), float("nan"), None)),
        ("models", [{"key": "m", "title": "M", "kind": "encoder"}] * 2),
        ("runs", store.frame([Run(id="r", model="m", task="b/t", origin="guessed", source="x")])),
        ("claims", [{"key": "k", "paper": "P", "claim": "c", "verdict": "perhaps", "severity": "table"}]),
    ],
    ids=["twice", "no run", "infinite", "NaN", "none", "model twice", "origin", "verdict"],
)
def test_what_breaks_a_key_or_a_rule_is_refused_by_name(tmp_path, table, again):
    path = tmp_path / "small.duckdb"
    store.write(path, frames=frames())
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match=f"'{table}'"):
        store.write(path, frames=frames(**{table: pd.DataFrame(again)}))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["small.duckdb"]


def test_a_reader_keeps_its_database_while_another_replaces_it(tmp_path):
    """The new file takes the old one's place whole; who has the old one open reads on, who opens now reads the new."""
    path = tmp_path / "small.duckdb"
    store.write(path, frames=frames())
    code = (
        "import sys; from pathlib import Path; from compute.database import store\n"
        "held = store.connect(Path(sys.argv[1]))\n"
        "ask = lambda: print(held.execute('SELECT value FROM scores').fetchall()[0][0], flush=True)\n"
        "ask(); sys.stdin.readline(); ask()"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert reader.stdout.readline() == "0.5\n"
    scores = store.frame([Score(run="r", subset="default", metric="accuracy", value=0.75)])
    store.write(path, frames=frames(scores=scores))
    with store.connect(path) as connection:
        assert connection.execute("SELECT value FROM scores").fetchall() == [(0.75,)]
    assert reader.communicate("\n", timeout=60)[0] == "0.5\n"
    assert [one.name for one in tmp_path.iterdir()] == ["small.duckdb"]


@pytest.mark.parametrize(
    "error", [RuntimeError("Query interrupted"), duckdb.InterruptException("x"), duckdb.Error("KeyboardInterrupt\nAt")]
)
def test_an_interrupted_build_damages_nothing(tmp_path, monkeypatch, error):
    path, items = tmp_path / "a.duckdb", tmp_path / "items.parquet"
    store.write(path, frames=frames(), about={"version": "old"})
    store.write_parquet(items, frame=pd.DataFrame({"item": ["a"]}))

    def interrupted(*_, **__):
        raise error

    monkeypatch.setattr(store, "_check_sizes", interrupted)
    for work in (
        lambda: store.write(path, frames=frames(), files={"items": [("r", items)]}, most_items=1),
        lambda: store.read_parquet(items),
    ):
        with pytest.raises(KeyboardInterrupt):
            work()
    assert store.recorded(path, "version") == "old" and len(list(tmp_path.iterdir())) == 2


def test_the_app_cannot_write(database):
    with store.connect(database) as connection, pytest.raises(duckdb.Error):
        connection.execute("DELETE FROM scores")


@pytest.mark.parametrize(
    "content, said",
    [
        (None, "There is no database"),
        (b"", "likeness build"),
        (b"x" * 20000, "damaged"),
    ],
)
def test_what_is_no_database_is_said(tmp_path, content, said):
    path = tmp_path / "small.duckdb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DatabaseError, match=said) as raised:
        store.connect(path)
    assert "program" not in str(raised.value)  # nobody else holds it


def test_parquet_gives_back_what_was_written(tmp_path):
    frame = pd.DataFrame({"name": ["a", 'é, "x"'], "value": [0.1, 2.0]})
    path = tmp_path / "it's.parquet"
    store.write_parquet(path, frame=frame)
    pd.testing.assert_frame_equal(store.read_parquet(path), frame, check_dtype=False)
    for name in ("a1", "a[12]", "a*", "a?", "name=x/a"):  # none is a pattern, and a folder's name no column
        (tmp_path / name).parent.mkdir(exist_ok=True)
        store.write_parquet(tmp_path / f"{name}.parquet", frame=frame.assign(name=name))
    for name in ("a1", "a[12]", "a*", "a?", "name=x/a"):
        check_unpacked(tmp_path / f"{name}.parquet", ["name"], most_bytes=100)
        assert set(store.read_parquet(tmp_path / f"{name}.parquet")["name"]) == {name}
    assert store.parquet_bytes(frame)[:4] == b"PAR1"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DatabaseError, match=r"it's\.parquet"):
        store.read_parquet(path)
