"""Correlation of similarity with people's scores of pairs (MIEB visual STS: both sides are images of text)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, ItemView, Procedure, contents_of
from compute.procedures.shared.similarity import against
from compute.rounding import rounded
from compute.tasks.data import Sentences


def run(subject: Subject, data: Sentences, options: Mapping[str, Any]) -> Evidence:
    """Returns `human` and `value` (cosine, or the model's comparison of first and second) for every pair.

    The metric, `cosine_spearman`, is computed from the two; no pair is right or wrong.
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


def apart(items: pd.DataFrame) -> dict[str, np.ndarray]:
    """Returns as `margin` the negated difference of a pair's ranks by people and by the model, as a share of all
    ranks.
    """
    people = pd.to_numeric(items["expected"], errors="coerce").rank()
    return {"margin": -(people - items["value"].rank()).abs().to_numpy() / max(len(items) - 1, 1)}


def places_in_words(margin: float) -> str:
    """Describes the difference of a pair's two ranks."""
    return f"{rounded(-margin, 0, scale=100)}% of positions apart"


PROCEDURE = Procedure(
    key="sts",
    needs=({"embed_image"}, {"embed_text"}, {"compare"}),
    run=run,
    view=ItemView(
        roles=("First", "Second"),
        expected=("People say", "True"),
        orders={"worst": "Farthest from {reference} first", "best": "Nearest to {reference} first"},
        graded=False,
        read=apart,
        margin=places_in_words,
    ),
)
