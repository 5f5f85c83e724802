"""Writes small files of every kind that data sets are made of."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def put(folder, files):
    """Writes contents by name: texts, bytes, pictures and arrays as they are; a number as a small picture of that
    colour; anything else as JSON, JSON Lines, a table of Parquet, or rows of CSV or TSV, as the name says."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case str():
                path.write_text(content)
            case bytes():
                path.write_bytes(content)
            case int():
                Image.new("RGB", (15, 15), (content % 256, content // 256 % 256, len(path.name))).save(path)
            case Image.Image():
                content.save(path)
            case np.ndarray():
                np.save(path, content)
            case _ if path.suffix == ".parquet":
                pq.write_table(content if isinstance(content, pa.Table) else pa.table(content), path)
            case _ if path.suffix == ".jsonl":
                path.write_text("".join(json.dumps(row) + "\n" for row in content))
            case _ if path.suffix == ".json":
                path.write_text(json.dumps(content))
            case _:
                with path.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",").writerows(content)
    return folder


def table(path, rows):
    """Writes a table whose lines are parted by `|`."""
    put(path.parent, {path.name: rows.replace("|", "\n") + "\n"})
    return path


def lists(columns):
    """Arrays as lists."""
    return [column.tolist() for column in columns]
