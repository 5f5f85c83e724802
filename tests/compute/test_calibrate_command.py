"""`likeness calibrate` as a user meets it. Models are stand-ins."""

import pytest

from compute.database import store
from compute.types import BadInput, UnknownKey
from tests.compute.commands import assert_refused, command, done


@pytest.fixture
def calibrate(world, few_photographs):
    return command("calibrate --domains sentences")


def test_it_says_what_it_made_and_rebuilds(calibrate, world):
    result = done(calibrate("--models small/eye,small/gauge --domains photographs"))
    of = [
        ("eye", "text-text", "sentences", 64),
        *(("eye", f"image-{side}", "photographs", 28) for side in ("image", "text")),
    ]
    of.append(("gauge", "image-image", "photographs", 28))
    assert [line.partition(":")[0] for line in result.output.splitlines()[:4]] == [
        f"small/{model}, {pairing} ({domain})" for model, pairing, domain, _ in of
    ]
    with store.connect(world.folder / "likeness.duckdb") as connection:
        found = connection.execute(
            "SELECT model, pairing, domain, n_unrelated, len(unrelated), synthetic FROM calibrations"
        ).fetchall()
    assert sorted(found) == sorted((f"small/{model}", *rest, 201, False) for model, *rest in of)
    again = done(calibrate("--models small/eye"))
    assert again.output.count("(stored already)") == 1 and "built" not in again.output
    assert "stored already" not in calibrate("--models small/eye --again").output


def test_a_model_that_fails_or_can_do_nothing_is_the_exit_code(calibrate, world):
    world.missing = "weights are not here"
    result = calibrate("--models small/eye")
    assert result.exit_code == 1 and "small/eye: failed: weights are not here" in result.output
    result = calibrate("--models small/paper")
    assert result.exit_code == 1 and "small/paper: skipped" in result.output
    assert not (world.folder / "likeness.duckdb").exists()


@pytest.mark.parametrize(
    "words, error, said",
    [
        ("--models small/eie", UnknownKey, "Did you mean 'small/eye'"),
        ("--models small/eye --domains drawings", BadInput, "no domain 'drawings'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(calibrate, world, words, error, said):
    assert_refused(calibrate(words), error, said)
    assert (world.encoded, world.loaded) == (0, 0)
