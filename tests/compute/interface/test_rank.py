"""`compute.rank`: its figures against scipy and statsmodels, how often its intervals hold the truth, what it says."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import compute
from compute.analysis.ranks.friedman import TESTS
from compute.types import BadInput, printable

MODELS, TASKS = 8, 15
HOSTILE = "<script>window.harmed=1</script>\"'{{7*7}}\x1b[2J\u202e"


def table(*, seed=0, models=MODELS, tasks=TASKS, apart=0.05):
    """Models whose true means lie apart, with noise between tasks."""
    draw = np.random.default_rng(seed)
    values = 0.6 + apart * np.arange(models)[:, None] + 0.05 * draw.normal(size=(models, tasks))
    frame = pd.DataFrame(values, columns=[f"task {at}" for at in range(tasks)])
    frame.insert(0, "model", [f"model {at}" for at in range(models)])
    return frame


def test_few_tasks_a_single_task_and_equal_scores_are_said():
    assert compute.rank(table(tasks=2)).few.all() and not compute.rank(table()).few.any()
    one = compute.rank(table(tasks=1))
    assert (one.rank_low == -1).all() and set(one.classes) == {""} and all(one.unknown)
    known = compute.rank(table(tasks=1).assign(**{"task 0_stderr": 0.01}))
    assert (known.rank_low > 0).all() and known.fixed == ("the table",) and known.on_items
    np.testing.assert_allclose(known.mean_high - known.mean, stats.norm.ppf(0.975) * 0.01)
    frame = table()
    frame.loc[0, frame.columns[1:]] = 0.5
    alike = compute.rank(frame)
    assert "equal" in alike.unknown[0] and np.isnan(alike.mean_low[0])
    assert (alike.rank_low > 0).all()


def test_lower_may_be_better_everywhere_but_not_in_some_tasks_only():
    frame = table()
    names = list(frame.columns[1:])
    lower = compute.rank(frame, lower_is_better=names)
    assert lower.rank.tolist() == [1, 2, 3, 4, 5, 6, 7, 8] and not lower.higher_is_better
    with pytest.raises(BadInput, match="direction"):
        compute.rank(frame, lower_is_better=names[:1])


def test_hostile_names_steer_neither_a_terminal_nor_a_page():
    frame = table().rename(columns={"task 0": HOSTILE})
    frame["model"] = [f"{HOSTILE}{at}" for at in range(MODELS)]
    ranked = compute.rank(frame)
    for text in (str(ranked), ranked.html(title=HOSTILE), ranked._repr_html_()):
        assert "\x1b" not in text and "\u202e" not in text
    assert "<script" not in ranked._repr_html_() and "<script" not in "".join(ranked.plot().layout.yaxis.ticktext)
    page = ranked.html(title=HOSTILE)
    assert "<script>window" not in page and page.count("<script>") == 1
    assert "&lt;script&gt;window.harmed=1&lt;/script&gt;" in page and "{{7*7}}" in page
    assert printable("ok é 名\ud800") == "ok é 名\ufffd"


def test_another_test_decides_pairs_ranges_and_classes_where_it_agrees_with_the_means():
    frame = table(apart=0.02)
    frame.loc[0, "task 3"] = None
    for test in TESTS:
        ranked = compute.rank(frame, test=test)
        result = ranked.tested
        assert result.name == test and any(str(result) in note for note in ranked.notes)
        assert 0 < ranked.better.sum() < result.significant.sum() / 2 + 1
        assert result.significant[ranked.better].all() and (ranked.mean[:, None] > ranked.mean)[ranked.better].all()
        np.testing.assert_array_equal(ranked.rank_low[1:], 1 + ranked.better.sum(axis=0)[1:])
        np.testing.assert_array_equal(ranked.mean_low, compute.rank(frame).mean_low)
        assert ranked.rank_low[0] == -1 and ranked.classes[0] == ""
    with pytest.raises(BadInput, match="1 are missing"):
        compute.rank(frame, test=test, coverage=0.5)


def test_one_task_far_above_all_others_makes_no_mean():
    frame = table(models=4)
    far = frame.assign(XYZ=[900.0, 800, 700, 600])
    for call in (compute.rank, partial(compute.compare, "model 1", "model 2"), partial(compute.lite, tasks=2)):
        with pytest.raises(BadInput, match="'XYZ'"):
            call(scores=far)
    assert compute.rank(far, weights={"XYZ": 1}).mean.max() > 50, "who says so means it"
    hard = frame.assign(XYZ=[0.01, 0.02, 0.01, 0.02])
    assert compute.rank(hard).mean.max() < 1, "all are shares"


def test_arguments_that_mean_nothing_are_refused():
    for options, word in (
        ({"aggregate": "borda"}, "'borda'"),
        ({"test": "nemenyi"}, "'nemenyi'"),
        ({"coverage": 0}, "coverage"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"weights": {"task": 2}}, "'task "),
    ):
        with pytest.raises(BadInput, match=word):
            compute.rank(table(), **options)
    with pytest.raises(BadInput, match="1 model"):
        compute.rank(table(models=1))


def test_scores_that_an_audit_doubts_are_counted_in_a_line(tmp_path):
    frame, path = table(models=20, tasks=30), tmp_path / "scores.csv"
    assert "audit" not in str(compute.rank(frame))
    frame.loc[3, "task 7"] = 0.001
    frame.to_csv(path, index=False)
    (line,) = (line for line in str(compute.rank(path)).splitlines() if "audit" in line)
    assert "1 doubtful score in" in line and line.endswith(f"likeness audit {path}")
