"""Tables of all shapes become the same arrays, and every fault is named in one sentence."""

import re

import numpy as np
import pandas as pd
import pytest

from compute.analysis.table import WHOLE, position
from compute.interface.score_reading import ScoreReading
from compute.types import BadInput

WIDE = pd.DataFrame({"model": ["clip", "dino", "tiny"], "a": [0.7, 0.6, None], "b": [0.8, 0.5, 0.4], "c": [3, 2, 1]})


LOWER = (
    "FID;fid-10k;KID ↓;val_loss;error rate;Latency (ms);LPIPS;ours ↓;WER en;a (FID);b ▼;imagenet (lower is better);"
    "NIQE;BRISQUE;PIQE;DISTS;DreamSim;GMSD;FVD;NLL;bits_per_byte;runtime;a (inference_runtime);time;cost;"
    "fid50k_full;kid50k_full;frechet_inception_distance;kernel_inception_distance_mean;sFID;FID50k"
)


def long_frame():
    return WIDE.melt(id_vars="model", var_name="task", value_name="value")


def write(folder, text, name="scores.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def assert_wide(table):
    """The scores of WIDE and nothing else."""
    assert (table.models, table.tasks) == (("clip", "dino", "tiny"), ("a", "b", "c"))
    np.testing.assert_array_equal(table.values, WIDE[["a", "b", "c"]].to_numpy(float))


def test_a_wide_frame_a_long_frame_and_a_pivot_are_the_same_table():
    pivot = long_frame().pivot(index="model", columns="task", values="value")
    for table in map(ScoreReading().table, (WIDE, long_frame(), pivot)):
        assert_wide(table)
        assert table.categories == (WHOLE,) and table.higher.all() and np.isnan(table.stderr).all()


def test_files_are_the_same_table(tmp_path):
    indexed = WIDE.set_index("model").rename_axis(None)
    writers = {
        "decimal-comma.csv": lambda path: WIDE.to_csv(path, sep=";", decimal=",", index=False),
        "book.xlsx": lambda path: WIDE.to_excel(path, index=False),
        "index.parquet": lambda path: indexed.to_parquet(path),
        "index.csv": lambda path: indexed.to_csv(path),
    }
    for name, write_to in writers.items():
        write_to(tmp_path / name)
        assert_wide(ScoreReading().table(tmp_path / name))


def test_numbers_as_papers_print_them(tmp_path):
    text = 'Model,GLUE,SQuAD,Elo,MMLU\nx,85.3%,88.1 ± 0.4,"1,204",70.1 (0.3)\ny,84.1%,87.0 ± 0.5,"1,187",66.2 (0.4)\n'
    table = ScoreReading().table(write(tmp_path, text))
    np.testing.assert_array_equal(table.values, [[85.3, 88.1, 1204, 70.1], [84.1, 87.0, 1187, 66.2]])
    np.testing.assert_array_equal(table.stderr, [[np.nan, 0.4, np.nan, 0.3], [np.nan, 0.5, np.nan, 0.4]])
    assert any("SQuAD, MMLU" in note for note in table.notes)


def test_a_long_table_by_the_names_of_other_programs():
    frame = long_frame().rename(columns={"task": "scenario", "value": "mean"}).assign(std=0.1, metric="exact match")
    table = ScoreReading().table(frame)
    assert table.tasks == ("a", "b", "c") and (table.stderr == 0.1).all()
    assert any("'scenario'" in note for note in table.notes)
    two = pd.concat([frame, frame.assign(metric="F1")])
    assert ScoreReading().table(two).tasks[::3] == ("a (exact match)", "a (F1)")


def test_a_long_table_holds_all_there_is():
    frame = long_frame().assign(
        category=lambda f: f["task"].map({"a": "A", "b": "A", "c": "C"}),
        higher_is_better=lambda f: f["task"] != "c",
        stderr=0.1,
        n=100,
    )
    table = ScoreReading().table(frame)
    assert table.categories == ("A", "C") and table.codes.tolist() == [0, 0, 1]
    assert table.higher.tolist() == [True, True, False] and (table.stderr == 0.1).all()


def test_shares_have_binomial_errors_and_n_alone_has_none():
    frame = pd.DataFrame({"model": ["x", "y"], "task": "t", "value": [0.5, 0.9], "n": [100, 400]})
    np.testing.assert_allclose(ScoreReading(shares=True).table(frame).stderr[:, 0], [0.05, 0.015])
    table = ScoreReading().table(frame)
    assert np.isnan(table.stderr).all() and any("n correct answers" in note for note in table.notes)
    with pytest.raises(BadInput, match="100"):
        ScoreReading(shares=True).table(frame.assign(value=50))


def test_tasks_are_chosen_left_out_turned_and_put_into_categories():
    table = ScoreReading(ignore=["license", "c"], lower_is_better=["b"]).table(WIDE.assign(license="MIT"))
    assert table.tasks == ("a", "b") and table.higher.tolist() == [True, False]
    assert ScoreReading(only=["a"]).table(WIDE.assign(license="MIT")).tasks == ("a",), "what is not chosen is not read"
    table = ScoreReading(categories={"first": ["a"], "rest": ["c", "b"]}).table(WIDE)
    assert table.categories == ("first", "rest") and table.codes.tolist() == [0, 1, 1]


def test_levels_are_to_be_flattened():
    with pytest.raises(BadInput, match="several levels"):
        ScoreReading().table(pd.concat({"first": WIDE.set_index("model")}, axis=1))


# A table as text, and the words that name what is wrong with it.
FAULTS = (
    ("model,a,b\nx,bad,2\ny,0.5,good\n", ("Row 1 ('x')", "'bad'", "Row 2 ('y')", "'b'", "'good'")),
    ("model,a\nx,51.2%\ny,50.1%\nz,0.53\n", ("Row 3 ('z')", "'0.53'", "percent")),
    ('model,a\nx,"50,5"\ny,50.4\n', ("Row 1 ('x')", "comma")),
    ("model\ta\nx\t1,204\n", ("'1,204'", "thousands")),
    ("model,cats,cars\na,0.936,75\nb,0.94,80\nc,91,60\n", ("0.936 and 91", "weights={'cats': 1}")),
    ("Task,gte-large,e5-base\nArguAna,1,2\nSTS12,3,4\n", ("transposed", "transpose=True", "model='Task'")),
    (",a/clip-vit,b/siglip\nCOCO,1,2\nCIFAR-10,3,4\nFlickr,3,4\n", ("transposed", "transpose=True")),
    ("model,a,b\nx,1,2\ny,inf,2\n", ("Row 2 ('y')", "'a'", "finite")),
    ("model,a\nx,1\ny,2\nx,3\n", ("Rows 1 and 3", "'x'")),
    ("model,task,value\nx,t,1\ny,t,2\nx,t,1\n", ("Rows 1 and 3", "'x' on 't'")),
    ("model,a\nx,1\n,2\n", ("Row 2",)),
    ("model,a\nx,1__0\ny,2\n", ("Row 1 ('x')", "1__0")),
    ("model\nx\ny\n", ("no tasks",)),
    ("model,a,a\nx,1,2\n", ("'a'",)),
    ("a,b\n1,2\n3,4\n", ("models", "a, b")),
    ("model,task,points\nx,t,1\n", ("'value'", "points")),
    ("model,task,value,stder\nx,t,1,2\n", ("Did you mean 'stderr'?",)),
    ("model,task,value,stderr\nx,t,1,-2\n", ("Row 1 ('x')", "negative")),
    ("model,task,value,category\nx,t,1,A\ny,t,1,B\n", ("Rows 1 and 2", "'t'")),
    ("model,task,value,category\nx,t,1,A\nx,u,1,\n", ("'u'", "category")),
    ("model,task,value,higher_is_better\nx,t,1,maybe\n", ("'maybe'",)),
)


def test_a_fault_is_named_in_one_line(tmp_path):
    for text, words in FAULTS:
        with pytest.raises(BadInput) as error:
            ScoreReading().table(write(tmp_path, text))
        message = str(error.value)
        assert all(word in message for word in words) and "\n" not in message, (text, message)
    (tmp_path / "not.parquet").write_bytes(b"model,a")
    for name in ("absent.csv", "not.parquet"):
        with pytest.raises(BadInput, match=name):
            ScoreReading().table(tmp_path / name)
    with pytest.raises(BadInput, match=r"Row 1 \('x'\), column 'a'"):
        ScoreReading().table(pd.DataFrame({"model": ["x", "y"], "a": [True, False]}))


def test_results_of_mteb_are_read_as_an_object_and_as_its_frames(tmp_path):
    from mteb.results import BenchmarkResults, ModelResult, TaskResult

    def result(task, score):
        scores = {"test": [{"main_score": score, "hf_subset": "default", "languages": ["eng-Latn"]}]}
        return TaskResult(dataset_revision="1", task_name=task, mteb_version="2", scores=scores, evaluation_time=1)

    expected = {("a/x", "CIFAR10"): 0.5, ("a/x", "CIFAR100"): 0.4, ("b/y", "CIFAR10"): 0.6}
    models = [
        ModelResult(
            model_name=name,
            model_revision="1",
            task_results=[result(task, score) for (model, task), score in expected.items() if model == name],
        )
        for name in ("a/x", "b/y")
    ]
    benchmark = BenchmarkResults(model_results=models)
    wide = benchmark.to_dataframe(format="wide")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    for scores in (benchmark, wide, benchmark.to_dataframe(format="long"), tmp_path / "wide.csv"):
        table = ScoreReading().table(scores)
        rows, columns = np.nonzero(~np.isnan(table.values))
        values = table.values[rows, columns].tolist()
        names = [(table.models[row], table.tasks[column]) for row, column in zip(rows, columns, strict=True)]
        assert dict(zip(names, values, strict=True)) == pytest.approx(expected)


def test_a_transposed_table_is_turned():
    turned = WIDE.set_index("model").T.rename_axis("Task").reset_index()
    for options in ({}, {"model": "Task"}):
        assert_wide(ScoreReading(transpose=True, **options).table(turned))
    assert ScoreReading(model="Task").table(turned).models == ("a", "b", "c"), "who says so means it"
    with pytest.raises(BadInput, match="int; give a frame"):
        ScoreReading().table(1)


def test_columns_that_share_a_name_matter_where_they_are_used(tmp_path):
    path = write(tmp_path, "model,note,a,note,b\nx,3,1,4,2\ny,3,2,4,1\n")
    for options in ({"ignore": ["note"]}, {"only": ["a", "b"]}):
        assert ScoreReading(**options).table(path).tasks == ("a", "b")
    with pytest.raises(BadInput, match=r"named 'note'.*\(ignore\)"):
        ScoreReading().table(path)


def test_arrows_and_names_say_where_lower_is_better():
    def read(*names, **options):
        return ScoreReading(**options).table(pd.DataFrame({"model": ["x", "y"]} | dict.fromkeys(names, [1.0, 2.0])))

    lower = tuple(LOWER.split(";"))
    higher = ("CLIPScore", "F1 ↑", "lossless", "error detection")
    table = read(*lower, *higher)
    assert table.higher.tolist() == [False] * len(lower) + [True] * len(higher)
    said, unknown = table.notes
    assert "FID, fid-10k" in said and "lossless, error detection" in unknown and "CLIPScore" not in unknown
    assert not read("a", "FID", lower_is_better=["a", "FID"]).notes, "what the caller says needs no note"
    long = pd.DataFrame({"model": ["x", "y"], "task": "FID", "value": [1.0, 2.0], "higher_is_better": True})
    assert ScoreReading().table(long).higher.all()
    measured = pd.DataFrame({"model": "x", "scenario": ["a", "b"], "metric": ["FID", "acc"], "value": [1.0, 2.0]})
    assert ScoreReading().table(measured).higher.tolist() == [False, True]
    for name, options in (("FID ↑", {}), ("a ↑↓", {}), ("a ↑", {"lower_is_better": ["a ↑"]})):
        with pytest.raises(BadInput, match="higher or lower"):
            read("b", name, **options)


def test_names_that_the_table_does_not_have_get_a_suggestion():
    frame = pd.DataFrame({"model": ["x"], "accuracy_a": [1.0], "accuracy_b": [2.0]})
    for options, word in (
        ({"ignore": ["acuracy_a"]}, "Did you mean 'accuracy_a'?"),
        ({"only": ["accuracy a"]}, "accuracy_a"),
        ({"lower_is_better": ["acuracy_a"]}, "Did you mean 'accuracy_a'?"),
        ({"model": "modl"}, "Did you mean 'model'?"),
        ({"categories": {"A": ["accuracy_a"]}}, "'accuracy_b'"),
        ({"categories": {"A": ["accuracy_a", "accuracy_b"], "B": ["accuracy_a"]}}, "the category 'A' and in 'B'"),
        ({"groups": {"one": ["accuracy_a"], "other": ["accuracy_a", "accuracy_b"]}}, "the group 'one' and in 'other'"),
        ({"categories": {"A": "accuracy_a"}}, "list"),
        ({"lower_is_better": "accuracy_a"}, "list"),
        ({"shares": True}, "column n"),
    ):
        with pytest.raises(BadInput) as error:
            ScoreReading(**options).table(frame)
        assert word in str(error.value), error.value
    for weights in ({"c": -1}, {"c": float("nan")}, {"c": "much"}, {"d": 1}, {"a": 0, "b": 0, "c": 0}):
        with pytest.raises(BadInput):
            ScoreReading().table(WIDE).weighted(weights)
    with pytest.raises(BadInput, match="'clip'"):
        position("clp", ("clip", "dino"), noun="model")


# A table as text, its models, tasks, first row of values (NaN where None), and a word of a note.
READ = (
    (",model,cats\n0,a,1\n1,b,2\n", "a|b", "cats", [1], "no name"),
    ("name,pretrained,a\nx,u,1\nx,v,2\ny,u,3\n", "x u|x v|y u", "a", [1], "'pretrained'"),
    ("name,pretrained,a\nx,u,1\ny,v,2\n", "x|y", "a", [1], r"pretrained \(facts"),
    ("model,pretrained,task,value\nx,u,t,1\nx,v,t,2\n", "x u|x v", "t", [1], "'pretrained'"),
    ("model,task,value\ncafe\u0301,t,1\ncaf\u00e9,u,2\n", "caf\u00e9", "t|u", [1, 2], ""),
    ("model,cats/std,cats,std_b,b\nx,1,2,3,4\n", "x", "cats|b", [2, 4], "errors: the columns cats/std, std_b"),
    ('model,"c/acc,none","c/acc_stderr,none"\nx,2,1\n', "x", "c/acc,none", [2], "c/acc_stderr,none"),
    (",R,R,C\nmodel,en,de,cats\nx,1,2,3\n", "x", "en|de|cats", [1, 2, 3], "Categories.*R, C"),
    ("model,R,,C,\n,en,Average,en,Average\nx,1,2,3,4\n", "x", "en (R)|en (C)", [1, 3], "Categories"),
    (",R,R\n,en,de\nmodel,,\nx,1,2\n", "x", "en|de", [1, 2], "Categories"),
    ("model,dataset,FID,KID\nx,LAION,1,2\ny,COCO,2,3\n", "x|y", "FID|KID", [1, 2], r"dataset \(text"),
    ("model,a\nx,1\nMean,2\n", "x", "a", [1], "not models.*Mean"),
    ("Method,a,b\nx,-,1\ny, NA ,2\nz,n/a,–\n", "x|y|z", "a|b", [np.nan, 1], ""),
    ("model,mmlu__law\norg__a,__1__\n**b**,2\n", "org__a|b", "mmlu__law", [1], ""),
    ("model,seed,t\na-seed1,1,1\na-seed2,2,3\nvits1,1,5\nvits2,2,7\n", "a|vits1|vits2", "t", [2], "seeds"),
    ("model,acc_mean,acc_std,f\nx,1,0.2,3\n", "x", "acc_mean|f", [1, 3], "errors: the columns acc_std"),
    ("model,acc_std,f\nx,0.2,3\n", "x", "f", [3], r"acc_std \(standard errors"),
    ("model,task,value\nx,a,1\nx,Average,2\n", "x", "a", [1], r"Average \(sums"),
    ("model,a,Average,Overall\nx,1,2,3\n", "x", "a|Overall", [1, 3], "Counted as tasks: Overall"),
    ("model,mean\nx,1\n", "x", "mean", [1], ""),
    ("model,R@1,R@10,x\na,1,2,3\n", "a", "R@1|R@10|x", [1, 2, 3], "cutoff.*R@1, R@10"),
)


@pytest.mark.parametrize("text, models, tasks, first, word", READ)
def test_tables_as_programs_and_papers_write_them(text, models, tasks, first, word, tmp_path):
    table = ScoreReading().table(write(tmp_path, text))
    assert ("|".join(table.models), "|".join(table.tasks)) == (models, tasks)
    np.testing.assert_array_equal(table.values[0], first)
    assert any(re.search(word, note) for note in table.notes)


def test_groups_above_names_are_categories_and_cutoffs_one_cluster(tmp_path):
    table = ScoreReading().table(write(tmp_path, ",R,R,C\nmodel,en@1,en@5,cats\nx,1,2,3\n"))
    assert table.categories == ("R", "C") and table.codes.tolist() == [0, 0, 1]
    assert table.clusters is not None and table.clusters.tolist() == [0, 0, 1]
    told = ScoreReading(categories={"all": ["cats", "en@1", "en@5"]}, groups={"one": ["cats", "en@1"]})
    table = told.table(tmp_path / "scores.csv")
    assert table.categories == ("all",) and table.clusters is not None and len(set(table.clusters)) == 2


@pytest.mark.parametrize(
    "kind, names",
    [
        ("sums", "average;Avg.;AVG ↑;Mean rank;Average score;total;#;Mean (en);Averaged;Average perf. on 38 datasets"),
        ("facts", "Params (M);# parameters;num_params;model size;Year;embed_dim;Max Tokens;FLOPs (B);GFLOPs;images/s"),
        ("errors", "std_birds;birds_std;birds_stderr,none;birds std err"),
        ("", "rank correlation;Size estimation;yearbook;update;averages;dim 64;MTOP se;CLEVR Distance"),
    ],
)
def test_names_of_sums_of_facts_of_errors_and_of_tasks(kind, names):
    for name in names.split(";"):
        table = ScoreReading().table(
            WIDE.assign(**{name: 1.0, f"{name}_stderr": 0.1} if kind != "errors" else {name: 1})
        )
        assert table.tasks == (("a", "b", "c") if kind else ("a", "b", "c", name)), name
        assert not kind or name in table.notes[0] and kind in table.notes[0], name


def test_a_fact_weighs_where_an_option_names_it():
    for options in ({"only": ["a", "mean"]}, {"lower_is_better": ["mean"]}, {"weights": {"mean": 2.0}}):
        table = ScoreReading(**options).table(WIDE.assign(mean=1.0))
        assert "mean" in table.tasks and not any("Skipped" in note for note in table.notes), options
