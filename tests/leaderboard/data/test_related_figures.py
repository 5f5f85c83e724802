"""Published figures beside a live answer: the right column, as the board shows it, and nothing where there is none."""

from __future__ import annotations

import pytest

from leaderboard.data.related_figures import RelatedFigure, related_figures

DREAMSIM, CLIP = "dreamsim-ensemble", "laion/clip-vit-b-32-laion2b-s34b-b79k"


@pytest.fixture(scope="session")
def suite_cache(papers_cache):
    """The papers' figures alone, of which these tests are."""
    return papers_cache


def test_one_figure_whole(suite_cache):
    found = related_figures(suite_cache, models=[DREAMSIM], mode="choice", kinds=["image", "image", "image"])[DREAMSIM]
    assert found[0] == RelatedFigure(
        title="UniSim-Bench Img-2AFC: the nearer of two images",
        metric="Accuracy",
        value=pytest.approx(85.94, abs=0.1),
        low=pytest.approx(85.3, abs=0.2),
        high=pytest.approx(86.6, abs=0.2),
        chance=50.0,
        percent=True,
        digits=1,
        rank=1,
        of=23,
        origin="published",
        source="UniSim-Bench Table 2",
        note="mean of 3 tasks",
        trained_on=True,
        address="board?suite=unisim-core&select=dreamsim-ensemble~published",
    )
    assert (found[0].shown, found[0].shown_chance) == ("85.9%", "50.0%")
    assert found[0].interval.endswith("%") and " to " in found[0].interval
