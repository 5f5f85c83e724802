"""A summary of a data set as it was read, as pairs of a word and a text: shape, columns, items, classes, splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from compute.metrics.registry import METRICS
from compute.tasks.data import Clusters, Data, Labelled, Probe, Retrieval, ZeroShot
from compute.tasks.own import OwnData
from compute.types import shortened

NAMED = 8  # classes that are named


def summary(part: OwnData, items: Mapping[str, Data]) -> list[tuple[str, str]]:
    """The facts of data as they were read; data with faults have no items."""
    facts = [
        ("Shape", _shape(part)),
        ("Rows", f"{part.rows:,}"),
        ("Columns", _columns(part)),
    ]
    if part.ignored:
        facts.append(("Not read", ", ".join(part.ignored)))
    facts += [("Note", note) for note in part.notes]
    if not items:
        return facts
    known = part.facts
    metric = next(row for row in METRICS if row.key == known.metrics[0])
    chance = "not known" if known.chance is None else f"{known.chance * metric.scale:.1f}{metric.unit}"
    facts += [
        ("Items", known.counts),
        ("Of", " and ".join(f"{kind}s" for kind in known.modalities)),
        ("Scored by", f"{metric.title}; chance {chance}"),
    ]
    for data in items.values():
        facts += _of_data(data)
    return facts


def _shape(part: OwnData) -> str:
    """The shape's key, and its title where that says more."""
    key, title = part.shape.key, part.shape.title.lower()
    return key if key.replace("-", " ") == title else f"{key} ({title})"


def _columns(part: OwnData) -> str:
    """The columns of each table: the shape's name, and the file's where it is another."""
    tables = []
    for name, rows in part.read.items():
        used = ", ".join(own if own == column else f"{column} = {own}" for column, own in rows.columns.items())
        tables.append(f"{name}: {used}" if name else used)
    return "; ".join(tables)


def _of_data(data: Data) -> Iterator[tuple[str, str]]:
    match data:
        case Probe(train=train, test=test):
            yield "Splits", f"{len(train.names):,} to train, {len(test.names):,} to test"
            yield "Classes", _classes(test)
        case Clusters(test=test) | ZeroShot(test=test):
            yield "Classes", _classes(test)
        case Retrieval():
            query, _, grade = data.relevant
            per_query = np.bincount(query[grade > 0], minlength=len(data.queries))
            yield "Queries and documents", f"{len(data.queries):,} and {len(data.documents):,}"
            least, most = per_query.min(), per_query.max()
            yield "Relevant documents a query", f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _classes(part: Labelled) -> str:
    """How many classes, the largest of them, and the smallest size."""
    counts = np.bincount(part.labels, minlength=len(part.classes))
    order = np.argsort(-counts, kind="stable")
    named = ", ".join(f"{shortened(part.classes[at], 40)} {counts[at]:,}" for at in order[:NAMED].tolist())
    more = f", ... the smallest {counts.min():,}" if len(order) > NAMED else ""
    return f"{len(part.classes):,}: {named}{more}"
