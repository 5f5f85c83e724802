"""A summary of a data set as it was read: shape, columns, items, classes, splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from compute.metrics.registry import METRICS
from compute.tasks.data import Clusters, Data, Probe, Retrieval, ZeroShot
from compute.tasks.own import OwnData
from compute.types import shortened

NAMED = 8  # classes that are named


def summary(part: OwnData, items: Mapping[str, Data]) -> Iterator[str]:
    """The facts of data as they were read, a line each; data with faults have no items."""
    key, title = part.shape.key, part.shape.title.lower()
    yield f"Shape: {key}" + ("" if key.replace("-", " ") == title else f" ({title})")
    yield f"Rows: {part.rows:,}"
    tables = []  # the shape's name of each column, and the file's where it is another
    for name, rows in part.read.items():
        used = ", ".join(own if own == column else f"{column} = {own}" for column, own in rows.columns.items())
        tables.append(f"{name}: {used}" if name else used)
    yield f"Columns: {'; '.join(tables)}"
    if part.ignored:
        yield f"Not read: {', '.join(part.ignored)}"
    yield from (f"Note: {note}" for note in part.notes)
    if not items:
        return
    known = part.facts
    metric = next(row for row in METRICS if row.key == known.metrics[0])
    chance = "not known" if known.chance is None else f"{known.chance * metric.scale:.1f}{metric.unit}"
    yield f"Items: {known.counts}"
    yield f"Of: {' and '.join(f'{kind}s' for kind in known.modalities)}"
    yield f"Scored by: {metric.title}; chance {chance}"
    for data in items.values():
        if isinstance(data, Probe):
            yield f"Splits: {len(data.train.names):,} to train, {len(data.test.names):,} to test"
        match data:
            case Probe(test=test) | Clusters(test=test) | ZeroShot(test=test):
                counts = np.bincount(test.labels, minlength=len(test.classes))
                order = np.argsort(-counts, kind="stable")
                named = [f"{shortened(test.classes[at], 40)} {counts[at]:,}" for at in order[:NAMED].tolist()]
                more = [f"... the smallest {counts.min():,}"] if len(order) > NAMED else []
                yield f"Classes: {len(counts):,}: {', '.join(named + more)}"
            case Retrieval(relevant=(query, _, grade)):
                counts = np.bincount(query[grade > 0], minlength=len(data.queries))
                least, most = counts.min(), counts.max()
                yield f"Queries and documents: {len(data.queries):,} and {len(data.documents):,}"
                yield f"Relevant documents a query: {least:,}" + (f" to {most:,}" if least < most else "")
