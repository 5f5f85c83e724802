"""`likeness run` as a user meets it: what it prints, its exit codes, what it leaves. Models are stand-ins."""

import re

import pytest

from compute.database import store
from compute.types import BadInput, NotHere
from tests.compute.commands import assert_refused, command


@pytest.fixture
def run(world):
    return command("run --suite small")


def test_a_run_prints_the_plan_the_scores_and_rebuilds(run, world):
    result = run("--models small/eye,small/gauge,small/dim")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "small: 5 tasks, 3 models; 16 runs to make, 0 stored already, 3 skipped"
    assert re.fullmatch(r"likeness.duckdb built in [0-9.]+ s: \d+ computed runs. See it: python app.py", lines[-1])
    assert sum(": accuracy " in line for line in lines) == 16
    heads, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    assert heads == ["task", "metric", "n", "chance", "small/eye", "small/gauge", "small/dim"]
    assert [row[0] for row in rows] == [f"unisim/{task}" for task in ("near", "said", "fine", "sharp", "odd")]
    assert (
        rows[0][2:4] == ["12", "50.0"]
        and "±" in rows[0][4]
        and [row[5] == "-" for row in rows[:3]] == [False, True, True]
    )
    assert [line.partition(",")[0] for line in lines if "2 variants" in line] == ["small/eye", "small/dim"]
    with store.connect(world.folder / "likeness.duckdb") as connection:
        found = connection.execute("SELECT count(*) FROM runs WHERE origin = 'computed' AND main").fetchall()
        pictures = connection.execute("SELECT count(DISTINCT task) FROM thumbnails").fetchall()
    assert found == [(12,)] and pictures == [(5,)]  # IQA was asked in two ways, one of them is shown


def test_a_failed_run_is_the_exit_code_and_a_line(run, world):
    world.changed["unisim/odd"] = NotHere("odd.tar is not here: hf download made/odd")
    result = run("--models small/dim")
    assert result.exit_code == 1
    assert "Failed: small/dim on unisim/odd: odd.tar is not here: hf download made/odd" in result.output
    assert "| unisim/near" in result.output and "| unisim/odd" not in result.output
    (world.folder / "likeness.duckdb").unlink()
    assert run("--models small/dim --tasks unisim/odd").exit_code == 1
    assert run("--models small/dim --tasks unisim/near --no-build").exit_code == 0
    assert not (world.folder / "likeness.duckdb").exists()


def test_what_is_wrong_is_said_before_anything_runs(run, world):
    (world.folder / "file").write_text("no folder")
    for words, said in (
        ("--dtype float7", "float7"),
        (f"--results {world.folder}/file/runs", "name another folder with --results"),
    ):
        assert_refused(run(f"--models small/dim {words}"), BadInput, said)
    assert (world.encoded, world.loaded) == (0, 0)
