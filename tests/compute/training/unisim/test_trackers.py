"""Curves in TensorBoard's files, read back by its own reader; off unless they are named."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from compute.training.unisim import trackers
from compute.types import BadInput
from tests.compute.training.unisim.small_training import PLAN, base, trained
from tests.compute.training.unisim.test_loop import Scores


def test_tensorboard_has_every_step_and_both_curves(tmp_path: Path) -> None:
    tracker = trackers.opened("tensorboard", folder=tmp_path / "curves", settings=asdict(PLAN))
    scores = Scores([0.5, 0.8, 0.6], [0.4, 0.35, 0.3])
    folder, _ = trained(tmp_path / "run", base(tmp_path / "base"), evaluator=scores, tracker=tracker)
    tracker.close()
    events = EventAccumulator(str(tmp_path / "curves" / "training"))
    events.Reload()
    drawn = [(event.step, event.value) for event in events.Scalars("loss/total")]
    assert drawn == [(at, pytest.approx(line["total"], abs=1e-6)) for at, line in enumerate(folder.losses())]
    core = [(event.step, event.value) for event in events.Scalars("measured/core")]
    assert core == [(0, 0.5), (3, pytest.approx(0.8)), (6, pytest.approx(0.6))]
    assert [event.step for event in events.Scalars("measured/ood")] == [0, 3, 6]


def test_no_name_is_no_tracker_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    assert trackers.opened("", folder=tmp_path / "curves", settings={}) is None
    assert not (tmp_path / "curves").exists()
    with pytest.raises(BadInput, match="Did you mean 'tensorboard'"):
        trackers.opened("tensorbord", folder=tmp_path, settings={})
