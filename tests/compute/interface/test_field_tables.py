"""Tables in the layouts of the field rank right as they are; what counts and what is skipped is said above."""

import json

import numpy as np
import pandas as pd
import pytest

import compute
from tests.compute.commands import done, likeness


def harness(model, arc, mmlu, perplexity):
    """Results of lm-evaluation-harness, a file a model: two measures of a task, a group with its parts."""
    parts = {
        f"mmlu_{name}": {"alias": f" - {name}", "acc,none": 0.99, "acc_stderr,none": 0.02} for name in ("law", "art")
    }
    return json.dumps(
        {
            "results": {
                "arc_easy": {"alias": "arc_easy", "acc,none": arc, "acc_stderr,none": 0.01, "acc_norm,none": 0.01},
                "lambada": {"perplexity,none": perplexity, "perplexity_stderr,none": "N/A", "acc,none": arc / 2},
                "custom": {"oddity,none": arc},
                "mmlu": {"acc,none": mmlu, "acc_stderr,none": 0.004, "alias": "mmlu"},
                "gsm8k": {"exact_match,strict-match": mmlu / 2, "exact_match,flexible-extract": 0.5},
                **parts,
            },
            "group_subtasks": {"mmlu": [*parts], "arc_easy": []},
            "higher_is_better": {"arc_easy": {"acc": True, "acc_norm": True}, "gsm8k": {"exact_match": True}},
            "config": {"model": "hf", "model_args": f"pretrained={model},dtype=float16"},
        }
    )


def openvlm(**models):
    """OpenVLM.json: facts of each model, and the measures of each data set, of which no order is kept."""
    results = {
        model: {
            "META": {"Method": [model, "https://example.org"], "Parameters": "8B", "key": at},
            "MMStar": {"coarse perception": 100 - star, "Overall": star},
            "OCRBench": {"Text Recognition": 300, "Final Score": 10 * ocr, "Final Score Norm": ocr},
            "COCO_VAL": {"BLEU-1": 100 - coco, "CIDEr": coco},
        }
        for at, (model, (star, ocr, coco)) in enumerate(models.items())
    }
    return json.dumps({"time": "20241105", "results": results})


def datacomp(first, second):
    rows = (
        {"key": "cifar10", "dataset": "CIFAR-10", "metrics": {"acc1": first, "acc5": 0.99, "main_metric": first}},
        {
            "key": "camelyon",
            "dataset": "Camelyon17",
            "metrics": {"acc1": 0.5, "acc_avg": second, "main_metric": second},
        },
        {"key": "flickr", "dataset": "Flickr", "metrics": {"image_retrieval_recall@1": 0.4, "main_metric": second}},
    )
    return "\n".join(map(json.dumps, rows))


