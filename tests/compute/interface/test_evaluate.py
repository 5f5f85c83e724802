"""`compute.evaluate` on small tasks and stand-in models: the same plan, runs and figures as the command's."""

import json
import os
from pathlib import Path

import pytest

import compute
from compute import paths
from compute.engine import run_folders
from compute.models.own import probing
from compute.types import BadInput, CannotDo, NotHere, UnknownKey
from tests.compute.small_bench import World, executed, figures


def test_the_scores_are_those_of_the_engine(world):
    scores = compute.evaluate("small/eye", suite="small", options=["quality=prompt"], progress=False)
    elsewhere = World(folder=world.folder / "elsewhere")
    expected = figures(executed(elsewhere, "small/eye"))
    assert {task: score.value for task, score in scores.headlines.items()} == {
        name.split()[1]: value for name, value in expected.items() if "clip-iqa" not in name
    }
    assert (scores.model.key, scores.suite.key, scores.results) == ("small/eye", "small", paths.RESULTS)
    assert [run.run.task for run in scores.runs.values()] == [task.key for task in scores.plan.tasks]
    encoded = world.encoded
    again = compute.evaluate("small/eye", suite="small", options=["quality=prompt"], progress=False)
    assert {outcome.state for outcome in again.outcomes} == {"stored"} and world.encoded == encoded
    assert again.frame().equals(scores.frame())


def test_tasks_alone_name_their_suite(world):
    scores = compute.evaluate("small/dim", tasks=["unisim/odd"], progress=False)
    assert scores.suite.key == "small" and list(scores.runs) == ["unisim/odd"]
    with pytest.raises(BadInput, match="No suite holds all of these tasks: unisim/odd, mini/shapes"):
        compute.evaluate("small/dim", tasks=["unisim/odd", "mini/shapes"])
    with pytest.raises(BadInput, match="No suite is named"):
        compute.evaluate("small/dim")


@pytest.mark.parametrize(
    "model, given, error, words",
    [
        ("small/dum", {"offline": True}, NotHere, "neither .* nor a folder. Did you mean 'small/dim'"),
        ("dim", {}, UnknownKey, "No model 'dim'"),
        (Path("dim"), {}, NotHere, "no folder"),
        (3, {}, BadInput, "int"),
        ("small/dim", {"preprocess": print}, BadInput, "preprocess= is for objects in memory"),
        ("small/dim", {"name": "mine"}, BadInput, "are for your own checkpoint"),
        ("small/dim", {"suite": "smal"}, UnknownKey, "No suite 'smal'. Did you mean 'small'"),
        ("small/paper", {}, CannotDo, "published scores only"),
        ("tiny", {"suite": "mini-generators"}, CannotDo, "frechet"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is_made(world, model, given, error, words):
    with pytest.raises(error, match=words):
        compute.evaluate(model, **{"suite": "small", **given})
    assert world.loaded == 0


def test_a_failed_run_is_a_warning_and_a_row_with_its_reason(world):
    world.changed["unisim/odd"] = NotHere("odd.tar is not here: hf download made/odd")
    with pytest.warns(UserWarning, match="1 run of .* failed, the first because: odd.tar is not here"):
        scores = compute.evaluate("small/dim", suite="small", progress=False)
    row = scores.frame().set_index("task").loc["unisim/odd"]
    assert (row["state"], row["reason"]) == ("failed", "odd.tar is not here: hf download made/odd")
    assert scores.mean.mean is None and scores.mean.reason == "needs all 5 tasks; 4 have a score"
    assert "Failed: small/dim on unisim/odd" in str(scores)


class Halfway:
    """Sound on the probe, and raises an error at every image of a task."""

    def encode_image(self, images):
        if any(image.size not in {probe.size for probe in probing.images()} for image in images):
            raise RuntimeError("boom")
        return [[float(image.width), float(image.height), 1.0] for image in images]


def test_an_error_of_an_own_model_names_its_line_and_the_file_of_its_traceback(tmp_path):
    line = Halfway.encode_image.__code__.co_firstlineno + 2
    with pytest.warns(UserWarning, match=r"boom .*Traceback: .*failed\.json$") as warned:
        scores = compute.evaluate(Halfway(), version="1", tasks="mini/image-choice", results=tmp_path, progress=False)
    (outcome,) = scores.outcomes
    assert outcome.reason == f"RuntimeError: boom (test_evaluate.py, line {line}, in encode_image)"
    assert outcome.trace.is_file() and "in encode_image" in json.loads(outcome.trace.read_text())["trace"]
    assert str(outcome.trace) in str(warned[0].message) and f"Traceback: {outcome.trace}" in str(scores)


def test_an_interrupt_says_what_is_stored_and_the_same_call_goes_on(world):
    def stop():
        if world.encoded > 40:
            raise KeyboardInterrupt

    compute.evaluate("small/dim", tasks=["unisim/near"], progress=False)
    world.before_batch = stop
    with pytest.raises(KeyboardInterrupt, match="made and stored in .*results.* The same call makes the others"):
        compute.evaluate("small/dim", suite="small", progress=False)
    world.before_batch = lambda: None
    scores = compute.evaluate("small/dim", suite="small", progress=False)
    assert set(scores.runs) == {row.key for row in scores.plan.tasks}


def test_nothing_is_printed_and_the_process_is_as_before(world, capfd):
    before = {name: os.environ.get(name) for name in ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS")}
    compute.evaluate("small/dim", suite="small", offline=True, results=world.folder / "own")
    assert capfd.readouterr() == ("", "")
    assert {name: os.environ.get(name) for name in before} == before
    assert len(list(run_folders.every(world.folder / "own"))) >= 5
