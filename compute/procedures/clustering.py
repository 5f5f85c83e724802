"""Clustering without labels, for comparison with the labels: mini-batch k-means on raw embeddings (MIEB)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from compute.arrays import Floats, Floats32, Ints
from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, ItemView, Procedure, contents_of
from compute.procedures.shared.similarity import in_range
from compute.tasks.data import Clusters
from compute.types import Undefined

SEED, BATCH = 42, 500
ROWS = 8192


def run(subject: Subject, data: Clusters, options: Mapping[str, Any]) -> Evidence:
    """Returns `expected` (class) and `answer` (cluster) of every item, which is all that NMI needs; no item is right or
    wrong.

    There are as many clusters as labels. `value`: how much farther the second-nearest centre is than the item's own, in
    Euclidean distance. Raises Undefined for a single label.
    """
    labels = data.test.labels
    k = len(np.unique(labels))
    if k < 2:
        raise Undefined(f"The items have {k} label: grouping needs two")
    clusters, distances, iterations = group(*in_range(subject.embed(data.test.items)), k=k)
    names = np.array([f"cluster {at}" for at in range(k)], dtype=object)
    return Evidence.of(
        settings={"k": k, "batch": BATCH, "seed": SEED, "iterations": iterations},
        names=data.test.names,
        expected=_unlike(data.test.classes)[labels],
        answer=names[clusters],
        value=distances[:, 1] - distances[:, 0],
        detail=contents_of((data.test.items,)),
    )


def group(vectors: Floats32, *, k: int) -> tuple[Ints, Floats, int]:
    """Returns clusters (n,) in 0..k-1, distances (n, 2) to the own and the second-nearest centre, and the number of
    iterations.

    Uses scikit-learn's MiniBatchKMeans on one thread, because the order of sums over several threads changes from run
    to run.
    """
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        model = MiniBatchKMeans(n_clusters=k, batch_size=BATCH, n_init="auto", random_state=SEED).fit(vectors)
        distances = np.concatenate(
            [
                np.sort(np.partition(model.transform(vectors[start : start + ROWS]), 1)[:, :2])
                for start in range(0, len(vectors), ROWS)
            ]
        )
    return model.labels_.astype(np.int64), distances.astype(float), int(model.n_iter_)


def _unlike(classes: tuple[str, ...]) -> NDArray[np.object_]:
    """Returns the classes' names. Duplicate names get their position appended, so that they remain distinct."""
    twice = {name for name in classes if classes.count(name) > 1}
    return np.array([f"{name} ({at})" if name in twice else name for at, name in enumerate(classes)], dtype=object)


def by_majority(items: pd.DataFrame) -> dict[str, Any]:
    """Marks items as right if their class is the most frequent in their cluster."""
    most = items.groupby("answer")["expected"].agg(lambda names: names.value_counts().index[0])
    classes = items["answer"].map(most)
    right = (classes == items["expected"]).to_numpy()
    margin = items["value"].astype(float).to_numpy()
    return {
        "right": right.tolist(),
        "margin": np.where(right, margin, -margin),
        "answer_text": items["answer"] + ", mostly " + classes.astype(str),
    }


PROCEDURE = Procedure(
    key="clustering",
    needs=({"embed_image"}, {"embed_text"}),
    run=run,
    view=ItemView(read=by_majority),
)
