"""Who leads which metric, and how sure that is: on the shipped tables, and on judges whose figures are known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from leaderboard.pages.judges.comparison import METRICS, NO_INTERVALS, JudgeRow, Value, lead
from leaderboard.pages.judges.page import Judging


def row(title: str, value: float, *, half: float | None = None, origin: str = "computed") -> JudgeRow:
    low, high = (None, None) if half is None else (value - half, value + half)
    return JudgeRow(
        model=title.lower(),
        title=title,
        kind="mllm",
        origin=origin,
        splits=1,
        of=1,
        values={"relax_sym": Value(value=value, low=low, high=high)},
        why={},
    )


@pytest.mark.parametrize(
    ("rows", "leaders", "reading"),
    [
        ([row("A", 0.9, half=0.02), row("B", 0.8, half=0.02)], ["A"], "Significantly better than every other judge."),
        ([row("A", 0.9, half=0.06), row("B", 0.8, half=0.06)], ["A"], "Not significant: B may be as good."),
        ([row("A", 0.9), row("B", 0.8)], ["A"], NO_INTERVALS),
        (
            [row("A", 0.9, half=0.01), row("B", 0.8)],
            ["A"],
            NO_INTERVALS,
        ),
        ([row("A", 0.9, half=0.01), row("B", 0.9, half=0.01)], ["A", "B"], "They are level."),
        ([row("A", 0.9)], ["A"], "No other judge to compare with."),
        (
            [row("A", 0.9, half=0.5), *(row(name, 0.8, half=0.5) for name in "BCDEF")],
            ["A"],
            "Not significant: B, C, D and 2 more may be as good.",
        ),
    ],
    ids=["apart", "overlapping", "no-intervals", "one-without", "level", "alone", "many-rivals"],
)
def test_a_lead_is_as_sure_as_its_intervals(rows: list[JudgeRow], leaders: list[str], reading: str) -> None:
    found = lead(rows, metric="relax_sym", measured={})
    assert found is not None
    assert ([each.title for each in found.rows], found.reading) == (leaders, reading)
    assert lead(rows, metric="smoothness", measured={}) is None, "which nobody has"


def test_the_published_leaders_and_how_sure_they_are(judging: Judging) -> None:
    """Table 1's best, and the means of the printed splits where Table 1 has no row."""
    table = judging.compare("pairbench", "all")
    leads = {each.metric: ([one.title for one in each.rows], each.of, each.verdict) for each in table.leads}
    assert leads["relax_sym"] == (["InternVL2.5-8B"], 10, "unknown")
    assert leads["smoothness"] == (["Pixtral 12B"], 10, "unknown")
    assert leads["mmscore"] == (["Gemini 1.5 Flash"], 22, "not significant")  # InternVL2 1B lacks two splits
    assert leads["controllability"][0] == ["Gemini 1.5 Pro"]
    assert table.all_lead == ()
    assert all(value.low is None for each in table.rows for value in each.values.values())
    assert [each.title for each in table.rows if not each.complete] == ["InternVL2 1B"]
    printed = next(each for each in table.rows if each.title == "Gemini 1.5 Flash")
    assert not printed.values["mmscore"].recomputed and printed.values["mmscore"].value == pytest.approx(0.5655)
    other = next(each for each in table.rows if each.title == "GPT-4o (0513)")
    assert other.values["mmscore"].recomputed and "relax_sym" in other.why


def test_computed_judges_are_compared_on_the_same_sources(judging: Judging) -> None:
    table = judging.compare("mini-pairs", "all")
    values: Mapping[str, Mapping[str, Value]] = {each.title: each.values for each in table.rows}
    assert values["Steady Judge"]["mmscore"].value == 1.0
    assert values["Steady Judge"]["controllability"].value == 1.0
    # A third of the pairs score 1 both ways; a twelfth of all is refused.
    assert values["Leaning Judge"]["relax_sym"].value == pytest.approx(11 / 36)
    leads = {each.metric: each for each in table.leads}
    assert leads["mmscore"].rows[0].title == "Steady Judge" and leads["mmscore"].verdict == "significant"
    assert {one.title for one in leads["relax_sym"].rows} == {"Steady Judge", "Example Eye"}


def test_each_figure_is_that_of_the_runs(judging: Judging) -> None:
    """The mean over splits is that of the scores that the runs recorded."""
    table, scores = judging.compare("mini-pairs", "all"), judging.scores("mini-pairs")
    for each in table.rows:
        own = scores[(scores["model"] == each.model) & (scores["subset"] == "default")]
        for metric in METRICS:
            recorded = own[own["metric"] == metric]["value"].to_numpy()
            assert each.values[metric].value == pytest.approx(np.mean(recorded)), (each.title, metric)
