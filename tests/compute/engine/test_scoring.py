"""Scores from evidence: which metrics, which subsets, and what has none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem

from compute.engine import scoring
from compute.engine.scoring import summarise
from compute.metrics import judge
from compute.metrics.figures import cosine_spearman
from compute.procedures.evidence import Evidence
from compute.types import BadInput, Undefined
from tests.compute.metrics import judges
from tests.compute.small_bench import NEAR

NONE = float("nan")


def frame(*values, start=0):
    names = range(start, start + len(values))
    return pd.DataFrame({"item": names, "accuracy": values, "map": values, "value": 1.0, "human": 1.0})


def task(*metrics, subsets):
    return replace(NEAR, metrics=metrics, subsets=subsets)


def scored(*metrics, subsets=("default",), **evidence):
    """Each figure by metric and subset."""
    rows, _ = scoring.scored(task(*metrics, subsets=subsets), evidence)
    return {(metric, subset): figure for metric, subset, figure in rows}


@pytest.mark.parametrize(
    "subsets, evidence, values",
    [
        (
            ("en", "de"),
            {"en": frame(1, 0), "de": frame(1, 1, 0, 0)},
            {"en": (0.5, 2), "de": (0.5, 4), "default": (0.5, 6)},
        ),
        # Revisited Oxford: the score is the mean of the medium and the hard protocol, over the same items.
        (
            ("default",),
            {"medium": frame(0.8, 0.4), "hard": frame(0.2, 0.0)},
            {"medium": (0.6, 2), "hard": (0.1, 2), "default": (0.35, 2)},
        ),
        (("default",), {"en": frame(1, 0)}, {"en": (0.5, 2)}),
    ],
)
def test_every_metric_of_the_task_is_computed_on_every_subset_and_on_the_whole(subsets, evidence, values):
    found = scored("accuracy", "map", subsets=subsets, **evidence)
    assert {key: (pytest.approx(figure.value), figure.n) for key, figure in found.items()} == {
        (metric, subset): value for metric in ("accuracy", "map") for subset, value in values.items()
    }


def test_the_share_of_ties_is_over_all_subsets():
    easy = Evidence(items=frame(1, 0, 0.5), settings={"tied": 1})
    assert scoring.tied({"default": easy}) == 1 / 3
    assert scoring.tied({"easy": easy, "hard": Evidence(items=frame(1), settings={"tied": 0})}) == 1 / 4
    assert scoring.tied({"default": Evidence(items=frame(1, 0), settings={"draws": 2})}) is None


@pytest.mark.parametrize("shared", [True, False])
def test_the_error_of_a_mean_knows_which_items_are_shared(shared):
    """Reference: the spread of the mean over bootstrap draws, of items for shared ones, of each subset's for others."""
    draw = np.random.default_rng(0)
    easy = draw.normal(0.5, 0.3, 400)
    hard = easy + draw.normal(-0.2, 0.1, 400)
    rows = draw.integers(0, 400, (2, 4000, 400))
    wanted = ((easy[rows[0]].mean(1) + hard[rows[0 if shared else 1]].mean(1)) / 2).std()
    parts = {"easy": frame(*easy), "hard": frame(*hard, start=0 if shared else 1000)}
    found = scored("accuracy", subsets=("easy", "hard"), **parts)
    assert found["accuracy", "default"].stderr == pytest.approx(wanted, rel=0.05)


def test_a_headline_without_a_value_is_no_score():
    with pytest.raises(Undefined):
        scored("accuracy", "map", default=frame(NONE))
    assert list(scored("accuracy", "cosine_spearman", default=frame(1, 0, 1))) == [("accuracy", "default")]


JUDGING = task("mmscore", "relax_sym", "smoothness", "controllability", subsets=judge.CONDITIONS)


