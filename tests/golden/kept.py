"""What users have, as an earlier version wrote it: results, a study, a calibration, statistics of a reference.

    python -m tests.golden.kept        writes the folder `kept` anew

Only ever from an old tree, one that wrote what users have: of files that a changed program wrote, the tests would learn
nothing. `expected.json` is what that tree read out of them, by the functions of `READS`. Fingerprints hold the versions
of packages, so the ones of then stand in for the installed ones wherever the files are read.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
from PIL import Image
from typer.testing import CliRunner

from compute import paths, versions
from compute.__main__ import app
from compute.calibration import drawn
from tests.golden import freeze
from tests.golden.site import site as opened

HERE = Path(__file__).parent / "kept"
EXPECTED = HERE / "expected.json"
SCENES = ("scene-1.png", "scene-2.png")  # drawn as those of the calibration, and others
IMAGES, SUITE = 12, ("mini/image-choice", "mini/odd-one-out", "mini/shapes")
MOST, MOST_IN_ALL = 100_000, 300_000  # bytes


def likeness(*words: object) -> str:
    """What a command prints."""
    result = CliRunner().invoke(app, [*map(str, words), "--offline"])
    assert result.exit_code == 0, result.output
    return result.stdout


# ---- the commands, which the tests repeat


def run_drawn(folder: Path, *more: str) -> str:
    words = ("run", "--suite", "mini", "--tasks", ",".join(SUITE), "--models", "tiny,ssim", "--thumbnails", "4")
    return likeness(*words, "--device", "cpu", "--no-build", "--results", folder / "scored", *more)


def run_own(folder: Path, *more: str) -> str:
    words = ("run", "--data", folder / "triplets.csv", "--models", "tiny,ssim", "--thumbnails", "4")
    return likeness(*words, "--device", "cpu", "--no-build", "--results", folder / "scored", *more)


def compare_sets(folder: Path, *more: str) -> str:
    words = ("frechet", "--reference", folder / "images", "--generated", f"near={folder / 'near'}")
    words += ("--prompts", folder / "prompts.csv", "--backbones", "tiny", "--no-intervals", "--format", "csv")
    return likeness(*words, "--device", "cpu", "--no-build", "--results", folder / "scored", *more)


def compare_saved(folder: Path, reference: Path, *more: str) -> str:
    words = ("frechet", "--reference", reference, "--generated", f"near={folder / 'near'}", "--no-store")
    words += ("--backbones", "colour-histogram", "--metrics", "fd", "--no-intervals", "--format", "csv")
    return likeness(*words, "--device", "cpu", "--no-build", "--results", folder / "other", *more)


def calibrate(folder: Path) -> str:
    words = ("calibrate", "--models", "tiny,ssim", "--domains", "drawn", "--pairs", "60", "--no-build")
    return likeness(*words, "--results", folder / "scored")


# ---- what is read


def scores(folder: Path) -> list[list[Any]]:
    """The kept runs' scores in a database that is built from the folder."""
    database = folder / "scores.duckdb"
    likeness_build(folder, database)
    kept = [json.loads(path.read_text())["fingerprint"] for path in runs(folder)]
    with duckdb.connect(str(database), read_only=True) as connection:
        found = connection.execute(
            "SELECT model, task, subset, metric, value, stderr, n, low, high, fingerprint "
            "FROM scores JOIN runs ON runs.id = scores.run WHERE list_contains(?, fingerprint) ORDER BY ALL",
            [kept],
        ).fetchall()
    return [list(row) for row in found]


def distances(folder: Path) -> list[list[Any]]:
    """The comparison once more, over the same images."""
    return figures(compare_sets(folder))


def saved_distances(folder: Path) -> list[list[Any]]:
    """The distance to the saved statistics, and the one to the images, which they stand for."""
    saved, whole = (figures(compare_saved(folder, folder / name)) for name in ("reference.npz", "images"))
    return [*saved, *whole]


def report(folder: Path) -> list[str]:
    """What a study says: which models agree, and every other number of its sentences."""
    lines = likeness("eyes", folder / "eyes", "--report").splitlines()
    table = [" ".join(line.split()) for line in lines[2 : lines.index("", 2)]]
    return [*table, *re.findall(r"\d[\d.%]*", " ".join(lines[len(table) + 3 :]))]


def percentiles(folder: Path) -> dict[str, Any]:
    """Where scores lie among the calibration's pairs, by the app."""
    database = folder / "calibrated.duckdb"
    likeness_build(folder, database)
    parts, found = ("score", "percentile", "above_unrelated", "above_matching"), {}
    first, other = (
        f"data:image/png;base64,{base64.b64encode((folder / name).read_bytes()).decode()}" for name in SCENES
    )
    with opened(database) as site:
        for what, second in (("the same", first), ("another", other), ("text", (folder / "scene.txt").read_text())):
            (rows,) = site.call("score_pair", first=first, second=second, models=["tiny", "ssim"])
            found |= {f"{row['model']}, {what}": [row[key] for key in parts] for row in rows if not row["problem"]}
    return found


READS: dict[str, tuple[Callable[[Path], Any], float]] = {  # with how close the numbers are, relative
    "scores": (scores, 0.0),
    "distances": (distances, freeze.COMPUTED),
    "saved_distances": (saved_distances, freeze.COMPUTED),
    "report": (report, 0.0),
    "percentiles": (percentiles, 1e-3),
}