LM_EVAL = """hf (pretrained={}), gen_kwargs: (None), limit: None, num_fewshot: None, batch_size: 8
|    Tasks     |Version|Filter|n-shot| Metric |   |Value |   |Stderr|
|--------------|------:|------|-----:|--------|---|-----:|---|-----:|
|arc_easy      |      1|none  |     0|acc     |↑  |{}|±  |0.0100|
|              |       |none  |     0|acc_norm|↑  |0.9000|±  |0.0100|
|mmlu          |      2|none  |      |acc     |↑  |{}|±  |0.0040|
| - humanities |      2|none  |      |acc     |↑  |0.9000|±  |0.0070|

|Groups|Version|Filter|n-shot|Metric|   |Value |   |Stderr|
|------|------:|------|------|------|---|-----:|---|-----:|
|mmlu  |      2|none  |      |acc   |↑  |0.1|±  |0.0040|
"""
CLIP = """acc1,acc5,mean_per_class_recall,image_retrieval_recall@5,text_retrieval_recall@5,dataset,model,pretrained,task
0.60,0.99,0.58,,,imagenet1k,ViT-B-32,openai,zeroshot_classification
0.90,0.10,0.88,,,cifar10,ViT-B-32,openai,zeroshot_classification
,,,0.50,0.9,flickr30k,ViT-B-32,openai,zeroshot_retrieval
0.70,0.98,0.68,,,imagenet1k,ViT-B-32,laion2b,zeroshot_classification
0.94,0.10,0.93,,,cifar10,ViT-B-32,laion2b,zeroshot_classification
,,,0.60,0.1,flickr30k,ViT-B-32,laion2b,zeroshot_retrieval
0.78,0.97,0.77,,,imagenet1k,ViT-L-14,openai,zeroshot_classification
0.96,0.10,0.95,,,cifar10,ViT-L-14,openai,zeroshot_classification
,,,0.66,0.1,flickr30k,ViT-L-14,openai,zeroshot_retrieval
"""
OPENCOMPASS = """dataset,version,metric,mode,alpha-7b,beta-7b
--------- Exam ---------,-,-,-,-,-
mmlu,-,naive_average,gen,50.0,60.0
mmlu_law,ea7b7f,accuracy,gen,90.0,10.0
mmlu_art,ea7b7f,accuracy,gen,30.0,50.0
--------- Language ---------,-,-,-,-,-
WiC,ce62e6,accuracy,ppl,51.0,52.0
gsm8k,1d7fe4,accuracy,gen,20.0,40.1
"""
OPENVLM = """Rank,Method,Param (B),Language Model,Vision Model,OpenSource,Eval Date,Avg Score,Avg Rank,MMStar,MMMU,AI2D
1,alpha-vl,8,Qwen2-7B,SigLIP-400M,Yes,2024/09/01,60.1,2,61.5,54.1,83.0
2,beta-vl,7,LLaMA3,CLIP ViT-L/14,No,2024/08/01,58.0,3,55.0,50.0,80.0
3,gamma-vl,,,,No,2024/07/01,40.0,9,65.0,60.0,85.0
"""
VLMEVALKIT = """# Results

Some text | with a bar.

| Model | **MMBench** | MME | [OCRBench](https://example.org) | Notes |
| :--- | ---: | ---: | ---: | :---: |
| **alpha** | **81.2** | 70.5 | 62.1 | ours |
| [beta](https://example.org/beta) | 75.0 | __71.0__ | 60.0 | |

| Ablation | x |
|---|---|
| a | 1 |
"""
WANDB = """"Name","State","Notes","User","Tags","Created","Runtime","Sweep","model","seed","lr","val/acc","val/recall@1"
"run-a-1","finished","-","me","","2024-05-01T10:00:00.000Z","1200","","clip-b","0","0.001","0.60","0.40"
"run-a-2","finished","-","me","","2024-05-01T11:00:00.000Z","1100","","clip-b","1","0.001","0.64","0.44"
"run-b-1","finished","-","me","","2024-05-01T12:00:00.000Z","9000","","clip-l","0","0.001","0.70","0.50"
"run-b-2","finished","-","me","","2024-05-01T13:00:00.000Z","9100","","clip-l","1","0.001","0.72","0.52"
"""
BOLD = """Method,ImageNet,COCO,Flickr
**ours**,**0.58**,<b>0.61</b>,\\textbf{0.70}
theirs,0.57,0.60,**0.69**
"""
MTEB = """Rank (Borda),Model,Zero-shot,Memory Usage (MB),Parameters,Embedding Dimensions,Mean (Task),STS,Clustering
1,a/large,100%,4000,1B,1024,80.0,70.5,60.0
2,b/base,95%,1000,,768,81.0,75.5,61.0
"""
TIMM = """model,img_size,top1,top1_err,top5,top5_err,param_count,crop_pct,interpolation
vit_base,224,81.0,19.0,95.0,5.0,86.57,0.9,bicubic
vit_large,384,85.0,15.0,97.0,3.0,304.33,1.0,bicubic
"""
COLUMNS = {"model": ["a", "b"], "vendor": ["us", "them"], "x": [0.5, 0.7], "y": [0.6, 0.4]}
# A layout: files (one without a folder, else a file a model), models best first, tasks, the leader's mean, words above.
FILES = {
    "lm-eval JSON": (
        {
            "a__x/results_2024.json": harness("a/x", 0.60, 0.40, 9.0),
            "b__y/results_2024.json": harness("b/y", 0.70, 0.50, 20.0),
        },
        "b/y a/x",
        "arc_easy|lambada|custom|mmlu|gsm8k",
        (0.7 + 0.35 + 0.7 + 0.5 + 0.25) / 5,
        "Not used: acc_norm",
    ),
    "lm-eval Markdown": (
        {"both.md": LM_EVAL.format("a/x", "0.6000", "0.4000") + "\n" + LM_EVAL.format("b/y", "0.7000", "0.5000")},
        "b/y a/x",
        "arc_easy|mmlu",
        0.6,
        "Not used: acc_norm",
    ),
    "VLMEvalKit Markdown": (
        {"board.md": VLMEVALKIT},
        "alpha beta",
        "MMBench|MME|OCRBench",
        (81.2 + 70.5 + 62.1) / 3,
        "Notes (text)",
    ),
    "OpenVLM": (
        {"openvlm.csv": OPENVLM},
        "gamma-vl alpha-vl beta-vl",
        "MMStar|MMMU|AI2D",
        70.0,
        "Language Model, Vision Model",
    ),
    "OpenVLM.json": (
        {"OpenVLM.json": openvlm(alpha=(61.5, 73.6, 30), beta=(65, 80, 35))},
        "beta alpha",
        "MMStar|OCRBench|COCO_VAL",
        60.0,
        "Not used: coarse perception, Text Recognition, Final Score, BLEU-1",
    ),
    "OpenCompass": (
        {"summary.csv": OPENCOMPASS},
        "alpha-7b beta-7b",
        "mmlu_law|mmlu_art|WiC|gsm8k",
        (90 + 30 + 51 + 20) / 4,
        "means of others: mmlu",
    ),
    "CLIP_benchmark": (
        {"benchmark.csv": CLIP},
        "ViT-L-14_openai ViT-B-32_laion2b ViT-B-32_openai",
        "imagenet1k|cifar10|flickr30k",
        0.8,
        "Not used: acc5, mean_per_class_recall, text_retrieval_recall@5",
    ),
    "DataComp": (
        {"small/eval_results.jsonl": datacomp(0.5, 0.3), "large/eval_results.jsonl": datacomp(0.9, 0.6)},
        "large small",
        "CIFAR-10|Camelyon17|Flickr",
        0.7,
        "main_metric",
    ),
    "wandb with seeds": (
        {"export.csv": WANDB},
        "clip-l clip-b",
        "val/acc|val/recall@1",
        0.61,
        "Means over up to 2 seeds",
    ),
    "bold cells": ({"bold.csv": BOLD}, "ours theirs", "ImageNet|COCO|Flickr", 0.63, "Higher is assumed"),
    "MTEB's board": ({"mteb.csv": MTEB}, "b/base a/large", "STS|Clustering", 68.25, "Memory Usage (MB)"),
    "timm": ({"results.csv": TIMM}, "vit_large vit_base", "top1|top5", 91.0, "top1_err"),
}


