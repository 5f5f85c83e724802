"""Scores from evidence: which metrics, which subsets, and what has none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from compute.engine import scoring
from compute.metrics import judge
from compute.procedures import judging
from compute.procedures.evidence import Evidence
from compute.types import Task, Undefined
from tests.compute.metrics import judges
from tests.compute.procedures.known import BOTH, Known
from tests.compute.procedures.pairs import rated_pairs


def task(*metrics: str, subsets: tuple[str, ...] = ("default",)) -> Task:
    return Task(key="b/t", title="t", benchmark="b", category="c", dataset="d", metrics=metrics, subsets=subsets)


def frame(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"item": range(len(values)), "accuracy": values, "map": values, "value": 1.0, "human": 1.0})


def test_every_metric_of_the_task_is_computed_on_every_subset() -> None:
    found = scoring.scored(
        task("accuracy", "map", subsets=("en", "de")), {"en": frame(1, 0), "de": frame(1, 1, 0, 0)}
    ).rows
    assert [(metric, subset, figure.value, figure.n) for metric, subset, figure in found] == [
        (metric, *one)
        for metric in ("accuracy", "map")
        for one in (("en", 0.5, 2), ("de", 0.5, 4), ("default", 0.5, 6))
    ]


def test_the_share_of_ties_is_over_all_subsets() -> None:
    easy = Evidence(items=frame(1, 0, 0.5), settings={"tied": 1})
    assert scoring.tied({"default": easy}) == 1 / 3
    assert scoring.tied({"easy": easy, "hard": Evidence(items=frame(1), settings={"tied": 0})}) == 1 / 4
    assert scoring.tied({"default": Evidence(items=frame(1, 0), settings={"draws": 2})}) is None


def test_protocols_of_one_task_are_averaged() -> None:
    """Revisited Oxford: the score is the mean of the medium and the hard protocol."""
    found = {
        subset: figure
        for _, subset, figure in scoring.scored(task("map"), {"medium": frame(0.8, 0.4), "hard": frame(0.2, 0.0)}).rows
    }
    assert found["default"].value == pytest.approx((0.6 + 0.1) / 2) and found["default"].n == 2
    per_item = np.array([(0.8 + 0.2) / 2, (0.4 + 0.0) / 2])  # the same two queries in both: their means are independent
    assert found["default"].stderr == pytest.approx(per_item.std(ddof=1) / np.sqrt(2))
    assert set(found) == {"medium", "hard", "default"}


def test_the_error_of_a_mean_knows_which_items_are_shared() -> None:
    """Reference: the spread of the mean over bootstrap draws, of items for shared ones, of each subset's for others."""
    draw = np.random.default_rng(0)
    easy = draw.normal(0.5, 0.3, 400)
    hard = easy + draw.normal(-0.2, 0.1, 400)
    shared = {"easy": frame(*easy), "hard": frame(*hard)}
    apart = {"easy": frame(*easy), "hard": frame(*hard).assign(item=lambda one: one["item"] + 1000)}
    rows = draw.integers(0, 400, (2, 4000, 400))
    wanted = (
        ((easy[rows[0]].mean(1) + hard[rows[0]].mean(1)) / 2).std(),
        ((easy[rows[0]].mean(1) + hard[rows[1]].mean(1)) / 2).std(),
    )
    for parts, error in zip((shared, apart), wanted, strict=True):
        [*_, (_, subset, figure)] = scoring.scored(task("accuracy", subsets=("easy", "hard")), parts).rows
        assert subset == "default" and figure.stderr == pytest.approx(error, rel=0.05)


def test_a_headline_without_a_value_is_no_score() -> None:
    nothing = frame(float("nan"))
    with pytest.raises(Undefined):
        scoring.scored(task("accuracy", "map"), {"default": nothing})
    kept = scoring.scored(task("accuracy", "cosine_spearman"), {"default": frame(1, 0, 1)}).rows
    assert [metric for metric, _, _ in kept] == ["accuracy"]


def test_the_share_answered_is_that_with_a_value() -> None:
    parts = {"a": frame(1, float("nan")), "b": frame(0, 1)}
    assert scoring.answered(parts, "accuracy") == 0.75 and scoring.answered(parts, "nmi") == 1


JUDGING = task("mmscore", "relax_sym", "smoothness", "controllability", subsets=judge.CONDITIONS)


def test_a_judges_metrics_of_a_task_take_both_conditions_at_once() -> None:
    evidence = judges.noisy(np.random.default_rng(0), sources=40)
    found = scoring.scored(JUDGING, evidence)
    by_cell = {(metric, subset): figure for metric, subset, figure in found.rows}
    cells = {(metric, subset) for metric in JUDGING.metrics for subset in (*judge.CONDITIONS, "default")}
    assert set(by_cell) == cells - {("controllability", condition) for condition in judge.CONDITIONS}
    assert found.undefined == {}
    for metric in JUDGING.metrics[:3]:
        halves = [by_cell[metric, condition].value for condition in judge.CONDITIONS]
        assert by_cell[metric, "default"].value == pytest.approx(np.mean(halves))
    a, b = (by_cell["mmscore", condition].value for condition in judge.CONDITIONS)
    assert by_cell["controllability", "default"].value == pytest.approx(1 - abs(a - b) / np.sqrt(a * b))
    assert all(figure.stderr is not None and figure.stderr > 0 for figure in by_cell.values())
    shared = judge.mean(judge.SMOOTHNESS, evidence)
    assert by_cell["smoothness", "default"].stderr == shared.stderr


def test_what_is_undefined_says_why_and_leaves_the_rest() -> None:
    """A judge whose every answer under one condition is invalid: MMScore 0 there, no entropy, no controllability."""
    evidence = judges.noisy(np.random.default_rng(0), sources=10)
    evidence["invariant"] = evidence["invariant"].assign(forward=np.nan, reverse=np.nan)
    found = scoring.scored(JUDGING, evidence)
    assert set(found.undefined) == {"smoothness", "controllability"}
    assert list(found.undefined["smoothness"]) == ["invariant"]
    assert "valid score" in found.undefined["smoothness"]["invariant"]
    assert "0 under the invariant condition" in found.undefined["controllability"]["default"]
    subsets = [subset for metric, subset, _ in found.rows if metric == "smoothness"]
    assert subsets == ["sensitive"]
    only = scoring.scored(JUDGING, {"sensitive": evidence["sensitive"]})
    assert "controllability" not in {metric for metric, _, _ in only.rows}
    assert "invariant condition" in only.undefined["controllability"]["default"]


def test_what_judging_writes_is_what_the_metrics_read() -> None:
    """An encoder of drawn vectors: symmetric, and with a value of every metric."""
    rng, vectors = np.random.default_rng(0), {}
    evidence = {}
    options = {name: allowed[0] for name, allowed in judging.PROCEDURE.options.items()}
    for condition in judge.CONDITIONS:
        pairs = rated_pairs(12, condition=condition)
        columns = (pairs.first, pairs.second, *pairs.first_variants, *pairs.second_variants)
        for column in columns:
            for row in range(len(column)):
                vectors.setdefault(column.read(row), rng.standard_normal(4))
        evidence[condition] = judging.run(Known(vectors, abilities=BOTH), pairs, options).items
    found = scoring.scored(JUDGING, evidence)
    whole = {metric: figure for metric, subset, figure in found.rows if subset == "default"}
    assert found.undefined == {} and set(whole) == set(JUDGING.metrics)
    assert whole["relax_sym"].value == 1.0 and 0 < whole["mmscore"].value < 1 and whole["mmscore"].n == 72
