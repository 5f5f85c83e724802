"""A model's page says what to run next, where an order of tasks is known."""

import pytest

from leaderboard.pages.model.page import run_next


def test_what_to_run_next_narrows_the_estimate(suite_cache):
    one = run_next(suite_cache, "lco-embedding/lco-embedding-omni-7b")
    row = suite_cache.table("mieb").row("lco-embedding/lco-embedding-omni-7b~imported")
    estimate = suite_cache.estimates("mieb", only=row)[0][row]
    assert one["table"].suite["key"] == "mieb" and 0 < one["hours"] <= 1 and 0 < one["half"] < one["now"]
    assert 1 <= one["places"] <= 1 + estimate.rank_high - estimate.rank_low
    assert one["command"].startswith("mteb run") and one["command"].endswith(one["tasks"][-1])


def test_a_model_that_is_loaded_here_gets_our_command(suite_cache):
    one = run_next(suite_cache, "google/siglip-so400m-patch14-224")
    assert one["command"].startswith("likeness run") and one["command"].endswith("--budget 1h") and one["now"] is None


@pytest.mark.parametrize("model", ["openai/clip-vit-large-patch14", "vidore/colpali-v1.3"])  # ranked; many vectors
def test_nothing_is_said_where_no_order_is_known(suite_cache, model):
    assert run_next(suite_cache, model) is None
