"""Queries, documents and relevance judgements: the hub's three tables, or data sets with another layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compute.content import items
from compute.content.items import Column
from compute.tasks import parquet
from compute.tasks.data import Mixed, Retrieval, renumbered
from compute.tasks.mieb.rows import Row
from compute.tasks.parquet import NO_KEY, Table
from compute.tasks.source import Source
from compute.types import BadInput

# Queries and documents by name, and (query, document) -> grade.
Parts = tuple[Mixed, Mixed, dict[tuple[str, str], int]]
# Prefixes of names of tasks whose queries have their own candidates; candidates of grade 0 are wrong.
POOLED = ("BLINKIT2IMultiChoice", "BLINKIT2TMultiChoice", "CVBench")


def load(row: Row, source: Source, subset: str, options: Mapping[str, Any]) -> Retrieval:
    """Returns one subset's queries and documents.

    As in the public code, queries without graded documents are skipped, but queries whose grades are all 0 are not.
    """
    maker = next((made for prefix, made in MAKERS.items() if row.name.startswith(prefix)), three_tables)
    queries, documents, grades = maker(row, source, subset)
    query_at = {name: at for at, name in enumerate(queries.names)}
    document_at = {name: at for at, name in enumerate(documents.names)}
    graded = sorted({query_at[query] for query, _ in grades if query in query_at})
    if not graded:
        raise BadInput(f"{row.name}, {subset}: no query has a graded document. Is it the pinned revision?")
    moved = {before: after for after, before in enumerate(graded)}
    known = [
        (moved[query_at[query]], document_at.get(document, -1), grade)
        for (query, document), grade in grades.items()
        if query in query_at
    ]
    every = np.array(known, dtype=np.int64).reshape(-1, 3)
    pairs, gone = every[every[:, 1] >= 0], every[every[:, 1] < 0]
    return Retrieval(
        queries=queries.take(np.array(graded)),
        documents=documents,
        relevant=(pairs[:, 0], pairs[:, 1], pairs[:, 2]),
        skip_first=row.skip_first,
        missing=(gone[:, 0], gone[:, 2]) if len(gone) else None,
        candidates=(pairs[:, 0], pairs[:, 1]) if row.name.startswith(POOLED) else None,
    )


def three_tables(row: Row, source: Source, subset: str) -> Parts:
    """Returns the common layout: configurations `corpus`, `queries` or `query`, and `qrels` or the default one."""
    folder, repo = row.where(source)
    present = parquet.configs(folder)
    before = "" if subset == "default" else f"{subset}-"

    def table(*names: str) -> Table:
        config = next((before + name for name in names if before + name in present), before + names[0])
        splits = parquet.splits(folder, config=config)
        split = row.split if row.split in splits or len(splits) != 1 else splits[0]
        return parquet.table(folder, repo=repo, config=config, split=split)

    queries = _mixed(row, table("query", "queries"), "queries", source)
    documents = _mixed(row, table("corpus"), "corpus", source)
    return queries, documents, _grades(table("qrels", "default"))


def _mixed(row: Row, table: Table, side: str, source: Source) -> Mixed:
    """Returns queries or documents with the modalities that the task's row names for this side."""
    identity = next((name for name in ("id", "_id", "query-id", "corpus-id") if name in table.columns), "id")
    names = tuple(map(str, table.values(identity)[0]))
    image = text = None
    if f"{side}.image" in row.image_columns and "image" in table.columns:
        image = table.images("image", cache=source.cache)
    if f"{side}.text" in row.text_columns:
        column = "text" if "text" in table.columns else "query"
        titles = table.values("title")[0] if "title" in table.columns else [None] * len(names)
        (bodies,) = table.values(column)
        text = [f"{title or ''} {body or ''}".strip() for title, body in zip(titles, bodies, strict=True)]
    return _both(names, image=image, text=text, of=f"{table.title}, text")


def _both(names: tuple[str, ...], *, image: Column | None = None, text: list[str] | None = None, of: str) -> Mixed:
    """Returns rows with an image, a text or both; an empty image or a blank text counts as none."""
    image_at = text_at = column = None
    if image is not None:
        image_at = np.where(image.keys == NO_KEY, -1, np.arange(len(image)))
        filled = np.flatnonzero(image_at >= 0)
        image, image_at = image.take(filled), renumbered(filled, len(image_at))
    if text is not None:
        filled = np.array([at for at, string in enumerate(text) if string.strip()], dtype=np.int64)
        column = items.texts([text[at] for at in filled], of=of)
        text_at = renumbered(filled, len(text))
    return Mixed(names=names, image=image, image_at=image_at, text=column, text_at=text_at)


def _grades(table: Table) -> dict[tuple[str, str], int]:
    columns = table.values("query-id", "corpus-id", "score")
    return {(str(query), str(document)): int(score) for query, document, score in zip(*columns, strict=True)}


def documents(row: Row, source: Source, subset: str) -> Parts:
    """Reads ViDoRe v1 and v2: questions and pages, numbered separately; only the questions in one language are used."""
    folder, repo = row.where(source)
    tables = {
        config: parquet.table(folder, repo=repo, config=config, split=row.split)
        for config in ("queries", "corpus", "qrels")
    }
    pages = tables["corpus"].images("image", cache=source.cache)
    names, texts = tables["queries"].values("query-id", "query")
    if subset != "default":
        (languages,) = tables["queries"].values("language")
        asked = [at for at, language in enumerate(languages) if language == subset]
        names, texts = [names[at] for at in asked], [texts[at] for at in asked]
    return (
        _both(tuple(map(str, names)), text=texts, of=f"{tables['queries'].title}, query"),
        _both(tuple(map(str, tables["corpus"].values("corpus-id")[0])), image=pages, of=repo),
        _grades(tables["qrels"]),
    )


