"""Who leads which metric, and how sure that is: what the board of the metric says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from leaderboard.data.scope import Scope
from leaderboard.pages.judges.boards import PRINTED, _reading


def judges(values: Sequence[float], *, noise: float, tasks: Sequence[str]) -> pd.DataFrame:
    """The ranked judges A, B, ... of one origin."""
    names = tuple("ABCDEF"[: len(values)])
    scores = np.array(values)[:, None] + noise * np.random.default_rng(4).normal(size=(len(values), len(tasks)))
    ranked = Ranking.of(ScoreTable(values=scores, models=names, tasks=tuple(tasks)))
    return pd.DataFrame({"title": names, "place": ranked.rank, "row": range(len(names)), "ranked": ranked})


@pytest.mark.parametrize(
    ("values", "noise", "tasks", "words"),
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


def test_the_page_reads_the_board_of_each_metric(judging):
    for metric, board in judging.boards("mini-pairs", "all").items():
        ranked = judging.cache.ranked("mini-pairs", scope=Scope(metric=metric))
        shown = board.judges[board.judges["rank"] > 0].set_index("model")
        for row in np.flatnonzero(ranked.rank > 0):
            own = shown.loc[ranked.table.models[row]]
            found = [own[name] for name in ("rank", "value", "low", "high")]
            there = [ranked.rank[row], ranked.mean[row], ranked.mean_low[row], ranked.mean_high[row]]
            assert found == pytest.approx(there, nan_ok=True)
    leads = {metric: set(board.at(0)["title"]) for metric, board in judging.boards("mini-pairs", "all").items()}
    assert leads["mmscore"] == {"Steady Judge"} and leads["relax_sym"] == {"Steady Judge", "Example Eye"}
    # A third of the pairs score 1 both ways; a twelfth of all is refused.
    symmetric = judging.boards("mini-pairs", "all")["relax_sym"].judges.set_index("title")["value"]
    assert symmetric["Leaning Judge"] == pytest.approx(11 / 36)


def test_printed_means_stand_where_no_split_is_printed(judging):
    found = judging.boards("pairbench", "all")
    assert {metric: len(board.judges) for metric, board in found.items()} == {
        "mmscore": 23,
        "relax_sym": 10,
        "smoothness": 10,
        "controllability": 23,
    }
    even = found["controllability"].judges.set_index("model")
    assert even["value"]["gemini-1.5-pro"] == 0.8809 and not even["recomputed"]["gemini-1.5-pro"]
    assert even["recomputed"]["opengvlab/internvl2-4b"] and not even["complete"]["opengvlab/internvl2-1b"]
    assert "only means" in found["controllability"].reading
    assert set(judging.boards("pairbench", "images")) == {"mmscore", "controllability"}, "of which there are splits"
