"""`compute.evaluate` on small tasks and stand-in models: runs and figures as the command's, what it says, compared."""

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import compute
from compute import paths
from compute.engine import run_folders
from compute.engine.plan import SkippedRun
from compute.importing import read_scores_csv
from compute.interface.compare import item_difference
from compute.interface.evaluated import FRAME, Evaluation
from compute.models.own import probing
from compute.types import BadInput, CannotDo, NotHere, UnknownKey
from tests.compute.small_bench import World, executed, figures
from tests.compute.test_build_computed import keep


def test_the_scores_are_those_of_the_engine(world):
    scores = compute.evaluate("small/eye", suite="small", options=["quality=prompt"], progress=False)
    elsewhere = World(folder=world.folder / "elsewhere")
    expected = figures(executed(elsewhere, "small/eye"))
    assert {task: score.value for task, score in scores.headlines.items()} == {
        name.split()[1]: value for name, value in expected.items() if "clip-iqa" not in name
    }
    assert (scores.model.key, scores.suite.key, scores.results) == ("small/eye", "small", paths.RESULTS)
    assert [run.run.task for run in scores.runs.values()] == [task.key for task in scores.plan.tasks]


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


@pytest.fixture
def scores(evaluated):
    return evaluated["eye"]


def test_the_frame_has_a_row_a_score(scores):
    frame = scores.frame()
    assert tuple(frame.columns) == FRAME and list(frame["task"]) == [task.key for task in scores.plan.tasks]
    for row in frame.to_dict("records"):
        stored = run_folders.headline(scores.runs[row["task"]])
        assert (row["value"], row["n"], row["coverage"], row["state"]) == (stored.value, 12, 1.0, "complete")
        assert row["low"] <= row["value"] <= row["high"]


def test_the_mean_is_that_of_the_suites_rule(scores):
    frame, whole = scores.means().set_index("name"), scores.mean
    values = [score.value for score in scores.headlines.values()]
    assert whole.mean == pytest.approx(np.mean(values)) and (whole.tasks, whole.of_tasks) == (5, 5)
    assert whole.mean_low < whole.mean < whole.mean_high
    assert frame.loc["small", "mean"] == whole.mean and frame.loc["small", "scope"] == "suite"
    quality = [scores.headlines[f"unisim/{task}"].value for task in ("fine", "sharp")]
    assert frame.loc["IQA", "mean"] == pytest.approx(np.mean(quality))


def test_it_is_pickled_whole(scores):
    again = pickle.loads(pickle.dumps(scores))
    assert str(again) == str(scores) and again.frame().equals(scores.frame())


def test_it_is_a_table_as_text_a_line_in_short_and_escaped_in_a_notebook(scores):
    assert "| unisim/near" in str(scores) and "small: mean " in str(scores)
    assert "\n" not in repr(scores) and "5 of 5 tasks" in repr(scores)
    assert scores._repr_html_().count("<tr") == 6
    figure = scores.plot()
    assert list(figure.layout.yaxis.ticktext) == [task.key for task in scores.plan.tasks] and len(figure.data) > 1
    task = replace(scores.plan.tasks[0], key="<script>")
    plan = replace(scores.plan, tasks=(task,), skipped=(SkippedRun(model=scores.model, task=task, reason="<b>"),))
    page = replace(scores, plan=plan, outcomes=())._repr_html_()
    assert "<script>" not in page and "<b>" not in page and "&lt;b&gt;" in page


def test_the_saved_file_is_imported_as_it_was(scores, tmp_path):
    from compute import catalog

    path = tmp_path / "my-model.csv"
    own = replace(scores.model, key="own/my-model", title="My model", kind="encoder")
    named = replace(scores, plan=replace(scores.plan, models=(own,)))
    named.save(path)
    read = read_scores_csv(path, catalog=catalog.shipped())
    assert [(row.key, row.title, row.kind) for row in read.models] == [("own/my-model", "My model", "encoder")]
    task_of = {run.id: run.task for run in read.runs}
    assert {(task_of[row.run], row.subset, row.metric, row.value, row.n, row.stderr) for row in read.scores} == {
        (task, row.subset, row.metric, row.value, row.n, row.stderr)
        for task, run in scores.runs.items()
        for row in run.scores
    }


