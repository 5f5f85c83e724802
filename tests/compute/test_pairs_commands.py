"""likeness pairs make: what it prints, and what it refuses."""

import pytest

from compute.tasks.pairbench import manifest
from tests.compute.commands import command, done, error_line, likeness
from tests.compute.tasks.files import put
from tests.compute.tasks.pairbench.images import folder_of, suite_of

pairs_command = command("pairs")


def refused(line):
    return error_line(pairs_command(line))


def test_what_cannot_be_done_is_refused_in_one_line(tmp_path):
    empty, one, two = tmp_path / "empty", folder_of(tmp_path / "one", 1), folder_of(tmp_path / "two", 2)
    empty.mkdir()
    other = put(tmp_path, {"other.parquet": {"a": [1]}}) / "other.parquet"
    assert "ends in .parquet" in refused(f"make --images {one} --out {tmp_path}/pairs.csv")
    for words, said in (
        (f"--images {empty}", "holds no image"),
        (f"--images {tmp_path}/none", "There is no"),
        ("", "Name the images"),
        (f"--images {one}", "the only image"),
        (f"--images {two} --splits gp", "There is no split 'gp'; there are: cj, r, gb, ps, et, sp,"),
        (f"--images {two} --splits sp", "Split sp needs a table"),
        (f"--images {other}", "image"),
        ("--images hf://datasets/someone/images --offline", "is not on this machine"),
    ):
        assert said in refused(f"make {words} --out {tmp_path}/pairs.parquet")


@pytest.mark.parametrize(
    "options, synthetic, benchmark",
    [("--synthetic", True, "own-synthetic"), ("--not-synthetic", False, "own"), ("", None, "own")],
)
def test_what_the_command_says_of_the_images_is_recorded_and_listed(options, synthetic, benchmark, tmp_path):
    """With --results the lists of suites and tasks show the own suite too, without it only those that are shipped."""
    out, results = tmp_path / "drawings.parquet", tmp_path / "results"
    done(pairs_command(f"make --images {folder_of(tmp_path / 'images', 4)} --out {out} --splits r {options}"))
    assert manifest.read(out).synthetic is synthetic
    assert suite_of(out, results).suite.benchmark == benchmark

    def listed(noun, folder):
        ended = done(likeness("list", noun, "--results", folder))
        return [line for line in ended.stdout.splitlines() if "drawings" in line.lower()]

    (suites,), (tasks,) = listed("suites", results), listed("tasks", results)
    assert suites.startswith("pairs-drawings ") and ("(synthetic)" in suites) == bool(synthetic)
    assert tasks.startswith("own/pairs-drawings/r ") and "24 items, pairs-drawings" in tasks
    assert not listed("suites", tmp_path / "elsewhere") + listed("tasks", tmp_path / "elsewhere")
