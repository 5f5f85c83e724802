"""The plan: the paper's values, options as text, the schedule, and values that no run could have."""

from dataclasses import asdict

import pytest

from compute.training.plan import PAPER, with_options
from compute.types import BadInput


def test_the_defaults_are_the_paper_s():
    """Appendix B.2."""
    assert (PAPER.tune, PAPER.rank, PAPER.alpha, PAPER.dropout) == ("lora", 16, 32, 0.2)
    assert (PAPER.margin, PAPER.batch_size, PAPER.samples, PAPER.steps) == (0.05, 32, 400_000, 12_500)
    assert (PAPER.learning_rate, PAPER.warm_up, PAPER.weight_decay) == (5e-6, 500, 0.35)


def test_the_rate_rises_in_a_line_and_falls_in_half_a_cosine():
    plan = with_options(PAPER, {"warm_up": 4, "samples": 32 * 104, "learning_rate": 1.0})
    assert [plan.rate(step) for step in range(4)] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert [plan.rate(step) for step in (4, 54, 104)] == pytest.approx([1.0, 0.5, 0.0], abs=1e-12)


def test_options_are_read_in_their_own_type():
    full = with_options(PAPER, {"tune": "full", "towers": "both", "keep": "distill", "strength": 5})
    plan = with_options(full, ["learning_rate=1e-4", "tune=lora", "checkpointing=true", "rank=8", "keep=none"])
    assert (plan.learning_rate, plan.tune, plan.checkpointing, plan.rank) == (1e-4, "lora", True, 8)
    assert (plan.towers, plan.strength) == ("vision", 0.0), "what goes with full tuning and distill is not taken over"
    assert with_options(PAPER, asdict(full)) == full


@pytest.mark.parametrize(
    "options, key",
    [
        ("learning_rat=1", "learning_rate"),
        ("learning_rate", "no value"),
        ("rank=two", "rank"),
        ("rank=0", "rank"),
        ("learning_rate=nan", "learning_rate"),
        ("weight_decay=-1", "weight_decay"),
        ("checkpointing=perhaps", "checkpointing"),
        ("keep=distil", "distill"),
        ("keep=none strength=5", "strength"),
        ("keep=interpolate strength=1.5", "strength"),
        ("tune=lora towers=both", "towers"),
        ("margin=0.1 margin=0.2", "margin"),
    ],
)
def test_an_option_that_no_run_could_have_is_named(options, key):
    with pytest.raises(BadInput, match=key):
        with_options(PAPER, options.split())
