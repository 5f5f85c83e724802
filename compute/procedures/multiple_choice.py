"""Multiple choice: each query is matched to the nearest of its candidates (MIEB vision-centric QA: the query is an
image with a question).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, Procedure, as_detail, is_shared, keys_and_texts
from compute.procedures.shared import fusion
from compute.procedures.shared.similarity import alike
from compute.tasks.data import Retrieval


def run(subject: Subject, data: Retrieval, options: Mapping[str, Any]) -> Evidence:
    """Measures the accuracy of the nearest of each query's candidates, by cosine.

    Exactly tied best candidates share the pick, as in `credit`. A query whose candidates all have grade 0 scores 0, as
    in MIEB's public code; a query without judgements has no accuracy. `value` is the margin of the best correct
    candidate. Raises CannotDo if the model cannot embed them.
    """
    pairs = np.unique(np.stack([np.asarray(side, dtype=np.int64) for side in data.candidates]), axis=1)
    query, document = pairs
    starts = np.searchsorted(query, np.arange(len(data.queries)))
    counts = np.diff(np.append(starts, len(query)))
    asked, answer, grade = (np.asarray(side) for side in data.relevant)
    width, good = len(data.documents), grade > 0
    right = np.isin(query * width + document, asked[good].astype(np.int64) * width + answer[good])
    judged = np.isin(np.arange(len(data.queries)), asked)
    able = np.bincount(query[right], minlength=len(data.queries)) > 0
    queries = fusion.embed(subject, data.queries, how=options["fusion"])
    documents = fusion.embed(subject, data.documents, how=options["fusion"])
    scores = alike(queries[query], documents[document])
    best = scores == np.repeat(np.maximum.reduceat(scores, starts), counts)
    worth = np.add.reduceat(best & right, starts, dtype=float) / np.add.reduceat(best, starts, dtype=float)
    worth[~judged] = np.nan
    best_right, best_wrong = (np.maximum.reduceat(np.where(side, scores, -np.inf), starts) for side in (right, ~right))
    names, candidates = data.documents.names, keys_and_texts(data.documents, document)
    rows = [slice(a, a + count) for a, count in zip(starts.tolist(), counts.tolist(), strict=True)]
    named = [names[at] for at in document.tolist()]
    chosen, relevant, values = best.tolist(), right.tolist(), scores.tolist()
    detail = [
        as_detail([shown, *candidates[row]]) | {"hits": named[row], "scores": values[row], "relevant": relevant[row]}
        for shown, row in zip(keys_and_texts(data.queries, np.arange(len(rows))), rows, strict=True)
    ]
    expected, answer = (
        [" / ".join(name for name, mark in zip(named[row], marks[row], strict=True) if mark) for row in rows]
        for marks in (relevant, chosen)
    )
    return Evidence.of(
        settings={
            "candidates": len(query),
            "tied": int(is_shared(worth).sum()),
            "without_relevant": int((~judged).sum()),
            "all_irrelevant": int((judged & ~able).sum()),
        },
        names=data.queries.names,
        expected=expected,
        answer=answer,
        worth=worth,
        value=np.subtract(
            best_right,
            best_wrong,
            out=np.full(len(worth), np.nan),
            where=np.isfinite(best_right) & np.isfinite(best_wrong),
        ),
        figures={"accuracy": worth},
        detail=detail,
    )


PROCEDURE = Procedure(
    key="multiple_choice",
    needs=({"embed_image"}, {"embed_text"}),
    run=run,
    options={"fusion": fusion.WAYS},
    version=2,
)
