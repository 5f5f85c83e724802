"""Imports of CSV tables of scores."""

import pytest

from compute.importing import read_scores_csv
from compute.types import LikenessError

HEAD = "benchmark,model,task,metric,value"


def read(tmp_path, text, catalog):
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return read_scores_csv(path, catalog=catalog)


def test_a_table_of_scores_is_read(tmp_path, catalog):
    imported = read(
        tmp_path,
        f"{HEAD},subset,n,stderr,source,printed,low,high\n"
        "mieb,org/known,mieb/cifar10,accuracy,0.851,,100,0.03,Our report,85.1,0.8,0.85\n\n"
        "mieb,Known (L),mieb/CIFAR10,accuracy,0.9,easy,,,Our report,,,\n",
        catalog,
    )
    [run] = imported.runs
    assert (run.model, run.task, run.origin, run.source) == ("org/known", "mieb/cifar10", "imported", "Our report")
    assert run.procedure == "probe" and imported.models == imported.tasks == imported.metrics == ()
    assert [
        (score.subset, score.value, score.n, score.stderr, score.printed, score.low, score.high)
        for score in imported.scores
    ] == [("default", 0.851, 100, 0.03, "85.1", 0.8, 0.85), ("easy", 0.9, None, None, "", None, None)]


def test_the_semicolons_and_commas_of_a_spreadsheet_are_read(tmp_path, catalog):
    text = "\ufeffbenchmark;model;task;metric;value\nmieb;org/known;mieb/cifar10;accuracy;0,851\n"
    assert [score.value for score in read(tmp_path, text, catalog).scores] == [0.851]


def test_a_table_can_declare_what_is_new_and_again_what_is_known(tmp_path, catalog):
    imported = read(
        tmp_path,
        f"{HEAD},subset,model_title,model_kind,task_title,task_category,higher_is_better\n"
        "unisim,Lab/New-1,unisim/new,distance,12.5,a,New One,metric,New task,Quality,false\n"
        "unisim,lab/new-1,unisim/new,distance,11.5,b,,,,,\n"
        "mieb,org/known,mieb/cifar10,accuracy,0.5,,Known,encoder,CIFAR10,any,True\n",
        catalog,
    )
    [model], [task], [metric] = imported.models, imported.tasks, imported.metrics
    assert (model.key, model.title, model.kind, model.organisation) == ("lab/new-1", "New One", "metric", "lab")
    assert (task.key, task.category, task.metrics, task.ranked) == ("unisim/new", "Quality", ("distance",), False)
    assert (metric.key, metric.higher_is_better) == ("distance", False)
    assert len(imported.scores) == 3


ROW = "mieb,org/known,mieb/cifar10,accuracy,0.5\n"
REFUSED = {
    "missing column": ("benchmark,model,task,value\n", "no column 'metric'"),
    "too few cells": (f"{HEAD}\nmieb,org/known\n", "the heading has 5 cells, row 1 has 2"),
    "empty model": (f"{HEAD}\nmieb,,mieb/cifar10,accuracy,0.5\n", "row 1: model is empty"),
    "unknown benchmark": (
        f"{HEAD}\n{ROW}mieeb,org/known,mieb/cifar10,accuracy,0.5\n",
        "row 2: No benchmark 'mieeb'. Did you mean 'mieb'?",
    ),
    "unknown model": (
        f"{HEAD}\nmieb,org/knwn,mieb/cifar10,accuracy,0.5\n",
        "No model 'org/knwn'. Did you mean 'org/known'?",
    ),
    "another benchmark's task": (
        f"{HEAD}\nunisim,org/known,mieb/cifar10,accuracy,0.5\n",
        "is of the benchmark 'mieb'",
    ),
    "NaN": (f"{HEAD}\nmieb,org/known,mieb/cifar10,accuracy,nan\n", "value is 'nan'"),
    "percent": (f"{HEAD}\nmieb,org/known,mieb/cifar10,accuracy,85.1\n", "proportions are fractions"),
    "duplicate": (f"{HEAD}\n{ROW}{ROW}", "row 2: org/known on mieb/cifar10, default, accuracy appears twice"),
    "negative error": (f"{HEAD},stderr\nmieb,org/known,mieb/cifar10,accuracy,0.5,-1\n", "stderr is '-1'"),
    "half an interval": (f"{HEAD},low,high\nmieb,org/known,mieb/cifar10,accuracy,0.5,0.4,\n", "give both in order"),
    "wrong kind": (
        f"{HEAD},model_title,model_kind\nmieb,new,mieb/cifar10,accuracy,0.5,New,robot\n",
        "model_kind is 'robot'",
    ),
    "declares a known model as another kind": (
        f"{HEAD},model_title,model_kind\nmieb,org/known,mieb/cifar10,accuracy,0.5,Known,metric\n",
        "its model_kind is 'encoder', not 'metric'; leave model_kind empty, or choose another key",
    ),
    "declares a known task as another": (
        f"{HEAD},task_title,task_category,higher_is_better\nmieb,org/known,mieb/cifar10,accuracy,0.5,CIFAR10,any,false\n",
        "its higher_is_better is 'true', not 'false'",
    ),
    "two declarations": (
        f"{HEAD},subset,model_title,model_kind\nmieb,new,mieb/cifar10,accuracy,0.5,a,New,encoder\n"
        "mieb,new,mieb/cifar10,accuracy,0.5,b,Newer,encoder\n",
        "its model_title is 'New', not 'Newer'",
    ),
    "a key with spaces": (
        f"{HEAD},model_title,model_kind\nmieb,new one,mieb/cifar10,accuracy,0.5,New,encoder\n",
        "cannot be a key",
    ),
    "wrong direction": (
        f"{HEAD},task_title,task_category,higher_is_better\nmieb,org/known,mieb/new,accuracy,0.5,New,Any,false\n",
        "of accuracy more is better",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_wrong_table_is_one_line_that_names_file_and_remedy(kind, tmp_path, catalog):
    text, reason = REFUSED[kind]
    with pytest.raises(LikenessError, match="scores.csv") as caught:
        read(tmp_path, text, catalog)
    assert reason in str(caught.value)
