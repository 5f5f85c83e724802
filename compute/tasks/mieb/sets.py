"""Items with classes (probes, clustering, zero-shot), matching images and captions, and scored pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.content import items
from compute.tasks import parquet
from compute.tasks.data import Clusters, Labelled, Matches, Probe, Sentences, ZeroShot, take
from compute.tasks.mieb import rows
from compute.tasks.mieb.rows import Row
from compute.tasks.source import Source
from compute.types import BadInput

# The public code skips one damaged training image of Birdsnap before drawing.
DAMAGED = {("Birdsnap", "train"): (3854,)}
# Tasks whose class names are paths, such as `/b/boat_deck` and `/c/church/outdoor`.
NAMED_BY_PATH = ("SUN397ZeroShot",)


def probe(row: Row, source: Source, subset: str, options: Mapping[str, Any]) -> Probe:
    """Returns training and test items of a linear probe, with one label or several."""
    return Probe(
        train=_labelled(row, source, row.train_split),
        test=_labelled(row, source, row.split),
        samples_per_label=row.samples_per_label,
        draws=row.draws,
    )


def clusters(row: Row, source: Source, subset: str, options: Mapping[str, Any]) -> Clusters:
    """Returns items to be clustered."""
    return Clusters(test=_labelled(row, source, row.split))


def zero_shot(row: Row, source: Source, subset: str, options: Mapping[str, Any]) -> ZeroShot:
    """Returns items and one prompt per class, as in the public code.

    Only the part of a path after its second slash is used. With option `prompts` public, line ends remain if the public
    code has them.
    """
    test = _labelled(row, source, row.split)
    if row.fixed:
        prompts = row.fixed
    else:
        names = rows.class_names().get(row.name) or test.classes
        if row.name in NAMED_BY_PATH:
            names = tuple(_words_of_path(name, of=row.name) for name in names)
        end = "\n" if row.keeps_line_ends and options["prompts"] == "public" else ""
        before, _, after = row.template.partition("{")
        prompts = tuple(f"{before}{name}{end}{after.partition('}')[2]}" for name in names)
    if len(prompts) <= int(test.labels.max()):
        raise BadInput(
            f"{row.name}: {len(prompts)} class names, but labels go up to {int(test.labels.max())}. "
            "Is it the pinned revision?"
        )
    return ZeroShot(test=test, prompts=items.texts(prompts, of=f"{row.name}, prompts"))


def _words_of_path(path: str, *, of: str) -> str:
    """Converts `/c/church/outdoor` to "church outdoor". Raises BadInput for a name that is not such a path."""
    words = " ".join(path.split("/")[2:]).replace("_", " ")
    if not words:
        raise BadInput(f"{of}: class name {path!r} is not a path of two slashes or more. Is it the pinned revision?")
    return words


def _labelled(row: Row, source: Source, split: str) -> Labelled:
    folder, repo = row.where(source, split)
    table = parquet.table(folder, repo=repo, split=split)
    (values,) = table.values(row.label_column)
    labels, classes = _labels(values, table.class_names(row.label_column))
    column = table.images(row.image_columns[0], cache=source.cache)
    part = Labelled(names=tuple(map(str, range(len(table)))), items=column, labels=labels, classes=classes)
    damaged = DAMAGED.get((row.name, split), ())
    if not damaged or len(table) <= max(damaged):
        return part
    return take(part, np.delete(np.arange(len(table)), damaged))


def _labels(values: list[Any], names: tuple[str, ...] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns labels as positions (n,), or as a boolean table (n, classes) if rows hold lists."""
    if values and isinstance(values[0], list):
        known = names or tuple(map(str, sorted({label for row in values for label in row})))
        at = {name: position for position, name in enumerate(known)}
        table = np.zeros((len(values), len(known)), dtype=bool)
        for row, some in enumerate(values):
            table[row, [label if names and isinstance(label, int) else at[str(label)] for label in some]] = True
        return table, known
    if names and all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64), names
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64), tuple(map(str, range(max(values, default=-1) + 1)))
    known = names or tuple(sorted(set(map(str, values))))
    at = {name: position for position, name in enumerate(known)}
    return np.array([at[str(value)] for value in values], dtype=np.int64), known


# SugarCrepe's only split is called train, and is the test.
SPLITS = {"SugarCrepe": "train"}
FALSE_IMAGES = 9  # ImageCoDe's images per query, besides the correct one


def matches(row: Row, source: Source, subset: str, options: Mapping[str, Any]) -> Matches:
    """Returns images and captions per row, the correct one first; with two of each, i matches i (Winoground)."""
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
    """Returns ImageCoDe's items: queries, a pool of images, and the ten images of each query."""
    folder, repo = row.where(source)
    corpus = parquet.table(folder, repo=repo, config="corpus", split="corpus")
    queries = parquet.table(folder, repo=repo, config="query", split=row.split)
    qrels = parquet.table(folder, repo=repo, config="qrels", split=row.split)
    at = {name: position for position, name in enumerate(corpus.values("id")[0])}
    right = {}
    wrong = {}
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
    """Returns pairs of rendered sentences with people's scores, for one language or pair of languages."""
    folder, repo = row.where(source)
    chosen = {"config": subset, "split": row.split}
    if subset != "default" and subset not in parquet.configs(folder):  # in some data sets a split of the only one
        chosen = {"split": subset}
    table = parquet.table(folder, repo=repo, **chosen)
    first, second = (table.images(name, cache=source.cache) for name in row.image_columns)
    (scores,) = table.values(row.label_column)
    return Sentences(
        names=tuple(map(str, range(len(table)))), first=first, second=second, human=np.array(scores, dtype=np.float64)
    )
