"""What goes wrong around a run: kills, interrupts, full disks, judges out of reach. The next run makes it good."""

import errno
import signal
from unittest.mock import Mock

from compute.database import store
from compute.engine import run_folders, thumbnails
from compute.features.store import EmbeddingCache
from compute.types import LikenessError
from tests.compute.small_bench import KEYS, World, executed, figures
from tests.serving import ended

FULL = OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fills_fails_the_run_and_not_the_others(world, execute, monkeypatch):
    write = store.write_parquet

    def full(path, *, frame):
        if "unisim__said" in str(path):
            raise FULL
        write(path, frame=frame)

    monkeypatch.setattr(store, "write_parquet", full)
    outcomes = execute()
    [failed] = [one for one in outcomes if one.state == "failed"]
    assert failed.job.name == "unisim/said" and "No space left" in failed.reason
    assert [one for one in run_folders.every(world.folder / "results") if "unisim__said" in str(one)] == []


def test_a_full_disk_under_the_encodings_fails_what_needs_them(world, execute, monkeypatch):
    execute(only=("unisim/near",))
    monkeypatch.setattr(EmbeddingCache, "append", Mock(side_effect=LikenessError("cannot write there")))
    outcomes = execute(again=True)
    states = {one.job.name: one.state for one in outcomes}
    assert states.pop("unisim/near") == "made" and set(states.values()) == {"failed"}


KILLED = """
import os, signal, sys
from pathlib import Path
from compute.database import store
from tests.compute.small_bench import World, executed

what, at = sys.argv[2], int(sys.argv[3])
seen = 0

def count(name):
    global seen
    if name == what:
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)

world = World(folder=Path(sys.argv[1]))
world.before_batch = lambda: count("batch")
write, replace = store.write_parquet, os.replace
store.write_parquet = lambda path, *, frame: (count("parquet"), write(path, frame=frame))
os.replace = lambda old, new: (count("place"), replace(old, new))
executed(world)
"""


def test_killed_at_any_moment_the_next_run_gives_the_same(tmp_path):
    """SIGKILL while encoding, between a run's files, and before a file is moved into place, over the same folder."""
    for what, at in (("batch", 5), ("place", 8), ("parquet", 5)):
        child = ended("-c", KILLED, tmp_path / "killed", what, at)
        assert child.returncode == -signal.SIGKILL, child.stderr
    world = World(folder=tmp_path / "killed")
    outcomes = executed(world)
    assert {one.state for one in outcomes} == {"stored", "made"}
    assert figures(outcomes) == figures(executed(World(folder=tmp_path / "undisturbed")))
    assert world.encoded < len(KEYS)


def test_pictures_that_cannot_be_kept_fail_no_run(world, execute, monkeypatch):
    monkeypatch.setattr(thumbnails, "add", Mock(side_effect=FULL))
    said = []
    assert {one.state for one in execute(report=said.append)} == {"made"}
    assert any("no thumbnails" in line for line in said)
