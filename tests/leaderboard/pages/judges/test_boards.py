"""Who leads which metric, and how sure that is: what the board of the metric says."""

import numpy as np
import pandas as pd
import pytest

from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from leaderboard.pages.judges.boards import PRINTED, _reading


def judges(values, *, noise, tasks):
    """The ranked judges A, B, ... of one origin."""
    names = tuple("ABCDEF"[: len(values)])
    scores = np.array(values)[:, None] + noise * np.random.default_rng(4).normal(size=(len(values), len(tasks)))
    ranked = Ranking.of(ScoreTable(values=scores, models=names, tasks=tuple(tasks)))
    return pd.DataFrame({"title": names, "place": ranked.rank, "row": range(len(names)), "ranked": ranked})


@pytest.mark.parametrize(
    "values, noise, tasks, words",
    [
        ([0.9, 0.8], 0.01, "abcdefgh", "Significantly better"),
        ([0.9, 0.89], 0.1, "abcdefgh", "Not significant: "),
        ([0.9, 0.8], 0.01, "abcde", "too few tasks"),
        ([0.9, 0.8], 0, PRINTED, "only means"),
        ([0.9, 0.9], 0, PRINTED, "level"),
        ([0.9], 0, "abcdefgh", "No other judge"),
        ([0.9, *[0.89] * 5], 0.1, "abcdefgh", "and 2 more may be as good"),
    ],
    ids=["apart", "close", "few tasks", "means", "level", "alone", "many rivals"],
)
def test_a_lead_is_as_sure_as_the_board(values, noise, tasks, words):
    assert words in _reading(judges(values, noise=noise, tasks=tasks))
