"""Retrieval: queries, documents and which belong together, in the layout of BEIR; images by path as well as texts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from compute.tasks.data import Mixed, Retrieval, renumbered
from compute.tasks.own.facts import OwnFacts, modalities, number_of
from compute.tasks.own.rows import OwnContent, OwnRows
from compute.types import shortened

CORPUS, QUERIES, QRELS = "corpus", "queries", "qrels"
QUERY, DOCUMENT, SCORE = "query-id", "corpus-id", "score"
MOST_GRADE = 1000


def facts(tables: Mapping[str, OwnRows]) -> OwnFacts:
    """Of queries with a judgement; others are left out, as the layout has one list of queries for all splits."""
    kinds: set[str] = set()
    for name in (QUERIES, CORPUS):
        kinds |= _check_side(tables[name])
    qrels = tables[QRELS]
    grades = _grades(qrels)
    query, document = (_positions(qrels, column, tables[side]) for column, side in _SIDES)
    judged = np.unique(query[query >= 0])
    if not (grades[(query >= 0) & (document >= 0)] > 0).any() and not qrels.faults.count:
        qrels.whole(f"no {qrels.columns[SCORE]} is above 0: no document is right for any query", name=SCORE)
    _check_again(qrels, query, document, grades)
    left = len(tables[QUERIES]) - len(judged)
    return OwnFacts(
        category="Retrieval",
        metrics=("ndcg_at_10", "hit_rate_at_1", "hit_rate_at_10", "mrr_at_10", "map"),
        chance=None,
        n_items=len(judged),
        modalities=modalities(kinds),
        counts=f"{number_of(len(judged), 'query')}, {number_of(len(tables[CORPUS]), 'document')} and "
        f"{number_of(len(qrels), 'judgement')}",
        notes=f"Left out: {number_of(left, 'query')} without a judgement." if left else "",
    )


def retrieval(tables: Mapping[str, OwnRows]) -> Retrieval:
    """The judged queries, all documents and the judgements."""
    qrels = tables[QRELS]
    query, document = (_positions(qrels, column, tables[side]) for column, side in _SIDES)
    judged = np.unique(query)
    return Retrieval(
        queries=_mixed(tables[QUERIES]).take(judged),
        documents=_mixed(tables[CORPUS]),
        relevant=(renumbered(judged, len(tables[QUERIES]))[query], document, _grades(qrels)),
    )


_SIDES = ((QUERY, QUERIES), (DOCUMENT, CORPUS))  # columns of judgements, and whose names they hold


def _check_side(rows: OwnRows) -> set[str]:
    """The modalities of queries or documents; a row with neither image nor text is a fault."""
    rows.check_names()
    contents = [content for content in (_image(rows), _text(rows)) if content is not None]
    if not contents:
        rows.whole("has neither a column text nor a column image")
        return set()
    empty = np.all([content.positions() < 0 for content in contents], axis=0)
    rows.faults.rows(rows.table.title, empty, lambda at: "it has neither a text nor an image")
    return {content.modality for content in contents if (content.positions() >= 0).any()}


def _image(rows: OwnRows) -> OwnContent | None:
    return rows.content("image", only="image", required=False) if rows.has("image") else None


def _text(rows: OwnRows) -> OwnContent | None:
    """Title and text as one, as BEIR has it."""
    present = [name for name in ("title", "text") if rows.has(name)]
    return rows.joined_texts(present) if present else None


def _grades(qrels: OwnRows) -> np.ndarray:
    return qrels.whole_numbers(
        SCORE, least=0, most=MOST_GRADE, meaning=f"a whole number from 0, not relevant, to {MOST_GRADE:,}"
    )


def _positions(qrels: OwnRows, column: str, side: OwnRows) -> np.ndarray:
    """(judgements,) which query or document each names; one that is not there is a fault, and -1."""
    return qrels.once(("positions", column), lambda: _look_up(qrels, column, side))


def _look_up(qrels: OwnRows, column: str, side: OwnRows) -> np.ndarray:
    import pandas as pd

    codes = qrels.texts(column)
    names = side.texts("id")
    first = pd.Index(names.distinct.to_pandas()).get_indexer(pd.Index(codes.distinct.to_pandas()))
    row_of = np.append(renumbered(names.codes, len(names.distinct)), -1)
    at = np.append(row_of[first], -1)[codes.codes]
    qrels.fault(
        column,
        (at < 0) & (codes.codes >= 0),
        lambda row: f"is {shortened(codes.at(row))!r}, which {side.table.title} does not have",
    )
    return at


def _check_again(qrels: OwnRows, query: np.ndarray, document: np.ndarray, grades: np.ndarray) -> None:
    """A pair that an earlier row grades otherwise is a fault."""
    import pandas as pd

    pairs = pd.DataFrame({"query": query, "document": document, "grade": grades})
    known = (query >= 0) & (document >= 0)
    unlike = pairs.groupby(["query", "document"])["grade"].transform("first").to_numpy() != grades
    qrels.fault(SCORE, known & unlike, lambda at: f"is {grades[at]}, in an earlier row of the same pair another")


def _mixed(rows: OwnRows) -> Mixed:
    image, text = _image(rows), _text(rows)
    image_column, image_at = image.distinct(rows.cache) if image else (None, None)
    text_column, text_at = text.distinct(rows.cache) if text else (None, None)
    return Mixed(names=rows.names(), image=image_column, image_at=image_at, text=text_column, text_at=text_at)
