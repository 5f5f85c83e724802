"""References: pandas, scipy's spearmanr, scikit-learn's normalized_mutual_info_score, and drawn samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem, spearmanr
from sklearn.metrics import normalized_mutual_info_score

from compute.metrics import METRICS
from compute.metrics.figures import cosine_spearman, nmi
from compute.metrics.summary import summarise
from compute.types import BadInput, Undefined


def test_a_column_of_the_metrics_key_is_averaged_over_what_was_answered() -> None:
    items = pd.DataFrame({"ndcg_at_10": [0.5, 1.0, np.nan, 0.25]})
    figure = summarise("ndcg_at_10", items)
    assert (figure.value, figure.n) == (pytest.approx(1.75 / 3), 3)
    assert figure.stderr == pytest.approx(sem([0.5, 1.0, 0.25]))


def test_right_and_wrong_have_the_binomial_error() -> None:
    figure = summarise("accuracy", pd.DataFrame({"accuracy": [1.0] * 30 + [0.0] * 10 + [np.nan] * 5}))
    assert (figure.value, figure.n) == (0.75, 40)
    assert figure.stderr == pytest.approx(np.sqrt(0.75 * 0.25 / 40))
    shared = summarise("accuracy", pd.DataFrame({"accuracy": [1.0, 0.5, 0.0]}))
    assert shared.stderr == pytest.approx(sem([1.0, 0.5, 0.0]))


def test_a_lower_bound_takes_what_was_not_answered_as_wrong() -> None:
    half = pd.DataFrame({"accuracy": [1.0] * 66 + [0.0] * 22 + [np.nan] * 72})
    figure = summarise("accuracy", half)
    assert (figure.value, figure.n, figure.answered, figure.lower_bound) == (0.75, 88, 88 / 160, 66 / 160)
    whole = summarise("accuracy", pd.DataFrame({"accuracy": [1.0, 0.0]}))
    assert (whole.answered, whole.lower_bound) == (1.0, None)


def test_spearman_of_the_evidence() -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(0, 6, 200) / 5
    items = pd.DataFrame({"human": human, "value": human + rng.normal(size=200)})
    figure = summarise("cosine_spearman", items)
    assert figure.value == pytest.approx(spearmanr(items["human"], items["value"]).statistic)
    assert figure.n == 200


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_the_error_of_spearman_is_the_spread_over_samples(rho: float) -> None:
    """4000 samples of 150 pairs of a bivariate normal (synthetic): the formula is within a tenth of their spread."""
    rng = np.random.default_rng(1)
    first = rng.normal(size=(4000, 150))
    second = rho * first + np.sqrt(1 - rho**2) * rng.normal(size=(4000, 150))
    ranks = (side.argsort(axis=1).argsort(axis=1) - 74.5 for side in (first, second))
    a, b = ranks
    drawn = (a * b).sum(axis=1) / (a * a).sum(axis=1)
    said = np.median([cosine_spearman(first[row], second[row]).stderr for row in range(200)])
    assert said == pytest.approx(drawn.std(), rel=0.1)


def test_nmi_of_the_evidence() -> None:
    items = pd.DataFrame({"expected": list("aabbc"), "answer": ["0", "0", "1", "0", "2"]})
    figure = summarise("nmi", items)
    assert figure.value == pytest.approx(normalized_mutual_info_score(items["expected"], items["answer"]))
    assert figure.n == 5
    assert figure.stderr == nmi(items["expected"], items["answer"]).stderr > 0


def test_what_has_no_figure() -> None:
    with pytest.raises(Undefined, match="nothing to average"):
        summarise("accuracy", pd.DataFrame({"accuracy": [np.nan, np.nan]}))
    with pytest.raises(Undefined, match="three pairs"):
        summarise("cosine_spearman", pd.DataFrame({"human": [1.0, 2.0], "value": [1.0, 2.0]}))
    with pytest.raises(Undefined, match="similarities are 1"):
        summarise("cosine_spearman", pd.DataFrame({"human": [1.0, 2.0, 3.0], "value": [1.0, 1.0, 1.0]}))
    with pytest.raises(BadInput, match="no column 'fid'"):
        summarise("fid", pd.DataFrame({"accuracy": [1.0]}))
    with pytest.raises(BadInput, match="'human'"):
        summarise("cosine_spearman", pd.DataFrame({"value": [1.0]}))


def test_one_item_has_a_value_and_no_error_unless_it_is_right_or_wrong() -> None:
    assert summarise("map", pd.DataFrame({"map": [0.4]})).stderr is None
    assert summarise("map", pd.DataFrame({"map": [1.0]})).stderr == 0


def test_functions_are_metrics() -> None:
    judged = {"mmscore", "relax_sym", "smoothness"}
    assert {metric.key for metric in METRICS if metric.compute} == {"nmi", "cosine_spearman"} | judged
    assert {metric.key for metric in METRICS if metric.whole} == {"controllability"} | judged
