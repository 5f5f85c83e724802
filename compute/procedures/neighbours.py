"""Each item gets the class of its nearest neighbours among the others, by cosine: nothing is trained or prompted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.procedures.evidence import Evidence, Procedure, Subject, contents_of
from compute.procedures.shared.similarity import Cosines
from compute.tasks.data import Clusters
from compute.types import Undefined

NEIGHBOURS = 5
SCORES = 4_000_000  # computed at once
TIE = 1e-3  # of a cosine, in votes: where classes have as many neighbours, the nearer ones decide


def run(subject: Subject, data: Clusters, options: Mapping[str, Any]) -> Evidence:
    """Accuracy of the class that most of the five nearest others have.

    `value`: the votes of the right class less those of the best other. Raises Undefined for too few items.
    """
    labels, classes = data.test.labels, np.array(data.test.classes, dtype=object)
    n, votes = len(labels), np.zeros((len(labels), len(classes)))
    if n <= NEIGHBOURS:
        raise Undefined(f"There are {n} items: {NEIGHBOURS} neighbours of each need more")
    vectors = subject.embed(data.test.items)
    cosines, step = Cosines(vectors, vectors), max(1, SCORES // n)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        scores = cosines(slice(start, int(rows[-1]) + 1), slice(0, n)).cpu().numpy().astype(float)
        scores[rows - start, rows] = -np.inf
        for near in np.argsort(-scores, axis=1, kind="stable")[:, :NEIGHBOURS].T:
            votes[rows, labels[near]] += 1 + TIE * scores[rows - start, near]
    answers, own = votes.argmax(axis=1), votes[np.arange(n), labels]
    votes[np.arange(n), labels] = -np.inf
    return Evidence.of(
        settings={"neighbours": NEIGHBOURS},
        names=data.test.names,
        expected=classes[labels],
        answer=classes[answers],
        worth=answers == labels,
        value=own - votes.max(axis=1),
        figures={"accuracy": (answers == labels).astype(float)},
        detail=contents_of((data.test.items,)),
    )


PROCEDURE = Procedure(key="neighbours", needs=(frozenset({"embed_image"}), frozenset({"embed_text"})), run=run)
