"""Calibrating stand-in models as a run: which tasks, which scores, and what pages get of it."""

from functools import cache

import numpy as np
import pytest

from compute.analysis.calibrated import SCENES
from compute.database import store
from compute.procedures import choice
from compute.procedures.calibration import run
from compute.procedures.shared.similarity import symmetric
from compute.tasks import calibration
from compute.tasks.calibration import drawn
from tests.compute.commands import command, done
from tests.compute.small_bench import EYE

PAIRED, TEXTS = {"image-image", "image-text", "text-text"}, ("sentences", "text-text")


def items(key):
    (task,) = (task for task in calibration.TASKS if task.key == f"calibration/{key}")
    return calibration.load(task, source=None, options={})["default"]


@pytest.fixture
def calibrate(world, few_photographs, monkeypatch):
    monkeypatch.setattr(drawn, "COUNT", SCENES + 10)  # a few scenes have two captions of the same words
    monkeypatch.setattr(calibration, "material", cache(calibration.material.__wrapped__))
    world.changed |= {task.key: items(task.key.partition("/")[2]) for task in calibration.TASKS}
    return command("run --suite calibration")


def ask(world, sql):
    with store.connect(world.folder / "likeness.duckdb") as connection:
        return connection.execute(sql).fetchall()


def test_each_model_does_the_tasks_that_it_can_and_pages_get_distributions_and_no_board(calibrate, world):
    result = done(calibrate("--models small/eye,small/vision,small/gauge,small/paper"))
    assert "Skipped: small/gauge on calibration/drawn/image-text" in result.output
    found = ask(world, "SELECT model, domain, pairing FROM calibrations")
    of = {key: {row[1:] for row in found if row[0] == f"small/{key}"} for key in ("eye", "vision", "gauge")}
    images = {("drawn", "image-image"), ("photographs", "image-image")}
    assert of["vision"] == of["gauge"] == images
    whole = {("drawn", pairing) for pairing in PAIRED | drawn.CHANGES.keys()}
    assert of["eye"] == images | whole | {("photographs", "image-text"), TEXTS}
    eye, vision = ("small/eye", "drawn"), ("small/vision", "drawn", "image")
    assert set(ask(world, "SELECT model, domain, modality FROM calibration_domains")) == {
        *((*eye, modality) for modality in ("image", "text")),
        ("small/eye", "sentences", "text"),
        vision,
    }
    assert not ask(world, "SELECT key FROM suites WHERE key = 'calibration'")
    assert not ask(world, "SELECT id FROM runs WHERE origin = 'computed'")
    encoded = world.encoded
    assert "0 runs to make, 15 stored already" in done(calibrate("--models small/eye,small/vision,small/gauge")).output
    assert world.encoded == encoded


def test_the_newest_run_is_taken_and_a_file_of_the_earlier_command_until_then(calibrate, world):
    """A file that cannot be read stands for one of an earlier model."""
    old = world.folder / "results" / "calibrations" / "small__eye" / "sentences" / "text-text.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    result = done(calibrate("--models small/eye --tasks calibration/sentences/text-text"))
    assert "sentences/text-text.json is skipped" in result.output
    assert ask(world, "SELECT domain, pairing, n_matching, synthetic FROM calibrations") == [(*TEXTS, 64, False)]


def test_the_scores_are_those_of_the_procedures(calibrate, world):
    subject = world.bench().subject(EYE)
    for pairing in ("image-image", "sharpness"):
        data = items(f"drawn/{pairing}")
        evidence = run(subject, data, {})
        scores, (record, *_) = evidence.items["value"], evidence.settings["records"]
        if data.second is None:
            expected = choice.judged(subject, data.first, question=pairing)
        else:
            expected = symmetric(subject, data.first, data.second)
        np.testing.assert_allclose(scores, expected)
        together = (data.human == 1) & (pairing == "image-image")
        for side, own in (("matching", scores[together]), ("unrelated", scores[~together])):
            assert record[f"n_{side}"] == len(own)
            if len(own):
                assert record[side][[0, -1]] == pytest.approx([own.min(), own.max()], rel=1e-5)
