"""The example of every shape in the documentation is read as that shape."""

import csv
import re

from compute.paths import DOCS
from compute.tasks.own import layout, shapes
from compute.tasks.own.shapes import SHAPES

ROWS = re.findall(r"^\| `([a-z-]+)` \|.*\| (`.*`) \|$", (DOCS / "your-data.md").read_text(encoding="utf-8"), re.M)
EXAMPLES = {key: cells.strip("`").split("`` ``") for key, cells in ROWS}


def test_the_example_has_the_columns_of_its_shape():
    assert tuple(EXAMPLES) == shapes.KEYS
    for shape in SHAPES:
        if shape is shapes.RETRIEVAL:
            continue
        header, *rows = csv.reader(EXAMPLES[shape.key])
        assert len(rows) == 2 and {len(row) for row in rows} == {len(header)}
        chosen, free = shape.forms[""].resolved(tuple(header), {}, title="example")
        assert free == () and set(chosen.values()) == set(header)
        told = shapes.shape_of(tuple(header), {}, title="example")
        assert told is shape or (shape in (shapes.CLUSTERING, shapes.NEIGHBOURS) and told is shapes.CLASSIFICATION)


def test_the_example_of_retrieval_is_read(tmp_path):
    for line in EXAMPLES["retrieval"]:
        name, _, content = line.partition(": ")
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        header = "query-id\tcorpus-id\tscore\n" if path.suffix == ".tsv" else ""
        path.write_text(header + content.replace(" ", "\t" if header else " ") + "\n")
    assert set(layout.retrieval_files(tmp_path)) == set(shapes.RETRIEVAL.forms)
