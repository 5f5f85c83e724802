"""What a computed run was made with: nothing of importance is left out, everything is said in words."""

import json
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from compute.rounding import rounded
from leaderboard.pages.task.run_details import details


@pytest.fixture(scope="module")
def runs(stand_in_suite_cache):
    """The stand-ins' runs of one task by their model."""
    found = stand_in_suite_cache.db.query("computed_runs", task="unisim/imagenet-ooo", model="")
    return found.set_index("model")


def told(db, run):
    """What is said of a run, and its lines by their labels."""
    found = details(db, key=run["id"])
    return found, {line["label"]: line["text"] for group in found["groups"] for line in group["lines"]}


def test_a_run_is_told_with_its_settings_versions_device_time_and_folder(stand_in_suite_cache, runs):
    run = runs.loc["example/eye"]
    found, said = told(stand_in_suite_cache.db, run)
    assert found["title"] == "Example Eye on ImageNet-OOO"
    expected = {"Device": "cpu", "Precision": "float32", "Coverage": "all 60 items", "Weights": "example/Eye"}
    expected |= {"Image size": "24", "Pooling": "mean", "Contents": json.loads(found["settings"])["contents"]}
    expected |= {"Numpy": version("numpy")}
    assert said | expected == said and said["Code"]
    assert run["id"].endswith(said["Fingerprint"]) and said["Source"].endswith(said["Fingerprint"])
    assert said["Accuracy"].startswith(f"{run['value'] * 100:.2f}; 95% interval")
    assert said["In all"].endswith(" s") and said["Started"].endswith(" UTC")
    assert {link["text"] for link in found["links"]} == {"Its single items", "The task", "The model"}


def test_what_a_judge_could_not_be_read_is_counted(stand_in_suite_cache, runs):
    run = runs.loc["example/judge"]
    _, said = told(stand_in_suite_cache.db, run)
    assert said["State"].startswith("partial") and "unread 24" in said["Default"]
    assert said["Coverage"] == "60.0% of 60 items" and "n\u00a0=\u00a036" in said["Accuracy"]
    least = rounded(run["value"] * 36 / 60, 1, scale=100)
    assert said["Accuracy"].endswith(f"of the items; at least {least} if the rest count as wrong")


def test_why_a_run_is_doubtful_is_said(stand_in_suite_cache, runs):
    def records(name, *, key):
        rows = stand_in_suite_cache.db.records(name, key=key)
        return [row | {"settings": json.dumps({"doubts": ["One answer", "One vector"]})} for row in rows]

    _, said = told(SimpleNamespace(records=records), runs.iloc[0])
    assert said["Doubtful"] == "One answer; One vector"
