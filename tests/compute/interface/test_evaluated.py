"""What an evaluation says of its scores: the frame, means, ranks, items, and the file that can be imported."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from compute.engine import run_folders
from compute.engine.plan import SkippedRun
from compute.importing import read_scores_csv
from compute.interface.evaluated import FRAME
from compute.types import BadInput, UnknownKey


@pytest.fixture
def scores(evaluated):
    return evaluated["eye"]


def test_the_frame_has_a_row_a_score_and_its_interval(scores):
    frame = scores.frame()
    assert tuple(frame.columns) == FRAME and list(frame["task"]) == [task.key for task in scores.plan.tasks]
    for row in frame.to_dict("records"):
        stored = run_folders.headline(scores.runs[row["task"]])
        assert (row["value"], row["n"], row["coverage"], row["state"]) == (stored.value, 12, 1.0, "complete")
        if 0 < row["value"] < 1:
            half = 1.959964 * np.sqrt(row["value"] * (1 - row["value"]) / 12)
            assert row["low"] == pytest.approx(max(0, row["value"] - half), abs=1e-6)
            assert row["high"] == pytest.approx(min(1, row["value"] + half), abs=1e-6)


def test_the_mean_is_that_of_the_suites_rule(scores):
    frame = scores.means().set_index("name")
    values = [score.value for score in scores.headlines.values()]
    whole = scores.mean
    assert whole.mean == pytest.approx(np.mean(values)) and (whole.tasks, whole.of_tasks) == (5, 5)
    assert whole.mean_low < whole.mean < whole.mean_high
    assert frame.loc["small", "mean"] == whole.mean and frame.loc["small", "scope"] == "suite"
    assert frame.loc["IQA", "mean"] == pytest.approx(
        np.mean([scores.headlines[task].value for task in ("unisim/fine", "unisim/sharp")])
    )
    assert frame.loc["OOO", "mean"] == scores.headlines["unisim/odd"].value


def test_it_is_pickled_whole(scores):
    again = pickle.loads(pickle.dumps(scores))
    assert str(again) == str(scores) and again.frame().equals(scores.frame())


def test_the_items_are_the_stored_evidence(scores):
    items = scores.items("unisim/near")
    assert len(items) == 12 and items["accuracy"].mean() == pytest.approx(scores.headlines["unisim/near"].value)
    with pytest.raises(UnknownKey, match="Did you mean 'unisim/near'"):
        scores.items("unisim/nears")


def test_it_is_a_table_as_text_a_line_in_short_and_escaped_in_a_notebook(scores):
    assert "| unisim/near" in str(scores) and "small: mean " in str(scores)
    assert "\n" not in repr(scores) and "5 of 5 tasks" in repr(scores)
    assert scores._repr_html_().count("<tr") == 6
    figure = scores.plot()
    assert list(figure.layout.yaxis.ticktext) == [task.key for task in scores.plan.tasks] and len(figure.data) > 1
    task = replace(scores.plan.tasks[0], key="<script>")
    plan = replace(scores.plan, tasks=(task,), skipped=(SkippedRun(model=scores.model, task=task, reason="<b>"),))
    page = replace(scores, plan=plan, outcomes=())._repr_html_()
    assert "<script>" not in page and "<b>" not in page and "&lt;b&gt;" in page


def test_the_saved_file_is_imported_as_it_was(scores, tmp_path):
    from compute import catalog

    path = tmp_path / "my-model.csv"
    own = replace(scores.model, key="own/my-model", title="My model", kind="encoder")
    named = replace(scores, plan=replace(scores.plan, models=(own,)))
    named.save(path)
    read = read_scores_csv(path, catalog=catalog.shipped())
    assert [(row.key, row.title, row.kind) for row in read.models] == [("own/my-model", "My model", "encoder")]
    task_of = {run.id: run.task for run in read.runs}
    assert {(task_of[row.run], row.subset, row.metric, row.value, row.n, row.stderr) for row in read.scores} == {
        (task, row.subset, row.metric, row.value, row.n, row.stderr)
        for task, run in scores.runs.items()
        for row in run.scores
    }


def test_a_rank_among_computed_rows_is_that_of_the_means(scores, evaluated):
    other, rank = evaluated["dim"], scores.rank("computed")
    assert (rank.of, rank.rank) == (2, 1 + (other.mean.mean > scores.mean.mean))
    assert rank.rank_low <= rank.rank <= rank.rank_high and scores.database().parent == scores.results
    assert f"Rank {rank.rank} of 2 on small" in str(rank) and "5 of 5" in str(rank)
    assert scores.rank().rank == rank.rank
    published = scores.rank("published")
    assert published.rank is None and "rank('computed')" in published.reason
    with pytest.raises(BadInput, match="'theirs'"):
        scores.rank("theirs")
