"""Which of its own candidates a query is nearest to (MIEB vision-centric QA: the query is an image with a question)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.arrays import Bools, Ints
from compute.procedures.evidence import Evidence, Procedure, Subject
from compute.procedures.shared import fusion, preview
from compute.procedures.shared.similarity import alike
from compute.tasks.data import Retrieval
from compute.types import BadInput


def run(subject: Subject, data: Retrieval, options: Mapping[str, Any]) -> Evidence:
    """Accuracy of the first among each query's candidates, by cosine or MaxSim.

    Exactly equal best candidates share the pick, as in `picks.credit`. `value` is the margin of the best right one.
    Raises BadInput where no candidate of a query is right, CannotDo where the model cannot embed them.
    """
    if data.candidates is None:
        raise BadInput("These queries have no candidates of their own: run them by retrieval")
    pairs = np.unique(np.stack([np.asarray(side, dtype=np.int64) for side in data.candidates]), axis=1)
    query, document = pairs
    starts = np.searchsorted(query, np.arange(len(data.queries)))
    counts = np.diff(np.append(starts, len(query)))
    right = _right(data, query, document)
    able = np.bincount(query[right], minlength=len(data.queries)) > 0
    if not able.all():
        raise BadInput(f"No candidate of query {data.queries.names[int(np.argmin(able))]!r} is right")
    queries = fusion.embed(subject, data.queries, how=options["fusion"])
    documents = fusion.embed(subject, data.documents, how=options["fusion"])
    scores = alike(fusion.rows(queries, query), fusion.rows(documents, document))
    best = scores == np.repeat(np.maximum.reduceat(scores, starts), counts)
    worth = np.add.reduceat(best & right, starts, dtype=float) / np.add.reduceat(best, starts, dtype=float)
    good, bad = (np.maximum.reduceat(np.where(side, scores, -np.inf), starts) for side in (right, ~right))
    names, candidates = data.documents.names, preview.mixed(data.documents, document)
    rows = [slice(a, a + count) for a, count in zip(starts.tolist(), counts.tolist(), strict=True)]
    named = [names[at] for at in document.tolist()]
    chosen, relevant, values = best.tolist(), right.tolist(), scores.tolist()
    detail = [
        preview.listed([shown, *candidates[row]])
        | {"hits": named[row], "scores": values[row], "relevant": relevant[row]}
        for shown, row in zip(preview.mixed(data.queries, np.arange(len(rows))), rows, strict=True)
    ]
    expected, answer = (
        [" / ".join(name for name, mark in zip(named[row], marks[row], strict=True) if mark) for row in rows]
        for marks in (relevant, chosen)
    )
    return Evidence.of(
        settings={"candidates": len(query), "shared": int(((worth > 0) & (worth < 1)).sum())},
        names=data.queries.names,
        expected=expected,
        answer=answer,
        worth=worth,
        value=np.where(np.isfinite(bad), good - bad, np.nan),
        figures={"accuracy": worth},
        detail=detail,
    )


def _right(data: Retrieval, query: Ints, document: Ints) -> Bools:
    """Which candidates are relevant to their query."""
    queries, answer, grade = (np.asarray(side) for side in data.relevant)
    good = grade > 0
    width = len(data.documents)
    return np.isin(query * width + document, queries[good].astype(np.int64) * width + answer[good])


PROCEDURE = Procedure(
    key="multiple_choice",
    needs=(frozenset({"embed_image"}), frozenset({"embed_text"})),
    run=run,
    options={"fusion": fusion.WAYS},
)
