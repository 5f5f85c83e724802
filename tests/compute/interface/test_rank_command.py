"""`likeness rank`: prints what `compute.rank` says, writes the page, and refuses in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import compute
from compute.__main__ import app
from compute.types import BadInput
from tests.compute.commands import assert_refused

TABLE = """Model,retrieval a,retrieval b,retrieval c,fid a,fid b,license
clip,0.71,0.66,0.69,12.1,14.0,MIT
dino,0.52,0.55,0.49,20.5,19.0,MIT
siglip,0.78,0.74,0.77,10.0,11.5,Apache
"""


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["rank", *map(str, words)])


def test_it_prints_what_python_says(scores: Path) -> None:
    tasks = ["retrieval a", "retrieval b", "retrieval c"]
    result = run(scores, "--only", ",".join(tasks), "--bounds", "0,1")
    assert result.exit_code == 0, result.output
    said = str(compute.rank(scores, only=tasks, bounds=(0, 1))).replace("lower_is_better", "--lower-is-better")
    assert result.stdout == f"{said}\n"
    rows = [line.split("|")[4].strip() for line in result.stdout.splitlines() if line.startswith("|")]
    assert rows[2:] == ["siglip", "clip", "dino"]


def test_categories_weights_and_directions(scores: Path) -> None:
    options = (
        "--ignore",
        "license",
        "--ignore",
        "fid b",
        "--category",
        "R=retrieval a,retrieval b,retrieval c",
        "--category",
    )
    result = run(scores, *options, "F=fid a", "--weight", "F=0", "--lower-is-better", "fid a")
    assert result.exit_code == 0 and "Ranked by the mean of 3 tasks." in result.stdout
    more = ("--aggregate", "borda", "--test", "friedman-nemenyi")
    borda = run(scores, "--ignore", "license", "--lower-is-better", "fid a", "--lower-is-better", "fid b", *more)
    assert borda.exit_code == 0 and "Borda points over 5 tasks" in borda.stdout
    assert "Friedman's test over 5 independent tasks" in borda.stdout


def test_the_page(scores: Path, tmp_path: Path) -> None:
    result = run(scores, "--ignore", "license,fid a,fid b", "--html", tmp_path / "board.html", "--title", "Mine")
    assert result.exit_code == 0 and result.stdout.endswith(f"Wrote {tmp_path / 'board.html'}\n")
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in page and "siglip" in page and "retrieval b" in page


def test_faults_are_one_line(scores: Path, tmp_path: Path) -> None:
    for options, word in (
        (("--only", "fid a,license"), "'license'"),
        (("--category", "R"), "--category"),
        (("--category", "R=fid a", "--category", "R=fid b"), "twice"),
        (("--weight", "R=much"), "'much'"),
        (("--bounds", "1"), "--bounds"),
        (("--bounds", "1,0"), "--bounds are"),
        (("--weight", "retrieval=1"), "retrieval"),
        (("--category", "R=fid a"), "(--ignore)"),
        (("--only", "fid"), "(--only)"),
        (("--ignore", "license", "--lower-is-better", "fid a"), "--aggregate borda"),
    ):
        assert_refused(run(scores, *options), BadInput, word)
    assert_refused(run(tmp_path / "absent.csv"), BadInput, "absent.csv")
