"""Tables of all shapes become the same arrays, and every fault is named in one sentence."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compute.interface import score_reading
from compute.interface.score_reading import MOST_MODELS, ScoreReading
from compute.interface.score_table import WHOLE, category_and_task_weights, position, unlike_scales
from compute.types import BadInput

WIDE = pd.DataFrame({"model": ["clip", "dino", "tiny"], "a": [0.7, 0.6, None], "b": [0.8, 0.5, 0.4], "c": [3, 2, 1]})


def long_frame() -> pd.DataFrame:
    return WIDE.melt(id_vars="model", var_name="task", value_name="value")


def write(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_wide_frame_a_long_frame_and_a_pivot_are_the_same_table() -> None:
    wide, long = ScoreReading().table(WIDE), ScoreReading().table(long_frame())
    pivot = ScoreReading().table(long_frame().pivot(index="model", columns="task", values="value"))
    for table in (wide, long, pivot):
        assert table.models == ("clip", "dino", "tiny") and table.tasks == ("a", "b", "c")
        assert table.categories == (WHOLE,) and table.higher.all() and np.isnan(table.stderr).all()
        np.testing.assert_array_equal(table.values, WIDE[["a", "b", "c"]].to_numpy(float))


@pytest.mark.parametrize("kind", ["csv", "tsv", "semicolons", "parquet", "bom"])
def test_files_are_the_same_table(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("scores.parquet" if kind == "parquet" else "scores.tsv" if kind == "tsv" else "scores.csv")
    if kind == "parquet":
        WIDE.to_parquet(path)
    else:
        separator = {"tsv": "\t", "semicolons": ";"}.get(kind, ",")
        WIDE.to_csv(path, sep=separator, index=False, encoding="utf-8-sig" if kind == "bom" else "utf-8")
    table = ScoreReading().table(path)
    assert table.models == ("clip", "dino", "tiny")
    np.testing.assert_array_equal(table.values, WIDE[["a", "b", "c"]].to_numpy(float))


def test_no_score_is_written_in_several_ways(tmp_path: Path) -> None:
    path = write(tmp_path, "Method,a,b\nx,-,1\ny, NA ,2\nz,n/a,3\nu,,4\nv,1.5,–\n")
    table = ScoreReading().table(path)
    assert table.models == ("x", "y", "z", "u", "v")  # the first column is text, so it names the models
    assert np.isnan(table.values).sum() == 5 and table.values[4, 0] == 1.5


def test_a_model_may_be_named_na(tmp_path: Path) -> None:
    assert ScoreReading().table(write(tmp_path, "model,a\nNA,1\nnull,2\n")).models == ("NA", "null")


def test_errors_stand_beside_the_tasks_they_are_of() -> None:
    frame = WIDE.assign(a_stderr=[0.01, 0.02, None], **{"b stderr": 0.03})
    table = ScoreReading().table(frame)
    assert table.tasks == ("a", "b", "c")
    np.testing.assert_array_equal(table.stderr, [[0.01, 0.03, np.nan], [0.02, 0.03, np.nan], [np.nan, 0.03, np.nan]])
    assert ScoreReading(only=["b"]).table(frame).stderr[0, 0] == 0.03


def test_a_long_table_holds_all_there_is() -> None:
    frame = long_frame().assign(
        category=lambda f: f["task"].map({"a": "A", "b": "A", "c": "C"}),
        higher_is_better=lambda f: f["task"] != "c",
        stderr=0.1,
        n=100,
    )
    table = ScoreReading().table(frame)
    assert table.categories == ("A", "C") and table.codes.tolist() == [0, 0, 1]
    assert table.higher.tolist() == [True, True, False] and (table.stderr == 0.1).all()
    assert (table.turned[:, 2] == [-3, -2, -1]).all()


def test_shares_have_binomial_errors_and_n_alone_has_none() -> None:
    frame = pd.DataFrame({"model": ["x", "y"], "task": "t", "value": [0.5, 0.9], "n": [100, 400]})
    np.testing.assert_allclose(ScoreReading(shares=True).table(frame).stderr[:, 0], [0.05, 0.015])
    table = ScoreReading().table(frame)
    assert np.isnan(table.stderr).all() and any("n right answers" in note for note in table.notes)
    with pytest.raises(BadInput, match="Divide percentages by 100"):
        ScoreReading(shares=True).table(frame.assign(value=50))


def test_tasks_are_chosen_left_out_turned_and_put_into_categories() -> None:
    table = ScoreReading(ignore=["license", "c"], lower_is_better=["b"]).table(WIDE.assign(license="MIT"))
    assert table.tasks == ("a", "b") and table.higher.tolist() == [True, False]
    assert ScoreReading(only=["a"]).table(WIDE.assign(license="MIT")).tasks == ("a",), "what is not chosen is not read"
    table = ScoreReading(categories={"first": ["a"], "rest": ["c", "b"]}).table(WIDE)
    assert table.categories == ("first", "rest") and table.codes.tolist() == [0, 1, 1]


def test_weights_are_of_categories_or_tasks() -> None:
    table = ScoreReading(categories={"first": ["a"], "rest": ["b", "c"]}).table(WIDE)
    by_category, by_task = category_and_task_weights(table, {"rest": 3, "b": 0.5})
    assert by_category.tolist() == [1, 3] and by_task.tolist() == [1, 0.5, 1]


def test_unlike_scales_are_said() -> None:
    table = ScoreReading().table(WIDE.assign(a=[0.8, 0.5, 0.1], b=[81.0, 50, 20], c=[0.7, 0.6, 0.5]))
    [note] = unlike_scales(table, np.ones(3, bool))
    assert "81 on b" in note and "0.7 on c" in note and "Borda" in note
    assert unlike_scales(table, np.array([True, False, True])) == []
    assert unlike_scales(ScoreReading().table(WIDE), np.ones(3, bool)) == []


LEFT_OUT = "Left out: Average, which by its name sums up the others. To count it, rename it, or list the tasks (only)."


@pytest.mark.parametrize("shape", ["wide", "long"])
def test_columns_that_sum_up_others_are_left_out_and_said_first(shape: str) -> None:
    frame = WIDE.assign(Average=1.0, meander=2.0, Overall=3.0, **{"Mean (en)": 1.0})
    if shape == "long":
        frame = frame.melt(id_vars="model", var_name="task", value_name="value").assign(source="a paper")
    table = ScoreReading().table(frame)
    assert table.tasks == ("a", "b", "c", "meander", "Overall", "Mean (en)") and table.values.shape == (3, 6)
    assert table.notes[0] == LEFT_OUT
    assert table.notes[-1] == "Counted as tasks: Overall, Mean (en). Leave them out (ignore) if they sum up the others."
    assert len(table.notes) == (3 if shape == "long" else 2)
    assert ScoreReading(ignore=["Average"]).table(WIDE.assign(Average=1.0)).notes == ()


@pytest.mark.parametrize(
    "name", ["average", "Avg", "Avg.", "AVG ↑", "mean", "Mean rank", "Average score", "total", "rank", "#"]
)
def test_names_of_sums(name: str) -> None:
    assert ScoreReading().table(WIDE.assign(**{name: 1.0, f"{name}_stderr": 0.1})).tasks == ("a", "b", "c")


def test_a_sum_that_is_left_out_may_be_text() -> None:
    """Where an option names it, its cells are read and the first that is no number is named."""
    table = WIDE.assign(average="51.2%", average_stderr="-")
    assert ScoreReading().table(table).tasks == ("a", "b", "c")
    with pytest.raises(BadInput, match="column 'average': '51.2%' has a percent sign"):
        ScoreReading(only=["a", "average"]).table(table)


@pytest.mark.parametrize(
    "name", ["overall", "rank correlation", "mean opinion score", "total text", "averages", "mean_iou"]
)
def test_names_that_may_be_of_tasks_are_counted(name: str) -> None:
    assert ScoreReading().table(WIDE.assign(**{name: 1.0})).tasks == ("a", "b", "c", name)


@pytest.mark.parametrize(
    "options",
    [
        {"only": ["a", "mean"]},
        {"categories": {"A": ["a", "b"], "B": ["c", "mean"]}},
        {"lower_is_better": ["mean"]},
        {"weights": {"mean": 2.0}},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_task_that_an_option_names_is_a_task(options: dict) -> None:
    table = ScoreReading(**options).table(WIDE.assign(mean=1.0))
    assert "mean" in table.tasks and not any(note.startswith("Left out") for note in table.notes)


def test_a_table_of_means_alone_is_ranked_by_them() -> None:
    assert ScoreReading().table(WIDE[["model"]].assign(mean=[1.0, 2, 3])).tasks == ("mean",)


@pytest.mark.parametrize(
    "name",
    ["Params (M)", "params_m", "#params", "# parameters", "num_params", "size", "model size", "Size (MB)", "Year"]
    + ["release date", "dim", "embed_dim", "Embedding dimensions"],
)
def test_columns_that_describe_the_models_are_said(name: str) -> None:
    [note] = ScoreReading().table(WIDE.assign(**{name: 1.0})).notes
    assert note == f"Counted as tasks: {name}. Leave them out (ignore) if they describe the models."
    assert ScoreReading(ignore=[name]).table(WIDE.assign(**{name: 1.0})).notes == ()


@pytest.mark.parametrize("name", ["Size estimation", "yearbook", "update", "dimension-choice", "Dim light"])
def test_names_of_tasks_are_not_taken_for_facts(name: str) -> None:
    assert ScoreReading().table(WIDE.assign(**{name: 1.0})).notes == ()


@pytest.mark.parametrize(("most", "notes"), [(7.9, 0), (8.1, 1)])
def test_scales_are_unlike_from_ten_times_on(most: float, notes: int) -> None:
    table = ScoreReading().table(WIDE.assign(a=[0.8, 0.5, 0.1], b=[most, 5, 2], c=[0.9, 0.6, 0.5]))
    assert len(unlike_scales(table, np.ones(3, bool))) == notes


def test_columns_that_are_not_used_are_said() -> None:
    [note] = ScoreReading().table(long_frame().assign(source="a paper")).notes
    assert note == "Columns that are not used: source."


FAULTS = {
    "text cell": ("model,a,b\nx,1,2\ny,0.5,good\n", ("Row 2 ('y')", "column 'b'", "'good'", "ignore")),
    "percent": ("model,a\nx,81%\n", ("Row 1 ('x')", "'81%'", "plain number")),
    "per cent": ("model,a\nx,51.2%\n", ("'51.2%' has a percent sign. Write 51.2",)),
    "decimal comma": ("model;a\nx;50,5\n", ("'50,5' has a comma. Write decimals with a point, such as 50.5",)),
    "thousands": ("model;a\nx;1,234.5\n", ("'1,234.5' has a comma", "nothing between thousands")),
    "plus minus": ("model,a\nx,0.5 ± 0.1\n", ("Row 1", "not a number")),
    "comma": ("model;a\nx;0,5\n", ("'0,5' has a comma", "such as 50.5")),
    "infinite": ("model,a,b\nx,1,2\ny,inf,2\n", ("Row 2 ('y')", "column 'a'", "finite")),
    "huge": ("model,a\nx,1e200\n", ("Row 1 ('x')", "finite")),
    "twice": ("model,a\nx,1\ny,2\nx,3\n", ("Rows 1 and 3", "'x'")),
    "long twice": ("model,task,value\nx,t,1\ny,t,2\nx,t,1\n", ("Rows 1 and 3", "'x' on 't'")),
    "no model": ("model,a\nx,1\n,2\n", ("Row 2 names no model",)),
    "no task": ("model,task,value\nx,t,1\ny,,2\n", ("Row 2 names no task",)),
    "no tasks": ("model\nx\ny\n", ("no tasks",)),
    "column twice": ("model,a,a\nx,1,2\n", ("Two columns are named 'a'",)),
    "no column of models": ("a,b\n1,2\n3,4\n", ("Which column names the models?", "a, b")),
    "value misspelt": ("model,task,score\nx,t,1\n", ("none named 'value'", "score")),
    "stderr misspelt": ("model,task,value,std_err\nx,t,1,2\n", ("'std_err'", "Did you mean 'stderr'?")),
    "negative error": ("model,task,value,stderr\nx,t,1,-2\n", ("Row 1 ('x')", "never negative")),
    "category differs": ("model,task,value,category\nx,t,1,A\ny,t,1,B\n", ("Rows 1 and 2 disagree on 't'",)),
    "category missing": ("model,task,value,category\nx,t,1,A\nx,u,1,\n", ("'u' has no category",)),
    "direction": ("model,task,value,higher_is_better\nx,t,1,maybe\n", ("'maybe'", "true or false")),
    "longer rows": ("model,a\nx,1,2\ny,3,4\n", ("more cells than the heading",)),
    "one longer row": ("model,a\nx,1\ny,3,4\n", ("cannot be read as a table",)),
    "empty": ("", ("cannot be read as a table",)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_in_one_line(tmp_path: Path, fault: str) -> None:
    text, words = FAULTS[fault]
    with pytest.raises(BadInput) as error:
        ScoreReading().table(write(tmp_path, text))
    message = str(error.value)
    assert all(word in message for word in words), message
    assert "\n" not in message and len(message) < 400


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ignore": ["licence"]}, ("'licence'", "Did you mean 'license'?")),
        ({"only": ["accuracy a"]}, ("'accuracy a'", "accuracy_a")),
        ({"lower_is_better": ["acuracy_a"]}, ("lower is better", "Did you mean 'accuracy_a'?")),
        ({"model": "modl"}, ("No column 'modl' of models", "Did you mean 'model'?")),
        ({"categories": {"A": ["accuracy_a"]}}, ("'accuracy_b' is in no category",)),
        ({"categories": {"A": ["accuracy_a", "accuracy_b"], "B": ["accuracy_a"]}}, ("in two categories",)),
        ({"categories": {"A": "accuracy_a"}}, ("needs a list of tasks",)),
        ({"lower_is_better": "accuracy_a"}, ("needs a list of names",)),
        ({"shares": True}, ("column n",)),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_names_that_the_table_does_not_have_get_a_suggestion(options: dict, words: tuple[str, ...]) -> None:
    frame = pd.DataFrame({"model": ["x"], "accuracy_a": [1.0], "accuracy_b": [2.0], "license": [3.0]})
    if "ignore" not in options and "only" not in options:
        frame = frame.drop(columns="license")
    with pytest.raises(BadInput) as error:
        ScoreReading(**options).table(frame)
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("weights", [{"c": -1}, {"c": float("nan")}, {"c": "much"}, {"d": 1}, {"a": 0, "b": 0, "c": 0}])
def test_weights_that_make_no_mean_are_refused(weights: dict) -> None:
    with pytest.raises(BadInput):
        category_and_task_weights(ScoreReading().table(WIDE), weights)


def test_a_model_that_is_not_there_gets_a_suggestion() -> None:
    with pytest.raises(BadInput, match="Did you mean 'clip'"):
        position("clp", ("clip", "dino"), noun="model")


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00model")
    (tmp_path / "not.parquet").write_bytes(b"model,a")
    write(tmp_path, "model,a", "scores.xlsx")
    for name, word in (
        ("absent.csv", "There is no file"),
        ("folder.csv", "is a folder"),
        ("binary.csv", "cannot be read"),
        ("not.parquet", "cannot be read"),
        ("scores.xlsx", "CSV, TSV or Parquet"),
    ):
        with pytest.raises(BadInput, match=word) as error:
            ScoreReading().table(tmp_path / name)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("column", [[True, False], pd.to_datetime(["2026-01-01", "2026-01-02"]), [1j, 2j]])
def test_cells_that_are_no_numbers_in_a_frame(column: object) -> None:
    with pytest.raises(BadInput, match=r"Row 1 \('x'\), column 'a'"):
        ScoreReading().table(pd.DataFrame({"model": ["x", "y"], "a": column}))


def test_frames_of_all_number_types() -> None:
    frame = pd.DataFrame({"model": ["x", "y"], "a": [1, None]})
    for kind in ("Int64", "Float64", "float32", "object"):
        assert np.isnan(ScoreReading().table(frame.astype({"a": kind})).values[1, 0]), kind


def test_levels_are_to_be_flattened() -> None:
    with pytest.raises(BadInput, match="several levels"):
        ScoreReading().table(pd.concat({"first": WIDE.set_index("model")}, axis=1))


def test_a_million_rows_are_read_or_refused_at_once() -> None:
    """A long table of 1,000 models and 1,000 tasks is read; a million models are too many to compare."""
    models, tasks = np.divmod(np.arange(1_000_000), 1000)
    value = np.random.default_rng(0).random(1_000_000)
    before = time.thread_time()
    table = ScoreReading().table(pd.DataFrame({"model": models.astype(str), "task": tasks.astype(str), "value": value}))
    assert time.thread_time() - before < 20
    assert table.values.shape == (1000, 1000) and table.values[3, 7] == value[3007]
    with pytest.raises(BadInput, match=f"1,000,000 models; at most {MOST_MODELS:,}"):
        ScoreReading().table(pd.DataFrame({"model": np.arange(1_000_000).astype(str), "a": value}))
    with pytest.raises(BadInput, match="too many"):
        ScoreReading().table(
            pd.DataFrame({"model": np.arange(1_000_000).astype(str), "task": tasks.astype(str), "value": 1.0})
        )


def test_a_parquet_file_is_measured_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scores.parquet"
    pd.DataFrame({"model": [f"m{at}" for at in range(1000)], "task": [1.0] * 1000}).to_parquet(path)
    assert len(ScoreReading().table(path).models) == 1000
    monkeypatch.setattr(score_reading, "MOST_UNPACKED", 1000)
    with pytest.raises(BadInput, match=r"scores.parquet unpacks to 0 MB; at most 0 MB are read"):
        ScoreReading().table(path)
