"""What the page says of a shortlist."""

from __future__ import annotations

from leaderboard.pages.choose.page import READY, shown


def test_every_ready_made_view_names_a_model_and_its_runner_up(suite_cache):
    for _, query in READY:
        answers = dict(pair.split("=") for pair in query.split("&"))
        text = shown(suite_cache, **({"need": "search"} | answers))
        assert "has the highest mean of the" in text and "The runner-up is" in text, query


def test_generators_are_sent_to_their_page(suite_cache):
    text = shown(suite_cache, need="generators")
    assert 'href="generators"' in text and "<li>" not in text


def test_a_single_model_that_fits_is_the_only_one(suite_cache):
    """PairBench ranks one model of at most a billion parameters."""
    text = shown(suite_cache, need="judge", size="1b")
    assert "is the only model that fits, with a mean of" in text
    assert "is the only model that fits" in shown(suite_cache, need="judge", size="1b", hardware="gpu80"), (
        "the narrower"
    )
