"""The command line: what it prints, its exit codes, and that a bad file changes nothing."""

import json
import os
import subprocess
import sys

import duckdb
import pytest

from compute import paths
from compute.paths import ROOT
from tests.compute.commands import error_line, likeness
from tests.compute.tasks.files import put

HEADING = "benchmark,model,task,metric,value"
NEW = "benchmark,model,task,metric,value,model_title,model_kind,n"


@pytest.fixture(autouse=True)
def own_folder(without_imports, tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "DATABASE", tmp_path / "likeness.duckdb")


def test_imports_stand_beside_one_another_until_one_is_to_replace_another(tmp_path):
    """Files of one name, other contents of one file, and a named collection; what two hold is the newer one's."""

    folder = tmp_path / "results" / "imported"

    def scores(place, value, *options, model="new"):
        row = f"unisim,someone/{model},unisim/nights,accuracy,{value},New model,encoder,1000\n"
        table = put(tmp_path, {f"{place}/a.csv": f"{NEW}\n{row}"}) / place / "a.csv"
        return likeness("import", "scores", table, *options).output

    def shown():
        with duckdb.connect(str(tmp_path / "likeness.duckdb"), read_only=True) as database:
            rows = "SELECT model, value FROM scores JOIN runs ON run = id WHERE model LIKE 'someone/%' AND main"
            return dict(database.execute(rows).fetchall())

    scores("one", 0.25, "--no-build", model="other")
    scores("two", 0.5)
    assert shown() == {"someone/other": 0.25, "someone/new": 0.5}
    before = set(folder.iterdir())
    assert len(before) == 2 and "Replaced" not in scores("two", 0.5, "--no-build") and set(folder.iterdir()) == before
    for path in folder.glob("*/collection.json"):  # imports of another day
        path.write_text(json.dumps({**json.loads(path.read_text()), "date": "2026-01-01T00:00:00+00:00"}))
    said = scores("two", 0.75)
    assert len([*folder.iterdir()]) == 3 and "--replace" in said and "1 runs of" in said
    assert shown() == {"someone/other": 0.25, "someone/new": 0.75}
    assert "Replaced" in scores("two", 0.125, "--replace")
    assert len([*folder.iterdir()]) == 2 and shown()["someone/new"] == 0.125
    scores("two", 0.125, "--name", "mine", "--replace", "--no-build")
    assert (folder / "mine").is_dir() and len([*folder.iterdir()]) == 2
    assert "--replace" in scores("two", 0.375, "--name", "mine") and shown()["someone/new"] == 0.125


def test_a_wrong_import_changes_nothing(tmp_path):
    table = tmp_path / "table.csv"
    row = f"{HEADING}\nunisim,dreamsim-ensemble,unisim/nights,accuracy,nan\n"
    for text, word in (("", "table.csv"), (row, "row 1")):
        table.write_text(text)
        assert word in error_line(likeness("import", "scores", table))
    assert not (tmp_path / "results").exists() and not (tmp_path / "likeness.duckdb").exists()


@pytest.mark.parametrize(
    "encoding, command", [("ascii", ("task", "check", "снимки")), ("cp1252", ("rank", "scores.csv"))]
)
def test_signs_that_a_terminal_lacks_are_replaced(tmp_path, encoding, command):
    """Names in other letters are data, and are stored as they are."""
    named = {"PYTHONIOENCODING": encoding} if encoding != "ascii" else {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    pictures = {f"снимки/{label}/{at}.png": 2 * at + (label == "dog") for label in ("кот", "dog") for at in range(2)}
    put(tmp_path, {**pictures, "scores.csv": "model,x ↓,y ↓\nмодель,1,1\nb,0,0\n"})
    *words, path = command
    ended = subprocess.run(
        [sys.executable, "-m", "compute", *words, str(tmp_path / path)],
        cwd=ROOT,
        capture_output=True,
        timeout=300,
        env={**os.environ, "LIKENESS_HOME": str(tmp_path), "LC_ALL": "C", **named},
    )
    assert ended.returncode == 0, ended.stderr.decode(errors="replace")
    ended.stdout.decode("utf-8" if encoding == "ascii" else encoding)


def test_a_name_that_is_not_utf_8_is_one_sentence(tmp_path):
    put(tmp_path / os.fsdecode(b"gr\xfcn"), {"0.png": 0})
    line = error_line(likeness("task", "check", tmp_path))
    assert "UTF-8" in line and r"gr\udcfcn" in line
