"""Small drawn data of every shape, and how they are run with the bundled model."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

from compute import models
from compute.catalog import shipped
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_making, suite_records
from compute.engine import plan, run, run_folders
from compute.engine.run import Outcome
from compute.engine.settings import RunSettings
from compute.engine.workspace import assemble
from compute.models.adapter import Hardware
from compute.tasks.own import OwnData, read
from compute.tasks.source import Source

CPU = Hardware(device="cpu", dtype="float32")
COLOURS = ("red", "green", "blue", "yellow", "purple", "orange")


def picture(path: Path, *, colour: str, seed: int, shapes: int = 3) -> str:
    """Draws a scene of one colour; its name."""
    random = Random(seed)
    image = Image.new("RGB", (64, 64), "white")
    draw = ImageDraw.Draw(image)
    for _ in range(shapes):
        x, y, size = random.randrange(48), random.randrange(48), random.randrange(8, 24)
        (draw.ellipse if random.random() < 0.5 else draw.rectangle)((x, y, x + size, y + size), fill=colour)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path.name


def pictures(folder: Path, count: int) -> list[str]:
    """Scenes of the colours in turn."""
    return [picture(folder / f"{at:03}.png", colour=COLOURS[at % len(COLOURS)], seed=at) for at in range(count)]


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    """A manifest as CSV, or as TSV by its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def execute(
    data: OwnData, results: Path, *, model: str = "tiny", options: Sequence[str] = (), skip_bad: bool = False
) -> Outcome:
    """The run of a model on data, recorded as a suite of its own."""
    suite = suite_records.record(suite_making.of_data({data.shape.key: data}, name=data.name), results=results)
    catalog, problems = own_suite.extended(shipped(), [suite])
    assert problems == []
    bench = assemble(
        RunSettings(results=results, options=options, skip_bad=skip_bad),
        features=results / "features",
        hardware=CPU,
        source=Source.keeping(results, root=None, offline=True, own={file.digest: file for file in suite.data}),
    )
    made = plan.make(catalog, suite=suite.suite.key, models=[model], bench=bench)
    [outcome] = run.execute(made, bench=bench)
    return outcome


def scores(outcome: Outcome) -> dict[str, float]:
    """The figures of a run by metric."""
    assert outcome.state == "made", outcome.reason
    return {score.metric: score.value for score in outcome.stored.scores if score.subset == "default"}


def items(outcome: Outcome) -> pd.DataFrame:
    """The evidence of a run."""
    return pd.read_parquet(outcome.stored.folder / run_folders.ITEMS)


@cache
def _tiny():
    return models.load(shipped().model("tiny"), hardware=CPU)


def vectors(contents: Sequence[Path | str], *, unit: bool = True) -> np.ndarray:
    """Vectors of images by path, or of texts, straight from the bundled model; of length 1 where `unit`."""
    kind = "image" if isinstance(contents[0], Path) else "text"
    shown = [Image.open(content).convert("RGB") if kind == "image" else content for content in contents]
    raw = _tiny().embed(kind, [_tiny().prepare(kind, item) for item in shown])
    raw = np.asarray(raw, dtype=np.float64)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True) if unit else raw


def of(path: Path, **options: object) -> OwnData:
    """The data at a path, which have no problem."""
    data = read(path, **options)
    assert data.problems == () and data.faults == 0
    return data


def faults(path: Path, **options: object) -> Mapping[int, str]:
    """What is wrong by row; 0 is the whole file."""
    return {fault.row: fault.what for fault in read(path, **options).problems}
