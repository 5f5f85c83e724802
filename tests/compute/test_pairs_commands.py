"""likeness pairs make and show: what they print, what they refuse, and that memory does not grow."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from compute.__main__ import app
from compute.catalog.own import suite_making, suite_records
from compute.tasks.pairbench import manifest, pairs
from tests.compute.tasks.pairbench.images import folder_of


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["pairs", *map(str, arguments)])


def refused(*arguments: object) -> str:
    """The one line of an error."""
    ended = command(*arguments)
    assert ended.exit_code == 1, ended.output
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    return line


def test_a_folder_becomes_a_manifest_that_can_be_shown(tmp_path):
    folder, out = folder_of(tmp_path / "images", 5), tmp_path / "pairs.parquet"
    made = command("make", "--images", folder, "--out", out, "--splits", "r, gb", "--seed", 3)
    assert made.exit_code == 0, made.output
    assert "30 pairs of 5 images, seed 3" in made.stdout
    rows = [line.split() for line in made.stdout.splitlines()]
    assert ["r", "Rotation", "5", "5", "5", "30"] in rows
    shown = command("show", out)
    assert shown.exit_code == 0, shown.output
    assert "version 1, 30 pairs of 5 images" in shown.stdout and "Made from images, seed 3" in shown.stdout
    assert (
        "Odd: 5 images are few" in shown.stdout and "The pixels of 4 recorded images are the same here" in shown.stdout
    )
    assert "Splits it does not have: cj, ps, et" in shown.stdout.splitlines()  # none that needs a table of relations
    named = re.search(r"^Prompt templates: (.*)$", shown.stdout, re.MULTILINE)[1]
    assert {name.partition(":")[0] for name in named.split(", ")} <= {"V1", "V2", "V3", "V4", "V5"}
    assert manifest.read(out).about["seed"] == 3


def test_a_parquet_a_sample_of_it_and_its_images_stored_beside(tmp_path):
    folder = folder_of(tmp_path / "images", 8)
    rows = [{"label": path.name, "picture": {"bytes": path.read_bytes(), "path": ""}} for path in folder.iterdir()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "images.parquet")
    made = {}
    for name, more in (("plain", ()), ("stored", ("--store-images",))):
        made[name] = tmp_path / f"{name}.parquet"
        options = ("--images", tmp_path / "images.parquet", "--count", 5, "--splits", "et", *more)
        ended = command("make", *options, "--out", made[name])
        assert ended.exit_code == 0 and "15 pairs of 5 images" in ended.stdout, ended.output
    before = pairs.load(made["plain"], split="et")["invariant"]
    contents = [[column.read(row) for row in range(15)] for column in (before.first, before.second)]
    variants = [before.second_variants[2].read(row) for row in range(15)]
    (tmp_path / "images.parquet").unlink()  # what is stored needs no source any more
    after = pairs.load(made["stored"], split="et")["invariant"]
    assert [[column.read(row) for row in range(15)] for column in (after.first, after.second)] == contents
    assert [after.second_variants[2].read(row) for row in range(15)] == variants
    assert (after.second.keys == before.second.keys).all()
    stored = tmp_path / "stored-images.parquet"
    assert pq.read_metadata(stored).num_rows == 5 + 15
    assert command("show", made["stored"]).exit_code == 0
    stored.unlink()
    assert "stored-images.parquet, the images of the pairs, is no longer beside the manifest" in refused(
        "show", made["stored"]
    )


def test_what_cannot_be_done_is_refused_in_one_line(tmp_path):
    out = ("--out", tmp_path / "pairs.parquet")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no image" in refused("make", "--images", empty, *out)
    assert "no folder" in refused("make", "--images", tmp_path / "none", *out)
    assert "Name the images" in refused("make", *out)
    one = folder_of(tmp_path / "one", 1)
    assert "the only image" in refused("make", "--images", one, *out)
    assert "ends in .parquet" in refused("make", "--images", one, "--out", tmp_path / "pairs.csv")
    two = folder_of(tmp_path / "two", 2)
    assert "There is no split 'gp'; there are: cj, r, gb, ps, et, sp," in refused(
        "make", "--images", two, "--splits", "gp", *out
    )
    assert "Split sp needs a table" in refused("make", "--images", two, "--splits", "sp", *out)
    shutil.copy(two / "0000.png", two / "0001.png")
    assert "near copies" in refused("make", "--images", two, *out)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    assert "has no column named image" in refused("make", "--images", tmp_path / "other.parquet", *out)
    assert "no manifest of pairs" in refused("show", tmp_path / "other.parquet")
    assert "is not on this machine" in refused("make", "--hub", "someone/images", "--offline", *out)


@pytest.mark.parametrize(
    ("options", "synthetic", "benchmark"),
    [(["--synthetic"], True, "own-synthetic"), (["--not-synthetic"], False, "own"), ([], None, "own")],
    ids=["synthetic", "not-synthetic", "not-said"],
)
def test_what_the_command_says_of_the_images_is_recorded_and_listed(
    options: list[str], synthetic: bool | None, benchmark: str, tmp_path: Path
) -> None:
    """With --results the lists of suites and tasks show the own suite too, without it only those that are shipped."""
    out, results = tmp_path / "drawings.parquet", tmp_path / "results"
    made = command("make", "--images", folder_of(tmp_path / "images", 4), "--out", out, "--splits", "r", *options)
    assert made.exit_code == 0, made.output
    assert manifest.read(out).synthetic is synthetic
    suite = suite_records.record(suite_making.from_file(out, suite="pairbench"), results=results)
    assert suite.suite.benchmark == benchmark
    listed = {}
    for noun in ("suites", "tasks"):
        for folder in (results, tmp_path / "elsewhere"):
            ended = CliRunner().invoke(app, ["list", noun, "--results", str(folder)])
            assert ended.exit_code == 0, ended.output
            listed[noun, folder] = [line for line in ended.stdout.splitlines() if "drawings" in line.lower()]
    (suites,), (tasks,) = listed["suites", results], listed["tasks", results]
    assert suites.startswith("pairs-drawings ") and "(1 tasks, " in suites
    assert ("(synthetic)" in suites) == bool(synthetic)
    assert tasks.startswith("own/pairs-drawings/r ") and "24 items, pairs-drawings" in tasks
    assert not listed["suites", tmp_path / "elsewhere"] and not listed["tasks", tmp_path / "elsewhere"]
