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
    column = suite_cache.table("unisim-core").by_key["Img-2AFC"]
    assert found[0] == RelatedFigure(
        title="UniSim-Bench Img-2AFC: the nearer of two images",
        column=column,
        value=pytest.approx(0.8594, abs=0.001),
        low=pytest.approx(0.853, abs=0.002),
        high=pytest.approx(0.866, abs=0.002),
        rank=1,
        of=23,
        origin="published",
        source="UniSim-Bench Table 2",
        note="mean of 3 tasks",
        trained_on=True,
        address="board?suite=unisim-core&select=dreamsim-ensemble~published",
    )
    texts = [found[0].text(*values) for values in ((found[0].value,), (column.chance,), (0.8534, 0.866), (None,))]
    assert texts == ["85.9%", "50.0%", "85.3 to 86.6%", ""]
