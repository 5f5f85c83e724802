"""Classification by the class prompt nearest to each item, by cosine (MIEB)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, Procedure, contents_of
from compute.procedures.shared.similarity import Cosines
from compute.tasks.data import ZeroShot

SCORES = 4_000_000  # computed at once
TOP = 3


def run(subject: Subject, data: ZeroShot, options: Mapping[str, Any]) -> Evidence:
    """Measures the accuracy of the arg max over prompts; ties go to the first class.

    `value`: the correct class's cosine minus the best other's; 0 is a tie. `detail` has the best three classes as
    `hits` with their `scores`.
    """
    labels, k = data.test.labels, len(data.prompts)
    # Prompts with equal texts are scored once, so that they tie exactly.
    _, first, again = np.unique(data.prompts.keys, return_index=True, return_inverse=True)
    cosines = Cosines(subject.embed(data.test.items), subject.embed(data.prompts.take(first)))
    n, depth, step = len(labels), min(TOP, k), max(1, SCORES // k)
    best, scores_of_best, value = np.empty((n, depth), dtype=np.int64), np.empty((n, depth)), np.empty(n)
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        scores = cosines(part, slice(0, len(first))).cpu().numpy()[:, again]
        rows = np.arange(len(scores))
        right = scores[rows, labels[part]]
        for rank in range(depth):
            best[part, rank] = scores.argmax(axis=1)
            scores_of_best[part, rank] = scores[rows, best[part, rank]]
            scores[rows, best[part, rank]] = -np.inf
        first_wrong = np.where(best[part, 0] == labels[part], 1, 0)
        value[part] = right - scores_of_best[part][rows, first_wrong]
        scores_of_best[part] += cosines.base(part)[:, None]
    classes = np.array(
        data.test.classes if len(data.test.classes) >= k else [data.prompts.read(at) for at in range(k)], dtype=object
    )
    hits = best[:, 0] == labels
    details = [
        item | {"hits": names, "scores": scores}
        for item, names, scores in zip(
            contents_of((data.test.items,)), classes[best].tolist(), scores_of_best.tolist(), strict=True
        )
    ]
    return Evidence.of(
        settings={"prompts": k, "distinct_prompts": len(first), "tied": int((value == 0).sum())},
        names=data.test.names,
        expected=classes[labels],
        answer=classes[best[:, 0]],
        worth=hits,
        value=value,
        figures={"accuracy": hits.astype(float)},
        detail=details,
    )


PROCEDURE = Procedure(key="zero_shot", needs=({"embed_image", "embed_text"}, {"embed_text"}), run=run)
