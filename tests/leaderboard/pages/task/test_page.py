"""What a task's page says of saturation and of procedures; what it shows is frozen in tests/golden."""

import math

import pytest

from leaderboard.data.task_doubts import saturation
from leaderboard.pages.task import page as task
from leaderboard.pages.task import protocols


@pytest.mark.parametrize(
    "scores, noise, said",
    [
        ([0.8] * 9, 0.02, "Close to saturated"),
        ([0.3] * 9, 0.02, "Too hard to tell the best"),
        ([0.09] * 9, 0.02, "Too hard to tell models apart"),
        ([0.12, 0.1, 0.05, 0.04], 0.02, "Too hard to tell models apart"),
        ([0.99, 0.5, 0.4, 0.3], 0.001, "Close to its ceiling"),
        ([0.7, 0.5, 0.4, 0.3], 0.001, "Still separates models"),
        ([0.8] * 4, 0.02, ""),
        ([0.7, 0.5], None, "without a known noise"),
    ],
)
def test_saturation_is_only_claimed_where_it_shows(scores, noise, said):
    stderr = None if noise is None else [noise] * len(scores)
    verdict = task.verdict(saturation(scores=scores, stderr=stderr, chance=0.1, ceiling=1.0))
    assert said in verdict and ("Close to saturated" in verdict) == (said == "Close to saturated")


def test_every_procedure_has_words(site):
    kinds = site.db.ask("SELECT DISTINCT procedure, benchmark FROM tasks")
    for row in kinds.itertuples():
        assert protocols.sentence(row.procedure, row.benchmark), row


def test_the_gap_is_measured_in_the_noise_of_both():
    edge = 1.959963984540054 * math.hypot(0.03, 0.04)
    inside = saturation(scores=[0.8, 0.8 - edge + 1e-9], stderr=[0.03, 0.04])
    outside = saturation(scores=[0.8, 0.8 - edge - 1e-9], stderr=[0.03, 0.04])
    assert (inside.within, outside.within) == (1, 0)
