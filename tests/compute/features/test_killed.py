"""A pass that dies is resumed: nothing stored is encoded twice, and the vectors are the same.

Reference: the same pass in one go, in a store of its own. Real kills are in tests/compute/engine/test_faults.py.
"""

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from compute.content import items
from compute.features import encoding, passes
from compute.features.store import EmbeddingCache
from tests.compute.features.standin import subject


class Dead(BaseException):
    """The process is no more: nothing it would still do to the disk happens."""


@contextmanager
def dying(monkeypatch, after):
    """Everything that changes the disk works `after` times and never again."""
    left = [after]

    def once(do):
        def limited(*args, **options):
            if left[0] <= 0:
                raise Dead
            left[0] -= 1
            return do(*args, **options)

        return limited

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", once(Path.write_bytes))
        patched.setattr(os, "replace", once(os.replace))
        patched.setattr(Path, "unlink", once(Path.unlink))
        patched.setattr(Path, "mkdir", once(Path.mkdir))
        patched.setattr(Path, "write_text", once(Path.write_text))
        yield


class Lengths:
    """Texts as numbers; counts what it is given."""

    settings = {}

    def __init__(self):
        self.given = []

    def load(self, row, *, hardware):
        return self

    def prepare(self, modality, item):
        return item

    def embed(self, modality, prepared):
        if "x" * 6 + "y" in prepared and len(prepared) > 2:
            raise RuntimeError("CUDA error: out of memory")
        self.given += prepared
        found = np.array([[len(text), sum(map(ord, text))] for text in prepared], dtype=np.float32)
        found[np.array(["broken" in text for text in prepared])] = np.nan
        return found


def test_dead_at_any_step_on_the_disk(tmp_path, monkeypatch):
    """Death before every single change of the disk, one after another.

    Among the texts are a blank one and a broken one, and half way the memory is spent and batches are halved.
    """
    monkeypatch.setattr(passes, "FLUSH_SECONDS", 0)
    monkeypatch.setattr(passes, "SHARD", 7)
    # Of each of many passes most of the time.
    monkeypatch.setattr(encoding, "release", lambda: None)
    monkeypatch.setattr(os, "fsync", lambda file: None)
    texts = [*("x" * length + "y" for length in range(12)), "broken one", " " * 40]
    column = items.texts(texts, of="texts")
    good = column.take(np.arange(12))

    def attempt(folder, model):
        asked = subject(folder, model, batch_size=4, skip_bad=True, threads=1)
        asked.prepare([column])
        return asked

    whole = attempt(tmp_path / "whole", Lengths()).embed(good)
    for after in range(1000):
        folder = tmp_path / str(after)
        model = Lengths()
        finished = False
        with dying(monkeypatch, after):
            try:
                attempt(folder, model)
                finished = True
            except Dead:
                pass
        caches = [EmbeddingCache(path) for path in folder.glob("*/*/text")]
        there = caches[0].has(good.keys) if caches else np.zeros(12, dtype=bool)
        again = Lengths()
        asked = attempt(folder, again)
        assert not {texts[place] for place in np.flatnonzero(there)} & set(again.given), after
        assert np.array_equal(asked.embed(good), whole), after
        assert len(asked.bad) == 2
        if finished:
            assert set(again.given) <= {"broken one"}
            break
    assert after > 10
