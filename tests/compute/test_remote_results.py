"""Runs whose results and encodings lie at an address: the same numbers as on a disk, resumed on another machine.

A machine is a cache folder (LIKENESS_CACHE); the object store is a real server that speaks S3.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compute.content import items
from compute.database import store
from compute.features.store import FeatureStore, Shelf
from compute.storage import RemoteFolder
from tests.compute.object_store import bucket
from tests.compute.small_bench import square

__all__ = ["bucket"]
ROOT = Path(__file__).resolve().parents[2]
TASKS = "mini/image-choice,mini/shapes"


def command(*words: str, machine: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LIKENESS_CACHE": str(machine)}
    return subprocess.run(
        [sys.executable, "-m", "compute", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


def run(results: str, machine: Path) -> subprocess.CompletedProcess[str]:
    made = command(
        "run", "--suite", "mini", "--models", "tiny", "--tasks", TASKS, "--results", results, machine=machine
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made


def assert_encodings_equal(local: Path, url: str, *, machine: Path) -> None:
    """Bit for bit, read on a machine that has made none of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LIKENESS_CACHE", str(machine))
        remote = FeatureStore(f"{url}/features")
        for home in sorted((local / "features" / "tiny").iterdir()):
            for shelf in (Shelf(folder) for folder in home.iterdir() if folder.is_dir()):
                keys = np.concatenate([shard.keys for shard in shelf._lookup.shards])
                other = remote.shelf(remote.folder / "tiny" / home.name, shelf.folder.name)
                assert len(keys) and np.array_equal(other.vectors(keys), shelf.vectors(keys))
            stored = remote.settled(remote.folder / "tiny" / home.name)
            assert stored["identity"] == json.loads((home / "identity.json").read_text())["identity"]


def test_a_run_at_an_address_equals_one_on_a_disk(bucket: str, tmp_path: Path) -> None:
    local = run(str(tmp_path / "local"), tmp_path / "cache")
    first = run(f"{bucket}/results", tmp_path / "one")
    again = run(f"{bucket}/results", tmp_path / "two")
    tables = [
        [line for line in made.stdout.splitlines() if line.startswith("| mini/")] for made in (local, first, again)
    ]
    assert len(tables[0]) == 2 and tables[0] == tables[1] == tables[2]
    assert "2 runs to make" in first.stdout and "0 runs to make, 2 stored already" in again.stdout
    assert f"python -m compute build --results {bucket}/results" in first.stdout

    names = RemoteFolder(f"{bucket}/results").names()
    assert sum(name.endswith("run.json") for name in names) == 2
    assert not any("draft" in name or name.endswith("lock") for name in names)
    [here] = (path.parent for path in (tmp_path / "one" / "remote").glob("*/.mirror.json"))
    for path in sorted((tmp_path / "local" / "tiny").rglob("*.parquet")):
        other = here / path.relative_to(tmp_path / "local")
        pd.testing.assert_frame_equal(pd.read_parquet(other), pd.read_parquet(path), check_exact=True)

    assert_encodings_equal(tmp_path / "local", f"{bucket}/results", machine=tmp_path / "three")

    built = command(
        "build", "--path", str(tmp_path / "db"), "--results", f"{bucket}/results", machine=tmp_path / "four"
    )
    assert built.returncode == 0, built.stderr
    with store.connect(tmp_path / "db") as connection:
        found = connection.execute(
            "SELECT count(*) FROM runs WHERE origin = 'computed' AND model = 'tiny' AND main"
        ).fetchall()
    assert found[0][0] >= 2


def test_a_worker_puts_its_runs_where_the_address_says(bucket: str, tmp_path: Path) -> None:
    """Two processes of this machine; each opens the address itself, and puts what it wrote."""
    words = ("run", "--suite", "mini", "--models", "tiny", "--tasks", "mini/image-choice", "--devices", "cpu,cpu")
    local, remote = str(tmp_path / "local"), f"{bucket}/results"
    made = [command(*words, "--results", results, machine=tmp_path / "one") for results in (local, remote)]
    assert [each.returncode for each in made] == [0, 0], made[1].stdout + made[1].stderr
    tables = [[line for line in each.stdout.splitlines() if line.startswith("| mini/")] for each in made]
    assert len(tables[0]) == 1 and tables[0] == tables[1]
    names = RemoteFolder(remote).names()
    assert sum(name.endswith("run.json") for name in names) == 1
    assert any(name.startswith("features/") and name.endswith(".safetensors") for name in names)
    again = command(*words, "--results", remote, machine=tmp_path / "two")
    assert "0 runs to make, 1 stored already" in again.stdout