def test_a_rank_among_computed_rows_is_that_of_the_means(scores, evaluated):
    other, rank = evaluated["dim"], scores.rank("computed")
    assert (rank.of, rank.rank) == (2, 1 + (other.mean.mean > scores.mean.mean))
    assert rank.rank_low <= rank.rank <= rank.rank_high and scores.database().parent == scores.results
    assert f"Rank {rank.rank} of 2 on small" in str(rank) and "5 of 5" in str(rank)
    assert scores.rank().rank == rank.rank
    published = scores.rank("published")
    assert published.rank is None and "rank('computed')" in published.reason
    with pytest.raises(BadInput, match="'theirs'"):
        scores.rank("theirs")


def test_other_items_or_no_mean_over_items_have_no_difference(tmp_path):
    items = {"item": list("abcdefgh"), "accuracy": 1.0}
    a, b = (keep(tmp_path, mark=mark, items=items, settings={"contents": mark}) for mark in "ab")
    nmi = replace(a, scores=(replace(a.scores[0], metric="nmi"),))
    for second, first, words in ((b, a, "same items"), (nmi, nmi, "NMI"), (nmi, a, "the other by nmi")):
        found = item_difference(first, second)
        assert np.isnan(found.value) and words in found.reason
    same = item_difference(a, a)
    assert same.value == 0 and same.p == 1 and "the same everywhere" in same.reason


def test_an_evaluation_is_compared_over_tasks_and_in_parts_over_items(evaluated):
    eye, dim = evaluated["eye"], evaluated["dim"]
    result = eye.compare(dim)
    assert (result.a, result.b, result.over, result.n) == ("small/eye", "small/dim", "tasks", 5)
    assert result.difference == pytest.approx(eye.mean.mean - dim.mean.mean)
    parts = result.parts.set_index("task")
    assert set(parts["over"]) == {"items"} and set(parts["n"]) == {12}
    by_item = [scores.items("unisim/near").set_index("item")["accuracy"] for scores in (eye, dim)]
    assert parts.loc["unisim/near", "difference"] == pytest.approx((by_item[0] - by_item[1]).mean())
    by_key = eye.compare("small/dim")
    assert by_key.parts.equals(result.parts) and by_key.difference == result.difference
    one = eye.compare(dim, task="unisim/near")
    assert (one.over, one.n) == ("items", 12)
    assert dim.compare(eye, task="unisim/near").difference == pytest.approx(-one.difference)
    with pytest.raises(UnknownKey, match="unisim/near"):
        eye.compare(dim, task="unisim/nears")


def test_a_model_without_scores_or_of_no_catalogue_is_named(evaluated):
    eye = evaluated["eye"]
    with pytest.raises(UnknownKey, match="Did you mean 'small/eye'"):
        eye.compare("small/eyes")
    with pytest.raises(BadInput, match="small/paper"):
        eye.compare("small/paper")
    with pytest.raises(BadInput, match="share no task of small"):
        replace(evaluated["dim"], outcomes=evaluated["dim"].outcomes[:1]).compare(
            replace(eye, outcomes=eye.outcomes[1:])
        )


def test_published_scores_are_named_as_such_and_not_mixed_with_computed_ones(evaluated, monkeypatch):
    """As if the computed scores, but for those of the last task, were published ones of each model."""
    eye, arranged = evaluated["eye"], Evaluation._arranged
    rows = arranged(eye, "computed")
    own = [rows.models.index("small/eye")] * 3
    published = replace(
        rows,
        models=("small/dim", "small/paper", "small/vision"),
        origins=("published",) * 3,
        values=np.where(np.arange(len(rows.tasks)) < 4, rows.values[own], np.nan),
        stderr=rows.stderr[own],
        printed=rows.printed[own],
    )
    monkeypatch.setattr(
        Evaluation, "_arranged", lambda self, origin: published if origin == "published" else arranged(self, origin)
    )
    found = eye.compare("small/paper", task="unisim/near")
    assert (found.a, found.b) == ("small/eye", "small/paper (published)") and len(found.notes) == 1
    result = eye.compare("small/vision")
    assert (result.b, list(result.parts["task"])) == ("small/vision", ["unisim/near", "unisim/odd"])
    assert result.notes == () == eye.compare("small/dim").notes, "computed scores are not mixed with published ones"
