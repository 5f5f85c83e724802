"""Imports of a repository of MTEB results, sound and damaged."""

import json
import os

import pytest

from compute.importing import fetch_mteb_results, read_mteb_results
from compute.importing.mteb import ModelMeta, model_row
from compute.types import BadInput, Model

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
    "public_training_code": "https://example.org/code",
    "public_training_data": "Proprietary",
    "citation": "@misc{a, eprint={2407.01449}}",
    "training_datasets": {"VidoreDocVQARetrieval": ["train"], "Elsewhere": []},
}


def entry(value, *, subset="default", **fields):
    return {"main_score": value, "hf_subset": subset, "languages": ["eng-Latn"], **fields}


def result(name, *rows, split="test", version="1.14.15", **fields):
    return {
        "dataset_revision": "c" * 40,
        "evaluation_time": 12.5,
        "kg_co2_emissions": None,
        "mteb_version": version,
        "scores": {split: list(rows)},
        "task_name": name,
        **fields,
    }


def split(**rows):
    """The scores of a file by split."""
    return {"scores": rows}


def put(root, name, content, *, model="Org__Some-Model", revision=NEW):
    path = root / "results" / model / revision / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
        return path
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_sound_repository_becomes_runs_scores_and_models(tmp_path, catalog):
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
    [model] = imported.models
    assert (model.key, model.organisation, model.trained_on) == ("org/some-model", "The Org", ("docvqa",))
    assert (model.training_code, model.training_data) == (True, False)
    assert model.paper == "https://arxiv.org/abs/2407.01449"
    bare = model_row(ModelMeta(name="Org/Some-Model"), "Org__Some-Model", catalog=catalog)
    assert (bare.training_code, bare.training_data, bare.paper) == (None, None, "")
    assert read_mteb_results(tmp_path / "results", catalog=catalog) == imported


CIFAR, VOC, FOOD, STS = "CIFAR10", "VOC2007", "Food101Classification", "STSBenchmarkMultilingualVisualSTS"
OF_OLD = {"revision": OLD}
# Files by task with where they lie, and what is read of them: task, revision, split, subset, metric, value, whether its
# run is shown, and whether its revision is the primary one.
SOUND = {
    "what the task is not scored on damages nothing": (
        [
            (
                CIFAR,
                result(CIFAR, entry(0.9, accuracy=10**400)) | split(test=[entry(0.9)], train=[{"main_score": "x"}, 0]),
            )
        ],
        {"cifar10 b test default accuracy 0.9 main primary"},
    ),
    "old files name another metric as main score": (
        [(VOC, result(VOC, entry(0.34, lrap=0.49, accuracy=0.34)))],
        {"voc2007 b test default lrap 0.49 main primary"},
    ),
    "the hit rate was called cv_recall, and is not the recall": (
        [("SOPI2IRetrieval", result("SOPI2IRetrieval", entry(0.5, cv_recall_at_1=0.6, recall_at_1=0.2)))],
        {"sopi2iretrieval b test default hit_rate_at_1 0.6 main primary"},
    ),
    "the own name of a metric": (
        [
            ("CUB200I2IRetrieval", result("CUB200I2IRetrieval", entry(0.5, hit_rate_at_1=0.7, recall_at_1=0.03))),
            ("Winoground", result("Winoground", entry(0.1, accuracy=0.1, text_acc=0.3))),
        ],
        {
            "cub200i2iretrieval b test default hit_rate_at_1 0.7 main primary",
            "winoground b test default group_accuracy 0.1 main primary",
        },
    ),
    "the split of the task, else test": (
        [
            (FOOD, result(FOOD) | split(validation=[entry(0.8)], test=[entry(0.1)])),
            (CIFAR, result(CIFAR) | split(train=[entry(0.2)], test=[entry(0.7)])),
        ],
        {
            "food101classification b validation default accuracy 0.8 main primary",
            "cifar10 b test default accuracy 0.7 main primary",
        },
    ),
    "two splits, and an average": (
        [(STS, result(STS) | split(dev=[entry(0.3, subset="de")], test=[entry(0.4, subset="de"), entry(0.5)]))],
        {
            "stsbenchmarkmultilingualvisualsts b dev de cosine_spearman 0.3 primary",
            "stsbenchmarkmultilingualvisualsts b test de cosine_spearman 0.4 main primary",
            "stsbenchmarkmultilingualvisualsts b test average cosine_spearman 0.5 main primary",
        },
    ),
    "the newest revision is primary, and others fill its gaps": (
        [
            (CIFAR, result(CIFAR, entry(0.5), version="1.9.3"), OF_OLD),
            (VOC, result(VOC, entry(0.6), version="1.9.3"), OF_OLD),
            (CIFAR, result(CIFAR, entry(0.9), version="1.14.15")),
        ],
        {
            "cifar10 b test default accuracy 0.9 main primary",
            "cifar10 a test default accuracy 0.5",
            "voc2007 a test default lrap 0.6 main",
        },
    ),
    "of equal versions the fuller revision is primary": (
        [(CIFAR, result(CIFAR, entry(0.9))), *((name, result(name, entry(0.5)), OF_OLD) for name in (CIFAR, VOC))],
        {
            "cifar10 b test default accuracy 0.9",
            "cifar10 a test default accuracy 0.5 main primary",
            "voc2007 a test default lrap 0.5 main primary",
        },
    ),
    "no main score, a byte order mark": (
        [
            ("STS12VisualSTS", split(test=[{"cosine_spearman": 0.5, "hf_subset": "default"}])),
            (VOC, "\ufeff" + json.dumps(result(VOC, entry(0.6)))),
        ],
        {
            "sts12visualsts b test default cosine_spearman 0.5 main primary",
            "voc2007 b test default lrap 0.6 main primary",
        },
    ),
}


