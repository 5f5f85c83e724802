"""Starting the app: what cannot be read is one clear line and exit code 1, and the database is left as it was."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.serving import ROOT, ended


@pytest.fixture
def path(database, tmp_path):
    """A copy of the database that is up to date."""
    return Path(shutil.copyfile(database, tmp_path / "likeness.duckdb"))


def start(path, *words, root=ROOT):
    """Runs app.py to its end; every case here ends by itself."""
    return ended(root / "app.py", *words, cwd=root, LIKENESS_DATABASE=str(path), GRADIO_SERVER_PORT="1")


def assert_one_line(ended, *words):
    lines = ended.stderr.strip().splitlines()
    assert ended.returncode == 1, ended.stderr
    assert len(lines) == 1 and lines[0].startswith("Error: "), ended.stderr
    assert all(word in lines[0] for word in words), lines[0]


def test_a_source_that_cannot_be_read_leaves_the_database_alone(path, tmp_path):
    for name in ("compute", "leaderboard", "assets"):
        ignored = shutil.ignore_patterns("__pycache__", "*.duckdb*")
        shutil.copytree(ROOT / name, tmp_path / "copy" / name, ignore=ignored)
    shutil.copy(ROOT / "app.py", tmp_path / "copy")
    before, table = path.read_bytes(), tmp_path / "copy" / "assets" / "catalog" / "models.csv"
    table.write_bytes(table.read_bytes().replace(b"key,title,", b"key,tittle,", 1))
    os.utime(path, (1, 1))  # older than its sources
    assert_one_line(start(path, root=tmp_path / "copy"), "models.csv", "'title'")
    assert path.read_bytes() == before and list(tmp_path.glob("*.draft*")) == []


def test_a_database_of_another_version_is_said_and_kept(path):
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    before = path.read_bytes()
    assert_one_line(start(path), "likeness.duckdb", "version", "likeness build")
    assert path.read_bytes() == before


def test_a_database_that_another_program_writes_is_said(path):
    """DuckDB lets one process write or many read; the writer here holds the file open."""
    code = f"import duckdb, sys; held = duckdb.connect({str(path)!r}); print('held', flush=True); sys.stdin.read()"
    writer = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout.readline() == "held\n"
        assert_one_line(start(path), "likeness.duckdb", "in use")
    finally:
        writer.communicate("")


def test_a_port_that_is_taken_is_said_before_anything_is_built(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        ended = start(tmp_path / "new.duckdb", "--port", port)
    assert ended.returncode == 2 and f"port {port} is in use" in ended.stderr and not list(tmp_path.iterdir())
