"""Rows of images and captions that belong together (compositionality), and scored pairs (visual STS)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.content import items
from compute.tasks import parquet
from compute.tasks.data import Matches, Sentences
from compute.tasks.mieb.rows import Row
from compute.tasks.parquet import Table
from compute.tasks.source import Source
from compute.types import BadInput

# SugarCrepe's only split is called train, and is the test.
SPLITS = {"SugarCrepe": "train"}
FALSE_IMAGES = 9  # of ImageCoDe, besides the right one


def matches(row: Row, source: Source, subset: str, options: Mapping[str, Any]) -> Matches:
    """Images and captions a row: the right one first; with two of each, i goes with i (Winoground)."""
    folder, repo = row.where(source)
    if "corpus" in parquet.configs(folder):
        return _pooled(row, source)
    table = parquet.table(folder, repo=repo, split=SPLITS.get(row.name, row.split))
    images = [column for name in row.image_columns for column in table.image_columns(name, cache=source.cache)]
    captions = [
        items.texts(column, of=f"{table.title}, {name}")
        for name, column in zip(row.text_columns, table.values(*row.text_columns), strict=True)
    ]
    return Matches(names=tuple(map(str, range(len(table)))), images=tuple(images), captions=tuple(captions))


def _pooled(row: Row, source: Source) -> Matches:
    """ImageCoDe: queries, a pool of images, and which ten belong to each query."""
    folder, repo = row.where(source)
    corpus = parquet.table(folder, repo=repo, config="corpus", split="corpus")
    queries = parquet.table(folder, repo=repo, config="query", split=row.split)
    qrels = parquet.table(folder, repo=repo, config="qrels", split=row.split)
    at = {name: position for position, name in enumerate(corpus.values("id")[0])}
    right: dict[str, int] = {}
    wrong: dict[str, list[int]] = {}
    for query, document, score in zip(*qrels.values("query-id", "corpus-id", "score"), strict=True):
        if score == 1:
            right[query] = at[document]
        else:
            wrong.setdefault(query, []).append(at[document])
    names, texts = queries.values("id", "text")
    short = [name for name in names if name not in right or len(wrong.get(name, ())) < FALSE_IMAGES]
    if short:
        raise BadInput(f"{row.name}: query {short[0]!r} has not one right and {FALSE_IMAGES} other images")
    pool = corpus.images("image", cache=source.cache)
    chosen = np.array([[right[name], *wrong[name][:FALSE_IMAGES]] for name in names])
    return Matches(
        names=tuple(map(str, names)),
        images=tuple(pool.take(column) for column in chosen.T),
        captions=(items.texts(texts, of=f"{queries.title}, text"),),
    )


def sentences(row: Row, source: Source, subset: str, options: Mapping[str, Any]) -> Sentences:
    """Pairs of rendered sentences with people's scores, of one language or pair of languages."""
    folder, repo = row.where(source)
    table = _language(folder, repo=repo, subset=subset, split=row.split)
    first, second = (table.images(name, cache=source.cache) for name in row.image_columns)
    (scores,) = table.values(row.label_column)
    return Sentences(
        names=tuple(map(str, range(len(table)))), first=first, second=second, human=np.array(scores, dtype=np.float64)
    )


def _language(folder, *, repo: str, subset: str, split: str) -> Table:
    """A language is a configuration; in some data sets it is a split of the only one."""
    if subset == "default" or subset in parquet.configs(folder):
        return parquet.table(folder, repo=repo, config=subset, split=split)
    return parquet.table(folder, repo=repo, split=subset)
