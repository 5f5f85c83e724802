"""Small drawn data of every shape, and how they are run with the bundled model."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

from compute.tasks.own import OwnData, read

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


def of(path: Path, **options: object) -> OwnData:
    """The data at a path, which have no problem."""
    data = read(path, **options)
    assert data.problems == () and data.faults == 0
    return data


def faults(path: Path, **options: object) -> Mapping[int, str]:
    """What is wrong by row; 0 is the whole file."""
    return {fault.row: fault.what for fault in read(path, **options).problems}
