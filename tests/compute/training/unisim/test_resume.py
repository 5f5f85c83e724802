"""A run that is killed at random moments ends as one that was left alone, step by step."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from compute.paths import ROOT
from compute.training.unisim import checkpoints, loop
from compute.training.unisim.plan import TuningPlan
from tests.compute.training.unisim.small_training import LONG, PLAN, Wavering, base, losses, run_folder, trained
from tests.compute.training.unisim.test_loop import Scores

CHILD = "from tests.compute.training.unisim.small_training import main; main({out!r}, {folder!r}{more})"
KILLS = 3


def child(out: Path, folder: Path, more: str = "") -> int:
    """The exit status of a process that trains."""
    code = CHILD.format(out=str(out), folder=str(folder), more=more)
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=600).returncode


def test_a_run_killed_at_random_moments_ends_with_the_same_losses_and_weights(tmp_path: Path) -> None:
    whole = base(tmp_path / "base")
    folder, state = trained(tmp_path / "whole", whole, plan=LONG, evaluator=Wavering())
    assert state.step == LONG.steps == 40 and len(state.measurements) == 15
    assert state.best not in (0, 39, 40), "so that the best weights are of another step than the last"
    chance = random.Random()  # new moments every time
    resumed = []
    for _ in range(KILLS):
        moment = f", kill_after={chance.randrange(4, 11)}, delay={chance.uniform(0, 0.05)}"
        assert child(tmp_path / "killed", tmp_path / "base", moment) == -signal.SIGKILL, moment
        resumed.append([path.name for path in (tmp_path / "killed" / "training").glob("step-*")])
    assert all(len(names) == 1 for names in resumed) and resumed[0] != resumed[-1], resumed
    again = base(tmp_path / "base")
    killed, end = trained(tmp_path / "killed", again, plan=LONG, evaluator=Wavering())
    assert end.step == 40 and len(losses(killed)) == 40
    assert end.best == state.best and [each.step for each in end.measurements] == list(range(0, 40, 3)) + [40]
    assert [each.core for each in end.measurements] == pytest.approx(
        [each.core for each in state.measurements], abs=1e-3
    )
    assert losses(killed) == pytest.approx(losses(folder), abs=1e-6)
    first, second = whole.parameters(), again.parameters()
    assert all(torch.allclose(first[name], second[name], atol=1e-6) for name in first)


def scored(*cores: float) -> Scores:
    """Measures these, one after the other, the last one again and again."""
    return Scores(core=list(cores), ood=list(cores))


def test_weights_that_are_the_best_after_the_last_stored_state_do_not_replace_those_before(tmp_path: Path) -> None:
    """Killed in between, a run may come to other numbers than before, as on CUDA: its best are then those before."""

    plan = replace(PLAN, samples=32, evaluate_every=1, save_every=4)  # 8 steps
    with pytest.MonkeyPatch.context() as patch:
        save_best = checkpoints.RunFolder.save_best

        def stop(self, encoder, *, step: int) -> None:
            save_best(self, encoder, step=step)
            if step == 6:
                raise KeyboardInterrupt

        patch.setattr(checkpoints.RunFolder, "save_best", stop)
        with pytest.raises(KeyboardInterrupt):
            trained(
                tmp_path / "run",
                base(tmp_path / "base"),
                plan=plan,
                evaluator=scored(0.5, 0.6, 0.9, 0.7, 0.7, 0.8, 0.95),
            )
    names = {path.name for path in (tmp_path / "run" / "training").glob("best-*")}
    assert names == {"best-000002", "best-000006"}
    again = base(tmp_path / "base")
    folder, state = trained(tmp_path / "run", again, plan=plan, evaluator=scored(0.8))
    assert state.best == 2 and {path.name for path in folder.training.glob("best-*")} == {"best-000002"}
    early = base(tmp_path / "base")
    trained(tmp_path / "early", early, plan=plan, evaluator=scored(0.5, 0.6, 0.9, 0.1))
    assert all(torch.equal(weight, again.parameters()[name]) for name, weight in early.parameters().items())


def test_who_interrupts_it_is_told_from_where_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = replace(PLAN, samples=32, save_every=3)  # 8 steps
    step, said = loop.step, []

    def stop(*arguments, number: int, **more):
        if number == 5:
            raise KeyboardInterrupt
        return step(*arguments, number=number, **more)

    monkeypatch.setattr(loop, "step", stop)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "run", base(tmp_path / "base"), plan=plan, report=said.append)
    assert said[-1].startswith("Stopped: the same command goes on after step 3 of 8")
    monkeypatch.undo()
    trained(tmp_path / "run", base(tmp_path / "base"), plan=plan, report=said.append)
    assert "Resumed after step 3 of 8" in said


@pytest.mark.parametrize("plan", [PLAN, replace(PLAN, tune="full", optimiser="muon", learning_rate=1e-4)])
def test_a_run_resumes_from_every_stored_step(tmp_path: Path, plan: TuningPlan) -> None:
    """Stopped after each of the stored steps in turn, by what reports it."""
    folder, _ = trained(tmp_path / "whole", base(tmp_path / "base"), plan=plan)
    for at in range(plan.save_every, plan.steps, plan.save_every):
        path = tmp_path / f"stopped-{at}"
        with pytest.MonkeyPatch.context() as patch:
            save = checkpoints.RunFolder.save

            def stop(self, base, optimiser, state, save=save, at=at) -> None:
                save(self, base, optimiser, state)
                if state.step == at:
                    raise KeyboardInterrupt

            patch.setattr(checkpoints.RunFolder, "save", stop)
            with pytest.raises(KeyboardInterrupt):
                trained(path, base(tmp_path / "base"), plan=plan)
        said: list[str] = []
        again, state = trained(path, base(tmp_path / "base"), plan=plan, report=said.append)
        assert said[0] == f"Resumed after step {at} of {plan.steps}" and state.step == plan.steps
        assert losses(again) == pytest.approx(losses(folder), abs=1e-6)


def test_a_state_that_was_half_written_is_no_state(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base")
    folder = run_folder(tmp_path / "run", encoder)
    draft = folder.training / f".step-000004.draft-{2**22 + 1}"
    draft.mkdir()
    (draft / "state.json").write_text("{")
    _, state = trained(tmp_path / "run", encoder)
    assert state.step == PLAN.steps and not draft.exists()
