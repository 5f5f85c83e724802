"""Shards on disk: whole or absent, found by key, merged without loss. The safetensors library reads them back."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from compute.content.items import content_key
from compute.features import store as feature_store
from compute.features.store import EmbeddingCache, FeatureStore
from compute.types import BadInput, LikenessError
from tests.compute.features.standin import COMPARER, Standin, files, subject
from tests.compute.io.test_files import started


def keys(count, *, start=0):
    return np.array([content_key(str(number)) for number in range(start, start + count)], dtype="S32")


def values(of, *, width=5):
    """Vectors that follow from the key alone."""
    numbers = np.ascontiguousarray(of).view(np.uint8).reshape(len(of), 32)[:, :width]
    return numbers.astype(np.float32) / 7


@pytest.fixture
def cache(tmp_path):
    return EmbeddingCache(tmp_path / "image")


def quiet(line):
    raise AssertionError(f"waited: {line}")


def fill(cache, *sizes):
    every = keys(sum(sizes))
    with cache.locked(tell=quiet):
        for start, size in zip(np.cumsum([0, *sizes[:-1]]), sizes, strict=True):
            part = every[start : start + size]
            cache.append(part, values(part))
    cache.refresh()
    return every


def test_what_was_stored_is_found_in_any_order_and_number(cache):
    every = fill(cache, 3, 1, 40)
    asked = np.random.default_rng(0).choice(every, 200)
    assert np.array_equal(cache.vectors(asked), values(asked))
    assert cache.vectors(asked).dtype == np.float32
    assert cache.has(keys(60)).tolist() == [True] * 44 + [False] * 16
    assert np.array_equal(EmbeddingCache(cache.folder).vectors(asked), values(asked))
    with pytest.raises(LikenessError, match="16 of the requested items"):
        cache.vectors(keys(60))


def test_a_shard_whose_keys_do_not_ascend_is_read(cache):
    """As stores of earlier versions have them, under a number and with other notes."""
    every = keys(30)[np.random.default_rng(0).permutation(30)]
    cache.folder.mkdir()
    arrays = {"vectors": values(every), "keys": every.view(np.uint8).reshape(-1, 32)}
    save_file(arrays, cache.folder / "00000001.safetensors", metadata={"replaces": ""})
    cache.refresh()
    assert np.array_equal(cache.vectors(every), values(every))
    assert cache.has(keys(33)).tolist() == [True] * 30 + [False] * 3


def test_items_of_many_vectors(cache):
    """Reference: a dictionary and a loop."""
    draw = np.random.default_rng(0)
    every = keys(30)
    held = {key: draw.normal(size=(draw.integers(0, 6), 4)).astype(np.float32) for key in every.tolist()}
    with cache.locked(tell=quiet):
        for part in np.split(every, [4, 5, 20]):
            parts = [held[key] for key in part.tolist()]
            cache.append(part, np.concatenate(parts), np.cumsum([0, *map(len, parts)]))
        cache.refresh()
        for _ in range(2):
            asked = draw.choice(every, 50)
            many, some = cache.many(asked), draw.choice(50, 20)
            assert many.lengths.tolist() == [len(held[key]) for key in asked.tolist()]
            for found, key in zip(many.read(some), asked[some].tolist(), strict=True):
                assert np.array_equal(found, held[key])
            cache.merge()
            assert len(list(cache.folder.glob("*.safetensors"))) == 1


def test_small_shards_are_merged_and_large_ones_left(cache, monkeypatch):
    every = fill(cache, 2, 500, 3, 4, 5)
    monkeypatch.setattr(feature_store, "SMALL", 5000)
    with cache.locked(tell=quiet):
        cache.merge()
    sizes = sorted(len(load_file(path)["vectors"]) for path in cache.folder.glob("*.safetensors"))
    assert sizes == [14, 500]
    assert np.array_equal(cache.vectors(every), values(every))


@pytest.mark.parametrize("size", [0, 5, 60, -1])
def test_a_shard_that_was_cut_is_named(cache, size):
    fill(cache, 9)
    (path,) = cache.folder.glob("*.safetensors")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(LikenessError, match=f"{path.name}.*Delete"):
        EmbeddingCache(cache.folder)


def test_the_folder_says_what_it_stands_for(tmp_path):
    store = FeatureStore(tmp_path)
    identity = {"weights": "org/Net", "revision": "abc", "dtype": "float32"}
    home = store.home("org/net", identity)
    assert home.parent == tmp_path / "org__net"
    assert home == store.home("org/net", dict(reversed(identity.items())))
    assert home != store.home("org/net", identity | {"dtype": "bfloat16"})
    assert store.identity_record(home) is None
    store.record_identity(home, identity=identity, settings={"size": (224, 224)})
    assert json.loads((home / "identity.json").read_text())["identity"] == identity
    store.record_identity(home, identity=identity, settings={"size": [224, 224]})
    with pytest.raises(LikenessError, match=r"other settings than the model loaded now \(size\)"):
        store.record_identity(home, identity=identity, settings={"size": [336, 336]})


HOLDER = """
import sys
from pathlib import Path
from compute.features.store import EmbeddingCache
with EmbeddingCache(Path(sys.argv[1])).locked(tell=sys.exit):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_second_process_waits_and_says_so(tmp_path):
    other, said = started(HOLDER, tmp_path / "image"), []
    assert other.told == "held"

    def waiting(line):
        said.append(line)
        assert other.poll() is None
        other.stdin.write("\n")
        other.stdin.flush()

    with EmbeddingCache(tmp_path / "image").locked(tell=waiting):
        other.communicate(timeout=30)
    assert other.returncode == 0
    assert len(said) == 1 and "another process is encoding here" in said[0]


def thirds(found):
    return found.astype(np.float32) / 3


def test_halves_are_stored_apart_and_read_as_float32(tmp_path):
    model, column = Standin(), files(*range(5, 25))
    model.trouble = thirds
    whole, half = (subject(tmp_path, model, dtype).embed(column) for dtype in ("float32", "float16"))
    assert model.encoded == 40  # of another identity: nothing is shared
    assert whole.dtype == half.dtype == np.float32
    assert np.array_equal(half, whole.astype(np.float16).astype(np.float32)) and not np.array_equal(half, whole)
    for dtype, found in (("float32", whole), ("float16", half)):
        assert np.array_equal(subject(tmp_path, model, dtype).embed(column), found)
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
