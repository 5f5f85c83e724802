"""`likeness calibrate` as a user meets it. Models are stand-ins."""

from __future__ import annotations

import pytest

from compute.calibration import making, pairs
from compute.database import store
from compute.types import BadInput, LikenessError, UnknownKey
from tests.compute.commands import assert_refused, command


@pytest.fixture
def calibrate(world, monkeypatch):
    monkeypatch.setattr(pairs, "FEWEST", 10)
    monkeypatch.setattr(making, "FEWEST", 10)
    return command("calibrate --tasks unisim/near,unisim/fine")


def test_it_says_what_it_made_and_rebuilds(calibrate, world):
    result = calibrate("--models small/eye,small/gauge")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.partition(":")[0] for line in lines[:4]] == [
        f"small/{model}, {pairing} (tasks)" for model in ("eye", "gauge") for pairing in ("image-image", "quality")
    ]
    with store.connect(world.folder / "likeness.duckdb") as connection:
        found = connection.execute(
            "SELECT model, pairing, n_unrelated, len(unrelated), synthetic FROM calibrations ORDER BY ALL"
        ).fetchall()
    assert found == [
        (f"small/{model}", pairing, count, 201, False)
        for model in ("eye", "gauge")
        for pairing, count in (("image-image", 12), ("quality", 24))
    ]
    again = calibrate("--models small/eye")
    assert again.exit_code == 0 and again.output.count("(stored already)") == 2 and "built" not in again.output
    assert "stored already" not in calibrate("--models small/eye --again").output


def test_a_model_that_fails_or_can_do_nothing_is_the_exit_code(calibrate, world):
    world.missing = "weights are not here"
    result = calibrate("--models small/eye")
    assert result.exit_code == 1 and "small/eye: failed: weights are not here" in result.output
    result = calibrate("--models small/paper")
    assert result.exit_code == 1 and "small/paper: skipped" in result.output
    assert not (world.folder / "likeness.duckdb").exists()


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ("--models small/eie", UnknownKey, "Did you mean 'small/eye'"),
        ("--models small/eye --pairs 5", BadInput, "too few"),
        ("--models small/eye --domains drawings", BadInput, "no domain 'drawings' to make"),
        ("--models small/eye --tasks pairbench/coco-rotation", LikenessError, ""),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(calibrate, world, words, error, said):
    assert_refused(calibrate(words), error, said)
    assert (world.encoded, world.loaded) == (0, 0)
