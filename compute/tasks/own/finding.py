"""Retrieval: queries, documents and relevance judgements in the layout of BEIR, with images by path as well as
texts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from compute.tasks.data import Data, Mixed, Retrieval, renumbered
from compute.tasks.own.rows import OwnContent, OwnFacts, OwnRows
from compute.types import counted, shortened

CORPUS, QUERIES, QRELS = "corpus", "queries", "qrels"
QUERY, DOCUMENT, SCORE = "query-id", "corpus-id", "score"
MOST_GRADE = 1000
FOUND = ("captions", "images")  # what is searched; each is the query for the other


def retrieval(tables: Mapping[str, OwnRows]) -> OwnFacts:
    """Returns the queries with a judgement (the layout lists those of all splits together), all documents, and the
    judgements.
    """
    import pandas as pd

    queries, documents, qrels = tables[QUERIES], tables[CORPUS], tables[QRELS]
    sides = [_side(queries), _side(documents)]
    meaning = f"a whole number from 0, not relevant, to {MOST_GRADE:,}"
    grades = qrels.numbers(SCORE, least=0, most=MOST_GRADE, whole=True, meaning=meaning)
    query, document = _positions(qrels, QUERY, queries), _positions(qrels, DOCUMENT, documents)
    judged, known = np.unique(query[query >= 0]), (query >= 0) & (document >= 0)
    if not (grades[known] > 0).any() and not qrels.faults.count:
        qrels.whole(f"no {qrels.columns[SCORE]} is above 0: no document is right for any query")
    first = pd.Series(grades).groupby([query, document]).transform("first").to_numpy()
    qrels.fault(
        SCORE, known & (first != grades), lambda at: f"is {grades[at]}, in an earlier row of the same pair another"
    )
    left = len(queries) - len(judged)
    return OwnFacts(
        category="Retrieval",
        metrics=("ndcg_at_10", "hit_rate_at_1", "hit_rate_at_10", "mrr_at_10", "map"),
        chance=None,
        n_items=len(judged),
        modalities=tuple(sorted({part.modality for side in sides for part in side.values() if (part.at >= 0).any()})),
        counts=f"{counted(len(judged), 'query')}, {counted(len(documents), 'document')} and "
        f"{counted(len(qrels), 'judgement')}",
        notes=f"Skipped: {counted(left, 'query')} without a judgement." if left else "",
        items=lambda: Retrieval(
            queries=_mixed(queries, sides[0]).take(judged),
            documents=_mixed(documents, sides[1]),
            relevant=(renumbered(judged, len(queries))[query], document, grades),
        ),
    )


def captions(rows: OwnRows) -> OwnFacts:
    """Returns retrieval of images by captions and of captions by images; an image or caption in several rows counts
    once.
    """
    contents = rows.content("image", only="image"), rows.content("caption", only="text")
    rows.check_names()
    first, at = zip(*(np.unique(each.at, return_index=True, return_inverse=True)[1:] for each in contents), strict=True)
    if min(map(len, first)) < 2 and not rows.faults.count:
        rows.whole("a search needs two images and two captions that differ")
    said = f"{counted(len(first[0]), 'image')} and {counted(len(first[1]), 'caption')}"
    rows.notes.append(f"{rows.table.title} is read as retrieval both ways of {said}, a row being a match.")

    def items() -> dict[str, Data]:
        names = rows.names()
        sides = [
            Mixed(
                names=tuple(names[row] for row in own),
                **{
                    content.modality: content.column(rows.cache).take(own),
                    f"{content.modality}_at": np.arange(len(own)),
                },
            )
            for content, own in zip(contents, first, strict=True)
        ]
        image, caption = np.unique(np.stack(at), axis=1)
        one = np.ones(len(image), dtype=np.int64)
        return {
            FOUND[0]: Retrieval(queries=sides[0], documents=sides[1], relevant=(image, caption, one)),
            FOUND[1]: Retrieval(queries=sides[1], documents=sides[0], relevant=(caption, image, one)),
        }

    return OwnFacts(
        category="Retrieval",
        metrics=("hit_rate_at_1", "hit_rate_at_10", "mrr_at_10", "ndcg_at_10"),
        chance=None,
        n_items=len(first[0]) + len(first[1]),
        modalities=("image", "text"),
        counts=f"{said}, each searched for by the other",
        items=items,
        subsets=FOUND,
    )


def _side(rows: OwnRows) -> dict[str, OwnContent]:
    """Returns the images and the texts of queries or documents; a row with neither is a fault. Title and text are
    joined, as in BEIR.
    """
    rows.check_names()
    contents = {"image": rows.content("image", only="image", required=False)} if rows.has("image") else {}
    if present := [name for name in ("title", "text") if rows.has(name)]:
        contents["text"] = rows.joined_texts(present)
    if contents:
        empty = np.all([content.at < 0 for content in contents.values()], axis=0)
        rows.faults.rows(rows.table.title, empty, lambda at: "it has neither a text nor an image")
    else:
        rows.whole("has neither a column text nor a column image")
    return contents


def _positions(qrels: OwnRows, column: str, side: OwnRows) -> np.ndarray:
    """Returns (judgements,) the query or document named by each judgement; -1 and a fault if it is missing."""
    import pandas as pd

    codes, names = qrels.texts(column), side.texts("id")
    first = pd.Index(names.distinct).get_indexer(codes.distinct)
    row_of = np.append(renumbered(names.codes, len(names.distinct)), -1)
    at = np.append(row_of[first], -1)[codes.codes]
    qrels.fault(
        column,
        (at < 0) & (codes.codes >= 0),
        lambda row: f"is {shortened(codes.at(row))!r}, which {side.table.title} does not have",
    )
    return at


def _mixed(rows: OwnRows, contents: Mapping[str, OwnContent]) -> Mixed:
    parts = {}
    for kind, content in contents.items():
        parts[kind], parts[f"{kind}_at"] = content.distinct(rows.cache)
    return Mixed(names=rows.names(), **parts)
