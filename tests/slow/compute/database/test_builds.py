"""Two builds of one database at once."""

import subprocess
import sys

from compute.database import build, store
from compute.paths import ROOT

BUILDS = """
import sys
from pathlib import Path
from compute.database import build

build.build(Path(sys.argv[1]), results=Path(sys.argv[2]))
"""


def test_two_builds_at_once_both_end_whole(tmp_path):
    path, results = tmp_path / "own.duckdb", tmp_path / "results"
    builds = [
        subprocess.Popen([sys.executable, "-c", BUILDS, str(path), str(results)], cwd=ROOT, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=300)[1].decode() for process in builds]
    assert [process.returncode for process in builds] == [0, 0], told
    assert [file.name for file in tmp_path.iterdir()] == ["own.duckdb"]
    assert not build.is_stale(path, results=results)
    assert len(store.frames(path, names=["scores"])["scores"]) > 1000
