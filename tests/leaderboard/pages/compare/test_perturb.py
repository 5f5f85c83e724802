"""What is said of a curve: where a score falls for good, and where it only dips."""

from __future__ import annotations

import re

import pytest

from compute.tasks.perturb import PERTURBATIONS
from compute.types import Model
from leaderboard.pages.compare import perturb as compare_perturb
from tests.leaderboard.live.test_calibrated import reference

HIGH, MIDDLE, LOW = 2.5, 1.5, 0.5  # as a matching pair, between, as an unrelated one


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([HIGH] * 5, "M scores it as a matching pair at every strength, from percentile 75 down to 75."),
        (
            [HIGH, HIGH, MIDDLE, MIDDLE, LOW],
            "M no longer scores it as a matching pair from 0.5 on, and scores it as an unrelated one from 1 on.",
        ),
        ([HIGH, MIDDLE, MIDDLE, MIDDLE, MIDDLE], "M no longer scores it as a matching pair from 0.25 on."),
        ([HIGH, LOW, HIGH, HIGH, HIGH], "M scores it as a matching pair but for 1 of 5 strengths in between."),
        (
            [HIGH, LOW, HIGH, HIGH, LOW],
            "M no longer scores it as a matching pair from 1 on, and scores it as an unrelated one from 1 on.",
        ),
        ([MIDDLE] * 5, "M does not score the unchanged pair as a matching one, so there is little to lose."),
    ],
)
def test_a_curve_in_words(scores: list[float], said: str) -> None:
    assert re.sub("<[^>]+>", "", compare_perturb._fall(Model(key="m", title="M"), reference(), scores)) == said


def test_the_sliders_are_pairbenchs_transformations() -> None:
    assert list(compare_perturb.SLIDERS) == list(PERTURBATIONS)
