"""Classification by nearest neighbours among the other items, by cosine: nothing is trained or prompted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, Procedure, contents_of
from compute.tasks.data import Clusters
from compute.types import Undefined

NEIGHBOURS = 5
TIE = 1e-3  # weight of a distance, in votes: if classes have equally many neighbours, the nearer ones win


def run(subject: Subject, data: Clusters, options: Mapping[str, Any]) -> Evidence:
    """Measures the accuracy of the majority class of the five nearest other items.

    `value`: the votes of the correct class minus those of the best other. Raises Undefined for too few items.
    """
    from sklearn.neighbors import NearestNeighbors

    labels, classes = data.test.labels, np.array(data.test.classes, dtype=object)
    rows, votes = np.arange(len(labels)), np.zeros((len(labels), len(classes)))
    if len(rows) <= NEIGHBOURS:
        raise Undefined(f"There are {len(rows)} items: {NEIGHBOURS} neighbours of each need more")
    vectors = subject.embed(data.test.items).astype(float)
    index = NearestNeighbors(n_neighbors=NEIGHBOURS, metric="cosine").fit(vectors)
    distances, near = index.kneighbors()  # excludes the item itself
    np.add.at(votes, (rows[:, None], labels[near]), 1 - TIE * distances)
    answers, own = votes.argmax(axis=1), votes[rows, labels]
    votes[rows, labels] = -np.inf
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


PROCEDURE = Procedure(key="neighbours", needs=({"embed_image"}, {"embed_text"}), run=run)
