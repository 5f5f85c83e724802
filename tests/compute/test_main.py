"""The command line: what it prints, its exit codes, and that a bad file changes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from compute import paths
from compute.__main__ import app
from compute.catalog import shipped
from compute.paths import ROOT

HEADING = "benchmark,model,task,metric,value"
NEW = "benchmark,model,task,metric,value,model_title,model_kind,n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "DATABASE", tmp_path / "likeness.duckdb")


def refused(arguments: list[str], *words: str) -> None:
    """Exit code 1 and one line that holds the words."""
    ended = CliRunner().invoke(app, arguments)
    lines = ended.stderr.strip().splitlines()
    assert ended.exit_code == 1, ended.output
    assert len(lines) == 1 and lines[0].startswith("Error: ") and all(word in lines[0] for word in words), lines


def test_build_says_what_it_made(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["build", "--path", str(tmp_path / "own.duckdb")])
    assert ended.exit_code == 0, ended.stderr
    catalog = shipped()
    assert ended.stdout.startswith(f"own.duckdb: {len(catalog.models)} models, {len(catalog.tasks)} tasks, ")
    with duckdb.connect(str(tmp_path / "own.duckdb"), read_only=True) as database:
        runs, scores = database.execute("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM scores)").fetchone()
    assert f"{runs} runs, {scores} scores" in ended.stdout
    assert not (tmp_path / "likeness.duckdb").exists()


@pytest.mark.parametrize("noun", ["models", "tasks", "suites", "metrics"])
def test_list_prints_a_line_a_row(noun: str) -> None:
    ended = CliRunner().invoke(app, ["list", noun])
    assert ended.exit_code == 0
    keys = [line.split()[0] for line in ended.stdout.splitlines()]
    assert keys == [row.key for row in getattr(shipped(), noun)]


def test_an_import_is_in_the_database_and_stays_there(tmp_path: Path) -> None:
    table = tmp_path / "Mine & yours.csv"
    table.write_text(f"{NEW}\nunisim,someone/new,unisim/nights,accuracy,0.75,New model,encoder,1000\n")
    ended = CliRunner().invoke(app, ["import", "scores", str(table)])
    assert ended.exit_code == 0, ended.stderr
    assert "1 score of 1 model imported" in ended.stdout
    found = []
    for _ in range(2):  # once from the import, once from a build of its own
        with duckdb.connect(str(tmp_path / "likeness.duckdb"), read_only=True) as database:
            rows = "SELECT task, value, n, origin FROM leaderboard_scores WHERE model = 'someone/new'"
            found += database.execute(rows).fetchall()
        if len(found) == 1:
            assert CliRunner().invoke(app, ["build"]).exit_code == 0
    assert found == [("unisim/nights", 0.75, 1000, "imported")] * 2
    assert [path.name for path in (tmp_path / "results" / "imported").iterdir()] == ["scores-mine-yours"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("table.csv",)),
        (f"{HEADING}\n", ("table.csv", "no rows")),
        ("benchmark,model,task,metric,valu\n", ("table.csv", "'valu'", "Did you mean 'value'")),
        (
            f"{HEADING}\nunisim,dreamsim-ensemble,unisim/nights,accuracy,high\n",
            ("table.csv, row 1", "'high'"),
        ),
        (f"{HEADING}\nunisim,dreamsim-ensemble,unisim/nights,accuracy,nan\n", ("table.csv, row 1",)),
        (
            f"{HEADING}\nunisim,dreamsim-ensembel,unisim/nights,accuracy,0.5\n",
            ("table.csv, row 1", "dreamsim-ensemble"),
        ),
    ],
    ids=["empty", "heading only", "column", "text", "nan", "model"],
)
def test_a_wrong_import_changes_nothing(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text)
    refused(["import", "scores", str(table)], *words)
    assert not (tmp_path / "results").exists() and not (tmp_path / "likeness.duckdb").exists()


def test_as_a_program(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess:
        words = (sys.executable, "-m", "compute", *words)
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)

    ended = run("import", "scores", str(tmp_path / "none.csv"))
    assert ended.returncode == 1 and ended.stderr.startswith("Error: ") and ended.stderr.count("\n") == 1
    ended = run("--help")
    assert ended.returncode == 0 and all(command in ended.stdout for command in ("build", "list", "import"))
