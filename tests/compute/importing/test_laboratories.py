"""Results of laboratories in their own layouts, as imported scores of an origin of their own."""

import csv
import json

import pytest

from compute import paths
from compute.catalog import shipped
from compute.importing import collection, read_laboratory
from compute.types import BadInput, Laboratory, is_origin, origins_in
from tests.compute.commands import done, likeness

LAB = Laboratory(key="mine", title="Mine", harness="CLIP_benchmark", date="2026-11-01")
HEADS = ["name", "pretrained", "params (M)", "FLOPs (B)", "Average perf. on 38 datasets", "ImageNet 1k", "Caltech-101"]


def read(folder, layout="datacomp"):
    return read_laboratory(folder, layout=layout, laboratory=LAB, catalog=shipped())


def scores_of(imported):
    runs = {run.id: run for run in imported.runs}
    return {
        (runs[score.run].model, runs[score.run].task, score.subset, score.metric): score.value
        for score in imported.scores
    }


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def test_tables_of_open_clip_by_data_set_direction_and_language(tmp_path):
    write_csv(tmp_path / "results.csv", [HEADS, ["ViT-B-32", "made_up", "151.28", "14.78", "0.5", "0.6656", ""]])
    write_csv(
        tmp_path / "multilingual.csv",
        [
            ["model", "version", "avg", "crossmodal3600 image_retrieval_recall@1 avg",
             "crossmodal3600 image_retrieval_recall@1 de", "crossmodal3600 text_retrieval_recall@1 fi"],
            ["ViT-B-32", "made_up", "0.1", "0.2", "0.31", "0.42"],
        ],
    )  # fmt: skip
    write_csv(tmp_path / "sizes.csv", [["architecture", "size"], ["ViT-B-32", "1"]])
    imported = read(tmp_path, "open-clip")
    model = "open_clip/vit-b-32-made_up"
    assert scores_of(imported) == {
        (model, "datacomp/imagenet-1k", "default", "accuracy"): 0.6656,
        (model, "datacomp/xm3600-t2i", "de", "hit_rate_at_1"): 0.31,
        (model, "datacomp/xm3600-i2t", "fi", "hit_rate_at_1"): 0.42,
    }
    assert {run.origin for run in imported.runs} == {"imported:mine"} and imported.models[0].parameters_m == 151.28
    assert "3 scores" in imported.notes[0] and "1 empty cell" in imported.notes[1] and "sizes.csv" in imported.notes[-1]


def test_lines_of_datacomp_with_their_main_metric_accuracy_and_directions(tmp_path):
    lines = [
        {"dataset": "Caltech-101", "metrics": {"acc1": 0.85, "acc5": None, "main_metric": 0.94}},
        {"dataset": "Flickr", "metrics": {"image_retrieval_recall@1": 0.76, "mean_recall@1": 0.8, "main_metric": 0.8}},
        {"dataset": "SugarCrepe", "metrics": {"main_metric": 0.9}},
        {"dataset": "Camelyon17", "metrics": {"acc1": float("nan"), "main_metric": float("nan")}},
    ]
    (tmp_path / "mobileclip_s1.jsonl").write_text("\n".join(map(json.dumps, lines)))
    imported = read(tmp_path)
    model = "apple/mobileclip-s1-openclip"  # by its alias
    assert scores_of(imported) == {
        (model, "datacomp/caltech-101", "default", "mean_per_class_recall"): 0.94,
        (model, "datacomp/caltech-101", "default", "accuracy"): 0.85,
        (model, "datacomp/flickr", "default", "mean_recall_at_1"): 0.8,
        (model, "datacomp/flickr-t2i", "default", "hit_rate_at_1"): 0.76,
    }
    assert imported.models == () and "SugarCrepe" in imported.notes[1]


