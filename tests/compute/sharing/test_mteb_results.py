"""Result files of mteb's layout: mteb's own loader reads them, with the computed scores and no others."""

import json
from pathlib import Path

import pytest

from compute.catalog import shipped
from compute.sharing import mteb_results
from compute.types import Score
from tests.compute.sharing import results

mteb = pytest.importorskip("mteb")
NAME = "openai/clip-vit-base-patch32"
TASKS = (
    "mieb/cifar10",
    "mieb/voc2007",
    "mieb/winoground",
    "mieb/imagenet10clustering",
    "mieb/flickr30kt2iretrieval",
    "mieb/visualsts17eng",
    "mieb/visualsts17multilingual",
    "mieb/stsbenchmarkmultilingualvisualsts",
    "mieb/xflickr30kcot2iretrieval",
)


def written(root, folder):
    """mteb's files of the runs under `root`, in a cache folder of mteb's."""
    texts, _ = mteb_results.files(results.gathered(root), name=NAME)
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_mtebs_own_cache_loads_every_task_and_agrees_on_the_main_score(tmp_path):
    stored = {key: results.store(tmp_path / "results", key) for key in TASKS}
    cache = mteb.ResultCache(written(tmp_path / "results", tmp_path / "mteb"))
    [loaded] = cache.load_results(include_remote=False, require_model_meta=True).model_results
    assert (loaded.model_name, loaded.model_revision) == (NAME, results.COMMIT)
    found = {result.task_name: result for result in loaded.task_results}
    assert set(found) == {shipped().task(key).title for key in TASKS}
    for key, run in stored.items():
        task, result = shipped().task(key), found[shipped().task(key).title]
        metric, theirs = task.metrics[0], mteb.get_task(task.title)
        parts = {score.subset: score.value for score in run.scores if score.metric == metric}
        if theirs.is_aggregate:
            expected = {"default": parts.get("default", parts.get("en-en"))}
        else:
            expected = {subset: parts[subset] for subset in task.subsets}
        [split] = result.scores
        assert split in theirs.eval_splits
        assert {row["hf_subset"]: row["main_score"] for row in result.scores[split]} == expected
        for row in result.scores[split]:
            assert row[theirs.metadata.main_score] == row["main_score"]
            if not theirs.is_aggregate:
                assert row["languages"] == theirs.metadata.hf_subsets_to_langscripts[row["hf_subset"]]
        assert result.dataset_revision == task.revision and result.date.isoformat() == results.STARTED
        assert result.get_score() == pytest.approx(sum(expected.values()) / len(expected))
        if len(theirs.eval_splits) == 1:
            kept = result.validate_and_filter_scores(theirs)
            assert {row["hf_subset"]: row["main_score"] for row in kept.scores[split]} == expected


def test_every_task_of_the_catalogue_is_one_of_mtebs():
    wrong = []
    for task in (task for task in shipped().tasks if task.benchmark == "mieb"):
        theirs = mteb.get_task(task.title)
        known = theirs.is_aggregate == (task.title in mteb_results.AGGREGATES)
        known &= task.split.split("|")[-1] in theirs.eval_splits
        known &= mteb_results.FIELDS.get(task.metrics[0], task.metrics)[0] == theirs.metadata.main_score
        if not theirs.is_aggregate:
            scripts = theirs.metadata.hf_subsets_to_langscripts
            known &= all(mteb_results.languages(task, subset) == scripts[subset] for subset in task.subsets)
        wrong += [] if known else [task.key]
    assert wrong == []


def test_a_part_of_the_items_and_another_protocol_are_not_for_mteb(tmp_path):
    part = Score(run="", subset="default", metric="accuracy", value=0.9, n=90, coverage=0.9)
    results.store(tmp_path, "mieb/cifar10", scores=[part], settings={"coverage": 0.9})
    results.store(tmp_path, "mieb/voc2007", settings={"variant": "classifier=logistic"})
    results.store(tmp_path, "unisim/nights")
    texts, left_out = mteb_results.files(results.gathered(tmp_path), name=NAME)
    assert texts == {}
    assert set(left_out) == {
        "VOC2007: by another protocol than mteb's (classifier=logistic)",
        "CIFAR10: 90.0% of the items were answered",
    }


def test_no_name_or_revision_leads_out_of_the_folder(tmp_path):
    results.store(tmp_path, "mieb/cifar10", settings={"model": {"revision": "../../../etc"}})
    texts, _ = mteb_results.files(results.gathered(tmp_path), name="../evil/name")
    for path in texts:
        assert path.startswith("results/") and ".." not in Path(path).parts and len(Path(path).parts) == 4
    results.store(tmp_path, "mieb/cifar10", settings={"model": {}})
    texts, _ = mteb_results.files(results.gathered(tmp_path), name=NAME)
    assert json.loads(texts[f"results/openai__clip-vit-base-patch32/no_revision_available/{mteb_results.META}"])


def test_a_subset_without_the_main_score_is_left_out(tmp_path):
    task = shipped().task("mieb/xflickr30kcot2iretrieval")
    first, second = task.subsets[:2]
    scores = [
        Score(run="", subset=first, metric=task.metrics[0], value=0.5),
        Score(run="", subset=second, metric="map_at_5", value=0.6),
    ]
    results.store(tmp_path / "part", task.key, scores=scores)
    texts, left_out = mteb_results.files(results.gathered(tmp_path / "part"), name=NAME)
    [content] = [json.loads(text) for path, text in texts.items() if path.endswith(f"{task.title}.json")]
    [rows] = content["scores"].values()
    assert [(row["hf_subset"], row["main_score"]) for row in rows] == [(first, 0.5)] and left_out == ()
    results.store(tmp_path / "none", task.key, scores=scores[1:])
    texts, left_out = mteb_results.files(results.gathered(tmp_path / "none"), name=NAME)
    assert texts == {} and left_out == (
        f"{task.title}: no subset that mteb stores has {task.metrics[0]}, its main score",
    )
