"""Evaluation results that others wrote: figures of clear meaning come in, all else is named and left out."""

import os
from pathlib import Path

import pytest

from compute.catalog.catalog import Dataset
from compute.importing import read_eval_results
from compute.types import BadInput, Task
from tests.compute.tasks.files import put

MTEB_SOURCE = "https://github.com/embeddings-benchmark/mteb/"


@pytest.fixture
def catalog(catalog):
    """The small catalogue, with data sets that the hub has."""
    from dataclasses import replace

    tasks = tuple(replace(task, dataset=f"mteb/{task.title.lower()}") for task in catalog.tasks)
    judged = Task(
        key="pairbench/cj",
        title="Colour",
        benchmark="pairbench",
        category="COCO",
        dataset="pairs",
        metrics=("mmscore", "smoothness"),
    )
    return replace(
        catalog, tasks=(*tasks, judged), datasets=(Dataset(key="pairs", title="Pairs", url="org/pairs-data"),)
    )


def entry(*, dataset="mteb/cifar10", task="CIFAR10", value="82.5", notes="", source=""):
    text = f"- dataset:\n    id: {dataset}\n    task_id: {task}\n  value: {value}\n"
    text += f"  source:\n    url: {source}\n" if source else ""
    return text + (f'  notes: "{notes}"\n' if notes else "")


def read(folder, catalog, *texts):
    put(folder / "model", {f".eval_results/{position}.yaml": text for position, text in enumerate(texts)})
    return read_eval_results(folder / "model", model="Org/New", catalog=catalog)


def values(imported):
    task = {run.id: run.task for run in imported.runs}
    return {(task[score.run], score.subset, score.metric): score.value for score in imported.scores}


def test_a_figure_becomes_a_score_of_a_declared_model(tmp_path, catalog):
    notes = "metric: accuracy; unit: %; n: 10000; standard error: 0.38; dtype: float32"
    imported = read(tmp_path, catalog, entry(notes=notes, source="https://example.org/x"))
    [run], [score], [model] = imported.runs, imported.scores, imported.models
    assert (run.model, run.task, run.origin, run.dtype) == ("org/new", "mieb/cifar10", "imported", "float32")
    assert run.source == ".eval_results of Org/New" and run.settings["source_url"] == "https://example.org/x"
    assert (score.value, score.n, score.printed) == (0.825, 10_000, "82.5")
    assert score.stderr == pytest.approx(0.0038)
    assert (model.key, model.title, model.weights, model.organisation) == ("org/new", "New", "Org/New", "Org")


@pytest.mark.parametrize(
    "value, notes, source, stored",
    [
        ("82.5", "", "", 0.825),  # no fraction is above 1
        ("0", "", "", 0.0),  # nothing, in every unit
        ("0.9", "", MTEB_SOURCE, 0.009),  # mteb writes percent
        ("0.9", "unit: fraction", "", 0.9),
        ("1", "", "", None),  # one percent, or all
        ("0.9", "", "", None),
        ("0.9", "unit: points", "", None),
        ("120", "", "", None),
    ],
)
def test_a_unit_is_known_or_the_figure_is_left_out(tmp_path, catalog, value, notes, source, stored):
    imported = read(tmp_path, catalog, entry(value=value, notes=notes, source=source))
    if stored is None:
        assert imported.scores == () == imported.runs == imported.models
        assert [problem.path for problem in imported.problems] == ["0.yaml, entry 1"]
    else:
        assert values(imported) == {("mieb/cifar10", "default", "accuracy"): stored}
        assert imported.problems == ()


def test_other_tasks_and_metrics_are_skipped_with_their_reason(tmp_path, catalog):
    imported = read(
        tmp_path,
        catalog,
        entry(dataset="cais/hle", task="default") + entry(dataset="cais/hle"),
        entry(notes="metric: f1; unit: %"),
    )
    assert [skipped.path for skipped in imported.skipped] == ["0.yaml, entry 1", "0.yaml, entry 2"]
    assert "no task 'default' of 'cais/hle'" in str(imported.skipped[0])
    assert "by its notes" in str(imported.problems[0]) and imported.scores == ()


def test_values_that_contradict_each_other_are_left_out_and_equal_ones_are_one(tmp_path, catalog):
    imported = read(tmp_path / "a", catalog, entry(), entry(value="82.6"))
    assert imported.scores == () and "2 values that differ" in str(imported.problems[0])
    same = read(tmp_path / "b", catalog, entry(), entry(task="CIFAR10_default_test", value="82.50"))
    assert list(values(same).values()) == [0.825] and same.problems == ()


HOSTILE = {
    "no yaml": "{[",
    "a tag": "- !!python/object/apply:os.system ['touch pwned']",
    "deep": "[" * 500 + "]" * 500,
    "an object": "dataset: 1",
    "empty": "",
    "no data set": "- value: 1",
    "a list for an id": "- dataset: {id: [1], task_id: x}\n  value: 1",
    "a text for a value": entry(value="high"),
    "no number": entry(value=".nan"),
    "sixties": entry(value="1:30"),
    "a truth": entry(value="true"),
    "a large power": entry(value="1.0e+999"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_named_and_harm_no_other(tmp_path, catalog, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    imported = read(tmp_path, catalog, HOSTILE[name], entry())
    assert values(imported) == {("mieb/cifar10", "default", "accuracy"): 0.825}
    assert imported.problems and all(problem.path.startswith("0.yaml") for problem in imported.problems)
    assert all(len(str(problem)) < 600 for problem in imported.problems)
    assert not (tmp_path / "pwned").exists()


def test_files_of_the_hubs_cache_are_links_that_are_read(tmp_path, catalog):
    folder = put(tmp_path / "models--Org--New", {"blobs/abc": entry()}) / "snapshots" / ("c" * 40) / ".eval_results"
    folder.mkdir(parents=True)
    os.symlink(Path("../../../blobs/abc"), folder / "x.yaml")
    imported = read_eval_results(folder.parent, model="Org/New", source="Org/New @ c", catalog=catalog)
    assert imported.problems == () and imported.runs[0].source == "Org/New @ c"
    os.mkfifo(folder / "pipe.yaml")  # which is not waited for
    imported = read_eval_results(folder.parent, model="Org/New", source="Org/New @ c", catalog=catalog)
    assert [problem.path for problem in imported.problems] == ["pipe.yaml"] and imported.runs


@pytest.mark.parametrize(
    "where, model, words",
    [
        ("nowhere", "Org/New", "not a .yaml file"),
        ("empty", "new", "nor a folder"),
        ("full", "new", "give it as ORG"),
        ("full", "", "name the model"),
    ],
)
def test_what_cannot_be_read_at_all_is_refused(tmp_path, catalog, where, model, words):
    put(tmp_path, {"full/x.yaml": entry(), "empty/.hidden": ""})
    with pytest.raises(BadInput, match=words):
        read_eval_results(tmp_path / where, model=model, catalog=catalog)