def test_a_run_on_ray_at_an_address_equals_one_in_this_process(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores, evidence and vectors bit for bit; prompts that a procedure brings are encoded by a worker too."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    words = ("run", "--suite", "mini", "--models", "tiny", "--tasks", "mini/quality,mini/odd-one-out", "--offline")
    remote = f"{bucket}/results"
    local = command(*words, "--results", str(tmp_path / "local"), machine=tmp_path / "cache")
    ray = command(*words, "--engine", "ray", "--workers", "2", "--results", remote, machine=tmp_path / "one")
    assert (local.returncode, ray.returncode) == (0, 0), ray.stdout + ray.stderr
    paths = [path.relative_to(tmp_path / "local") for path in sorted((tmp_path / "local" / "tiny").rglob("*.parquet"))]
    names = [name for name in RemoteFolder(remote).names() if name.startswith("tiny/") and name.endswith(".parquet")]
    assert names and [path.as_posix() for path in paths] == names
    for path in paths:
        RemoteFolder(remote).get(path.as_posix(), tmp_path / "fetched" / path)
        assert (tmp_path / "fetched" / path).read_bytes() == (tmp_path / "local" / path).read_bytes(), path
    assert_encodings_equal(tmp_path / "local", remote, machine=tmp_path / "two")


# Encodes slowly in small shards, as a large model would, and says how many items it is shown.
ENCODE = """
import sys, time
from pathlib import Path
import numpy as np
from compute.features import passes
from compute.features.store import FeatureStore
from compute.features.subject import LoadedSubject
from compute.models.adapter import Hardware
from compute.types import Model
from tests.compute.test_remote_results import squares

passes.FLUSH_SECONDS = 0.0
row = Model(key="made/up", title="Made up", abilities=("embed_image",))

class Net:
    settings, multi_vector = {}, False
    def __init__(self, log, delay):
        self.log, self.delay = Path(log), delay
    def prepare(self, modality, item):
        return np.asarray(item, dtype=np.float32).mean((0, 1))
    def embed(self, modality, prepared):
        with open(self.log, "a") as handle:
            handle.write(f"{len(prepared)}\\n")
        time.sleep(self.delay)
        batch = np.stack(prepared)
        return np.sin(batch) + 0.01 * batch.mean(0)  # a batch that is cut otherwise shows

location, log, delay = sys.argv[1:]
subject = LoadedSubject(
    row, store=FeatureStore(location), hardware=Hardware(device="cpu", dtype="float32"), batch_size=8, threads=1,
    load=lambda row, *, hardware: Net(log, float(delay)), identity=lambda row, *, hardware: {"model": row.key},
)
np.save(f"{log}.npy", subject.embed(squares()))
"""


def squares() -> items.Column:
    draw = np.random.default_rng(0)
    return items.images([square(colour) for colour in draw.integers(0, 256, (160, 3))], of="squares")


def encode(location: str, log: Path, *, machine: Path, delay: float = 0.0) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "LIKENESS_CACHE": str(machine), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", ENCODE, location, str(log), str(delay)], cwd=ROOT, env=environment)


def shown(log: Path) -> int:
    return sum(map(int, log.read_text().split())) if log.exists() else 0


@pytest.mark.parametrize("machine", ["the same", "another"])
def test_killed_in_the_middle_and_resumed(bucket: str, tmp_path: Path, machine: str) -> None:
    whole = encode(str(tmp_path / "local"), tmp_path / "whole", machine=tmp_path / "cache")
    assert whole.wait(120) == 0 and shown(tmp_path / "whole") == len(set(squares().keys.tolist()))
    location, remote = f"{bucket}/features", RemoteFolder(f"{bucket}/features")
    killed = encode(location, tmp_path / "killed", machine=tmp_path / "one", delay=0.3)

    def stored() -> int:
        shards = [name for name in remote.names() if name.endswith(".safetensors") and "plan" not in name]
        return len(shards)

    until = time.monotonic() + 120
    while stored() < 3 and time.monotonic() < until:
        assert killed.poll() is None
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = stored()
    assert 3 <= before < len(squares()) / 8
    resumed = encode(location, tmp_path / "rest", machine=tmp_path / ("one" if machine == "the same" else "two"))
    assert resumed.wait(120) == 0
    assert np.array_equal(np.load(tmp_path / "rest.npy"), np.load(tmp_path / "whole.npy"))
    # No batch is run again whose shard was stored; one may have been at work when the process died.
    assert 0 < shown(tmp_path / "rest") <= shown(tmp_path / "whole") - 8 * before


def test_a_shard_that_could_not_be_put_is_put_later(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKENESS_CACHE", str(tmp_path / "one"))
    folder, remote = tmp_path / "mirror", RemoteFolder(f"{bucket}/image")
    keys = squares().keys[:4]
    shelf = Shelf(folder, remote=remote)

    def refuse(*some: object) -> None:
        raise ConnectionError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(RemoteFolder, "put", refuse)
        with pytest.raises(ConnectionError), shelf.locked(waiting=print):
            shelf.append(keys, np.ones((4, 2), np.float32))
    assert remote.names() == {} and shelf._listed()
    assert Shelf(folder, remote=remote).has(keys).all()  # nothing is missing here, so that no pass takes the lock
    assert list(remote.names()) == shelf._listed()


def test_two_workers_that_make_the_same_shard_write_the_same_object(bucket: str, tmp_path: Path) -> None:
    remote, keys = RemoteFolder(f"{bucket}/image"), squares().keys[:4]
    tokens = []
    for worker in ("one", "two"):
        shelf = Shelf(tmp_path / worker, remote=None)
        shelf.remote = remote  # begun before the other had stored anything
        with shelf.locked(waiting=print):
            shelf.append(keys, np.arange(8, dtype=np.float32).reshape(4, 2))
        tokens.append(remote.names())
    assert tokens[0] == tokens[1] and len(tokens[0]) == 1


def test_items_that_cannot_be_used_are_known_to_all(bucket: str, tmp_path: Path) -> None:
    remote = RemoteFolder(f"{bucket}/image")
    one, two = (Shelf(tmp_path / name, remote=remote) for name in ("one", "two"))
    with one.locked(waiting=print):
        one.remember_bad(b"a" * 32, "first", "damaged")
    with two.locked(waiting=print):
        two.remember_bad(b"b" * 32, "second", "empty")
    one.refresh()
    assert one.bad == {b"a" * 32: ("first", "damaged"), b"b" * 32: ("second", "empty")}
    assert Shelf(tmp_path / "three", remote=remote).bad == one.bad


def test_what_machines_note_at_the_same_moment_is_all_there(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second notes while the first has begun to put its own."""
    remote = RemoteFolder(f"{bucket}/image")
    one, two = (Shelf(tmp_path / name, remote=remote) for name in ("one", "two"))
    put, beside = RemoteFolder.put, []

    def interrupted(self: RemoteFolder, path: Path, name: str) -> None:
        if beside:
            beside.pop()()
        put(self, path, name)

    monkeypatch.setattr(RemoteFolder, "put", interrupted)
    with one.locked(waiting=print), two.locked(waiting=print):
        beside.append(lambda: two.remember_bad(b"b" * 32, "second", "empty"))
        one.remember_bad(b"a" * 32, "first", "damaged")
        beside.append(lambda: two.note_pass(items=2))
        one.note_pass(items=1)
        one.note_pass(items=1)
    assert not beside
    bad = {b"a" * 32: ("first", "damaged"), b"b" * 32: ("second", "empty")}
    assert Shelf(tmp_path / "three", remote=remote).bad == bad
    assert sum(name.startswith("passes-") for name in remote.names()) == 3
    two.refresh()
    assert two.bad == bad
    with two.locked(waiting=print):
        two.forget_bad()
    one.refresh()
    assert one.bad == two.bad == Shelf(tmp_path / "three", remote=remote).bad == {}


def test_a_note_that_another_machine_forgets_once_it_is_listed_is_gone(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = RemoteFolder(f"{bucket}/image")
    other = Shelf(tmp_path / "other", remote=remote)
    with other.locked(waiting=print):
        other.remember_bad(b"a" * 32, "first", "damaged")
        other.write_plan(np.array([b"a" * 32]), np.array([0, 1]))
    names = RemoteFolder.names

    def then_forgotten(self: RemoteFolder) -> dict[str, str]:
        listed = names(self)
        other.forget_bad()
        other.drop_plan()
        return listed

    monkeypatch.setattr(RemoteFolder, "names", then_forgotten)
    shelf = Shelf(tmp_path / "one", remote=remote)
    assert shelf.bad == {} and not len(shelf.plan()[0])


def test_an_address_in_the_variable_of_the_results_folder_is_refused(bucket: str, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LIKENESS_RESULTS", f"{bucket}/results")
    refused = command("list", "suites", machine=tmp_path)
    assert refused.returncode == 1 and "Name an address with --results" in refused.stderr
