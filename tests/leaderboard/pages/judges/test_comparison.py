"""Who leads which metric, and how sure that is: on the shipped tables, and on judges whose figures are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from leaderboard.pages.judges.comparison import (
    NOT_SIGNIFICANT,
    SIGNIFICANT,
    UNKNOWN,
    JudgeRow,
    Value,
    lead,
)


def row(title: str, value: float) -> JudgeRow:
    values = {"relax_sym": Value(value=value)}
    about = {"model": title.lower(), "title": title, "kind": "mllm", "origin": "computed", "splits": 1, "of": 1}
    return JudgeRow(**about, values=values, why={})


def board(values: Sequence[float], *, noise: float, tasks: int = 8) -> Ranking:
    scores = np.array(values)[:, None] + noise * np.random.default_rng(4).normal(size=(len(values), tasks))
    names = tuple("abcdef"[: len(values)])
    return Ranking.of(ScoreTable(values=scores, models=names, origins=("computed",) * len(names)))


@pytest.mark.parametrize(
    ("values", "ranked", "leaders", "verdict", "words"),
    [
        ([0.9, 0.8], {"noise": 0.01}, "A", SIGNIFICANT, "Significantly better"),
        ([0.9, 0.89], {"noise": 0.1}, "A", NOT_SIGNIFICANT, "B may be as good"),
        ([0.9, 0.8], {"noise": 0.01, "tasks": 5}, "A", UNKNOWN, "too few tasks"),
        ([0.9, 0.8], None, "A", UNKNOWN, "only means"),
        ([0.9, 0.9], None, "AB", UNKNOWN, "level"),
        ([0.9], None, "A", UNKNOWN, "No other judge"),
        ([0.9, *[0.89] * 5], {"noise": 0.1}, "A", NOT_SIGNIFICANT, "B, C, D and 2 more may be as good"),
    ],
    ids=["apart", "close", "few tasks", "no board", "level", "alone", "many rivals"],
)
def test_a_lead_is_as_sure_as_the_board(values, ranked, leaders, verdict, words):
    rows = [row(title, value) for title, value in zip("ABCDEF", values, strict=False)]
    found = lead(rows, metric="relax_sym", board=ranked and board(values, **ranked))
    assert found is not None
    assert ("".join(each.title for each in found.rows), found.verdict) == (leaders, verdict)
    assert words in found.reading
    assert lead(rows, metric="smoothness", board=None) is None, "which nobody has"


def test_computed_judges_are_compared_on_the_same_sources(judging):
    table = judging.compare("mini-pairs", "all")
    values: Mapping[str, Mapping[str, Value]] = {each.title: each.values for each in table.rows}
    assert values["Steady Judge"]["mmscore"].value == 1.0
    assert values["Steady Judge"]["controllability"].value == 1.0
    # A third of the pairs score 1 both ways; a twelfth of all is refused.
    assert values["Leaning Judge"]["relax_sym"].value == pytest.approx(11 / 36)
    leads = {each.metric: each for each in table.leads}
    assert leads["mmscore"].rows[0].title == "Steady Judge" and leads["mmscore"].verdict == "significant"
    assert {one.title for one in leads["relax_sym"].rows} == {"Steady Judge", "Example Eye"}
