"""References: judges of known order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from compute.metrics import judge
from compute.metrics.judge_ranking import difference
from compute.types import BadInput
from tests.compute.metrics import judges

Evidence = dict[str, pd.DataFrame]
MEANS = {"best": judges.GOOD, "low": judges.POOR}


@pytest.fixture(scope="module")
def known() -> dict[str, Evidence]:
    return {
        name: judges.noisy(np.random.default_rng(seed), sources=200, means=means)
        for seed, (name, means) in enumerate(MEANS.items())
    }


def test_the_difference_of_two_judges(known: dict[str, Evidence]) -> None:
    figure = difference(first=known["best"], second=known["low"])
    means = [judge.mean(judge.MMSCORE, known[name]).value for name in ("best", "low")]
    assert figure.value == pytest.approx(means[0] - means[1])
    assert figure.low > 0
    back = difference(first=known["low"], second=known["best"])
    assert back.value == -figure.value and back.high == pytest.approx(-figure.low)
    same = difference(first=known["best"], second=known["best"])
    assert same.value == 0 and same.low is None


def test_errors(known: dict[str, Evidence]) -> None:
    with pytest.raises(BadInput, match="same pairs"):
        difference(first=known["best"], second=judges.noisy(np.random.default_rng(0), sources=30))
    with pytest.raises(BadInput, match="subsets"):
        difference(first=known["best"], second={"sensitive": known["low"]["sensitive"]})
