"""Calibrating stand-in models: which pairings, which scores, what is left out, and a run that was stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compute.calibration import files, making
from compute.calibration.making import CalibrationOutcome
from compute.content import items
from compute.procedures import choice
from compute.procedures.shared.similarity import symmetric
from compute.types import BadInput, Model
from tests.compute.small_bench import MODELS, TASKS, World, data

EYE, DIM, VISION, GAUGE, PAPER = MODELS
NEAR, SAID, FINE, SHARP, ODD = TASKS


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "FEWEST", 5)
    return World(folder=tmp_path)


def made(world: World, *rows: Model, tasks: tuple = (NEAR, SAID, FINE), **given) -> list[CalibrationOutcome]:
    bench = world.bench(skip_bad=True, again=given.pop("again", False))
    said = given.pop("report", lambda line: None)
    drawn = making.draw(tasks, bench=bench, most=given.pop("most", 500), seed=given.pop("seed", 0), report=said)
    return making.make(rows, drawn, bench=bench, **given, report=said)


def test_each_model_has_the_pairings_that_it_can_score(world):
    outcomes = made(world, EYE, VISION, GAUGE)
    assert [(one.model, one.pairing) for one in outcomes] == [
        ("small/eye", "image-image"),
        ("small/eye", "image-text"),
        ("small/eye", "quality"),
        ("small/vision", "image-image"),
        ("small/gauge", "image-image"),
        ("small/gauge", "quality"),
    ]
    stored = {(one.model, one.pairing): one.stored for one in outcomes}
    assert stored["small/eye", "image-image"].path == (
        world.folder / "results" / "calibrations" / "small__eye" / "tasks" / "image-image.json"
    )
    settings = stored["small/gauge", "quality"].settings
    assert settings["tasks"]["unisim/fine"] == {"dataset": "made/fine", "revision": "b" * 40, "split": "", "draw": 1}
    assert settings["options"] == {"quality": "prompt", "wording": "paper"}
    assert (settings["seed"], settings["pairs"]) == (0, 500) and settings["code"]


def test_the_scores_are_those_of_the_procedures(world):
    """Against the whole columns of the task, scored by the functions that visitors' questions use too."""
    near, fine, subject = data(NEAR), data(FINE), world.bench().subject(GAUGE)
    right = [near.alternatives[at].take(np.array([row])) for row, at in enumerate(near.answer.tolist())]
    pairs = np.sort([symmetric(subject, near.reference.take(np.array([row])), one)[0] for row, one in enumerate(right)])
    alone = np.sort(
        np.concatenate([choice.judged(subject, column, question="quality") for column in fine.alternatives])
    )
    stored = {one.pairing: one.stored.content for one in made(world, GAUGE)}
    assert (stored["image-image"].n_matching, stored["image-image"].n_unrelated) == (12, 12)
    np.testing.assert_allclose(np.quantile(stored["image-image"].matching, np.linspace(0, 1, 12)), pairs, rtol=0.05)
    assert stored["image-image"].matching[[0, -1]].tolist() == pairs[[0, -1]].tolist()
    assert stored["quality"].n_unrelated == 24 and stored["quality"].matching.tolist() == []
    assert stored["quality"].unrelated[[0, -1]].tolist() == alone[[0, -1]].tolist()
    assert stored["image-image"].separation > 0.8 and stored["image-image"].source == "unisim/near"


def test_what_is_there_stays_until_settings_change(world):
    first, encoded = made(world, EYE), world.encoded
    again = made(world, EYE)
    assert [one.state for one in again] == ["stored"] * 3 and world.encoded == encoded
    assert [one.stored.content.separation for one in again] == [one.stored.content.separation for one in first]
    assert [one.state for one in made(world, EYE, again=True)] == ["made"] * 3 and world.encoded == encoded
    other = replace(EYE, revision="c" * 40)
    for row, changed in ((EYE, {"seed": 1}), (EYE, {"most": 400}), (other, {})):
        assert {one.state for one in made(world, row, **changed)} == {"made"}
    files.path(world.folder / "results", model="small/eye", domain="tasks", pairing="quality").write_text("{")
    states = {one.pairing: one.state for one in made(world, other)}
    assert states == {"image-image": "stored", "image-text": "stored", "quality": "made"}


def test_items_that_cannot_be_used_are_left_out(world):
    held = data(NEAR)
    files = [held.reference.read(row) for row in range(12)]
    files[4] = b"no image"
    world.changed["unisim/near"] = replace(held, reference=items.images(files, of="reference"))
    for row in (EYE, GAUGE):
        [outcome] = made(world, row, tasks=(NEAR,))
        assert (outcome.stored.content.n_matching, outcome.stored.content.n_unrelated) == (11, 11)


def test_a_pairing_with_too_few_is_said_and_left_out(world, monkeypatch):
    monkeypatch.setattr(making, "FEWEST", 13)
    lines: list[str] = []
    outcomes = made(world, GAUGE, tasks=(NEAR, FINE, ODD), report=lines.append)
    assert [one.pairing for one in outcomes] == ["quality"]
    assert "unisim/odd" in lines[0] and "image-image is skipped: 12 matching and 12 unrelated" in lines[1]
    with pytest.raises(BadInput, match="too few pairs and single images"):
        made(world, GAUGE, tasks=(ODD,))


def test_a_model_that_fails_costs_only_itself(world):
    def burst() -> None:
        raise RuntimeError("out of order\nat length")

    world.before_batch = burst
    failed, skipped = made(world, DIM, PAPER, tasks=(NEAR,))
    assert (failed.state, failed.reason, skipped.state) == ("failed", "RuntimeError: out of order", "skipped")
