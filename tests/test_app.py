"""Starting the app: what cannot be read is one clear line and exit code 1, and the database is left as it was."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A copy of the repository, with a database that is up to date."""

    root: Path
    database: Path

    def start(self) -> subprocess.CompletedProcess:
        """Runs app.py to its end; every case here ends by itself."""
        return subprocess.run(
            [sys.executable, "app.py"],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"LIKENESS_DATABASE": str(self.database), "GRADIO_SERVER_PORT": "1"},
        )


@pytest.fixture
def copy(database, tmp_path):
    for name in ("compute", "leaderboard", "assets"):
        ignored = shutil.ignore_patterns("__pycache__", "*.duckdb*")
        shutil.copytree(ROOT / name, tmp_path / "copy" / name, ignore=ignored)
    shutil.copy(ROOT / "app.py", tmp_path / "copy")
    path = tmp_path / "likeness.duckdb"
    shutil.copyfile(database, path)
    return Copy(root=tmp_path / "copy", database=path)


def assert_one_line(ended: subprocess.CompletedProcess, *words: str) -> None:
    lines = ended.stderr.strip().splitlines()
    assert ended.returncode == 1, ended.stderr
    assert len(lines) == 1 and lines[0].startswith("Error: "), ended.stderr
    assert all(word in lines[0] for word in words), lines[0]


def test_a_source_that_cannot_be_read_leaves_the_database_alone(copy):
    before, path = copy.database.read_bytes(), copy.root / "assets" / "catalog" / "models.csv"
    path.write_bytes(path.read_bytes().replace(b"key,title,", b"key,tittle,", 1))
    os.utime(copy.database, (1, 1))  # older than its sources
    assert_one_line(copy.start(), "models.csv", "'title'")
    assert copy.database.read_bytes() == before
    assert list(copy.database.parent.glob("*.draft*")) == []


def test_a_database_of_another_version_is_said_and_kept(copy):
    with duckdb.connect(str(copy.database)) as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    before = copy.database.read_bytes()
    assert_one_line(copy.start(), "likeness.duckdb", "version", "likeness build")
    assert copy.database.read_bytes() == before


def test_a_database_that_another_program_writes_is_said(copy):
    """DuckDB lets one process write or many read; the writer here holds the file open."""
    code = (
        f"import duckdb, sys; held = duckdb.connect({str(copy.database)!r}); "
        "print('held', flush=True); sys.stdin.read()"
    )
    writer = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout.readline() == "held\n"
        assert_one_line(copy.start(), "likeness.duckdb", "in use")
    finally:
        writer.communicate("")


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "app.py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_help_names_every_option():
    ended = run("--help")
    assert ended.returncode == 0
    assert all(
        option in ended.stdout for option in ("--host", "--port", "--database", "--models", "--root-path", "--offline")
    )


def test_a_port_that_is_taken_is_said_before_anything_is_built(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        ended = run("--port", port, "--database", str(tmp_path / "new.duckdb"))
    assert ended.returncode == 2 and f"port {port} is in use" in ended.stderr and not list(tmp_path.iterdir())