def memes(row: Row, source: Source, subset: str) -> Parts:
    """Reads Hateful Memes: a single pool of all splits' rows with distinct texts; the answer of a test row is the row
    itself.
    """
    folder, repo = row.where(source)
    tables = [parquet.table(folder, repo=repo, split=split) for split in ("test", "validation", "train")]
    names, texts = ([value for table in tables for value in table.values(column)[0]] for column in ("id", "text"))
    first = {text: at for at, text in reversed(list(enumerate(texts)))}
    return _captioned(row, source, tables, names, texts, pool=sorted(first.values()), queries=range(len(tables[0])))


def memotion(row: Row, source: Source, subset: str) -> Parts:
    """Reads Memotion: a single pool of all splits' rows with a text; rows are named by split and position."""
    folder, repo = row.where(source)
    tables = {split: parquet.table(folder, repo=repo, split=split) for split in parquet.splits(folder)}
    texts = [text for table in tables.values() for text in table.values("text_corrected")[0]]
    origin = [split for split, table in tables.items() for _ in range(len(table))]
    names = [f"{split}-{at}" for at, split in enumerate(origin)]
    pool = [at for at, text in enumerate(texts) if text is not None]
    queries = [at for at in pool if origin[at] == row.split]
    return _captioned(row, source, list(tables.values()), names, texts, pool=pool, queries=queries)


def rows_as_pairs(row: Row, source: Source, subset: str) -> Parts:
    """Reads SciMMIR: every row of the split is a query, and its other half is the answer."""
    folder, repo = row.where(source)
    table = parquet.table(folder, repo=repo, split=row.split)
    every = range(len(table))
    return _captioned(row, source, [table], every, table.values("text")[0], pool=every, queries=every)


def _captioned(
    row: Row,
    source: Source,
    tables: Sequence[Table],
    names: Sequence,
    texts: Sequence[str],
    *,
    pool: Sequence[int],
    queries: Sequence[int],
) -> Parts:
    """Concatenates rows of tables with an image and a text each. One half is the query for the other, in the direction
    given by the task's row.
    """
    images = items.joined([table.images("image", cache=source.cache) for table in tables])
    by_text = "queries.text" in row.text_columns

    def half(at: Sequence[int], *, text: bool) -> Mixed:
        some = tuple(str(names[row_at]) for row_at in at)
        if text:
            return _both(some, text=[texts[row_at] or "" for row_at in at], of=f"{row.repo}, text")
        return _both(some, image=images.take(np.array(at, dtype=np.int64)), of=row.repo)

    return (
        half(queries, text=by_text),
        half(pool, text=not by_text),
        {(str(names[at]), str(names[at])): 1 for at in queries},
    )


def captions(row: Row, source: Source, subset: str) -> Parts:
    """Reads WIT and XM3600: a split per language; every caption of an image is a query for it. XFlickr30k-CO has one
    caption per image.
    """
    folder, repo = row.where(source)
    table = parquet.table(folder, repo=repo, split=subset)
    is_one = "sentences" in table.columns
    names, lists = table.values(*(("id", "sentences") if is_one else ("image_id", "captions")))
    queries = [
        (str(name) if is_one else f"{name}-{number}", text, str(name))
        for name, some in zip(names, lists, strict=True)
        for number, text in enumerate([some] if is_one else some)
    ]
    return (
        _both(tuple(name for name, _, _ in queries), text=[text for _, text, _ in queries], of=table.title),
        _both(tuple(map(str, names)), image=table.images("image", cache=source.cache), of=repo),
        {(name, image): 1 for name, _, image in queries},
    )


def choices(row: Row, source: Source, subset: str) -> Parts:
    """Reads CV-Bench: rows of one question type; a query is an image with a question, and its choices are the
    candidates.
    """
    folder, repo = row.where(source)
    table = parquet.table(folder, repo=repo, split=row.split)
    kinds, questions, options, answers = table.values("task", "question", "choices", "answer")
    mine = np.array([at for at, kind in enumerate(kinds) if kind == row.name.removeprefix("CVBench")], dtype=np.int64)
    pool = list(dict.fromkeys(choice for at in mine for choice in options[at]))
    grades = {
        (str(at), choice): int(choice == options[at][_letter(answers[at], of=table.title)])
        for at in mine.tolist()
        for choice in options[at]
    }
    return (
        _both(
            tuple(map(str, mine)),
            image=table.images("image", cache=source.cache).take(mine),
            text=[questions[at] for at in mine],
            of=table.title,
        ),
        _both(tuple(pool), text=pool, of=f"{table.title}, choices"),
        grades,
    )


def _letter(answer: str, *, of: str) -> int:
    position = "ABCDEFGH".find(answer.strip("()"))
    if position < 0 or len(answer.strip("()")) != 1:
        raise BadInput(f"{of}: the answer {answer!r} is not a letter of a choice")
    return position


# Data sets without the three tables, by the prefix of their tasks' names.
MAKERS = {
    "Vidore3": three_tables,
    "Vidore": documents,
    "HatefulMemes": memes,
    "Memotion": memotion,
    "SciMMIR": rows_as_pairs,
    "WIT": captions,
    "XM3600": captions,
    "XFlickr30kCo": captions,
    "CVBench": choices,
}