def test_files_of_mmeb_with_their_items(tmp_path):
    tasks = {
        "image": {"ImageNet-1K": {"hit@1": 0.4, "ndcg_linear@5": 0.5, "num_data": 1000}},
        "visdoc": {"ViDoRe_arxivqa": {"hit@1": 0.6, "ndcg_linear@5": 0.7, "num_data": 500}},
        "video": {"K700": {"hit@1": 0.1, "num_data": 1000}},
    }
    (tmp_path / "x.json").write_text(json.dumps({"metadata": {"model_name": "colpali-v1.3"}, "metrics": tasks}))
    imported = read(tmp_path, "mmeb")
    assert scores_of(imported) == {
        ("vidore/colpali-v1.3", "mmeb/imagenet-1k", "default", "hit_rate_at_1"): 0.4,
        ("vidore/colpali-v1.3", "mmeb/vidore-arxivqa", "default", "ndcg_at_5"): 0.7,
    }
    assert [score.n for score in imported.scores] == [1000, 500]


@pytest.mark.parametrize("text", ["{", "[1]", '{"dataset": 3, "metrics": {}}', "\0"])
def test_a_damaged_file_is_named_and_harms_no_other(tmp_path, text):
    (tmp_path / "bad.jsonl").write_text(text)
    (tmp_path / "good.jsonl").write_text('{"dataset": "MNIST", "metrics": {"main_metric": 0.5}}')
    imported = read(tmp_path)
    assert len(imported.scores) == 1 and [problem.path for problem in imported.problems] == ["bad.jsonl"]


def test_a_value_outside_its_metric_is_no_score(tmp_path):
    (tmp_path / "m.jsonl").write_text('{"dataset": "MNIST", "metrics": {"main_metric": 85.1}}')
    with pytest.raises(BadInput, match="above 1"):
        read(tmp_path)


def test_the_command_stores_an_origin_of_its_own_and_says_what_it_read(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    (tmp_path / "m.jsonl").write_text('{"dataset": "MNIST", "metrics": {"main_metric": 0.5}}')
    arguments = ["--laboratory", "Mine", "--name", "mine", "--no-build"]
    assert "Read 1 score of 1 model" in done(likeness("import", "datacomp", tmp_path, *arguments)).output
    loaded, _ = collection.load(tmp_path / "results" / "imported")
    assert list(loaded[0].tables["laboratories"]["title"]) == ["Mine"]


def test_origins_are_told_apart_and_ordered():
    assert is_origin("imported:a-1") and not is_origin("imported:") and not is_origin("computed:x")
    shuffled = iter(["computed", "imported:m-2.0", "imported", "imported:m-2.1", "published"])
    assert origins_in(shuffled) == ["published", "imported", "imported:m-2.1", "imported:m-2.0", "computed"]


@pytest.mark.parametrize("name", ["", "../../x", "x" * 5000, "a\u202eb"])
def test_a_name_that_cannot_be_a_key_is_skipped_and_named(tmp_path, name):
    tasks = {"image": {"ImageNet-1K": {"hit@1": 0.4, "num_data": 10**30}}}
    for at, own in enumerate(("good", name)):
        (tmp_path / f"{at}.json").write_text(json.dumps({"metadata": {"model_name": own}, "metrics": tasks}))
    imported = read(tmp_path, "mmeb")
    assert [run.model for run in imported.runs] == ["good"] and [one.path for one in imported.problems] == ["1.json"]
    assert imported.scores[0].n < 1 << 31


def test_huge_numbers_and_truths_are_no_scores(tmp_path):
    lines = [f'{{"dataset": "{task}", "metrics": {{"main_metric": {value}}}}}'
             for task, value in (("MNIST", "1" + "0" * 400), ("GTSRB", "true"), ("SVHN", "0.5"))]  # fmt: skip
    (tmp_path / "m.jsonl").write_text("\n\n".join(lines))
    imported = read(tmp_path)
    assert [score.value for score in imported.scores] == [0.5] and "2 empty cells" in imported.notes[1]


def test_a_name_of_shipped_results_is_refused(tmp_path):
    (tmp_path / "m.jsonl").write_text('{"dataset": "MNIST", "metrics": {"main_metric": 0.5}}')
    result = likeness("import", "datacomp", tmp_path, "--laboratory", "Mine", "--name", "apple", "--no-build")
    assert result.exit_code == 1 and not isinstance(result.exception, KeyError) and "--name" in result.output
