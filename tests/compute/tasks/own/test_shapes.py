"""The example of every shape is read as that shape."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from compute.tasks.own import layout, naming, shapes
from compute.tasks.own.shapes import SHAPES


def test_the_example_has_the_columns_of_its_shape() -> None:
    for shape in SHAPES:
        if shape is shapes.RETRIEVAL:
            continue
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
    assert set(layout.retrieval_files(tmp_path)) == set(shapes.RETRIEVAL.columns)
