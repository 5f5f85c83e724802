"""Vectors stored in half precision: only where it is chosen, apart from the others, and read as float32."""

import numpy as np
import pytest

from compute.types import BadInput
from tests.compute.features.standin import COMPARER, Standin, files, subject


def thirds(found):
    return found.astype(np.float32) / 3


def test_halves_are_stored_apart_and_read_as_float32(tmp_path):
    model, column = Standin(), files(*range(5, 25))
    model.trouble = thirds
    whole, half = (subject(tmp_path, model, dtype).embed(column) for dtype in ("float32", "float16"))
    assert model.encoded == 40  # of another identity: nothing is shared
    assert whole.dtype == half.dtype == np.float32
    assert np.array_equal(half, whole.astype(np.float16).astype(np.float32)) and not np.array_equal(half, whole)
    assert np.array_equal(subject(tmp_path, model, "float32").embed(column), whole)
    assert np.array_equal(subject(tmp_path, model, "float16").embed(column), half)
    assert model.encoded == 40 and len(list((tmp_path / "made__up").iterdir())) == 2
    assert subject(tmp_path, model, "float16").identity["stored"] == "float16"
    assert "stored" not in subject(tmp_path, model, "float32").identity
    assert "stored" not in subject(tmp_path, model, "float16", row=COMPARER).identity


def test_vectors_beyond_its_range_are_refused_and_nothing_is_stored(tmp_path):
    model, column = Standin(), files(1, 2)
    model.trouble = lambda found: found.astype(np.float32) * 70000
    with pytest.raises(BadInput, match=r"made/up: its vectors reach 4.9e\+05, more than float16 holds. Omit"):
        subject(tmp_path, model, "float16").embed(column)
    assert not list(tmp_path.rglob("[0-9a-f]*.safetensors"))
