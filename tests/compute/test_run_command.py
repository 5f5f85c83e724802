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
    table = [line for line in lines if line.startswith("| unisim/near ")]
    assert len(table) == 1 and "±" in table[0] and "| 50.0 " in table[0] and "| 12 " in table[0]
    assert "small/eye" in next(line for line in lines if line.startswith("| task"))
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


def test_an_interrupt_is_one_line_and_130(run, world):
    def stop():
        raise KeyboardInterrupt

    world.before_batch = stop
    result = run("--models small/dim")
    assert result.exit_code == 130
    assert result.output.splitlines()[-1].startswith("Interrupted: ") and "Traceback" not in result.output
    world.before_batch = lambda: None
    assert run("--models small/dim --no-build").exit_code == 0


def test_a_dry_run_says_what_it_would_take_and_does_nothing(run, world):
    result = run("--models small/eye --dry-run")
    assert result.exit_code == 0, result.output
    assert "unisim/near" in result.output and "made/near" in result.output and "bbbbbbb" in result.output
    assert "small/Eye @ aaaaaaa: to fetch, about 8.0 MB" in result.output
    assert "156 x 4 x 4 bytes = 2.5 kB" in result.output and "7 run folders" in result.output
    assert (world.encoded, world.loaded) == (0, 0)
    assert not (world.folder / "results").exists() and not (world.folder / "likeness.duckdb").exists()


def test_what_is_wrong_is_said_before_anything_runs(run, world):
    (world.folder / "file").write_text("no folder")
    for words, said in (
        ("--dtype float7", "float7"),
        (f"--results {world.folder}/file/runs", "name another folder with --results"),
    ):
        assert_refused(run(f"--models small/dim {words}"), BadInput, said)
    assert (world.encoded, world.loaded) == (0, 0)
