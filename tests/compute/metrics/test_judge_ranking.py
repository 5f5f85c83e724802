"""References: SciPy's kendalltau, scikit-learn's NMI on drawn sources, judges of known order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import normalized_mutual_info_score

from compute.metrics import judge, judge_ranking
from compute.metrics.judge_ranking import difference, ranking_stability
from compute.types import BadInput, Undefined
from tests.compute.metrics import judges

Evidence = dict[str, pd.DataFrame]
MEANS = {"best": judges.GOOD, "middle": (9.0, 7.0, 3.5), "low": judges.POOR, "guessing": judges.RANDOM}


@pytest.fixture(scope="module")
def known() -> dict[str, Evidence]:
    return {
        name: judges.noisy(np.random.default_rng(seed), sources=200, means=means)
        for seed, (name, means) in enumerate(MEANS.items())
    }


def test_the_curve_rises_to_the_ranking_of_all(known: dict[str, Evidence]) -> None:
    curve = ranking_stability(known, sizes=(10, 50, 100, 150, 200, 500), subsamples=200)
    assert [point.size for point in curve] == [10, 50, 100, 150]
    assert [point.is_optimistic for point in curve] == [False, False, False, True]
    taus, winners = [point.tau for point in curve], [point.same_winner for point in curve]
    assert taus == sorted(taus) and winners == sorted(winners) and 0.5 < taus[0] < 1 and winners[-1] == 1.0
    for point in curve:
        assert point.tau_low <= point.tau <= point.tau_high


def test_one_point_of_the_curve_by_loop(known: dict[str, Evidence]) -> None:
    """Reference: scikit-learn's NMI of the drawn sources' rows, ranks by SciPy."""
    few = {name: known[name] for name in ("best", "middle", "low")}
    [point] = ranking_stability(few, sizes=(15,), subsamples=80, seed=1)
    order = np.random.default_rng(1).random((80, 200)).argsort(axis=1)
    names, codes = np.unique(few["best"]["sensitive"]["source"], return_inverse=True)
    assert len(names) == 200

    def score(evidence: Evidence, chosen: np.ndarray) -> float:
        rows = chosen[codes]
        return float(
            np.mean(
                [
                    normalized_mutual_info_score(
                        frame["expected_score"][rows].repeat(2),
                        frame.loc[rows, ["forward", "reverse"]].fillna(-1).to_numpy().ravel(),
                    )
                    for frame in evidence.values()
                ]
            )
        )

    whole = [score(evidence, np.ones(200, bool)) for evidence in few.values()]
    drawn = [[score(evidence, ranks < 15) for evidence in few.values()] for ranks in order]
    assert point.tau == pytest.approx(np.mean([kendalltau(row, whole).statistic for row in drawn]))
    assert point.same_winner == np.mean(np.argmax(drawn, axis=1) == np.argmax(whole))


def test_the_difference_of_two_judges(known: dict[str, Evidence]) -> None:
    figure = difference(first=known["best"], second=known["low"])
    means = [judge.mean(judge.MMSCORE, known[name]).value for name in ("best", "low")]
    assert figure.value == pytest.approx(means[0] - means[1])
    assert figure.low > 0
    back = difference(first=known["low"], second=known["best"])
    assert back.value == -figure.value and back.high == pytest.approx(-figure.low)
    same = difference(first=known["best"], second=known["best"])
    assert same.value == 0 and same.low is None


def test_pairing_narrows_the_interval_of_judges_that_fail_on_the_same_sources() -> None:
    """One judge errs where the other does and a little more; as two lists of other sources they could not be told."""
    first = judges.noisy(np.random.default_rng(5), sources=120)
    rng = np.random.default_rng(6)
    second = {}
    for name, pairs in first.items():
        wrong = rng.random(len(pairs)) < 0.05
        second[name] = pairs.assign(forward=pairs["forward"].where(~wrong, rng.integers(1, 11, len(pairs))))
    paired = difference(first=first, second=second)
    apart = [judge.mean(judge.MMSCORE, each).stderr for each in (first, second)]
    assert paired.stderr < 0.6 * np.hypot(*apart)
    assert paired.low > 0


def test_errors(known: dict[str, Evidence]) -> None:
    with pytest.raises(BadInput, match="same pairs"):
        difference(first=known["best"], second=judges.noisy(np.random.default_rng(0), sources=30))
    with pytest.raises(BadInput, match="subsets"):
        difference(first=known["best"], second={"sensitive": known["low"]["sensitive"]})
    with pytest.raises(Undefined, match="two judges"):
        ranking_stability({"best": known["best"]})
    with pytest.raises(Undefined, match="200 sources"):
        ranking_stability(known, sizes=(200, 500))
    with pytest.raises(Undefined, match="no ranking"):
        ranking_stability({"a": known["best"], "b": known["best"]})
    assert max(judge_ranking.SIZES) == 500
