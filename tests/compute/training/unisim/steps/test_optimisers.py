"""Which weights an optimiser has, what decays, and how large its steps are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from compute.training.unisim import loop
from compute.training.unisim.plan import TuningPlan
from compute.training.unisim.steps import in_parts, optimisers
from compute.training.unisim.trainable import DualEncoder
from compute.types import BadInput
from tests.compute.training.unisim.small_training import PLAN, base

FULL = replace(PLAN, tune="full")


def tuned(folder: Path, plan: TuningPlan, adapter: str = "clip") -> tuple[DualEncoder, optimisers.Optimiser]:
    encoder = base(folder, adapter)
    loop.tune(encoder, plan)
    return encoder, optimisers.optimiser_of(encoder, plan)


def test_biases_and_norms_do_not_decay(tmp_path: Path) -> None:
    encoder, optimiser = tuned(tmp_path / "base", FULL)
    decaying, others = optimiser.param_groups
    assert decaying["weight_decay"] == FULL.weight_decay and others["weight_decay"] == 0
    names = {id(weight): name for name, weight in encoder.parameters().items()}
    assert {names[id(weight)].rpartition(".")[2] for weight in decaying["params"]} <= {"weight"}
    assert any("norm" in names[id(weight)] for weight in others["params"])
    assert not any("norm" in names[id(weight)] or ".bias" in names[id(weight)] for weight in decaying["params"])
    assert (decaying["betas"], decaying["eps"]) == ((0.9, 0.98), 1e-6)


@pytest.mark.parametrize("adapter", ["clip", "open_clip"])
@pytest.mark.parametrize("tune", ["full", "lora"])
def test_muon_has_the_matrices_of_linear_layers_and_adamw_what_is_left(tmp_path: Path, adapter: str, tune: str) -> None:
    encoder, optimiser = tuned(tmp_path / "base", replace(PLAN, tune=tune, optimiser="muon"), adapter)
    names = {id(weight): name for name, weight in encoder.parameters().items()}
    of = {
        part: [names[id(weight)] for each in several for group in each.param_groups for weight in group["params"]]
        for part, several in optimiser.parts.items()
    }
    together = [name for part in of.values() for name in part]
    assert sorted(together) == sorted(names.values())  # each weight once
    shapes = {name: weight.shape for name, weight in encoder.parameters().items()}
    assert of["muon"] and all(len(shapes[name]) == 2 for name in of["muon"])
    assert not any("embedding" in name or "norm" in name or name.endswith("bias") for name in of["muon"])
    if tune == "lora":
        assert set(of) == {"muon"} and all(".lora_" in name for name in of["muon"])
    else:
        assert {name for name, shape in shapes.items() if len(shape) != 2} < set(of["adamw"])


def test_muons_first_change_is_orthogonal_and_of_adamws_size(tmp_path: Path) -> None:
    plan = replace(FULL, optimiser="muon", learning_rate=1e-3, weight_decay=0.0)
    encoder, optimiser = tuned(tmp_path / "base", plan)
    before = {name: weight.detach().clone() for name, weight in encoder.parameters().items()}
    torch.manual_seed(0)
    for weight in encoder.parameters().values():
        weight.grad = torch.randn_like(weight)
    optimiser.step()
    (matrices,) = optimiser.parts["muon"]
    multiply = {id(weight) for group in matrices.param_groups for weight in group["params"]}
    for name, weight in encoder.parameters().items():
        change = (weight.detach() - before[name]).double()
        if id(weight) in multiply:
            values = torch.linalg.svdvals(change)
            # Five Newton-Schulz steps bring the singular values near to 1, not onto it.
            assert values.max() / values.min() < 3
            # AdamW's changes have a root mean square of 0.2 to 0.4 learning rates (Liu et al., 2025, section 2.2).
            expected = 0.2 * plan.learning_rate * max(change.shape) ** 0.5
            assert float(values.median()) == pytest.approx(expected, rel=0.3), name
        else:
            assert float(change.abs().max()) == pytest.approx(plan.learning_rate, rel=0.01), name


def test_what_is_kept_of_each_weight_is_restored(tmp_path: Path) -> None:
    plan = replace(FULL, optimiser="muon")
    encoder, optimiser = tuned(tmp_path / "base", plan)
    assert all(not optimiser.moments(weight) for weight in encoder.parameters().values())
    for weight in encoder.parameters().values():
        weight.grad = torch.ones_like(weight)
    optimiser.step()
    again = optimisers.optimiser_of(encoder, plan)
    for weight in encoder.parameters().values():
        again.restore(weight, optimiser.moments(weight), step=1)
    kept = {part: {len(kept) for kept in each.state.values()} for part, (each,) in again.parts.items()}
    assert kept == {"muon": {1}, "adamw": {3}}
    for weight in encoder.parameters().values():
        first, second = optimiser.moments(weight), again.moments(weight)
        assert first and first.keys() == second.keys()
        assert all(torch.equal(first[name], second[name]) for name in first)
    weight = next(iter(encoder.parameters().values()))
    with pytest.raises(BadInput, match=r"stored state has other of a weight.*train again"):
        again.restore(weight, {"other": torch.zeros(1)}, step=1)


def test_muon_in_two_parts_at_once_changes_the_weights_as_in_one(tmp_path: Path) -> None:
    """And goes on from what a run in one part stored."""

    def learn(encoder: DualEncoder, optimiser: optimisers.Optimiser, number: int, **more: Any) -> list[torch.Tensor]:
        torch.manual_seed(number)
        for weight in encoder.parameters().values():
            weight.grad = torch.randn_like(weight)
        optimiser.step(**more)
        return [weight.detach().clone() for weight in encoder.parameters().values()]

    plan = replace(FULL, optimiser="muon")
    one, optimiser = tuned(tmp_path / "base", plan)
    two, in_two = tuned(tmp_path / "base", replace(plan, parallel=2))
    assert [len(each.parts["muon"]) for each in (optimiser, in_two)] == [1, 2]
    first = learn(one, optimiser, 0)
    stored = [optimiser.moments(weight) for weight in one.parameters().values()]
    stored = [{name: value.clone() for name, value in moments.items()} for moments in stored]
    second = learn(one, optimiser, 1)
    with in_parts.opened(2) as threads:
        assert all(map(torch.equal, learn(two, in_two, 0, threads=threads), first))
        again = optimisers.optimiser_of(two, replace(plan, parallel=2))
        for weight, moments in zip(two.parameters().values(), stored, strict=True):
            again.restore(weight, moments, step=1)
        assert all(map(torch.equal, learn(two, again, 1, threads=threads), second))
