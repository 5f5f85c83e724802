"""A run's folder: it is one run's alone, is written whole, and holds no code."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compute.training.unisim import checkpoints
from compute.training.unisim.checkpoints import RunFolder, data_identity
from compute.training.unisim.data.examples import ColumnExamples, TrainingExample
from compute.types import BadInput, CannotWrite
from tests.compute.training.unisim.small_training import PLAN, base, examples, losses, run_folder, trained


def test_a_folder_of_another_plan_or_base_is_refused_by_name(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base")
    run_folder(tmp_path / "run", encoder)
    with pytest.raises(BadInput, match="another plan: rank was 4 and is 8"):
        run_folder(tmp_path / "run", encoder, replace(PLAN, rank=8))
    other = base(tmp_path / "other", "siglip")
    with pytest.raises(BadInput, match="another base model: key was 'tiny-clip' and is 'tiny-siglip'"):
        run_folder(tmp_path / "run", other)
    run_folder(tmp_path / "run", encoder)


def test_other_data_of_the_same_size_is_refused_by_name(tmp_path: Path) -> None:
    """Other contents, another order, or other answers: a step would learn something else."""

    def opened(part: ColumnExamples) -> None:
        RunFolder(path=tmp_path / "run", identity={"data": data_identity([examples("quality"), part])}).open()

    part = examples("image-choice")
    opened(part)
    opened(examples("image-choice"))
    other = replace(part, reference=examples("quality").alternatives[0])
    backwards = np.arange(len(part))[::-1]
    turned = replace(
        part,
        reference=part.reference.take(backwards),
        alternatives=tuple(column.take(backwards) for column in part.alternatives),
        preferred=part.preferred[backwards],
    )
    for changed in (other, turned, replace(part, preferred=1 - part.preferred)):
        with pytest.raises(BadInput, match="other training data: 6 examples of image-choice from noise with") as said:
            opened(changed)
        assert "quality" not in str(said.value)
    with pytest.raises(BadInput, match=r"other training data: 6 examples .*, now 5 examples of image-choice"):
        opened(examples("image-choice", count=5))


def test_answers_count_where_a_set_states_them_example_by_example() -> None:
    class Plain:
        """What the protocol demands and nothing else."""

        def __init__(self, part: ColumnExamples) -> None:
            self.task, self.dataset, self.keys = part.task, part.dataset, part.keys
            self.part = part

        def __len__(self) -> int:
            return len(self.part)

        def __getitem__(self, row: int) -> TrainingExample:
            return self.part[row]

    part = examples("image-choice")
    turned = replace(part, preferred=1 - part.preferred)
    assert data_identity([Plain(part)]) == data_identity([part]) != data_identity([Plain(turned)])


def test_a_run_goes_on_with_what_it_began_on(tmp_path: Path) -> None:
    run = RunFolder(path=tmp_path / "run", identity={})
    run.open()
    for _ in range(2):
        run.go_on_with({"device": "cuda", "precision": "bfloat16"})
    with pytest.raises(BadInput, match="began on cuda in bfloat16, not on cpu in float32. Go on with it there"):
        run.go_on_with({"device": "cpu", "precision": "float32"})


def test_a_folder_of_something_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary.txt").write_text("x")
    (tmp_path / "file").write_text("x")
    for name in ("notes", "file"):
        with pytest.raises(BadInput, match="holds no training run"):
            run_folder(tmp_path / name, base(tmp_path / "base"))
    assert [file.name for file in (tmp_path / "notes").iterdir()] == ["diary.txt"]


def test_a_folder_that_was_killed_before_its_plan_is_this_run_s(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base")
    training = tmp_path / "run" / "training"
    training.mkdir(parents=True)
    (training / "plan.json.draft-123").write_text("{")
    assert (run_folder(tmp_path / "run", encoder).training / "plan.json").is_file()
    other = tmp_path / "other" / "training"
    other.mkdir(parents=True)
    (other / "notes.txt").write_text("x")
    with pytest.raises(BadInput, match="holds no training run"):
        run_folder(tmp_path / "other", encoder)


def test_one_process_at_a_time_trains_in_a_folder(tmp_path: Path) -> None:
    """A process of its own reserves the folder; it is free again when that one ends."""
    folder = run_folder(tmp_path / "run", base(tmp_path / "base"))
    program = f"""
from pathlib import Path
from compute.training.unisim.checkpoints import RunFolder
with RunFolder(path=Path({str(folder.path)!r}), identity={{}}).reserved():
    print("reserved", flush=True)
    input()
"""
    other = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == "reserved\n"
        with pytest.raises(BadInput, match="Another process is training in"), folder.reserved():
            pass
    finally:
        other.communicate("\n", timeout=60)
    with folder.reserved():
        pass


def test_weights_of_another_rank_do_not_fit(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base")
    folder, _ = trained(tmp_path / "run", encoder)
    state = next(folder.training.glob("step-*"))
    other = base(tmp_path / "base")
    from compute.training.unisim import loop

    loop.tune(other, replace(PLAN, rank=2))
    with pytest.raises(BadInput, match="another base model or plan"):
        checkpoints.read_weights(other, state)


def test_a_state_is_safetensors_and_json_and_the_last_alone_stays(tmp_path: Path) -> None:
    folder, _ = trained(tmp_path / "run", base(tmp_path / "base"))
    (state,) = folder.training.glob("step-*")
    assert state.name == "step-000006"
    files = {file.name for file in state.iterdir()}
    assert files == {"adapter_model.safetensors", "adapter_config.json", "optimiser.safetensors", "state.json"}
    full, _ = trained(tmp_path / "full", base(tmp_path / "base"), plan=replace(PLAN, tune="full", learning_rate=1e-4))
    (state,) = full.training.glob("step-*")
    assert {file.name for file in state.iterdir()} == {"tuned.safetensors", "optimiser.safetensors", "state.json"}


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    folder, _ = trained(tmp_path / "run", base(tmp_path / "base"))
    (state,) = folder.training.glob("step-*")
    (state / "state.json").write_text("{")
    with pytest.raises(BadInput, match=r"state.json cannot be read.*Remove its folder"):
        trained(tmp_path / "run", base(tmp_path / "base"))


def test_a_full_disk_leaves_the_last_good_state(tmp_path: Path, monkeypatch) -> None:
    import errno

    real, calls = checkpoints._save_moments, []

    def full(*arguments, **more):
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments, **more)

    monkeypatch.setattr(checkpoints, "_save_moments", full)
    with pytest.raises(CannotWrite, match="Free some disk space"):
        trained(tmp_path / "run", base(tmp_path / "base"))
    monkeypatch.undo()
    names = [path.name for path in (tmp_path / "run" / "training").iterdir()]
    assert sorted(names) == ["losses.jsonl", "plan.json", "step-000002"]
    said: list[str] = []
    folder, state = trained(tmp_path / "run", base(tmp_path / "base"), report=said.append)
    assert said[0] == "Resumed after step 2 of 6" and state.step == 6 and len(losses(folder)) == 6


def test_a_finished_run_is_read_back(tmp_path: Path) -> None:
    folder, state = trained(tmp_path / "run", base(tmp_path / "base"))
    assert folder.finished() is None
    folder.finish(state)
    assert folder.finished() == state and not list(folder.training.glob("step-*"))
    assert json.loads((folder.training / "finished.json").read_text())["step"] == 6