def figures(table: str) -> list[list[Any]]:
    """Generator, metric, backbone and value of each row."""
    rows = csv.DictReader(io.StringIO(table))
    return [[row["generator"], row["metric"], row["backbone"], float(row["value"]), int(row["n"])] for row in rows]


def likeness_build(folder: Path, database: Path) -> None:
    result = CliRunner().invoke(app, ["build", "--path", str(database), "--results", str(folder / "scored")])
    assert result.exit_code == 0, result.output


def runs(folder: Path) -> list[Path]:
    """The records of the folder's runs."""
    return sorted((folder / "scored").glob("*/*/*/run.json"))


# ---- as it was


@contextmanager
def as_then() -> Iterator[None]:
    """With the versions of packages of the tree that wrote the files, whatever is installed."""
    then = json.loads(EXPECTED.read_text())["versions"]
    with patch.object(versions, "installed", lambda names: {name: then.get(name, versions.MISSING) for name in names}):
        yield


def copied(folder: Path) -> Path:
    """The files in another folder, to be read, and written to."""
    return shutil.copytree(HERE, folder / "kept")


# ---- writing them, by the old tree


def draw(folder: Path, *, first: int) -> None:
    """Discs of many colours, sizes and places."""
    folder.mkdir()
    y, x = np.mgrid[:32, :32]
    for at in range(IMAGES):
        random = np.random.default_rng(first + at)
        (row, column), radius = random.uniform(8, 24, 2), random.uniform(4, 12)
        inside = (x - column) ** 2 + (y - row) ** 2 < radius**2
        colours = 32 * random.integers(0, 8, (2, 3))
        Image.fromarray(np.where(inside[..., None], *colours).astype(np.uint8)).save(folder / f"{at:02}.png")


def write(folder: Path) -> None:
    """Everything but what is expected."""
    draw(folder / "images", first=0)
    draw(folder / "near", first=6)
    names = [f"{at:02}.png" for at in range(IMAGES)]
    triplets = [
        (names[at], names[(at + step) % IMAGES], names[(at + 5) % IMAGES]) for step in (1, 2) for at in range(12)
    ]
    own = [",".join(f"images/{name}" for name in each) + f",{at % 2 + 1}" for at, each in enumerate(triplets[:IMAGES])]
    write_rows(folder / "triplets.csv", "reference,alternative_1,alternative_2,answer", own)
    votes = [f"{','.join(each)},{at % 3 % 2 + 1}" for at, each in enumerate(triplets)]
    write_rows(folder / "votes.csv", "reference,alternative_1,alternative_2,choice", votes)
    write_rows(folder / "prompts.csv", "image,prompt", [f"{name},a disc of size {name[:2]}" for name in names])
    sample = drawn.material(scenes=40, seed=7).samples["image-text"]
    pictures, captions = ([column.read(at) for at in range(len(column))] for column in sample.matching)
    small = sorted(range(len(pictures)), key=lambda at: len(pictures[at]))[:2]
    for name, at in zip(SCENES, small, strict=True):
        (folder / name).write_bytes(pictures[at])
    (folder / "scene.txt").write_text(captions[small[0]])
    run_drawn(folder)
    calibrate(folder)
    shutil.rmtree(folder / "scored" / "features")  # as a user may; of the drawn tasks they are large
    run_own(folder)
    compare_sets(folder)
    compare_saved(folder, folder / "images", "--save-reference", str(folder / "reference.npz"))
    shutil.rmtree(folder / "other")
    [reference] = folder.glob("reference*.npz")
    squeeze(reference)
    reference.rename(folder / "reference.npz")
    study = ("eyes", folder / "images", "--out", folder / "eyes", "--models", "tiny,ssim")
    likeness(*study, "--add", folder / "votes.csv")


def write_rows(path: Path, head: str, rows: Iterable[str]) -> None:
    path.write_text("\n".join([head, *rows]) + "\n")


def written(expected: dict[str, Any]) -> str:
    """As JSON, a row a line."""
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    return re.sub(r"\n {3,}|\n {2}(?=\])", " ", text) + "\n"


def squeeze(path: Path) -> None:
    """The same arrays in the same container, compressed: 2 MB of zeros are in no repository."""
    with zipfile.ZipFile(path) as before:
        members = {name: before.read(name) for name in before.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as after:
        for name, content in members.items():
            after.writestr(name, content)


def main() -> None:
    """Writes the files, and what is read out of them."""
    named: dict[str, str] = {}
    before = versions.installed

    def noted(names: Iterable[str]) -> dict[str, str]:
        found = before(names)
        named.update(found)
        return found

    with tempfile.TemporaryDirectory(prefix="kept-") as made, patch.object(versions, "installed", noted):
        folder = Path(made) / "kept"
        folder.mkdir()
        with patch.object(paths, "RESULTS", Path(made) / "results"):
            write(folder)
            shutil.rmtree(HERE, ignore_errors=True)
            shutil.copytree(folder, HERE, ignore=shutil.ignore_patterns("lock", ".lock"))
            expected = {"versions": dict(sorted(named.items()))} | {
                name: read(folder) for name, (read, _) in READS.items()
            }
        EXPECTED.write_text(written(expected))
    sizes = {path: path.stat().st_size for path in HERE.rglob("*") if path.is_file()}
    assert max(sizes.values()) < MOST and sum(sizes.values()) < MOST_IN_ALL, sizes
    print(f"{len(sizes)} files, {sum(sizes.values()):,} bytes")


if __name__ == "__main__":
    main()
