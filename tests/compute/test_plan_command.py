"""`likeness plan` and `likeness run --budget` from an empty results folder, beside drawn scores of other models."""

import re

import numpy as np
import pytest

import compute
from compute import catalog, paths
from compute.engine import run_folders
from compute.importing import collection, read_scores_csv
from compute.interface.standing import hours_of
from compute.types import BadInput, CannotDo
from tests.compute.commands import assert_refused, done, likeness


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A results folder with scores of 40 models on mini, drawn from two factors around tiny's, and nothing else."""
    folder, rng, known = tmp_path_factory.mktemp("results"), np.random.default_rng(5), catalog.shipped()
    tasks = [task for task in known.tasks if "mini" in task.suites and task.ranked]
    able = rng.normal(size=(40, 2)) @ rng.normal([[0.1], [0.03]], 0.03, (2, len(tasks)))
    runs = [run_folders.stored(paths.COMPUTED, model="tiny", task=task.key)[0] for task in tasks]
    usual = np.array([run_folders.headline(run).value for run in runs])
    scores = np.clip(usual + able + rng.normal(0, 0.02, able.shape), 0, 1)
    rows = ["benchmark,model,task,metric,value,n"]
    models = [row.key for row in known.models if row.key != "tiny"][::8][:40]
    for model, of_model in zip(models, scores, strict=True):
        rows += [
            f"{t.benchmark},{model},{t.key},{t.metrics[0]},{s:.4f},100" for t, s in zip(tasks, of_model, strict=True)
        ]
    (folder / "drawn.csv").write_text("\n".join(rows))
    imported = read_scores_csv(folder / "drawn.csv", catalog=known)
    collection.save(imported, name="scores-drawn", folder=folder / "imported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "IMPORTED", folder / "shipped")  # none: builds are many
        yield folder


def test_the_plan_fits_the_budget_and_run_runs_it(results):
    words = ("--suite", "mini", "--models", "tiny", "--budget", "0.1m", "--results", results)
    planned = done(likeness("plan", *words)).output.splitlines()
    assert planned[0] == "Place on mini unknown: no task has a score"
    tasks = [found[1] for line in planned if (found := re.match(r"\d+ +(mini/\S+) ", line))]
    assert len(tasks) > 5 and "on hardware that is not known" in planned[-1]
    ran = done(likeness("run", *words, "--no-build")).output
    assert all(re.search(rf"^\| {task} ", ran, re.M) for task in tasks)
    last = ran.splitlines()[-1]
    assert last.startswith(f"Estimated from {len(tasks)} of") and "plain mean of its" in last
    again = done(likeness("plan", *words)).output
    assert not any(f" {task} " in again for task in tasks)


def test_an_evaluation_of_some_tasks_tells_its_place(results):
    tasks = [task.key for task in catalog.shipped().tasks if "mini" in task.suites and task.ranked][:8]
    scores = compute.evaluate("tiny", suite="mini", tasks=tasks, results=results, progress=False)
    place = scores.place()
    assert (place.tasks, place.of) == (8, 41) and place.of_tasks > 8
    assert place.plain == pytest.approx(np.mean([one.value for one in scores.headlines.values()]))
    assert str(place) in str(scores) and str(place) in scores._repr_html_()
    assert place.estimate.low < place.estimate.mean < place.estimate.high and "Estimated from 8 of" in str(place)
    frame = scores.next_tasks("1h")
    assert set(frame["task"]) == {task.key for task in scores._counting} - {*scores.headlines}
    assert frame["timed"].all() and frame["total"].is_monotonic_increasing and frame["half"].iloc[-1] == 0
    assert "every task" in scores.place("published").reason
    with pytest.raises(CannotDo, match="only 0 models"):
        scores.next_tasks("1h", origin="published")


def test_a_budget_is_a_time_of_one_model(results):
    assert [hours_of(text) for text in ("30m", "1h", "2.5 H")] == [0.5, 1, 2.5]
    for text in ("", "1", "0h", "1d", "h"):
        with pytest.raises(BadInput, match="30m"):
            hours_of(text)
    for more in (("--models", "tiny,conse"), ("--models", "tiny", "--tasks", "mini/swaps")):
        words = ("run", "--suite", "mini", "--budget", "1h", "--results", results)
        assert_refused(likeness(*words, *more), BadInput, "--budget")
    assert_refused(
        likeness("plan", "--suite", "mini", "--models", "tiny,conse", "--results", results), BadInput, "one model"
    )
    assert_refused(
        likeness("plan", "--suite", "mini", "--models", "tiny", "--budget", "x", "--results", results), BadInput
    )
