"""The command line: what it prints, its exit codes, and that a bad file changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
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

Run = Callable[..., subprocess.CompletedProcess]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, so that imports stay in it."""
    folder = tmp_path_factory.mktemp("repository")
    for name in ("compute", "assets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.duckdb*"))
    return folder


@pytest.fixture
def run(root: Path, tmp_path: Path) -> Run:
    """Runs `python -m compute ...` to its end, with a database of this test's own."""
    shutil.rmtree(root / "results", ignore_errors=True)

    def command(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "compute", *arguments],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | {"LIKENESS_DATABASE": str(tmp_path / "likeness.duckdb")},
        )

    return command


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs a command within this process; it must end with exit code 1 and one line that holds the words."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "DATABASE", tmp_path / "likeness.duckdb")

    def command(arguments: list[str], *words: str) -> None:
        ended = CliRunner().invoke(app, arguments)
        lines = ended.stderr.strip().splitlines()
        assert ended.exit_code == 1, ended.output
        assert len(lines) == 1 and lines[0].startswith("Error: ") and all(word in lines[0] for word in words), lines

    return command


def test_build_says_what_it_made(run: Run, tmp_path: Path) -> None:
    ended = run("build", "--path", str(tmp_path / "own.duckdb"))
    assert ended.returncode == 0, ended.stderr
    catalog = shipped()
    assert ended.stdout.startswith(f"own.duckdb: {len(catalog.models)} models, {len(catalog.tasks)} tasks, ")
    with duckdb.connect(str(tmp_path / "own.duckdb"), read_only=True) as database:
        runs, scores = database.execute("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM scores)").fetchone()
    assert f"{runs} runs, {scores} scores" in ended.stdout
    assert not (tmp_path / "likeness.duckdb").exists()


def test_build_into_a_folder_that_cannot_be_written_is_an_error(refused: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(["build", "--path", str(tmp_path / "file" / "x.duckdb")], "x.duckdb")


@pytest.mark.parametrize("noun", ["models", "tasks", "suites", "metrics"])
def test_list_prints_a_line_a_row(noun: str) -> None:
    ended = CliRunner().invoke(app, ["list", noun])
    assert ended.exit_code == 0
    keys = [line.split()[0] for line in ended.stdout.splitlines()]
    assert keys == [row.key for row in getattr(shipped(), noun)]


def test_list_of_something_else_is_an_error(refused: Callable[..., None]) -> None:
    refused(["list", "opinions"], "'opinions'", "models, tasks")


def test_an_import_is_in_the_database_and_stays_there(run: Run, root: Path, tmp_path: Path) -> None:
    table = tmp_path / "Mine & yours.csv"
    table.write_text(f"{NEW}\nunisim,someone/new,unisim/nights,accuracy,0.75,New model,encoder,1000\n")
    ended = run("import", "scores", str(table))
    assert ended.returncode == 0, ended.stderr
    assert "1 score of 1 model imported" in ended.stdout
    for _ in range(2):  # once from the import, once from a build of its own
        with duckdb.connect(str(tmp_path / "likeness.duckdb"), read_only=True) as database:
            found = database.execute(
                "SELECT task, value, n, origin FROM leaderboard_scores WHERE model = 'someone/new'"
            ).fetchall()
        assert found == [("unisim/nights", 0.75, 1000, "imported")]
        assert run("build").returncode == 0
    assert [path.name for path in (root / "results" / "imported").iterdir()] == ["scores-mine-yours"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("table.csv",)),
        (f"{HEADING}\n", ("table.csv", "no scores")),
        ("benchmark,model,task,metric,valu\n", ("table.csv, line 1", "'valu'", "Did you mean 'value'")),
        (
            f"{HEADING}\nunisim,dreamsim-ensemble,unisim/nights,accuracy,high\n",
            ("table.csv, line 2", "'high'"),
        ),
        (f"{HEADING}\nunisim,dreamsim-ensemble,unisim/nights,accuracy,85.1\n", ("table.csv, line 2",)),
        (f"{HEADING}\nunisim,dreamsim-ensemble,unisim/nights,accuracy,nan\n", ("table.csv, line 2",)),
        (
            f"{HEADING}\nunisim,dreamsim-ensembel,unisim/nights,accuracy,0.5\n",
            ("table.csv, line 2", "dreamsim-ensemble"),
        ),
        (
            f"{HEADING}\nunisim,dreamsim-ensemble,unisim/days,accuracy,0.5\n",
            ("table.csv, line 2", "unisim/days"),
        ),
        (
            f"{HEADING}\nnowhere,dreamsim-ensemble,unisim/nights,accuracy,0.5\n",
            ("table.csv, line 2", "nowhere"),
        ),
    ],
    ids=["empty", "heading only", "column", "text", "percent", "nan", "model", "task", "benchmark"],
)
def test_a_wrong_import_changes_nothing(
    refused: Callable[..., None], tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text)
    refused(["import", "scores", str(table)], *words)
    assert not (tmp_path / "results").exists() and not (tmp_path / "likeness.duckdb").exists()


def test_a_missing_file_or_folder_is_an_error(refused: Callable[..., None], run: Run, tmp_path: Path) -> None:
    refused(["import", "scores", str(tmp_path / "none.csv")], "none.csv")
    ended = run("import", "mteb-results", str(tmp_path / "none"))  # once as a program of its own
    assert ended.returncode == 1 and ended.stderr.startswith("Error: ") and ended.stderr.count("\n") == 1


def test_help_names_every_command(run: Run) -> None:
    ended = run("--help")
    assert ended.returncode == 0
    assert all(command in ended.stdout for command in ("build", "list", "import"))
    assert run("bild").returncode == 2


def test_tasks_of_a_suite_are_listed_alone() -> None:
    from compute.catalog import shipped
    from compute.cli import listing
    from compute.types import BadInput, UnknownKey

    keys = [line.split()[0] for line in listing.lines(shipped(), noun="tasks", suite="mini-pairs")]
    assert keys == [task.key for task in shipped().tasks if "mini-pairs" in task.suites] and len(keys) == 7
    with pytest.raises(UnknownKey, match="Did you mean 'mini'"):
        list(listing.lines(shipped(), noun="tasks", suite="minni"))
    with pytest.raises(BadInput, match="list tasks --suite mini"):
        list(listing.lines(shipped(), noun="models", suite="mini"))
