"""A model's axis: letters have room, wherever the marks are. Bands and marks are frozen in tests/golden."""

import numpy as np
import pytest
from scipy.optimize import minimize

from compute.analysis.calibrated import DomainCheck
from compute.live.questions import Answer
from leaderboard.pages.try_it.answers import LETTER, spread, strip
from tests.compute.live.test_questions import reference, row
from tests.leaderboard.pages.try_it.test_answers import FEW

CROWDS = [
    [40, 47, 50],  # the letter of the first once covered that of the second
    [99.5, 99.9, 100],
    [0] * 8,
    [10, 90],
    [93, 12, 14, 11, 50, 53, 97, 95],
]


@pytest.mark.parametrize("values", CROWDS)
def test_letters_move_as_little_as_they_must(values):
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


@pytest.mark.parametrize("check", [FEW, DomainCheck(why="outside")])
def test_the_odd_one_out_is_the_lowest_of_raw_scores_too(check):
    pairs = {(0, 1): 2.5, (0, 2): 0.5, (1, 2): 0.25}
    answer = Answer(row=row("m"), scores=(0.25, 0.5, 2.5), pairs=pairs, pick=2, domain=check, unit="cosine")
    axis = strip(answer)
    assert "A 1.5, B 1.38, C 0.375" in axis.label
    assert min(axis.marks, key=lambda mark: mark.at).chosen
    assert len(axis.bands) == (2 if check.few else 0), "the scores are similarities, as those of the distribution"


def test_single_images_have_one_band_and_judges_no_axis():
    axis = strip(Answer(row=row("m"), scores=(0.5,), domain=DomainCheck(reference=reference(matching=False))))
    assert [kind for kind, *_ in axis.bands] == ["alone"]
    assert strip(Answer(row=row("m"), scores=(7.0,), unit="rating")) is None
    assert strip(Answer(row=row("m"), scores=(0.3,), domain=DomainCheck(why="outside"))) is None
