"""The README's table of own data says what the table of shapes says, and its examples are read as their shapes."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from compute.paths import ROOT
from compute.tasks.own import beir, naming, shapes
from compute.tasks.own.shapes import SHAPES, ShapeColumn, TaskShape

HEADER = "| shape | columns, (optional) | scored by | example |\n| --- | --- | --- | --- |\n"


def in_words(column: ShapeColumn) -> str:
    name = f"`{column.name}_1` to `_{column.most}`" if column.least else f"`{column.name}`"
    return name if column.required else f"({name})"


def columns(shape: TaskShape) -> str:
    if set(shape.columns) == {""}:
        return ", ".join(in_words(column) for column in shape.columns[""])
    return "; ".join(f"{table}: {', '.join(map(in_words, part))}" for table, part in shape.columns.items())


def table() -> str:
    rows = [
        f"| `{shape.key}` | {columns(shape)} | {shape.scored} | "
        f"{'<br>'.join(f'`{line}`' for line in shape.example.splitlines())} |\n"
        for shape in SHAPES
    ]
    return HEADER + "".join(rows)


def test_the_readme_has_the_table_of_shapes() -> None:
    assert table() in (ROOT / "README.md").read_text(encoding="utf-8"), f"Put this into the README:\n{table()}"


@pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if shape is not shapes.RETRIEVAL], ids=lambda shape: shape.key
)
def test_the_example_has_the_columns_of_its_shape(shape: TaskShape) -> None:
    header, *rows = csv.reader(io.StringIO(shape.example))
    assert len(rows) == 2 and {len(row) for row in rows} == {len(header)}
    chosen, free = naming.resolved(shape.columns[""], tuple(header), {}, shape=shape.key, title="example")
    assert free == () and set(chosen.values()) == set(header)
    told = naming.shape_of(tuple(header), {}, title="example")
    assert told is shape or (shape is shapes.CLUSTERING and told is shapes.CLASSIFICATION)


def test_the_example_of_retrieval_is_read(tmp_path: Path) -> None:
    for line in shapes.RETRIEVAL.example.splitlines():
        name, _, content = line.partition(": ")
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        header = "query-id\tcorpus-id\tscore\n" if path.suffix == ".tsv" else ""
        path.write_text(header + content.replace(" ", "\t" if header else " ") + "\n")
    assert set(beir.files(tmp_path)) == set(shapes.RETRIEVAL.columns)
