"""Runs whose results and encodings lie on a server that speaks S3: the same numbers as on a disk, resumed on another
machine. A machine is a cache folder (LIKENESS_CACHE)."""

import json

import numpy as np
import pytest

from compute.content import items
from compute.database import store
from compute.features.store import EmbeddingCache, FeatureStore
from compute.storage import RemoteFolder
from compute.types import LikenessError
from tests.compute.object_store import bucket, forget
from tests.compute.small_bench import square
from tests.serving import begun, wait

__all__ = ["bucket"]


NO_KEYS = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), "/none")
NO_KEYS |= {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.mark.parametrize(
    "address, place, word",
    [
        ("", NO_KEYS, "AWS_ACCESS_KEY_ID"),
        ("", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}, "EndpointConnectionError"),
        ("s3://no-such-bucket/x", {}, "no-such-bucket"),
        ("hf://datasets/org/private/results", {}, "HF_TOKEN"),
    ],
    ids=["no keys", "a server that is gone", "no such bucket", "a private repository of the hub"],
)
def test_what_cannot_be_reached_is_said(bucket, monkeypatch, address, place, word):
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    forget()
    with pytest.raises(LikenessError, match=word):
        RemoteFolder(address or bucket).names()


def command(*words, machine):
    process = begun("-m", "compute", *words, LIKENESS_CACHE=str(machine), OMP_NUM_THREADS="1")
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return said


def assert_equal(local, url, *, machine):
    """Scores, evidence and vectors bit for bit, read on a machine that has made none of them."""
    remote = RemoteFolder(url)
    paths = sorted(path.relative_to(local).as_posix() for path in (local / "tiny").rglob("*.parquet"))
    assert paths == [name for name in remote.names() if name.startswith("tiny/") and name.endswith(".parquet")] != []
    for path in paths:
        remote.get(path, machine / path)
        assert (machine / path).read_bytes() == (local / path).read_bytes(), path
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LIKENESS_CACHE", str(machine))
        there = FeatureStore(f"{url}/features")
        for home in sorted((local / "features" / "tiny").iterdir()):
            for cache in (EmbeddingCache(folder) for folder in home.iterdir() if folder.is_dir()):
                keys = np.concatenate([shard.keys for shard in cache._lookup.shards])
                other = there.cache(there.folder / "tiny" / home.name, cache.folder.name)
                assert len(keys) and np.array_equal(other.vectors(keys), cache.vectors(keys))
            stored = there.identity_record(there.folder / "tiny" / home.name)
            assert stored["identity"] == json.loads((home / "identity.json").read_text())["identity"]


@pytest.mark.parametrize("more", ["", "--engine ray --workers 2"], ids=["here", "ray"])
def test_a_run_at_an_address_equals_one_on_a_disk(bucket, tmp_path, more):
    """Prompts that a procedure brings are encoded by a worker of Ray too."""
    if more:
        pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")
    tasks = "mini/image-choice,mini/quality"  # quality has two runs: two sets of prompts
    words = ("run", "--suite", "mini", "--models", "tiny", "--tasks", tasks, "--offline", "--results")
    local = command(*words, str(tmp_path / "local"), machine=tmp_path / "cache")
    first = command(*words, f"{bucket}/results", *more.split(), machine=tmp_path / "one")
    again = command(*words, f"{bucket}/results", machine=tmp_path / "two")
    tables = [[line for line in made.splitlines() if line.startswith("| mini/")] for made in (local, first, again)]
    assert len(tables[0]) == 2 and tables[0] == tables[1] == tables[2]
    assert "3 runs to make" in first and "0 runs to make, 3 stored already" in again
    names = RemoteFolder(f"{bucket}/results").names()
    assert sum(name.endswith("run.json") for name in names) == 3
    assert not any("draft" in name or name.endswith("lock") for name in names)
    assert_equal(tmp_path / "local", f"{bucket}/results", machine=tmp_path / "three")
    command("build", "--path", str(tmp_path / "db"), "--results", f"{bucket}/results", machine=tmp_path / "four")
    runs = store.frames(tmp_path / "db", names=["runs"])["runs"].query("origin == 'computed' and model == 'tiny'")
    assert runs.main.sum() >= 2


# Encodes slowly in small shards, as a large model would, and says how many items it is shown.
ENCODE = """
import sys, time
from pathlib import Path
import numpy as np
from compute.features import passes
from compute.features.store import FeatureStore
from compute.features.subject import Subject
from compute.models.adapter import Hardware
from compute.types import Model
from tests.slow.compute.test_s3 import squares

passes.FLUSH_SECONDS = 0.0
row = Model(key="made/up", title="Made up", abilities=("embed_image",))

class Net:
    settings = {}
    def __init__(self, log, delay):
        self.log, self.delay = Path(log), delay
    def prepare(self, modality, item):
        return np.asarray(item, dtype=np.float32).mean((0, 1))
    def embed(self, modality, prepared):
        with open(self.log, "a") as handle:
            handle.write(f"{len(prepared)}\\n")
        time.sleep(self.delay)
        return np.sin(np.stack(prepared))

location, log, delay = sys.argv[1:]
subject = Subject(
    row, store=FeatureStore(location), hardware=Hardware(device="cpu", dtype="float32"), batch_size=8, threads=1,
    load=lambda row, *, hardware: Net(log, float(delay)), identity=lambda row, *, hardware: {"model": row.key},
)
np.save(f"{log}.npy", subject.embed(squares()))
"""


def squares():
    draw = np.random.default_rng(0)
    return items.images([square(colour) for colour in draw.integers(0, 256, (160, 3))], of="squares")


def encode(location, log, *, machine, delay=0.0):
    return begun("-c", ENCODE, location, log, delay, LIKENESS_CACHE=str(machine))


def shown(log):
    return sum(map(int, log.read_text().split())) if log.exists() else 0


def test_killed_in_the_middle_and_resumed_on_another_machine(bucket, tmp_path):
    whole = encode(str(tmp_path / "local"), tmp_path / "whole", machine=tmp_path / "cache")
    assert whole.wait(120) == 0 and shown(tmp_path / "whole") == len(set(squares().keys.tolist()))
    location, remote = f"{bucket}/features", RemoteFolder(f"{bucket}/features")
    killed = encode(location, tmp_path / "killed", machine=tmp_path / "one", delay=0.3)

    def stored():
        return sum(name.endswith(".safetensors") and "plan" not in name for name in remote.names())

    wait(lambda: stored() >= 3, running=killed)
    killed.kill()
    killed.wait()
    before = stored()
    assert 3 <= before < len(squares()) / 8
    resumed = encode(location, tmp_path / "rest", machine=tmp_path / "two")
    assert resumed.wait(120) == 0
    assert np.array_equal(np.load(tmp_path / "rest.npy"), np.load(tmp_path / "whole.npy"))
    # No batch is run again whose shard was stored; one may have been at work when the process died.
    assert 0 < shown(tmp_path / "rest") <= shown(tmp_path / "whole") - 8 * before
