"""Scores as an image is changed more and more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compute import models
from compute.analysis.domain import Calibrations
from compute.catalog import shipped
from compute.live import curves, examples
from compute.live.answers import answer
from compute.live.models.subject import LiveSubject
from compute.live.question import LiveQuestion
from compute.models.adapter import Hardware
from compute.tasks.perturb import PERTURBATIONS, perturb

ROWS = {row.key: row for row in shipped().models}
CAT, COFFEE, WORDS = (examples.load(key) for key in ("cat", "coffee", "text-cat"))


def subject(key: str) -> LiveSubject:
    return LiveSubject(
        row=ROWS[key], model=models.load(ROWS[key], hardware=Hardware(device="cpu", dtype="float32")), inputs={}
    )


def scores(mine: LiveSubject, **given: Any) -> tuple[float, ...]:
    return curves.curve(mine, CAT, calibrations=Calibrations(), **given).scores


@pytest.mark.parametrize("kind", PERTURBATIONS)
def test_an_unchanged_image_is_itself_and_more_change_is_less_alike(kind: str) -> None:
    found = scores(subject("ssim"), kind=kind)
    assert len(found) == len(curves.STRENGTHS) and found[0] == pytest.approx(1)
    assert found[-1] < found[1] < 1


def test_a_step_is_the_score_of_the_changed_image() -> None:
    mine = subject("tiny")
    found = scores(mine, other=COFFEE, kind="rotate")
    changed = curves.changed(CAT, kind="rotate", strength=0.5)
    assert np.array_equal(changed.content, perturb(CAT.content, kind="rotate", strength=0.5))
    mine.inputs = {one.key: one for one in (changed, COFFEE)}
    mine.cache.clear()
    alone = answer(mine, LiveQuestion(mode="pair", inputs=(COFFEE, changed))).scores[0]
    assert found[4] == pytest.approx(alone, abs=1e-5)


def test_changed_images_are_known_apart() -> None:
    keys = {
        curves.changed(one, kind=kind, strength=strength).key
        for one in (CAT, COFFEE)
        for kind in PERTURBATIONS
        for strength in curves.STRENGTHS
    }
    assert len(keys) == 2 * len(PERTURBATIONS) * len(curves.STRENGTHS)
