"""What visitors are told of a checkpoint that cannot be read."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from compute.catalog import shipped
from compute.catalog.own import models as own_models
from compute.live.models.loading import CHANGED, load
from compute.models.own.checkpoints import from_folder
from compute.types import BadInput, LikenessError, Model, NotHere
from tests.compute.models import checkpoints

ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")


@pytest.mark.parametrize("content", [b"not weights at all" * 1000, b"", b"\x00" * 500])
def test_damaged_weights_are_a_sentence_and_a_line_of_the_log(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    folder = checkpoints.open_clip(tmp_path / "damaged")
    (folder / "open_clip_model.safetensors").write_bytes(content)
    with pytest.raises(LikenessError) as raised:
        load(replace(ROW, weights=str(folder), revision=""))
    assert str(raised.value).startswith("It could not be loaded (SafetensorError): its files are damaged")
    assert str(tmp_path) not in str(raised.value) and f"{ROW.key} could not be loaded" in caplog.text


def recorded(folder: Path) -> Model:
    made = from_folder(folder)
    return own_models.record(made.row, digest=made.digest, results=folder.parent / "results", source=made.source)


def test_files_that_changed_since_they_were_recorded_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the Try page would show other numbers than the board, under one key."""
    row = recorded(checkpoints.clip(tmp_path / "mine"))
    assert load(row).settings["revision"] == row.revision
    monkeypatch.setattr("compute.models.load", lambda row, hardware: pytest.fail("its files were read"))
    other = checkpoints.clip(tmp_path / "other", seed=1)
    shutil.copy(other / "model.safetensors", tmp_path / "mine")
    with pytest.raises(BadInput) as raised:
        load(row)
    assert str(raised.value) == CHANGED
    (tmp_path / "mine" / "model.safetensors").unlink()
    with pytest.raises(BadInput, match="have changed since this app was started"):
        load(row)


@pytest.mark.parametrize("changed", ["base", "tuned"])
def test_of_a_lora_neither_its_files_nor_those_of_its_base_may_change(tmp_path: Path, changed: str) -> None:
    base = checkpoints.clip(tmp_path / "base")
    row = recorded(checkpoints.lora(base, tmp_path / "tuned", ["q_proj"]))
    assert load(row).settings["revision"] == row.revision
    for file in (tmp_path / changed).glob("*.json"):
        file.write_text(file.read_text() + " ")
    with pytest.raises(BadInput) as raised:
        load(row)
    assert str(raised.value) == CHANGED


def test_what_is_not_here_is_said_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(NotHere, match="hf download"):
        load(ROW)
