"""Two builds of one database at once."""

from compute.database import build, store
from tests.serving import begun

BUILDS = """
import sys
from pathlib import Path
from compute.database import build

build.build(Path(sys.argv[1]), results=Path(sys.argv[2]))
"""


def test_two_builds_at_once_both_end_whole(tmp_path):
    path, results = tmp_path / "own.duckdb", tmp_path / "results"
    builds = [begun("-c", BUILDS, path, results) for _ in range(2)]
    assert [process.wait(300) for process in builds] == [0, 0]
    assert [file.name for file in tmp_path.iterdir()] == ["own.duckdb"]
    assert not build.is_stale(path, results=results)
    assert len(store.frames(path, names=["scores"])["scores"]) > 1000
