"""A run that is stopped ends as one that was left alone, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from compute.training import loop
from compute.training.plan import TuningPlan
from tests.compute.training.small_training import PLAN, Wavering, base, losses, trained

FULL = replace(PLAN, tune="full", towers="both", optimiser="muon", learning_rate=1e-3, keep="distill", strength=1.0)


@pytest.mark.parametrize("plan", [PLAN, FULL], ids=["lora", "full"])
def test_a_stopped_run_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: TuningPlan
) -> None:
    """Dropout, both optimisers, the best weights and the log; who stops it is told from where it goes on."""
    whole = base(tmp_path / "base")
    folder, state = trained(tmp_path / "whole", whole, plan=plan, measure=Wavering(whole))
    step, said = loop.Tuning.step, []

    def stop(run, batch):
        if run.state.step == 3:
            raise KeyboardInterrupt
        return step(run, batch)

    monkeypatch.setattr(loop.Tuning, "step", stop)
    stopped = base(tmp_path / "base")
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "parts", stopped, plan=plan, measure=Wavering(stopped), report=said.append)
    assert "after step 2 of 6" in said[-1]
    monkeypatch.undo()
    again = base(tmp_path / "base")
    resumed, end = trained(tmp_path / "parts", again, plan=plan, measure=Wavering(again), report=said.append)
    assert "Resumed after step 2 of 6" in said
    assert losses(resumed) == losses(folder)
    assert replace(end, seconds=0.0) == replace(state, seconds=0.0)
    assert all(torch.equal(weight, again.parameters()[name]) for name, weight in whole.parameters().items())
