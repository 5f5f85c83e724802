"""A run's folder: it is one run's alone, and it is read back."""

import errno

import pytest
import torch

from compute.io.files import DRAFT
from compute.training.evaluation import TaskChange
from compute.training.run_folder import RunFolder, StepMeasurement, TuningState
from compute.types import BadInput, CannotWrite
from tests.compute.tasks.files import put


@pytest.fixture
def run(tmp_path):
    return RunFolder(path=tmp_path / "run", identity={"plan": {"rank": 4}})


def test_a_folder_of_something_else_is_not_touched(tmp_path):
    put(tmp_path, {"notes/diary.txt": "x", "file": "x"})
    for name, error, word in (("notes", BadInput, "no training run"), ("file", CannotWrite, "file")):
        with pytest.raises(error, match=word), RunFolder(path=tmp_path / name, identity={}).opened():
            pass
    assert [file.name for file in (tmp_path / "notes").iterdir()] == ["diary.txt"]


def test_one_process_at_a_time_trains_in_a_folder(run):
    with run.opened(), pytest.raises(BadInput, match="Another process"), run.opened():
        pass


def test_a_full_disk_leaves_the_last_good_state(run, monkeypatch):
    with run.opened():
        run.save(TuningState(step=2), weights={"w": torch.ones(1)})

        def full(value, path):
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(torch, "save", full)
        with pytest.raises(CannotWrite, match="disk"):
            run.save(TuningState(step=4), weights={})
    assert run.load()["state"]["step"] == 2 and run.load()["weights"]["w"] == 1
    assert not [file for file in run.training.iterdir() if DRAFT.fullmatch(file.name)]


def test_a_finished_run_and_its_log_are_read_back(run):
    measurement = StepMeasurement(step=6, core=0.5, ood=None, tasks={"mini/quality": {"value": 0.5}})
    state = TuningState(step=6, seconds=1.5, best=6, measurements=[measurement])
    change = TaskChange(key="core", title="Core", side="core", before=0.5, after=0.6, low=0.01, high=0.19)
    with run.opened():
        for start, end in ((0, 3), (2, 6)):  # killed after step 3, resumed from step 2
            with run.loss_log(step=start) as log:
                for step in range(start, end):
                    log({"total": step})
        run.save(state)
        assert run.finished() is None
        run.finish(state, [change])
    assert [line["total"] for line in run.losses()] == [0, 1, 2, 3, 4, 5]
    assert run.finished() == (state, [change]) and not run.load()