def test_a_judges_metrics_of_a_task_take_both_conditions_at_once():
    evidence = judges.noisy(np.random.default_rng(0), sources=40)
    rows, undefined = scoring.scored(JUDGING, evidence)
    by_cell = {(metric, subset): figure for metric, subset, figure in rows}
    cells = {(metric, subset) for metric in JUDGING.metrics for subset in (*judge.CONDITIONS, "default")}
    assert set(by_cell) == cells - {("controllability", condition) for condition in judge.CONDITIONS}
    assert undefined == {} and all(figure.stderr > 0 for figure in by_cell.values())
    for metric in JUDGING.metrics[:3]:
        halves = [by_cell[metric, condition].value for condition in judge.CONDITIONS]
        assert by_cell[metric, "default"].value == pytest.approx(np.mean(halves))
    assert by_cell["controllability", "default"] == judge.controllability(evidence)
    assert by_cell["smoothness", "default"] == judge.mean(judge.SMOOTHNESS, evidence)


def test_what_is_undefined_says_why_and_leaves_the_rest():
    """A judge whose every answer under one condition is invalid: MMScore 0 there, no entropy, no controllability."""
    evidence = judges.noisy(np.random.default_rng(0), sources=10)
    evidence["invariant"] = evidence["invariant"].assign(forward=np.nan, reverse=np.nan)
    rows, undefined = scoring.scored(JUDGING, evidence)
    assert {metric: list(reasons) for metric, reasons in undefined.items()} == {
        "smoothness": ["invariant"],
        "controllability": ["default"],
    }
    assert "valid score" in undefined["smoothness"]["invariant"]
    assert [subset for metric, subset, _ in rows if metric == "smoothness"] == ["sensitive"]
    _, only = scoring.scored(JUDGING, {"sensitive": evidence["sensitive"]})
    assert "invariant condition" in only["controllability"]["default"]


@pytest.mark.parametrize(
    "metric, values, figure",
    [
        ("ndcg_at_10", [0.5, 1.0, NONE, 0.25], {"value": 1.75 / 3, "n": 3, "stderr": sem([0.5, 1.0, 0.25])}),
        # Right and wrong have the binomial error, and what was not answered a lower bound.
        (
            "accuracy",
            [1.0] * 66 + [0.0] * 22 + [NONE] * 72,
            {"value": 0.75, "n": 88, "stderr": np.sqrt(0.75 * 0.25 / 88), "answered": 0.55, "lower_bound": 66 / 160},
        ),
        ("accuracy", [1.0, 0.5, 0.0], {"answered": 1.0, "lower_bound": None, "stderr": sem([1.0, 0.5, 0.0])}),
        ("map", [0.4], {"stderr": None}),
        ("map", [1.0], {"stderr": 0}),
    ],
)
def test_a_column_of_the_metrics_key_is_averaged_over_what_was_answered(metric, values, figure):
    found = summarise(metric, pd.DataFrame({metric: values}))
    assert {name: getattr(found, name) for name in figure} == pytest.approx(figure)


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_the_error_of_spearman_is_the_spread_over_samples(rho):
    """4000 samples of 150 pairs of a bivariate normal (synthetic): the formula is within a tenth of their spread."""
    rng = np.random.default_rng(1)
    first = rng.normal(size=(4000, 150))
    second = rho * first + np.sqrt(1 - rho**2) * rng.normal(size=(4000, 150))
    a, b = (side.argsort(axis=1).argsort(axis=1) - 74.5 for side in (first, second))
    drawn = (a * b).sum(axis=1) / (a * a).sum(axis=1)
    said = np.median([cosine_spearman(first[row], second[row]).stderr for row in range(200)])
    assert said == pytest.approx(drawn.std(), rel=0.1)


@pytest.mark.parametrize(
    "metric, items, error, words",
    [
        ("accuracy", {"accuracy": [NONE, NONE]}, Undefined, "nothing to average"),
        ("cosine_spearman", {"human": [1.0, 2.0], "value": [1.0, 2.0]}, Undefined, "three pairs"),
        ("cosine_spearman", {"human": [1.0, 2.0, 3.0], "value": [1.0, 1.0, 1.0]}, Undefined, "similarities are 1"),
        ("fid", {"accuracy": [1.0]}, BadInput, "no column 'fid'"),
        ("cosine_spearman", {"value": [1.0]}, BadInput, "'human'"),
    ],
)
def test_what_has_no_figure(metric, items, error, words):
    with pytest.raises(error, match=words):
        summarise(metric, pd.DataFrame(items))