def read(folder, catalog, files):
    """An import of these files, and its scores in words."""
    for name, content, *where in files:
        put(folder, name, content, **dict(*where))
    imported = read_mteb_results(folder, catalog=catalog)
    runs = {run.id: run for run in imported.runs}
    words = set()
    for score in imported.scores:
        run = runs[score.run]
        marks = ["main"] * run.main + ["primary"] * run.settings["primary"]
        facts = (run.task.removeprefix("mieb/"), run.settings["model_revision"][0], run.settings["split"])
        words.add(" ".join(map(str, (*facts, score.subset, score.metric, score.value, *marks))))
    return imported, words


@pytest.mark.parametrize("kind", SOUND)
def test_what_is_read(kind, tmp_path, catalog):
    files, expected = SOUND[kind]
    imported, words = read(tmp_path, catalog, files)
    assert words == expected and not imported.problems and not imported.skipped


def test_a_model_is_described_by_its_primary_revision(tmp_path, catalog):
    described = [("model_meta", {**META, "revision": OLD, "embed_dim": 256}, OF_OLD), ("model_meta", META)]
    imported, _ = read(
        tmp_path, catalog, [*described, *SOUND["the newest revision is primary, and others fill its gaps"][0]]
    )
    assert [(model.revision, model.embed_dim) for model in imported.models] == [(NEW, 512)]


DAMAGED = {
    "no known metric": ({"scores": {"test": [{"nmi": 0.5}]}}, "accuracy"),
    "not JSON": ("{", "JSON"),
    "empty split": ({"scores": {"test": []}}, "no scores"),
    "other split only": ({"scores": {"train": [entry(0.5)]}}, "splits"),
    "a pipe": (os.mkfifo, "regular"),
    "NaN": ('{"scores": {"test": [{"main_score": NaN}]}}', "main_score"),
    "text for a number": ({"scores": {"test": [entry("0.5")]}}, "main_score"),
    "percent": ({"scores": {"test": [entry(85.1)]}}, "above 1"),
    "unknown subset": ({"scores": {"test": [entry(0.5, subset="xx")]}}, "subset"),
    "subset twice": ({"scores": {"test": [entry(0.5), entry(0.6)]}}, "twice"),
    "another task": (result("VOC2007", entry(0.5)), "VOC2007"),
}


IN_NEW = f"Org__Some-Model/{NEW}"
# Files beside a sound one of VOC2007, where the problem is, and a word of it.
PROBLEMS = {
    **{kind: ([(CIFAR, content)], f"{IN_NEW}/CIFAR10.json", word) for kind, (content, word) in DAMAGED.items()},
    "one of two splits": (
        [(STS, result(STS) | split(dev=[entry(0.3, subset="de")]))],
        f"{IN_NEW}/{STS}.json",
        "splits dev",
    ),
    "another spelling of a model": (
        [(VOC, result(VOC, entry(0.6)), {"model": "org__some-model"})],
        "",
        "another spelling",
    ),
    "a folder that names no model": ([(VOC, "", {"model": "some"})], "some", "<organisation>__<model>"),
    **{
        f"a description with {word}": ([("model_meta", {**META, **change})], f"{IN_NEW}/model_meta.json", word)
        for word, change in (
            ("n_parameters", {"n_parameters": "many"}),
            ("embed_dim", {"embed_dim": True}),
            ("Org/Other", {"name": "Org/Other"}),
        )
    },
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_what_is_damaged_is_named_and_left_out(kind, tmp_path, catalog):
    files, path, reason = PROBLEMS[kind]
    imported, words = read(tmp_path, catalog, [*files, (VOC, result(VOC, entry(0.6)))])
    assert words == {"voc2007 b test default lrap 0.6 main primary"}
    (problem,) = imported.problems
    assert problem.path.startswith(path) and reason in problem.reason and problem.remedy and "\n" not in str(problem)
    assert imported.models == (Model(key="org/some-model", title="Some-Model", organisation="The Org"),)


def test_an_unknown_task_is_a_named_skip(tmp_path, catalog):
    imported, words = read(tmp_path, catalog, [(name, result(name, entry(0.6))) for name in ("Banking77", CIFAR)])
    assert len(words) == 1 and imported.problems == () and "'Banking77'" in imported.skipped[0].reason


def test_a_folder_without_results_is_an_error(tmp_path, catalog):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BadInput, match="folder"):
            read_mteb_results(folder, catalog=catalog)


def test_fetching_asks_for_the_files_of_the_tasks_at_one_commit(tmp_path, catalog, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", lambda repo_id, **options: asked.update(options, repo_id=repo_id)
    )
    folder = fetch_mteb_results(tmp_path, revision=NEW, catalog=catalog)
    assert folder == asked["local_dir"] == tmp_path / NEW
    assert (asked["repo_id"], asked["repo_type"], asked["revision"]) == ("mteb/results", "dataset", NEW)
    assert "results/*/*/model_meta.json" in asked["allow_patterns"]
    assert "results/*/*/CIFAR10.json" in asked["allow_patterns"]
    assert len(asked["allow_patterns"]) == len(catalog.tasks) + 1


def test_fetching_offline_is_one_clear_error(tmp_path, catalog, monkeypatch):
    from huggingface_hub.errors import LocalEntryNotFoundError

    def offline(*_, **__):
        raise LocalEntryNotFoundError("Cannot find an appropriate cached snapshot folder")

    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    with pytest.raises(BadInput, match="Check the connection"):
        fetch_mteb_results(tmp_path, revision=NEW, catalog=catalog)
