import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from compute.analysis.correlation import correlate
from compute.analysis.lite.selection import agreement, drop_redundant, fidelity, knee, select, trace
from compute.analysis.ranks import means
from compute.types import BadInput, Undefined

NAN = np.nan


def table(*, models=20, tasks=18, categories=3, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(models, 1)) + 1.5 * rng.normal(size=(models, tasks))
    scores[rng.random(scores.shape) < missing] = NAN
    return scores, np.arange(tasks) % categories


def test_drop_redundant_against_a_plain_loop():
    scores, _ = table(tasks=25, missing=0.2, seed=1)
    scores[:, :9] += 2 * scores[:, [0]]
    r = correlate(scores=scores, method="spearman", minimum=8).r
    stay, dropped = drop_redundant(correlation=r, thresholds=(0.25, 0.2))
    others = r.copy()
    np.fill_diagonal(others, NAN)
    kept, gone = list(range(25)), []
    for threshold in (0.25, 0.2):
        while True:
            means = np.array([np.nanmean(others[t, kept]) for t in kept])
            if means.max() <= threshold:
                break
            gone.append(kept.pop(int(means.argmax())))
    assert len(gone) > 3
    assert_array_equal(dropped, gone)
    assert_array_equal(stay, kept)


def test_agreement_is_spearman_and_pearson_of_each_column():
    rng = np.random.default_rng(2)
    columns, target = np.round(rng.random((15, 6)), 1), rng.random(15)
    found = agreement(columns, target)
    for i in range(6):
        assert_allclose(found[0, i], stats.spearmanr(columns[:, i], target)[0])
        assert_allclose(found[1, i], stats.pearsonr(columns[:, i], target)[0])
    columns[:5, 0] = NAN
    columns[0, 1] = NAN
    columns[:, 2] = 1
    found = agreement(columns, target)
    assert_allclose(found[0, 0], stats.spearmanr(columns[5:, 0], target[5:])[0] * 10 / 15)
    assert_allclose(found[1, 1], stats.pearsonr(columns[1:, 1], target[1:])[0] * 14 / 15)
    assert_array_equal(found[:, 2], [0, 0])


@pytest.mark.parametrize("aggregate", ["category-mean", "task-mean"])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_each_step_is_the_best_single_addition(aggregate, missing):
    scores, codes = table(missing=missing, seed=3)
    weights = [1.0, 2.0, 0.5]
    found = select(scores=scores, categories=codes, size=7, thresholds=(), weights=weights, aggregate=aggregate)
    full = means.aggregate(scores=scores, categories=codes, weights=weights, aggregate=aggregate).mean

    def value(tasks):
        mean = np.zeros(len(scores))
        total = np.zeros(len(scores))
        for category in range(3):
            part = scores[:, [t for t in tasks if codes[t] == category]]
            there = (~np.isnan(part)).sum(axis=1)
            w = weights[category] * (there if aggregate == "task-mean" else (there > 0))
            mean += w * np.divide(np.nansum(part, axis=1), there, out=np.zeros(len(scores)), where=there > 0)
            total += w
        seen = total > 0
        mean = mean[seen] / total[seen]
        share = seen.mean()
        return round(stats.spearmanr(mean, full[seen])[0] * share, 9), round(
            stats.pearsonr(mean, full[seen])[0] * share, 9
        )

    path: list[int] = []
    for step in range(7):
        open_ones = set(range(3)) - {codes[t] for t in path}
        choice = [t for t in range(18) if t not in path and (not open_ones or codes[t] in open_ones)]
        best = max(choice, key=lambda t: (value([*path, t]), -t))
        path.append(best)
        assert_allclose(found.agreement[step], value(path)[0], atol=1e-8)
    assert_array_equal(found.path, path)
    assert_array_equal(found.chosen, np.sort(path))
    assert_array_equal(found.order[:7], path)
    assert len(found.order) == len(found.curve) == 9  # half of the tasks
    if not missing:
        rule = {"categories": codes, "weights": weights, "aggregate": aggregate}
        assert_allclose(trace(scores=scores, path=found.order, **rule), found.curve)


@pytest.mark.parametrize(
    ("curve", "fewest", "models", "size"),
    [
        ([0.5, 0.8, 0.9, 0.9], 1, 9, 1),  # the interval of 0.9 begins at 0.481
        ([0.4, 0.8, 0.9, 0.9], 1, 9, 2),
        ([0.5, 0.8, 0.9, 0.9], 3, 9, 3),  # one task of every category
        ([0.8, 0.88, 0.9, 0.85], 1, 900, 3),  # begins at 0.884
        ([0.9, 1.0, 1.0], 1, 9, 2),  # 1 has no interval
        ([0.2, 0.9], 1, 3, 2),  # nor have 3 models
    ],
)
def test_the_knee_is_the_first_within_the_interval_of_the_highest(curve, fewest, models, size):
    assert knee(curve, fewest=fewest, models=models) == size


def test_categories_are_kept_even_where_redundant():
    rng = np.random.default_rng(5)
    base = rng.normal(size=30)
    scores = np.stack([base + 0.1 * rng.normal(size=30) for _ in range(8)] + [rng.normal(size=30)] * 1, axis=1)
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
    found = select(scores=scores, categories=codes, size=3)
    assert_array_equal(np.sort(codes[found.chosen]), [0, 1, 2])
    assert len(found.dropped) > 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"hours_budget": 3.0}, "either size or hours_budget"),
        ({"size": 2}, "3 categories"),
        ({"size": 19}, "18 to choose from"),
        ({"size": None, "hours_budget": 3.0}, "18 are unknown"),
        ({"size": None, "hours_budget": 3.0, "hours": np.full(18, 2.0)}, "takes 6"),
        ({"exclude": np.arange(18)}, "No task to choose"),
        ({"scores": np.full((20, 18), NAN)}, "0 models"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(wrong, words):
    scores, codes = table()
    with pytest.raises(BadInput, match=words):
        select(**({"scores": scores, "categories": codes, "size": 5} | wrong))


def test_fidelity_by_hand():
    scores = np.array([[4.0, 1], [3, 3], [2, 2], [1, 4], [5, NAN]])
    found = fidelity(scores=scores, categories=[0, 1], chosen=[0])
    full = [2.5, 3.0, 2.0, 2.5]
    assert (found.largest_rank_change, found.largest_change_model, found.n_models) == (2, 3, 4)
    assert_allclose(found.spearman, stats.spearmanr(full, [4, 3, 2, 1])[0])
    assert_allclose(found.pearson, stats.pearsonr(full, [4, 3, 2, 1])[0])


def test_fidelity_of_nothing_or_too_little_is_refused():
    with pytest.raises(Undefined, match="must differ"):
        fidelity(scores=np.ones((4, 2)), categories=[0, 0], chosen=[1])
    with pytest.raises(Undefined, match="2 models"):
        fidelity(scores=[[1.0, 2.0], [2.0, 3.0]], categories=[0, 0], chosen=[1])