@pytest.mark.parametrize("layout", FILES)
def test_a_file_in_a_layout_of_the_field_ranks_at_the_first_command(layout, tmp_path):
    files, models, tasks, mean, words = FILES[layout]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path if len(files) > 1 else tmp_path / name
    check(compute.rank(path), models, tasks, mean, words)
    done(likeness("rank", path))


@pytest.mark.parametrize("kind", ["polars", "columns", "records", "scores by model"])
def test_what_python_holds_ranks_as_its_frame(kind):
    frame = pd.DataFrame(COLUMNS)

    class Polars:
        def to_pandas(self):
            return frame

    scores = {
        "polars": Polars(),
        "columns": COLUMNS,
        "records": frame.to_dict("records"),
        "scores by model": {name: row.to_dict() for name, row in frame.set_index("model").iterrows()},
    }
    check(compute.rank(scores[kind]), "a b", "x|y", 0.55, "vendor (text)")


def check(ranked, models, tasks, mean, words):
    """Models without their rank's equals; what counts and is skipped stands above the ranking."""
    table = ranked.table
    order = [table.models[row].replace(" ", "_") for row in ranked.order if ranked.rank[row] > 0]
    above = str(ranked).split("\n|")[0]
    assert ("|".join(table.tasks), table.higher.all()) == (tasks, True)
    assert (" ".join(order), ranked.mean[ranked.order[0]]) == (models, pytest.approx(mean))
    assert words in above and all(task in above for task in table.tasks)


def test_errors_are_those_of_the_chosen_measure_and_of_seeds(tmp_path):
    (tmp_path / "x.csv").write_text(WANDB)
    table = compute.rank(tmp_path / "x.csv").table
    np.testing.assert_allclose(table.stderr, [[0.02, 0.02], [0.01, 0.01]])
    assert compute.rank(tmp_path / "x.csv", ignore=["Runtime", "val/acc"]).table.tasks == ("val/recall@1",)
    (tmp_path / "x.csv").write_text(OPENCOMPASS.replace("gen,20.0", "gen,-"))
    assert np.isnan(compute.rank(tmp_path / "x.csv", coverage=0.5).table.values).sum() == 1
    (tmp_path / "x.md").write_text(LM_EVAL.format("a", 0.1, 0.2) + LM_EVAL.format("b", 0.1, 0.3))
    assert compute.rank(tmp_path / "x.md").table.stderr.tolist() == [[0.01, 0.004]] * 2
