"""Files written whole or not at all: a killed writer's drafts go, a live writer's stay, a full disk changes nothing."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from compute.io.files import replacing, sweep, temporary_folder, write_text
from compute.paths import ROOT
from tests.serving import ended

# A process that has begun to write the file it is given, and says so.
WRITES = """
import sys
from pathlib import Path
from compute.io.files import replacing, sweep, temporary_folder, write_text

with replacing(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    print("ready", flush=True)
    sys.stdin.readline()
    draft.write_text("whole")
"""
TEMPORARY = """
import sys
from compute.io.files import replacing, sweep, temporary_folder, write_text

with temporary_folder() as folder:
    (folder / "large").write_text("x")
    print(folder.parent, flush=True)
    sys.stdin.readline()
"""
# A process whose files end at so many bytes, as on a disk that is full.
FULL = """
import random, resource, sys
from pathlib import Path
import pandas as pd
from compute.io.files import replacing, sweep, temporary_folder, write_text
from compute.database import store
from compute.types import LikenessError

keys = [f"{random.getrandbits(256):x}" for row in range(20_000)]
frame = pd.DataFrame({"key": keys, "title": "x", "kind": "encoder"})
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
writes = (
    lambda path: write_text(path, "x" * 400_000),
    lambda path: store.write_parquet(path, frame=frame),
    lambda path: store.write(path, frames={"models": frame}),
)
for path, write in zip(map(Path, sys.argv[1:]), writes, strict=True):
    try:
        write(path)
    except LikenessError as error:
        print(error)
"""


def started(code, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.told = process.stdout.readline().strip()
    return process


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_writers_draft_is_gone_with_the_next_write(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    process = started(WRITES, path)
    assert names(tmp_path) == ["file", f"file.draft-{process.pid}"]
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert path.read_text() == "old" and len(names(tmp_path)) == 2
    write_text(tmp_path / "another", "new")
    assert names(tmp_path) == ["another", "file"]


def test_a_live_writers_draft_stays_and_others_wait_for_it(tmp_path):
    path = tmp_path / "file"
    process = started(WRITES, path)
    assert sweep(tmp_path) == []
    assert names(tmp_path) == [f"file.draft-{process.pid}"]
    other = threading.Thread(target=write_text, args=(path, "second"))
    other.start()
    process.communicate("go on\n")
    other.join(30)
    assert process.returncode == 0 and path.read_text() == "second" and names(tmp_path) == ["file"]


def test_drafts_of_dead_processes_are_swept_everywhere_below(tmp_path):
    dead = "a/run.json.draft-123", "a/x.duckdb.draft-7.wal", "b/c/keys.npy.draft-5", "b/.mteb.draft-9/runs.parquet"
    sound = "a/run.json", "b/draft-1.txt", "my.draft-2/whole.json"
    for path in map(tmp_path.joinpath, (*dead, *sound)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "likeness.duckdb.draft-7.tmp").mkdir()
    assert len(sweep(tmp_path, deep=False)) == 1
    assert len(sweep(tmp_path)) == 4 and sweep(tmp_path) == []
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == sorted(sound)


def test_an_error_removes_the_draft_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(KeyError), replacing(path) as draft:
        draft.write_text("half")
        raise KeyError
    assert names(tmp_path) == ["file"] and path.read_text() == "old"


def test_a_full_disk_leaves_the_old_file_and_says_what_to_do(tmp_path):
    paths = [tmp_path / name for name in ("1 text", "2 parquet", "3 database")]
    for path in paths:
        path.write_text("old")
    done = ended("-c", FULL, *paths)
    assert done.returncode == 0, done.stderr
    assert all(f"Cannot write {path.name}: " in done.stdout for path in paths)
    remedy = "The old file is unchanged. Free some disk space, then run the same command again"
    assert done.stdout.count(remedy) == len(paths)
    assert names(tmp_path) == [path.name for path in paths] and {path.read_text() for path in paths} == {"old"}


def test_temporary_folders_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    killed, alive = started(TEMPORARY), started(TEMPORARY)
    killed.kill()
    killed.wait()
    assert len(names(tmp_path)) == 2
    with temporary_folder() as folder:
        write_text(folder / "file", "x")  # which locks the folder it writes in
        assert names(tmp_path) == sorted([Path(alive.told).name, folder.parent.name])
    alive.communicate("end\n")
    assert names(tmp_path) == [] and not os.path.exists(folder)
