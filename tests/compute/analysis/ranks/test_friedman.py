"""Friedman's test with Nemenyi's or Wilcoxon's: against scikit-posthocs on the same table."""

import matplotlib
import numpy as np
import pytest
import scikit_posthocs
from scipy import stats

from compute.analysis.figures.ranked import critical_difference
from compute.analysis.ranks.friedman import FRIEDMAN_NEMENYI, TESTS, WILCOXON_HOLM, pair_test
from compute.types import BadInput

MODELS, TASKS = 7, 10


def scores(*, seed=0, apart=0.7, ties=False):
    values = apart * np.arange(MODELS)[:, None] + np.random.default_rng(seed).normal(size=(MODELS, TASKS))
    return values.round() if ties else values


@pytest.mark.parametrize("ties", [False, True])
def test_p_of_every_pair_is_that_of_scikit_posthocs(ties):
    x = scores(ties=ties)[:: 3 if ties else 1]  # by all signs where differences are equal: seconds a pair
    reference = {
        FRIEDMAN_NEMENYI: scikit_posthocs.posthoc_nemenyi_friedman(x.T),
        WILCOXON_HOLM: scikit_posthocs.posthoc_wilcoxon(list(x), p_adjust="holm"),
    }
    for test, expected in reference.items():
        found = pair_test(x, clusters=None, test=test)
        pairs = np.triu_indices(len(x), 1)
        np.testing.assert_allclose(found.p[pairs], expected.to_numpy()[pairs], rtol=1e-6, atol=1e-12)
        np.testing.assert_array_equal(found.significant[pairs], expected.to_numpy()[pairs] <= 0.05)
        np.testing.assert_allclose((found.statistic, found.friedman_p), stats.friedmanchisquare(*x))
        np.testing.assert_allclose(found.average_rank, stats.rankdata(-x, axis=0).mean(axis=1))


def test_the_diagram_has_the_bars_of_scikit_posthocs():
    matplotlib.use("Agg")
    found = pair_test(scores(), clusters=None, test=FRIEDMAN_NEMENYI)
    names, order = [f"model {at}" for at in range(MODELS)], np.argsort(found.average_rank)
    p = scikit_posthocs.posthoc_nemenyi_friedman(scores().T).set_axis(names).set_axis(names, axis=1)
    drawn = scikit_posthocs.critical_difference_diagram(dict(zip(names, found.average_rank, strict=True)), p)
    expected = {
        (float(min(line.get_xdata())), float(max(line.get_xdata()))) for bar in drawn["crossbars"] for line in bar
    }
    figure = critical_difference(
        names=[names[at] for at in order],
        value=found.average_rank[order],
        differ=found.significant[np.ix_(order, order)],
        x="average rank",
        limit=found.critical_difference,
    )
    bars = [trace for trace in figure.data if trace.line.width == 4]
    assert expected and {tuple(map(float, bar.x)) for bar in bars} == expected
    # Demšar (2006), table 5: q for 7 models at 5% is 2.949.
    assert found.critical_difference == pytest.approx(2.949 * np.sqrt(MODELS * (MODELS + 1) / (6 * TASKS)), rel=1e-3)


def test_tasks_that_share_their_data_are_one_block():
    x = scores()
    for test in TESTS:
        alone = pair_test(x, clusters=None, test=test)
        copies = pair_test(np.hstack([x, x]), clusters=np.tile(np.arange(TASKS), 2), test=test)
        assert copies.blocks == TASKS
        np.testing.assert_allclose(copies.p, alone.p)


def test_models_without_every_score_take_no_part_and_equals_do_not_differ():
    x = scores()
    x[2, 3] = np.nan
    for test in TESTS:
        found, rest = pair_test(x, clusters=None, test=test), pair_test(np.delete(x, 2, 0), clusters=None, test=test)
        assert np.isnan(found.p[2]).all() and np.isnan(found.average_rank[2]) and not found.significant[2].any()
        np.testing.assert_allclose(np.delete(np.delete(found.p, 2, 0), 2, 1), rest.p)
        same = pair_test(np.ones((4, TASKS)) + np.zeros(TASKS), clusters=None, test=test)
        assert not same.significant.any()
    with pytest.raises(BadInput, match="three"):
        pair_test(scores()[:2], clusters=None, test=FRIEDMAN_NEMENYI)
    assert pair_test(scores()[[0, 6]], clusters=None, test=WILCOXON_HOLM).significant.any()
    assert "So few tasks" in str(pair_test(scores()[:, :6], clusters=None, test=WILCOXON_HOLM))


def test_ties_are_not_lost_to_the_rounding_of_floats():
    """Nine differences of 0.1 and one of 0.2, two of them negative: by all 1,024 signs p is 0.0918."""
    one = np.array([46.5, 54.9, 69.4, 85.9, 65.4, 76.2, 82.9, 89.2, 82.2, 51.9])
    other = np.array([46.4, 54.8, 69.5, 85.8, 65.5, 76.1, 82.8, 89.1, 82.1, 51.7])
    p = [pair_test(np.stack([one, other]) * unit, clusters=None, test=WILCOXON_HOLM).p[0, 1] for unit in (1, 10, 0.01)]
    np.testing.assert_allclose(p, p[1])
    assert p[0] == pytest.approx(0.0918, abs=0.02)
