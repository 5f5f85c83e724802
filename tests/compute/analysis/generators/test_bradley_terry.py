"""Bradley-Terry strengths against closed forms and logistic regression."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from compute.analysis.generators.bradley_terry import ELO, fit
from compute.types import Undefined


def test_two_items_have_a_closed_form():
    values, low, high = fit([[0, 30], [10, 0]]).T
    assert values == pytest.approx([200 * math.log10(3), -200 * math.log10(3)])
    # The log-odds of the two has variance 1/30 + 1/10; each strength is half of it.
    assert high - low == pytest.approx(2 * 1.959964 * ELO * math.sqrt(1 / 30 + 1 / 10) / 2)


def test_it_is_the_logistic_regression_on_who_met_whom():
    wins = np.random.default_rng(3).integers(1, 30, (6, 6)) * (1 - np.eye(6))
    rows, won, weight = [], [], []
    for i in range(6):
        for j in range(6):
            if wins[i, j]:
                row = np.zeros(6)
                row[i], row[j] = 1, -1
                rows += [row, -row]
                won += [1, 0]
                weight += [wins[i, j], wins[i, j]]
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(np.array(rows)[:, 1:], won, sample_weight=np.array(weight) / 2)
    reference = np.append(0.0, model.coef_[0])
    assert fit(wins)[:, 0] / ELO == pytest.approx(reference - reference.mean(), abs=1e-4)


def test_what_has_no_finite_answer_is_refused_with_who():
    with pytest.raises(Undefined, match="a and the others"):
        fit([[0, 3, 2], [0, 0, 2], [0, 1, 0]], names=["a", "b", "c"])
    with pytest.raises(Undefined, match="item 0, item 1 and"):
        fit([[0, 3, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
