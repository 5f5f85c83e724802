"""Where two images agree, with the bundled model."""

from __future__ import annotations

import numpy as np
import pytest

from compute import models
from compute.catalog import shipped
from compute.live import examples, patches
from compute.live.models.subject import LiveSubject
from compute.models.adapter import Hardware
from compute.types import BadInput, CannotDo

ROWS = {row.key: row for row in shipped().models}


def subject(key: str) -> LiveSubject:
    return LiveSubject(
        row=ROWS[key], model=models.load(ROWS[key], hardware=Hardware(device="cpu", dtype="float32")), inputs={}
    )


def test_an_image_agrees_with_itself_place_by_place() -> None:
    cat = examples.load("cat")
    found = patches.agree(subject("tiny"), first=cat, second=cat)
    rows, columns = found.first
    assert found.ranks.shape == (rows * columns, rows * columns)
    assert found.ranks.min() >= 0 and found.ranks.max() <= 1
    assert (found.ranks.argmax(axis=1) == np.arange(rows * columns)).mean() > 0.9


def test_texts_and_models_without_patches_are_refused() -> None:
    cat, words = examples.load("cat"), examples.load("text-cat")
    with pytest.raises(BadInput, match="a map needs two images"):
        patches.agree(subject("tiny"), first=cat, second=words)
    with pytest.raises(CannotDo, match="no patch tokens"):
        patches.agree(subject("colour-histogram"), first=cat, second=cat)
