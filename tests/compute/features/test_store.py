"""Shards on disk: whole or absent, found by key, merged without loss. The safetensors library reads them back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from compute.content.items import content_key
from compute.features import shards
from compute.features import store as feature_store
from compute.features.store import EmbeddingCache, FeatureStore
from compute.types import LikenessError
from tests.compute.features.standin import Standin, files, subject


def keys(count: int, *, start: int = 0) -> np.ndarray:
    return np.array([content_key(str(number)) for number in range(start, start + count)], dtype="S32")


def values(of: np.ndarray, *, width: int = 5) -> np.ndarray:
    """Vectors that follow from the key alone."""
    numbers = np.ascontiguousarray(of).view(np.uint8).reshape(len(of), 32)[:, :width]
    return numbers.astype(np.float32) / 7


@pytest.fixture
def cache(tmp_path):
    return EmbeddingCache(tmp_path / "image")


def quiet(line: str) -> None:
    raise AssertionError(f"waited: {line}")


def fill(cache: EmbeddingCache, *sizes: int) -> np.ndarray:
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
    """As stores of earlier versions have them, under a number and without checksums."""
    every = keys(30)[np.random.default_rng(0).permutation(30)]
    cache.folder.mkdir()
    arrays = {"vectors": values(every), "keys": every.view(np.uint8).reshape(-1, 32)}
    path = cache.folder / "00000001.safetensors"
    shards.write(path, arrays)
    path.write_bytes(re.sub(rb'"crc32": "[0-9a-f]{16}"', lambda found: b" " * len(found[0]), path.read_bytes()))
    cache.refresh()
    assert cache._files[path.name].notes == {}
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


DAMAGE = {
    "empty": lambda data: b"",
    "no header": lambda data: data[:5],
    "half a header": lambda data: data[:60],
    "cut": lambda data: data[:-1],
    "a bit of the header": lambda data: data.replace(b'"vectors"', b'"vecuors"'),
    "a bit of its length": lambda data: data[:7] + b"\x80" + data[8:],
    "a bit of the vectors": lambda data: data[:-999] + bytes([data[-999] ^ 16]) + data[-998:],
    "a bit of the keys": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "zeros": lambda data: data[:-900] + bytes(100) + data[-800:],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("at", ["{}", "memory://damaged/{}"])
def test_a_damaged_shard_is_named_and_encoded_again(tmp_path, damage, at, monkeypatch, capsys):
    monkeypatch.setenv("LIKENESS_CACHE", str(tmp_path / "cache"))
    folder = at.format(tmp_path)
    column, other, model = files(*range(25)), files(30, 31), Standin()
    first = subject(folder, model)
    right = first.embed(column)
    (shard,) = first.store.folder.rglob("[0-9a-f]*.safetensors")
    sound = shard.read_bytes()
    shard.write_bytes(DAMAGE[damage](sound))
    assert shard.read_bytes() != sound and capsys.readouterr().err == ""
    if first.store.remote is not None and damage != "zeros":  # an object that is damaged itself
        first.store.remote.put(shard, shard.relative_to(first.store.folder).as_posix())
    again = subject(folder, model)
    again.embed(other)
    assert np.array_equal(again.embed(column), right)
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and shard.name in told and "damaged" in told
    # What an address still has is fetched, not encoded again.
    assert model.encoded == (27 if "memory" in at and damage == "zeros" else 52)
    assert np.array_equal(subject(folder, model).embed(column), right) and capsys.readouterr().err == ""


def test_damage_is_not_merged(cache, capsys):
    every = fill(cache, 3, 4, 5)
    path = cache._path(np.sort(every[:3]))
    path.write_bytes(DAMAGE["a bit of the keys"](path.read_bytes()))
    with cache.locked(tell=print):
        cache.merge()
        assert cache.has(every).tolist() == [False] * 3 + [True] * 9
    with cache.locked(tell=print):
        assert not path.exists() and path.name in capsys.readouterr().out


def test_bad_items_are_remembered_even_after_a_line_cut_short(cache):
    first, second = keys(2).tolist()
    with cache.locked(tell=quiet):
        cache.remember_bad(first, "cats, image 3", "a damaged image")
        with open(cache.folder / "bad.jsonl", "ab") as handle:
            handle.write(b'\n{"key": "12')
        cache.remember_bad(second, "cats, image 4", "an empty file")
    assert EmbeddingCache(cache.folder).bad == {
        first: ("cats, image 3", "a damaged image"),
        second: ("cats, image 4", "an empty file"),
    }
    with cache.locked(tell=quiet):
        cache.forget_bad()
    assert EmbeddingCache(cache.folder).bad == {}


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


ROOT = Path(__file__).resolve().parents[3]
HOLDER = """
import sys
from pathlib import Path
from compute.features.store import EmbeddingCache
with EmbeddingCache(Path(sys.argv[1])).locked(tell=sys.exit):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_second_process_waits_and_says_so(tmp_path):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "image")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert other.stdout.readline() == "held\n"
    said: list[str] = []

    def waiting(line: str) -> None:
        said.append(line)
        assert other.poll() is None
        other.stdin.write("\n")
        other.stdin.flush()

    with EmbeddingCache(tmp_path / "image").locked(tell=waiting):
        other.communicate(timeout=30)
    assert other.returncode == 0
    assert len(said) == 1 and "another process is encoding here" in said[0]
