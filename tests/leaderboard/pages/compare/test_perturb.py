"""What is said of a curve: where a score falls for good, and where it only dips."""

from __future__ import annotations

import pytest

from leaderboard.pages.compare.perturb import summary
from tests.leaderboard.live.test_calibrated import reference

HIGH, MIDDLE, LOW = 2.5, 1.5, 0.5  # as a matching pair, between, as an unrelated one


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([HIGH] * 5, "scores it as a matching pair at every strength, from percentile 75 down to 75."),
        (
            [HIGH, HIGH, MIDDLE, MIDDLE, LOW],
            "no longer scores it as a matching pair from 0.5 on, and scores it as an unrelated one from 1 on.",
        ),
        ([HIGH, MIDDLE, MIDDLE, MIDDLE, MIDDLE], "no longer scores it as a matching pair from 0.25 on."),
        ([HIGH, LOW, HIGH, HIGH, HIGH], "scores it as a matching pair except at 1 of 5 strengths in between."),
        (
            [HIGH, LOW, HIGH, HIGH, LOW],
            "no longer scores it as a matching pair from 1 on, and scores it as an unrelated one from 1 on.",
        ),
        ([MIDDLE] * 5, "does not score the unchanged pair as a matching one, so there is little to lose."),
    ],
)
def test_a_curve_in_words(scores: list[float], said: str) -> None:
    assert summary(reference(), scores) == said
