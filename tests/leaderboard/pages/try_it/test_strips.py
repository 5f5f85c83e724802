"""A model's axis: letters and labels have room, wherever the marks are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from compute.analysis.domain import DomainCheck
from compute.live.questions import Answer
from leaderboard.pages.try_it.strips import LABEL, LETTER, spread, strip
from tests.compute.live.test_questions import reference, row
from tests.leaderboard.pages.try_it.test_answers import CHOICE, PAIR, drawn, found

CROWDS = [
    [50, 52],
    [40, 47, 50],  # the letter of the first once lay on that of the second
    [99.5, 99.9, 100],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [10, 90],
    [93, 12, 14, 11, 50, 53, 97, 95],
]


@pytest.mark.parametrize("values", CROWDS)
def test_letters_move_as_little_as_they_must(values: list[float]) -> None:
    """Against a general solver of the same problem."""
    ordered = np.sort(values)
    best = minimize(
        lambda centres: float(((centres - ordered) ** 2).sum()),
        np.linspace(LETTER / 2, 100 - LETTER / 2, len(ordered)),
        bounds=[(LETTER / 2, 100 - LETTER / 2)] * len(ordered),
        constraints=[{"type": "ineq", "fun": lambda centres: np.diff(centres) - LETTER}],
        method="SLSQP",
    )
    assert np.sort(spread(values, width=LETTER)) == pytest.approx(best.x, abs=0.05)


@pytest.mark.parametrize("score", [-1, 0.0, 0.4, 1.5, 2.5, 3.0, 9])
def test_bands_are_labelled_within_the_axis(score: float) -> None:
    (pair,) = found(PAIR, Answer(row=row("m"), scores=(score,)))
    lanes = strip(pair).bands
    assert [band.label for band in lanes] == ["unrelated", "matching"]
    for band in lanes:
        start = band.label_at - LABEL if band.label_ends else band.label_at
        assert 0 <= start <= 100 - LABEL
        assert not any(start <= mark.at <= start + LABEL for mark in strip(pair).marks), "a mark crosses it"


def test_an_axis_has_a_scale_and_its_marks_have_names() -> None:
    several = drawn(CHOICE, Answer(row=row("m"), scores=(0.5, 2.5), pick=1))
    assert 'aria-label="Percentile A 25, B 75, from 0, unrelated, to 100, matching"' in several
    assert ">0</span>" in several and ">50</span>" in several and ">percentile</span>" in several
    (alone,) = strip(found(PAIR, Answer(row=row("m"), scores=(2.5,)))[0]).marks
    assert (alone.label, alone.chosen) == ("75", True)


def test_few_scenes_give_an_axis_of_raw_scores() -> None:
    held = DomainCheck(reference=reference(scenes=14), few=True, why="few")
    answer = Answer(row=row("m"), scores=(0.5, 2.5), pick=1, domain=held, unit="cosine")
    axis = strip(answer)
    assert axis.label == "Raw cosine A 0.5, B 2.5; no percentile" and axis.unit == "raw cosine"
    assert [band.label for band in axis.bands] == ["unrelated", "matching"]
    left, right = (mark.at for mark in axis.marks)
    assert axis.bands[0].low < left < axis.bands[0].low + axis.bands[0].width < axis.bands[1].low < right
    assert left - axis.bands[0].low == pytest.approx(axis.bands[0].width / 2)


@pytest.mark.parametrize(
    "check", [DomainCheck(reference=reference(scenes=14), few=True, why="few"), DomainCheck(why="outside")]
)
def test_the_odd_one_out_is_the_lowest_of_raw_scores_too(check: DomainCheck) -> None:
    pairs = {(0, 1): 2.5, (0, 2): 0.5, (1, 2): 0.25}
    answer = Answer(row=row("m"), scores=(0.25, 0.5, 2.5), pairs=pairs, pick=2, domain=check, unit="cosine")
    axis = strip(answer)
    assert "A 1.5, B 1.38, C 0.375" in axis.label
    assert min(axis.marks, key=lambda mark: mark.at).chosen
    assert len(axis.bands) == (2 if check.few else 0), "the scores are similarities, as those of the distribution"
