"""A run's folder: it is one run's alone, and it is read back."""

import errno

import pytest
import torch

from compute.io.files import DRAFT
from compute.training.run_folder import RunFolder, TuningState
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
