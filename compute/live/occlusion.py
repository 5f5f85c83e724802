"""Which parts of an image a score depends on: the score is computed again with each cell of a grid in grey (Zeiler and
Fergus 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PIL import Image

from compute.arrays import Floats
from compute.content.items import content_key
from compute.features.subject import MemoryStore, Subject
from compute.live.changes import size
from compute.live.inputs import Input, column_of
from compute.procedures.shared.similarity import symmetric
from compute.types import BadInput

CELLS = 7  # per side


def drops(subject: Subject, *pair: Input) -> tuple[float, list[Floats | None]]:
    """Returns the score of two inputs and, for each image among them, how far it falls without each cell [CELLS,
    CELLS].

    Works with any model that can compare the two. Images are reduced first, as for curves. Raises BadInput if the score
    is infinite, such as the PSNR of equal images, and CannotDo as `symmetric`.
    """
    first, second = (_reduced(each) if each.modality == "image" else each for each in pair)
    loaded = subject.model
    subject = Subject(subject.row, MemoryStore(), load=lambda row, hardware: loaded)  # no other question reuses copies
    whole = _scores(subject, [first], second)[0]
    if not np.isfinite(whole):
        raise BadInput("its score of these two is infinite, so nothing makes it fall. Choose other inputs")
    return float(whole), [
        None if one.modality == "text" else whole - _without_cells(subject, one, other)
        for one, other in ((first, second), (second, first))
    ]


def occluded(image: Input, row: int) -> list[Input]:
    """Returns CELLS copies of an image, each with one cell of that row filled with the image's mean colour."""
    pixels = np.asarray(image.content)
    rows, columns = (np.linspace(0, side, CELLS + 1).round().astype(int) for side in pixels.shape[:2])
    copies = []
    for column in range(CELLS):
        copy = pixels.copy()
        copy[rows[row] : rows[row + 1], columns[column] : columns[column + 1]] = pixels.mean(axis=(0, 1)).round()
        name = f"{image.name} without row {row + 1}, column {column + 1}"
        key = content_key(image.key + f" without {row} {column}".encode())
        copies.append(replace(image, content=Image.fromarray(copy), name=name, key=key))
    return copies


def _without_cells(subject: Subject, image: Input, other: Input) -> Floats:
    return np.array([_scores(subject, occluded(image, row), other) for row in range(CELLS)])


def _scores(subject: Subject, images: Sequence[Input], other: Input) -> Floats:
    return symmetric(subject, column_of(images), column_of([other] * len(images)))


def _reduced(image: Input) -> Input:
    whole, reduced = image.content, size(image)
    if whole.size == reduced:
        return image
    return replace(
        image, content=whole.resize(reduced, Image.Resampling.LANCZOS), key=content_key(image.key + b" reduced")
    )
