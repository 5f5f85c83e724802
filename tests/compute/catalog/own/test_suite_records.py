"""Suites of one's own data: their records, and what a build does with damaged or hostile ones."""

import json
from dataclasses import replace

import pytest

from compute.catalog import shipped
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.tasks.own import read
from compute.types import BadInput
from tests.compute.catalog.own.damaging import assert_left_out
from tests.compute.tasks.pairbench.images import folder_of, manifest_of, suite_of


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("photographs"), 4)


@pytest.fixture
def manifest(photographs, tmp_path):
    return manifest_of(photographs, tmp_path / "Holiday photos.parquet", "cj", "r")


def test_a_manifest_is_a_suite_with_a_task_a_split(manifest, tmp_path):
    suite = suite_of(manifest, tmp_path)
    assert suite.suite.key == "pairs-holiday-photos" and suite.suite.benchmark == "own"
    assert [task.key for task in suite.tasks] == ["own/pairs-holiday-photos/cj", "own/pairs-holiday-photos/r"]
    assert {task.n_items for task in suite.tasks} == {4 * 3 * 2}
    assert "24 pairs of 4 images" in suite.suite.description
    text = (tmp_path / "suites" / "pairs-holiday-photos.json").read_text()
    assert str(tmp_path) not in text and json.loads(text)["data"][0]["path"] == "../Holiday photos.parquet"
    assert suite_records.recorded(tmp_path) == ([suite], [])
    catalog, problems = suite_records.extended(shipped(), [suite])
    assert problems == [] and catalog.suite("pairs-holiday-photos").title == "Own pairs: Holiday photos"
    assert catalog.task("own/pairs-holiday-photos/cj").suites == ("pairs-holiday-photos",)


def test_a_suite_holds_tasks_of_several_shapes_and_files(tmp_path):
    (tmp_path / "labels.csv").write_text("text,label\na cat,cat\na dog,dog\n")
    (tmp_path / "questions.csv").write_text("reference,alternative_1,alternative_2,answer\na,b,a,2\n")
    parts = {name: read(tmp_path / f"{name}.csv") for name in ("labels", "questions")}
    parts["groups"] = read(tmp_path / "labels.csv", shape="clustering")
    suite = suite_records.record(own_suite.of_data(parts, name="Both", categories={"groups": "Mine"}), results=tmp_path)
    assert [task.key for task in suite.tasks] == [f"own/both/{name}" for name in parts]
    assert [task.category for task in suite.tasks] == ["Zero-shot Classification", "Text-2AFC", "Mine"]
    assert suite.shape == "classification, choices, clustering" and len({file.digest for file in suite.data}) == 3
    assert suite_records.recorded(tmp_path) == ([suite], [])
    assert suite_records.keyed(own_suite.of_data(parts, name="Other"), results=tmp_path).suite.key == "own-both"
    less = own_suite.of_data({name: parts[name] for name in ("labels", "questions")}, name="Both")
    assert suite_records.keyed(less, results=tmp_path).suite.key == f"own-both-{less.digest[:8]}"
    with pytest.raises(BadInput, match="own/both/a-b"):
        own_suite.of_data({"a b": parts["labels"], "A-B": parts["groups"]}, name="Both")


def test_two_suites_share_no_key_of_a_task(tmp_path):
    """One of pairs and one of data whose name begins like its key: the second gets the beginning of its digest."""

    def named(text, **suite):
        (tmp_path / "data.csv").write_text(f"text,label\n{text},x\na dog,y\n")
        own = own_suite.of_data({"cj": read(tmp_path / "data.csv")}, name="pairs-x")
        return suite_records.record(replace(own, suite=replace(own.suite, **suite)), results=tmp_path)

    first, second = named("a cat", key="pairs-x"), named("a cow")
    assert second.tasks[0].key == f"own/pairs-x-{second.digest[:8]}/cj" and first.tasks[0].key == "own/pairs-x/cj"
    suites, problems = suite_records.recorded(tmp_path)
    assert len(suites) == 2 and not problems
    catalog, problems = suite_records.extended(shipped(), [first, replace(second, tasks=first.tasks)])
    assert [task.key for task in catalog.tasks].count("own/pairs-x/cj") == 1
    assert problems and "another suite" in problems[0]


def test_the_same_content_is_the_same_suite_and_another_gets_a_key_of_its_own(manifest, photographs, tmp_path):
    results = tmp_path / "results"
    first = suite_of(manifest, results)
    copy = tmp_path / "elsewhere.parquet"
    copy.write_bytes(manifest.read_bytes())
    again = suite_of(copy, results)
    assert again.suite.key == first.suite.key and [task.key for task in again.tasks] == [t.key for t in first.tasks]
    path = manifest_of(photographs, tmp_path / "other" / manifest.name, "cj", "r", seed=1)
    other = own_suite.from_file(path, suite="pairbench")
    assert suite_records.keyed(other, results=results).suite.key == f"pairs-holiday-photos-{other.digest[:8]}"
    assert len(suite_records.files(results)) == 1
    suite_records.record(other, results=results)
    both, _ = suite_records.recorded(results)
    assert len(both) == len({each.suite.title for each in both}) == 2
    assert len({task.title for each in both for task in each.tasks}) == 4
    assert suite_records.keyed(other, results=results) in both


# A field's path, a value, and the word that names it in the reason.
HOSTILE = (
    ("version", 3, "version"),
    ("data.0.shape", "pickle", "shape"),
    ("data", ..., "data"),
    ("data.0", "x.csv", "data.0"),
    ("data.0.path", "", "no path"),
    ("tasks.0.data", 1, "data"),
    ("tasks", [], "no tasks"),
    ("tasks", [{}] * 101, "tasks"),
    ("tasks.0.benchmark", "pairbench", "benchmark"),
    ("tasks.0.key", "pairbench/coco-cj", "begin"),
    ("tasks.0.key", "own/pairs-holiday-photos/../../x", "begin"),
    ("tasks.1.key", "own/pairs-holiday-photos/cj", "one key"),
    ("suite.title", "x" * 5000, "title"),
    ("suite.title", "\ud800", "half a character"),
    ("suite.aggregate", "human", "human"),
    ("tasks.0.n_items", -1, "n_items"),
    ("weights", {"Words": 0}, "weights"),
)


def test_a_damaged_or_hostile_record_is_named_and_left_out(manifest, tmp_path):
    good = suite_of(manifest, tmp_path)
    assert_left_out(tmp_path / "suites" / f"{good.suite.key}.json", HOSTILE, suite_records.recorded)
