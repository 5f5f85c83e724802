"""Large temporary files go with their process, however it ends."""

import subprocess
import sys
from pathlib import Path

from compute.io.files import TEMPORARY
from leaderboard.data.database import private_folder
from tests.serving import ROOT

PROGRAM = """
import sys
from leaderboard.data.database import private_folder
(private_folder() / "large").write_bytes(b"x")
print(private_folder(), flush=True)
sys.stdin.read()
"""


def started(folder, code=PROGRAM):
    """A process with a private folder below `folder`, and that folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"TMPDIR": str(folder), "TEMP": str(folder), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_goes_at_the_next_start_and_nothing_else(tmp_path):
    (tmp_path / "other").mkdir()
    killed, abandoned = started(tmp_path)
    running, in_use = started(tmp_path)
    assert (abandoned / "large").is_file() and abandoned.parent.name.startswith(TEMPORARY)
    killed.kill()
    killed.wait()
    assert (abandoned / "large").is_file()
    ended, own = started(tmp_path)
    assert not abandoned.parent.exists() and (in_use / "large").is_file() and (own / "large").is_file()
    for process in (ended, running):
        process.communicate("")
        assert process.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_it_is_one_folder_that_no_other_user_reads():
    folder = private_folder()
    assert private_folder() == folder and folder.stat().st_mode & 0o077 == 0
    assert folder.parent.stat().st_mode & 0o077 == 0
