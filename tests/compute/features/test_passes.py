"""The plan of a pass: what is new follows what was planned and not finished."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load

from compute.content import items
from compute.content.items import Column
from compute.features import passes
from compute.features.passes import distinct, plan
from compute.features.store import Shelf
from tests.compute.features.standin import Standin, files, subject


def column(*words: str) -> Column:
    return items.texts(words, of="words")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "text").mkdir()
    return Shelf(tmp_path / "text")


def planned(shelf: Shelf, missing: list[bool]) -> list[list[str]]:
    """The batches of three of the words a to e."""
    wanted = distinct([column(*"abcde")])
    shards = plan(shelf, wanted, np.array(missing), by_length=False, size=100)
    parts = [shard.keys[part] for shard in shards for part in shard.batches(3)]
    return [[wanted.read(int(at)) for at in wanted.at(keys)] for keys in parts]


def stored(folder: Path) -> dict[str, bytes]:
    """The shards of images by name."""
    return {path.name: path.read_bytes() for path in folder.glob("*/*/image/*.safetensors")}


@pytest.mark.parametrize("flush_seconds", [0, 100])
def test_shards_are_the_same_files_however_often_a_pass_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flush_seconds: float
) -> None:
    """A shard written in parts, or by an interrupted pass and the one that follows, ends as the same file."""
    monkeypatch.setattr(passes, "SHARD", 10)
    monkeypatch.setattr(Shelf, "merge", Shelf.refresh)  # it would make one file of them
    column, model = files(*range(1, 36)), Standin()
    subject(tmp_path / "whole", model, batch_size=4).prepare([column])
    whole = stored(tmp_path / "whole")
    assert sorted(len(load(file)["keys"]) for file in whole.values()) == [5, 10, 10, 10]

    monkeypatch.setattr(passes, "FLUSH_SECONDS", flush_seconds)
    model = Standin()

    def interrupted(vectors: np.ndarray) -> np.ndarray:
        if model.encoded == 18:
            raise KeyboardInterrupt
        return vectors

    model.trouble = interrupted
    with pytest.raises(KeyboardInterrupt):
        subject(tmp_path / "parts", model, batch_size=4).prepare([column])
    model.trouble = lambda vectors: vectors
    subject(tmp_path / "parts", model, batch_size=4).prepare([column])
    assert model.batches == [("image", size) for size in (4, 4, 2, 4, 4, 4, 2, 4, 4, 2, 4, 1)]
    assert stored(tmp_path / "parts") == whole


def test_a_spent_memory_cuts_the_batches_of_its_shard_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "SHARD", 12)
    model, spent = Standin(), [2]

    def once(vectors: np.ndarray) -> np.ndarray:
        if len(vectors) == 8 and spent[0]:
            spent[0] -= 1
            raise MemoryError("spent")
        return vectors

    model.trouble = once
    asked = subject(tmp_path, model, batch_size=8)
    asked.prepare([files(*range(36))])
    assert [size for _, size in model.batches] == [8, 4, 4, 4, 8, 4, 4, 4, 8, 4]
    assert (asked.done[0].batch, asked.done[0].effective, asked.done[0].encoded) == (8, 4, 36)


def test_an_unfinished_plan_keeps_its_batches(shelf: Shelf) -> None:
    shelf.write_plan(column("d", "c", "b", "x", "a").keys, np.array([0, 2, 4, 5]))
    assert planned(shelf, [True] * 5) == [["d", "c"], ["b"], ["a"], ["e"]]
    assert planned(shelf, [True, True, False, False, True]) == [["b"], ["a"], ["e"]]
