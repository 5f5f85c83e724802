"""A training that is killed at random moments ends as one that was left alone, step by step."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import torch

from tests.compute.training.small_training import PLAN, Wavering, base, losses, trained
from tests.serving import begun

LONG = replace(PLAN, samples=160, save_every=3)  # 40 steps
CHILD = "from tests.slow.compute.training.test_kills import main; main({out!r}, {folder!r}, {steps}, {delay})"


def main(out: str, folder: str, steps: int, delay: float) -> None:
    """Trains in this process, which kills itself `delay` seconds after so many more steps are logged."""
    log = Path(out) / "training" / "losses.jsonl"

    def lines() -> int:
        return len(log.read_text().splitlines()) if log.is_file() else 0

    def kill(end: int) -> None:
        while lines() < end:
            time.sleep(0.001)
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill, args=(max(0, lines() - LONG.save_every) + steps,), daemon=True).start()
    encoder = base(Path(folder))
    trained(Path(out), encoder, plan=LONG, measure=Wavering(encoder))


def test_a_run_killed_at_random_moments_ends_with_the_same_losses_and_weights(tmp_path):
    whole = base(tmp_path / "base")
    folder, state = trained(tmp_path / "whole", whole, plan=LONG, measure=Wavering(whole))
    chance = random.Random()  # new moments every time
    for _ in range(3):
        code = CHILD.format(
            out=str(tmp_path / "killed"),
            folder=str(tmp_path / "base"),
            steps=chance.randrange(4, 11),
            delay=chance.uniform(0, 0.05),
        )
        assert begun("-c", code).wait(600) == -signal.SIGKILL
    again = base(tmp_path / "base")
    killed, end = trained(tmp_path / "killed", again, plan=LONG, measure=Wavering(again))
    assert losses(killed) == losses(folder) and end.step == 40
    assert end.best == state.best and end.measurements == state.measurements
    assert all(torch.equal(weight, again.parameters()[name]) for name, weight in whole.parameters().items())
