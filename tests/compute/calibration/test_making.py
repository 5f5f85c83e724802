"""Calibrating stand-in models: which pairings, which scores, and a run that was stopped."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from compute.analysis.calibrated import SCENES
from compute.calibration import files, making
from compute.procedures import choice
from compute.procedures.shared.similarity import symmetric
from tests.compute.small_bench import MODELS, World

EYE, DIM, VISION, GAUGE, PAPER = MODELS


@pytest.fixture
def world(tmp_path, few_photographs):
    return World(folder=tmp_path)


def made(world, *rows, sets=("drawn",), again=False, **given):
    return making.make(rows, sets, bench=world.bench(again=again), **{"pairs": SCENES, "seed": 0} | given)


def test_each_model_has_the_pairings_that_it_can_score(world):
    outcomes = made(world, EYE, VISION, GAUGE, PAPER, sets=("drawn", "photographs", "sentences"))
    quality, both = list(making.ALONE), ("image-image", "image-text", "text-text")
    assert {row.key: [one.pairing for one in outcomes if one.model == row.key] for row in (EYE, VISION, GAUGE)} == {
        "small/eye": [*both, *quality, "image-image", "image-text", "text-text"],
        "small/vision": ["image-image"] * 2,
        "small/gauge": ["image-image"] * 2,
    }
    assert [(one.model, one.state) for one in outcomes if one.state != "made"] == [("small/paper", "skipped")]
    stored = {(one.stored.content.domain, one.pairing): one.stored for one in outcomes if one.model == "small/eye"}
    folder = world.folder / "results" / "calibrations" / "small__eye"
    assert stored["drawn", "image-image"].path == folder / "drawn" / "image-image.json"
    assert sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/domain-*")) == [
        "drawn/domain-image.json",
        "drawn/domain-text.json",
        "sentences/domain-text.json",
    ]
    settings = stored["drawn", "quality"].settings
    assert settings["options"] == {"quality": "prompt", "wording": "paper"} and settings["code"]
    assert (settings["seed"], settings["pairs"], settings["domain"]) == (0, SCENES, "drawn")


def test_the_scores_are_those_of_the_procedures(world):
    material, subject = making.SETS["drawn"].material(scenes=SCENES, seed=0), world.bench().subject(EYE)
    stored = {one.pairing: one.stored.content for one in made(world, EYE)}
    sample, found = material.samples["image-image"], stored["image-image"]
    for side in ("matching", "unrelated"):
        scores = np.sort(symmetric(subject, *getattr(sample, side)))
        assert getattr(found, side)[[0, -1]] == pytest.approx(scores[[0, -1]], rel=1e-5)
        assert getattr(found, f"n_{side}") == len(scores)
    alone = np.sort(choice.judged(subject, *material.samples["sharpness"].unrelated, question="sharpness"))
    assert stored["sharpness"].unrelated[[0, -1]] == pytest.approx(alone[[0, -1]], rel=1e-5)
    assert stored["sharpness"].matching.tolist() == [] and found.source == "drawn scenes" and found.synthetic


def test_what_is_there_stays_until_settings_change(world):
    first, encoded = made(world, EYE), world.encoded
    again = made(world, EYE)
    assert {one.state for one in again} == {"stored"} and world.encoded == encoded
    assert [one.stored.content.separation for one in again] == [one.stored.content.separation for one in first]
    other, texts = replace(EYE, revision="c" * 40), partial(made, world, sets=("sentences",))
    for row, changed, state in (
        (EYE, {}, "made"),
        (EYE, {"again": True}, "made"),
        (EYE, {}, "stored"),
        (EYE, {"seed": 1}, "made"),
        (EYE, {"seed": 1, "pairs": 41}, "made"),
        (other, {"seed": 1, "pairs": 41}, "made"),
    ):
        assert [one.state for one in texts(row, **changed)] == [state]
    place = partial(files.path, world.folder / "results", model="small/eye")
    place(domain="drawn", pairing="quality").write_text("{")
    assert [one.pairing for one in made(world, EYE) if one.state == "made"] == ["quality"]
    place(domain="sentences", pairing="domain-text").unlink()  # as a run that was stopped between the two leaves it
    assert texts(other, seed=1, pairs=41)[0].state == "stored"
    assert place(domain="sentences", pairing="domain-text").exists()


def test_a_model_that_fails_costs_only_itself(world):
    def burst():
        raise RuntimeError("out of order\nat length")

    world.before_batch = burst
    failed, skipped = made(world, DIM, PAPER)
    assert (failed.state, failed.reason, skipped.state) == ("failed", "RuntimeError: out of order", "skipped")
