"""Matching captions to the images of one row (MIEB compositionality: ARO, SugarCrepe, Winoground, ImageCoDe)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, Procedure, contents_of, credit, is_shared, margin
from compute.procedures.shared.similarity import against
from compute.tasks.data import Matches


def run(subject: Subject, data: Matches, options: Mapping[str, Any]) -> Evidence:
    """Returns text, image and group accuracy per row, from the similarities of its a images and c captions.

    `text_accuracy`: every image is given its own caption among the row's (one image: ARO, SugarCrepe; two: Winoground's
    text score). `image_accuracy`: every caption is given its own image (one caption: ImageCoDe). `group_accuracy`:
    both. With one image there is no image accuracy, and with one caption no text accuracy. Ties count as in `credit`,
    and a row's credit is the product over its picks. `value` is the smallest margin of a row's picks. Raises CannotDo
    if the model cannot compare images with texts.
    """
    a, c = len(data.images), len(data.captions)
    # [rows, images, captions]
    scores = np.stack([against(subject, image, data.captions) for image in data.images], axis=1)
    columns, margins, tied = {}, [], np.zeros(len(scores), dtype=bool)
    for metric, picks in (("text_accuracy", scores), ("image_accuracy", scores.transpose(0, 2, 1))):
        if picks.shape[2] > 1:  # [rows, picks, candidates]; candidate i is correct for pick i
            right = np.broadcast_to(np.eye(*picks.shape[1:], dtype=bool), picks.shape)
            columns[metric] = credit(picks, right).prod(axis=1)
            margins.append(margin(picks, right).min(axis=1))
            tied |= is_shared(columns[metric])
    if len(columns) == 2:
        columns["group_accuracy"] = columns["text_accuracy"] * columns["image_accuracy"]
    flat = scores.reshape(len(scores), -1).tolist()  # image by image
    details = [
        detail | {"scores": row} for detail, row in zip(contents_of((*data.images, *data.captions)), flat, strict=True)
    ]
    expected = "each with its own" if a == c else "the first"
    return Evidence.of(
        settings={"images": a, "captions": c, "tied": int(tied.sum())},
        names=data.names,
        expected=expected,
        answer=_as_text(scores),
        worth=list(columns.values())[-1],
        value=np.min(margins, axis=0),
        figures=columns,
        detail=details,
    )


def _as_text(scores: Floats) -> list[str]:
    """Describes the caption nearest to each image (from 1), or the image nearest to the only caption."""
    best = scores.argmax(axis=2) if scores.shape[2] > 1 else scores.argmax(axis=1)
    what = "caption" if scores.shape[2] > 1 else "image"
    return [f"{what} {', '.join(str(at + 1) for at in row)}" for row in best.tolist()]


PROCEDURE = Procedure(
    key="matching",
    needs=({"embed_image", "embed_text"},),
    run=run,
)
