"""The plan: the paper's values, options as text, the schedule, and values that no run could have."""

from __future__ import annotations

import math

import pytest
import torch

from compute.training.unisim.plan import MINI, TuningPlan, names, with_options, with_steps
from compute.types import BadInput

PAPER = TuningPlan()


def test_the_defaults_are_the_paper_s() -> None:
    """Appendix B.2, and AdamW as FACTS of the authors' code has it."""
    assert (PAPER.tune, PAPER.rank, PAPER.alpha, PAPER.dropout) == ("lora", 16, 32, 0.2)
    assert (PAPER.margin, PAPER.batch_size, PAPER.samples, PAPER.steps) == (0.05, 32, 400_000, 12_500)
    assert (PAPER.learning_rate, PAPER.warm_up, PAPER.weight_decay) == (5e-6, 500, 0.35)
    assert (PAPER.beta1, PAPER.beta2, PAPER.epsilon) == (0.9, 0.98, 1e-6)


def test_the_rate_rises_in_a_line_and_falls_in_half_a_cosine() -> None:
    plan = with_options(PAPER, {"warm_up": 4, "samples": 32 * 104, "learning_rate": 1.0})
    assert [plan.rate(step) for step in range(4)] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert plan.rate(4) == pytest.approx(1.0)
    assert plan.rate(54) == pytest.approx(0.5)
    assert plan.rate(104) == pytest.approx(0.0, abs=1e-12)
    assert all(math.isfinite(plan.rate(step)) for step in range(plan.steps))


def test_options_are_read_in_their_own_type() -> None:
    plan = with_options(
        MINI, ["learning_rate=1e-4", "tune=lora", "checkpointing=yes", "targets=q_proj, v_proj", "rank=8"]
    )
    assert (plan.learning_rate, plan.tune, plan.checkpointing, plan.rank) == (1e-4, "lora", True, 8)
    assert plan.targets == ("q_proj", "v_proj")
    assert with_options(MINI, {name: getattr(MINI, name) for name in names()}) == MINI


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("learning_rat=1", "Did you mean 'learning_rate'"),
        ("learning_rate", "has no value"),
        ("rank=two", "'two' is no whole number"),
        ("rank=0", "less than 1"),
        ("checkpointing=perhaps", "no true or false"),
        ("tune=head", "none of lora, full"),
        ("optimiser=sgd", "none of adamw, muon"),
        ("momentum=1", "not from 0 to below 1"),
        ("precision=float16", "none of auto, float32, bfloat16"),
        ("dropout=1", "below 1"),
        ("learning_rate=0", "not above 0"),
        ("learning_rate=nan", "not above 0"),
        ("weight_decay=-1", "not 0 or more"),
        ("accumulate=433", "cannot be processed in 433 parts"),
        ("keep=features", "keep=features needs its strength"),
        ("keep=none,strength=5", "strength: 5.0 of nothing"),
        ("keep=feature", "Did you mean 'features'"),
    ],
)
def test_an_option_that_no_run_could_have_is_named(option: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        with_options(MINI, option.split(",") if option.startswith("keep") else [option])


def test_a_value_given_twice_is_refused_and_a_list_of_numbers_is_no_list_of_names() -> None:
    with pytest.raises(BadInput, match="margin is given more than once"):
        with_options(MINI, ["margin=0.1", "margin=0.2"])
    with pytest.raises(BadInput, match="targets: .* is no list of names"):
        with_options(MINI, {"tune": "lora", "targets": [1, 2]})


def test_a_seed_of_any_size_is_one_of_torch_s() -> None:
    plan = with_options(MINI, [f"seed={2**70}"])
    torch.manual_seed(plan.torch_seed())
    assert len({plan.torch_seed(), plan.torch_seed(1), plan.torch_seed(2), MINI.torch_seed(1)}) == 4


def test_plain_tuning_takes_no_strength() -> None:
    """The mini plan preserves generalisation, and keep=none alone turns that off."""
    assert MINI.keep != "none" and MINI.strength > 0
    plain = with_options(MINI, ["keep=none"])
    assert (plain.keep, plain.strength) == ("none", 0.0)


def test_a_number_of_steps_is_said_in_samples_of_the_batch_size() -> None:
    assert with_steps("mini", ["seed=1"], None) == ["seed=1"]
    assert with_steps("mini", ["seed=1"], 3) == ["seed=1", f"samples={3 * MINI.batch_size}"]
    assert with_steps("unisim", ["batch_size=8", " batch_size = 16"], 3)[-1] == "samples=48"
    assert with_options(MINI, with_steps("mini", ["batch_size=5"], 7)).steps == 7
    assert with_steps("unheard of", ["keep=distill"], 1)[-1] == f"samples={MINI.batch_size}", "others look at the rest"
    for option, message in (("batch_size", "has no value"), ("batch_size=x", "no whole number")):
        with pytest.raises(BadInput, match=message):
            with_steps("mini", [option], 3)


def test_lora_changes_the_vision_tower_alone_and_draws_dropout() -> None:
    """What the suite's plan says of full tuning is not taken over; named, it is refused."""
    assert (MINI.tune, MINI.towers, MINI.parallel) == ("full", "both", 2)
    plan = with_options(MINI, ["tune=lora"])
    assert (plan.towers, plan.parallel, plan.threads) == ("vision", 1, 0)
    assert with_options(MINI, ["parallel=1"]).threads == 0
    assert with_options(MINI, ["parallel=1", "threads=1"]).threads == MINI.threads == 1
    with pytest.raises(BadInput, match="towers=both needs tune=full"):
        with_options(MINI, ["tune=lora", "towers=both"])
    with pytest.raises(BadInput, match="towers: 'text' is none of vision, both"):
        with_options(MINI, ["towers=text"])
