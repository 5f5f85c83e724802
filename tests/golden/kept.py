"""What users have, as an earlier version wrote it: results, a study, a calibration, statistics of a reference.

The folder `kept` was written by `git show a2c68ebe:tests/golden/kept.py`, run in an old tree: of files that a changed
program wrote, the tests would learn nothing. `expected.json` is what that tree read out of them, by the functions of
`READS`. Fingerprints hold the versions of packages, so the ones of then stand in for the installed ones wherever the
files are read.
"""

import base64
import csv
import io
import json
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import duckdb
from typer.testing import CliRunner

from compute import versions
from compute.__main__ import app
from tests.golden import freeze
from tests.golden.site import site as opened

HERE = Path(__file__).parent / "kept"
EXPECTED = HERE / "expected.json"
SCENES = ("scene-1.png", "scene-2.png")  # drawn as those of the calibration, and others
TASKS = "mini/image-choice,mini/odd-one-out,mini/shapes"


def likeness(*words):
    """What a command prints."""
    result = CliRunner().invoke(app, [*map(str, words), "--offline"])
    assert result.exit_code == 0, result.output
    return result.stdout


# ---- the commands, which the tests repeat


def run_drawn(folder, *more):
    return run(folder, "--suite", "mini", "--tasks", TASKS, *more)


def run_own(folder, *more):
    return run(folder, "--data", folder / "triplets.csv", *more)


def run(folder, *more):
    words = ("run", "--models", "tiny,ssim", "--thumbnails", "4", "--device", "cpu", "--no-build")
    return likeness(*words, "--results", folder / "scored", *more)


def compare_sets(folder):
    words = ("--reference", folder / "images", "--prompts", folder / "prompts.csv", "--backbones", "tiny")
    return frechet(folder, *words, "--results", folder / "scored")


def compare_saved(folder, reference):
    words = ("--reference", reference, "--backbones", "colour-histogram", "--metrics", "fd", "--no-store")
    return frechet(folder, *words, "--results", folder / "other")


def frechet(folder, *more):
    words = ("frechet", "--generated", f"near={folder / 'near'}", "--no-intervals", "--format", "csv")
    return likeness(*words, "--device", "cpu", "--no-build", *more)


# ---- what is read


def scores(folder):
    """The kept runs' scores in a database that is built from the folder."""
    kept = [json.loads(path.read_text())["fingerprint"] for path in runs(folder)]
    with duckdb.connect(str(database(folder)), read_only=True) as connection:
        found = connection.execute(
            "SELECT model, task, subset, metric, value, stderr, n, low, high, fingerprint "
            "FROM scores JOIN runs ON runs.id = scores.run WHERE list_contains(?, fingerprint) ORDER BY ALL",
            [kept],
        ).fetchall()
    return [list(row) for row in found]


def distances(folder):
    """The comparison once more, over the same images."""
    return figures(compare_sets(folder))


def saved_distances(folder):
    """The distance to the saved statistics, and the one to the images, which they stand for."""
    saved, whole = (figures(compare_saved(folder, folder / name)) for name in ("reference.npz", "images"))
    return [*saved, *whole]


def report(folder):
    """What a study says: which models agree, and every other number of its sentences."""
    lines = likeness("eyes", folder / "eyes", "--report").splitlines()
    table = [" ".join(line.split()) for line in lines[2 : lines.index("", 2)]]
    return [*table, *re.findall(r"\d[\d.%]*", " ".join(lines[len(table) + 3 :]))]


def percentiles(folder):
    """Where scores lie among the calibration's pairs, by the app."""
    parts, found = ("score", "percentile", "above_unrelated", "above_matching"), {}
    first, other = (
        f"data:image/png;base64,{base64.b64encode((folder / name).read_bytes()).decode()}" for name in SCENES
    )
    with opened(database(folder)) as site:
        for what, second in (("the same", first), ("another", other), ("text", (folder / "scene.txt").read_text())):
            (rows,) = site.call("score_pair", first=first, second=second, models=["tiny", "ssim"])
            found |= {f"{row['model']}, {what}": [row[key] for key in parts] for row in rows if not row["problem"]}
    return found


READS = {  # with how close the numbers are, relative
    "scores": (scores, 0.0),
    "distances": (distances, freeze.COMPUTED),
    "saved_distances": (saved_distances, freeze.COMPUTED),
    "report": (report, 0.0),
    "percentiles": (percentiles, 1e-3),
}


def figures(table):
    """Generator, metric, backbone and value of each row."""
    rows = csv.DictReader(io.StringIO(table))
    return [[row["generator"], row["metric"], row["backbone"], float(row["value"]), int(row["n"])] for row in rows]


def database(folder):
    """That of the folder's results, built once."""
    path = folder / "likeness.duckdb"
    if not path.exists():
        result = CliRunner().invoke(app, ["build", "--path", str(path), "--results", str(folder / "scored")])
        assert result.exit_code == 0, result.output
    return path


def runs(folder):
    """The records of the folder's runs."""
    return sorted((folder / "scored").glob("*/*/*/run.json"))


# ---- as it was


@contextmanager
def as_then():
    """With the versions of packages of the tree that wrote the files, whatever is installed."""
    then = json.loads(EXPECTED.read_text())["versions"]
    with patch.object(versions, "installed", lambda names: {name: then.get(name, versions.MISSING) for name in names}):
        yield


def copied(folder):
    """The files in another folder, to be read, and written to."""
    return shutil.copytree(HERE, folder / "kept")
