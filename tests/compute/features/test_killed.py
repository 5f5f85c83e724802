"""A pass that dies is resumed: nothing stored is encoded twice, and the vectors are the same.

Reference: the same pass in one go, in a store of its own. Real kills are in tests/compute/engine/test_faults.py.
"""

import os
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from compute.content import items
from compute.features import encoding, passes
from compute.features.store import EmbeddingCache
from tests.compute.features.standin import Standin, seen, subject


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
        owned = dict.fromkeys(("write_bytes", "write_text", "unlink", "mkdir"), Path) | {"replace": os}
        for name, owner in owned.items():
            patched.setattr(owner, name, once(getattr(owner, name)))
        yield


class Lengths(Standin):
    """Its batches are the texts that it is given; its memory is spent at one, and another gives no numbers."""

    def prepare(self, modality, item):
        return item

    def embed(self, modality, prepared):
        if "x" * 6 + "y" in prepared and len(prepared) > 2:
            raise RuntimeError("CUDA error: out of memory")
        self.batches += prepared
        found = np.stack([seen(text) for text in prepared])
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
        folder, finished = tmp_path / str(after), False
        with suppress(Dead), dying(monkeypatch, after):
            attempt(folder, Lengths())
            finished = True
        caches = [EmbeddingCache(path) for path in folder.glob("*/*/text")]
        there = caches[0].has(good.keys) if caches else np.zeros(12, dtype=bool)
        again = Lengths()
        asked = attempt(folder, again)
        assert not {texts[place] for place in np.flatnonzero(there)} & set(again.batches), after
        assert np.array_equal(asked.embed(good), whole), after
        assert len(asked.bad) == 2
        if finished:
            assert set(again.batches) <= {"broken one"}
            break
    assert after > 10
