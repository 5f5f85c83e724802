"""References: closed forms, scikit-learn's NMI, judges that depend on the prompt or do not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from compute.metrics import judge_diagnostics as diagnostics
from compute.types import BadInput, Undefined
from tests.compute.metrics import judges

NAN = float("nan")


def test_position_bias_by_hand() -> None:
    figure = diagnostics.position_bias([5, 9, NAN, 2], [3, 9, 4, NAN])
    assert figure.value == 1.0 and figure.n == 2
    assert diagnostics.position_bias([10, 1], [1, 10]).value == 0  # leans in every pair, and not on average
    with pytest.raises(Undefined, match="two valid scores"):
        diagnostics.position_bias([NAN, 3], [4, NAN])


@pytest.mark.parametrize("lean", [0.0, 0.8])
def test_the_interval_of_a_bias_has_the_bias_inside(lean: float) -> None:
    pairs = judges.noisy(np.random.default_rng(0), sources=300, lean=lean, means=(6.0, 5.0, 4.0))["invariant"]
    figure = diagnostics.position_bias(pairs["forward"], pairs["reverse"], pairs["source"])
    assert figure.low < figure.value < figure.high and (figure.low > 0) == (lean > 0)
    gaps = (pairs["forward"] - pairs["reverse"]).groupby(pairs["source"]).agg(["sum", "count"])
    residual = gaps["sum"] - figure.value * gaps["count"]  # the linearised error of a ratio of sums
    assert figure.stderr == pytest.approx(np.sqrt((residual**2).sum()) / gaps["count"].sum(), rel=0.06)


def test_problem_rates() -> None:
    rates = diagnostics.problem_rates(
        ["", "refused", "", ""], ["missing", "refused", "", ""], ["a", "a", "b", "b"], problems=("truncated",)
    )
    assert {name: rate.value for name, rate in rates.items()} == {
        "invalid": 3 / 8,
        "truncated": 0.0,
        "missing": 1 / 8,
        "refused": 2 / 8,
    }
    never = rates["truncated"]
    assert never.n == 8 and never.low == 0.0 and never.high > 0.5  # two sources say little
    with pytest.raises(Undefined, match="no answers"):
        diagnostics.problem_rates([], [])
    with pytest.raises(BadInput, match="same length"):
        diagnostics.problem_rates([""], ["", ""])


def test_a_judge_that_ignores_the_prompt_spreads_as_chance_does() -> None:
    """p is uniform where templates make no difference: one in ten below 0.1, of 60 judges."""
    rng = np.random.default_rng(2)
    levels = []
    for _ in range(60):
        pairs = judges.noisy(rng, sources=20)["invariant"]
        robustness = diagnostics.template_robustness(
            pairs["expected_score"],
            pairs["forward"],
            pairs["reverse"],
            rng.integers(0, 5, len(pairs)),
            pairs["source"],
            permutations=99,
        )
        levels.append(robustness.p)
    assert 0.3 < np.mean(levels) < 0.7 and np.mean(np.array(levels) < 0.1) < 0.3


def test_a_judge_that_fails_with_one_prompt_is_seen() -> None:
    rng = np.random.default_rng(3)
    pairs = judges.noisy(rng, sources=60)["sensitive"]
    templates = rng.integers(0, 5, len(pairs))
    silent = templates == 3
    pairs.loc[silent, ["forward", "reverse"]] = 7.0
    columns = (pairs["expected_score"], pairs["forward"], pairs["reverse"], templates, pairs["source"])
    robustness = diagnostics.template_robustness(*columns)
    assert robustness.scores[3].value == 0 and robustness.p < 0.01
    assert robustness.chance_low < robustness.by_chance < robustness.chance_high < robustness.spread
    part = pairs[templates == 1]
    answers = np.nan_to_num(part[["forward", "reverse"]].to_numpy(), nan=-1).ravel()
    wanted = normalized_mutual_info_score(part["expected_score"].repeat(2), answers)
    assert robustness.scores[1].value == pytest.approx(wanted)
    assert robustness == diagnostics.template_robustness(*columns)


def test_templates_that_cannot_be_compared() -> None:
    with pytest.raises(Undefined, match="at least two"):
        diagnostics.template_robustness([10, 1], [9, 2], [9, 2], [0, 0])
    with pytest.raises(BadInput, match="template per pair"):
        diagnostics.template_robustness([10, 1], [9, 2], [9, 2], [0])
