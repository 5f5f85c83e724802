"""How well similarity follows what people say of pairs (MIEB visual STS: both sides are images of text)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compute.procedures.evidence import Evidence, Procedure, Subject, contents_of
from compute.procedures.shared.similarity import against
from compute.tasks.data import Sentences


def run(subject: Subject, data: Sentences, options: Mapping[str, Any]) -> Evidence:
    """`human` and `value` (cosine, or the model's comparison of first and second) for every pair.

    The metric, `cosine_spearman`, is made of the two; no pair is right or wrong.
    """
    value = against(subject, data.first, [data.second])[:, 0]
    return Evidence.of(
        names=data.names,
        expected=[f"{score:g}" for score in data.human.tolist()],
        answer=[f"{score:.4f}" for score in value.tolist()],
        value=value,
        figures={"human": data.human.astype(float)},
        detail=contents_of((data.first, data.second)),
    )


PROCEDURE = Procedure(
    key="sts", needs=(frozenset({"embed_image"}), frozenset({"embed_text"}), frozenset({"compare"})), run=run
)
