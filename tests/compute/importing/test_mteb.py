"""Imports of a repository of MTEB results, sound and damaged."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from compute.catalog import Catalog, shipped
from compute.importing import fetch_mteb_results, read_mteb_results
from compute.types import BadInput, Model

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "mteb-results"
OLD, NEW = "a" * 40, "b" * 40
META = {
    "name": "Org/Some-Model",
    "revision": NEW,
    "license": "mit",
    "n_parameters": 151_000_000,
    "embed_dim": 512,
    "release_date": "2024-05-06",
    "modalities": ["image", "text"],
    "open_weights": True,
    "memory_usage_mb": 576,
    "max_tokens": 77.0,
    "languages": ["eng_Latn"],
    "model_type": ["dense"],
    "training_datasets": {"VidoreDocVQARetrieval": ["train"], "Elsewhere": []},
}


def entry(value: Any, *, subset: str = "default", **fields: Any) -> dict[str, Any]:
    return {"main_score": value, "hf_subset": subset, "languages": ["eng-Latn"], **fields}


def result(name: str, *rows: dict[str, Any], split: str = "test", version: str = "1.14.15", **fields: Any) -> dict:
    return {
        "dataset_revision": "c" * 40,
        "evaluation_time": 12.5,
        "kg_co2_emissions": None,
        "mteb_version": version,
        "scores": {split: list(rows)},
        "task_name": name,
        **fields,
    }


def put(root: Path, name: str, content: Any, *, model: str = "Org__Some-Model", revision: str = NEW) -> Path:
    path = root / "results" / model / revision / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
        return path
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_sound_repository_becomes_runs_scores_and_models(tmp_path: Path, catalog: Catalog) -> None:
    put(tmp_path, "model_meta", META)
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.9, accuracy=0.9)))
    put(
        tmp_path,
        "XFlickr30kCoT2IRetrieval",
        result("XFlickr30kCoT2IRetrieval", entry(0.5, subset="de", ndcg_at_10=0.5), entry(0.75, subset="en")),
    )
    put(tmp_path, "STS12VisualSTS", result("STS12VisualSTS", entry(-0.25)), model="org__known")

    imported = read_mteb_results(tmp_path, catalog=catalog)

    assert imported.problems == imported.skipped == ()
    run = next(run for run in imported.runs if run.task == "mieb/cifar10")
    assert (run.model, run.origin, run.procedure, run.seconds, run.main) == (
        "org/some-model",
        "imported",
        "probe",
        12.5,
        True,
    )
    assert run.source == f"mteb results repository, Org/Some-Model @ {NEW[:12]}"
    assert run.settings == {
        "dataset_revision": "c" * 40,
        "mteb_version": "1.14.15",
        "evaluation_time": 12.5,
        "model_revision": NEW,
        "split": "test",
        "file": f"Org__Some-Model/{NEW}/CIFAR10.json",
        "field": "accuracy",
        "primary": True,
    }
    assert {(score.subset, score.metric, score.value, score.n) for score in imported.scores} == {
        ("default", "accuracy", 0.9, 10_000),
        ("de", "ndcg_at_10", 0.5, None),
        ("en", "ndcg_at_10", 0.75, None),
        ("default", "cosine_spearman", -0.25, None),
    }
    accuracy = next(score for score in imported.scores if score.metric == "accuracy")
    assert accuracy.stderr == pytest.approx(0.003)  # sqrt(0.9 * 0.1 / 10000)
    assert imported.models == (
        Model(
            key="org/some-model",
            title="Some-Model",
            organisation="The Org",
            weights="Org/Some-Model",
            revision=NEW,
            abilities=("embed_image", "embed_text"),
            late_interaction=False,
            parameters_m=151.0,
            memory_mb=576.0,
            embed_dim=512,
            max_tokens=77,
            modalities=("image", "text"),
            languages=("eng-Latn",),
            open_weights=True,
            license="mit",
            released="2024-05-06",
            trained_on=("docvqa",),
            facts_from="mteb model_meta",
        ),
    )
    assert read_mteb_results(tmp_path / "results", catalog=catalog) == imported


def test_what_the_task_is_not_scored_on_damages_nothing(tmp_path: Path, catalog: Catalog) -> None:
    content = result("CIFAR10", entry(0.9, accuracy=10**400))
    content["scores"]["train"] = [{"main_score": "NaN"}, None]
    put(tmp_path, "CIFAR10", content)
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert not imported.problems and [score.value for score in imported.scores] == [0.9]


def test_metric_comes_from_its_own_field(tmp_path: Path, catalog: Catalog) -> None:
    """Old VOC2007 files name another metric as main score; the hit rate was called cv_recall, and is not the recall."""
    put(tmp_path, "VOC2007", result("VOC2007", entry(0.34, lrap=0.49, accuracy=0.34)))
    put(tmp_path, "SOPI2IRetrieval", result("SOPI2IRetrieval", entry(0.6, cv_recall_at_1=0.6, recall_at_1=0.2)))
    put(tmp_path, "CUB200I2IRetrieval", result("CUB200I2IRetrieval", entry(0.7, hit_rate_at_1=0.7, recall_at_1=0.03)))
    put(tmp_path, "Winoground", result("Winoground", entry(0.1, accuracy=0.1, text_acc=0.3)))
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert {(score.metric, score.value) for score in imported.scores} == {
        ("lrap", 0.49),
        ("hit_rate_at_1", 0.6),
        ("hit_rate_at_1", 0.7),
        ("group_accuracy", 0.1),
    }
    settings = {run.task: run.settings for run in imported.runs}
    assert settings["mieb/voc2007"]["main_score"] == 0.34
    assert settings["mieb/sopi2iretrieval"]["field"] == "cv_recall_at_1"
    assert settings["mieb/cub200i2iretrieval"]["field"] == "hit_rate_at_1"
    assert "main_score" not in settings["mieb/winoground"]


def test_splits_and_averages(tmp_path: Path, catalog: Catalog) -> None:
    put(
        tmp_path,
        "Food101Classification",
        {
            **result("Food101Classification", entry(0.8), split="validation"),
            "scores": {"validation": [entry(0.8)], "test": [entry(0.1)]},
        },
    )
    put(tmp_path, "CIFAR10", {**result("CIFAR10"), "scores": {"train": [entry(0.2)], "test": [entry(0.7)]}})
    put(
        tmp_path,
        "STSBenchmarkMultilingualVisualSTS",
        {
            **result("STSBenchmarkMultilingualVisualSTS"),
            "scores": {"dev": [entry(0.3, subset="de")], "test": [entry(0.4, subset="de"), entry(0.5)]},
        },
    )
    imported = read_mteb_results(tmp_path, catalog=catalog)
    runs = {run.id: run for run in imported.runs}
    found = {
        (
            runs[score.run].task.removeprefix("mieb/"),
            runs[score.run].settings["split"],
            score.subset,
            score.value,
            runs[score.run].main,
        )
        for score in imported.scores
    }
    assert found == {
        ("food101classification", "validation", "default", 0.8, True),
        ("cifar10", "test", "default", 0.7, True),
        ("stsbenchmarkmultilingualvisualsts", "dev", "de", 0.3, False),
        ("stsbenchmarkmultilingualvisualsts", "test", "de", 0.4, True),
        ("stsbenchmarkmultilingualvisualsts", "test", "average", 0.5, True),
    }


def test_one_of_two_splits_is_no_score_of_the_task(tmp_path: Path, catalog: Catalog) -> None:
    name = "STSBenchmarkMultilingualVisualSTS"
    put(tmp_path, name, {**result(name), "scores": {"dev": [entry(0.3, subset="de")]}})
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.7)))
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert [run.task for run in imported.runs] == ["mieb/cifar10"]
    assert "splits dev" in imported.problems[0].reason and "scored on test" in imported.problems[0].reason


def test_results_in_no_revisions_folder_are_named(tmp_path: Path, catalog: Catalog) -> None:
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.7)))
    for stray in ("", "Org__Some-Model"):
        put(tmp_path, "VOC2007", result("VOC2007", entry(0.6)), model=stray, revision="")
    put(tmp_path, "notes", "{}", revision="")
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert [problem.path for problem in imported.problems] == ["VOC2007.json", "Org__Some-Model/VOC2007.json"]
    assert [run.task for run in imported.runs] == ["mieb/cifar10"]


def test_newest_revision_is_primary_and_the_others_fill_its_gaps(tmp_path: Path, catalog: Catalog) -> None:
    put(tmp_path, "model_meta", {**META, "revision": OLD, "embed_dim": 256}, revision=OLD)
    put(tmp_path, "model_meta", META)
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.5), version="1.9.3"), revision=OLD)
    put(tmp_path, "VOC2007", result("VOC2007", entry(0.6), version="1.9.3"), revision=OLD)
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.9), version="1.14.15"))
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert {(run.task, run.settings["model_revision"], run.main, run.settings["primary"]) for run in imported.runs} == {
        ("mieb/cifar10", NEW, True, True),
        ("mieb/cifar10", OLD, False, False),
        ("mieb/voc2007", OLD, True, False),
    }
    assert imported.models[0].revision == NEW


def test_of_equal_versions_the_fuller_revision_is_primary(tmp_path: Path, catalog: Catalog) -> None:
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.9)))
    for name in ("CIFAR10", "VOC2007"):
        put(tmp_path, name, result(name, entry(0.5)), revision=OLD)
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert {run.settings["model_revision"] for run in imported.runs if run.settings["primary"]} == {OLD}


def test_files_without_main_score_with_a_byte_order_mark_and_compressed_are_read(
    tmp_path: Path, catalog: Catalog
) -> None:
    alone = {"task_name": "STS12VisualSTS", "scores": {"test": [{"cosine_spearman": 0.5, "hf_subset": "default"}]}}
    put(tmp_path, "STS12VisualSTS", alone)
    put(tmp_path, "VOC2007", "\ufeff" + json.dumps(result("VOC2007", entry(0.6))))
    packed = put(tmp_path, "CIFAR10", "")
    packed.with_name("CIFAR10.json.gz").write_bytes(gzip.compress(json.dumps(result("CIFAR10", entry(0.9))).encode()))
    packed.unlink()
    imported = read_mteb_results(tmp_path, catalog=catalog)
    values = {score.metric: score.value for score in imported.scores}
    assert values == {"cosine_spearman": 0.5, "lrap": 0.6, "accuracy": 0.9} and not imported.problems


DAMAGED: dict[str, tuple[Any, str]] = {
    "no known metric": ({"scores": {"test": [{"nmi": 0.5}]}}, "accuracy"),
    "not JSON": ("{", "JSON"),
    "a list": ([1], "dict"),
    "empty split": ({"scores": {"test": []}}, "no scores"),
    "row is text": ({"scores": {"test": ["0.5"]}}, "test"),
    "other split only": ({"scores": {"train": [entry(0.5)]}}, "splits"),
    "a pipe": (os.mkfifo, "regular"),
    "NaN": ('{"scores": {"test": [{"main_score": NaN}]}}', "main_score"),
    "huge integer": (f'{{"scores": {{"test": [{{"main_score": 1{"0" * 400}}}]}}}}', "main_score"),
    "text for a number": ({"scores": {"test": [entry("0.5")]}}, "main_score"),
    "true for a number": ({"scores": {"test": [entry(True)]}}, "main_score"),
    "percent": ({"scores": {"test": [entry(85.1)]}}, "above 1"),
    "negative accuracy": ({"scores": {"test": [entry(-0.1)]}}, "below 0"),
    "unknown subset": ({"scores": {"test": [entry(0.5, subset="xx")]}}, "subset"),
    "subset twice": ({"scores": {"test": [entry(0.5), entry(0.6)]}}, "twice"),
    "another task": (result("VOC2007", entry(0.5)), "VOC2007"),
    "version is a number": (result("CIFAR10", entry(0.5), version=1.14), "mteb_version"),
    "seconds are text": (result("CIFAR10", entry(0.5), evaluation_time="long"), "evaluation_time"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_named_and_left_out(kind: str, tmp_path: Path, catalog: Catalog) -> None:
    content, reason = DAMAGED[kind]
    put(tmp_path, "CIFAR10", content)
    put(tmp_path, "VOC2007", result("VOC2007", entry(0.6)))
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert [run.task for run in imported.runs] == ["mieb/voc2007"]
    (problem,) = imported.problems
    assert problem.path == f"Org__Some-Model/{NEW}/CIFAR10.json"
    assert reason in problem.reason
    assert problem.remedy
    assert "\n" not in str(problem)


def test_two_spellings_of_a_model_are_not_mixed(tmp_path: Path, catalog: Catalog) -> None:
    for model in ("Org__Some-Model", "org__some-model"):
        put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.6)), model=model)
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert len(imported.runs) == 1
    assert "another spelling" in imported.problems[0].reason


def test_an_unknown_task_is_a_named_skip(tmp_path: Path, catalog: Catalog) -> None:
    put(tmp_path, "Banking77", result("Banking77", entry(0.6)))
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.6)))
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert imported.problems == ()
    assert "'Banking77'" in imported.skipped[0].reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_parameters": "many"}, "n_parameters"),
        ({"embed_dim": True}, "embed_dim"),
        ({"name": "Org/Other"}, "Org/Other"),
    ],
)
def test_a_damaged_description_leaves_the_model_its_name(
    change: dict, reason: str, tmp_path: Path, catalog: Catalog
) -> None:
    put(tmp_path, "model_meta", {**META, **change})
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.6)))
    imported = read_mteb_results(tmp_path, catalog=catalog)
    assert reason in imported.problems[0].reason
    assert imported.models == (Model(key="org/some-model", title="Some-Model", organisation="The Org"),)


def test_a_folder_without_results_is_an_error(tmp_path: Path, catalog: Catalog) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BadInput, match="folder"):
            read_mteb_results(folder, catalog=catalog)


@pytest.mark.skipif(not REAL.is_dir(), reason="the real result files are not part of the repository")
def test_every_real_result_file_is_read() -> None:
    imported = read_mteb_results(REAL, catalog=shipped())
    assert imported.problems == () and len(imported.runs) > 5000
    assert len({run.id for run in imported.runs}) == len(imported.runs)
    known = {model.key for model in shipped().models} | {model.key for model in imported.models}
    assert {run.model for run in imported.runs} <= known


def test_fetching_asks_for_the_files_of_the_tasks_at_one_commit(tmp_path: Path, catalog: Catalog, monkeypatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", lambda repo_id, **options: asked.update(options, repo_id=repo_id)
    )
    folder = fetch_mteb_results(tmp_path, revision=NEW, catalog=catalog)
    assert folder == asked["local_dir"] == tmp_path / NEW
    assert (asked["repo_id"], asked["repo_type"], asked["revision"]) == ("mteb/results", "dataset", NEW)
    assert "results/*/*/model_meta.json" in asked["allow_patterns"]
    assert "results/*/*/CIFAR10.json" in asked["allow_patterns"]
    assert len(asked["allow_patterns"]) == len(catalog.tasks) + 1


def test_a_branch_is_resolved_to_its_commit(tmp_path: Path, catalog: Catalog, monkeypatch) -> None:
    class Info:
        sha = OLD

    asked: dict[str, Any] = {}
    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", lambda self, repo_id, revision: Info())
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda repo_id, **options: asked.update(options))
    assert fetch_mteb_results(tmp_path, catalog=catalog) == tmp_path / OLD
    assert asked["revision"] == OLD


def test_fetching_offline_is_one_clear_error(tmp_path: Path, catalog: Catalog, monkeypatch) -> None:
    from huggingface_hub.errors import LocalEntryNotFoundError

    def offline(*_: Any, **__: Any) -> None:
        raise LocalEntryNotFoundError("Cannot find an appropriate cached snapshot folder")

    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    with pytest.raises(BadInput, match="Check the connection"):
        fetch_mteb_results(tmp_path, revision=NEW, catalog=catalog)
