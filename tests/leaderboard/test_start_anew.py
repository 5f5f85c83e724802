"""A program starts anew once, in the same process and with the same arguments."""

import os
import subprocess
import sys

import pytest

from compute.paths import ROOT

PROGRAM = """
import os, sys
sys.path.insert(0, {root!r})
from leaderboard import start
print(os.getpid(), "tabnanny" in sys.modules, *sys.argv[1:], flush=True)
import tabnanny
start.start_anew()
print("on", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot replace a process")
def test_it_starts_anew_once(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(root=str(ROOT)))
    ended = subprocess.run([sys.executable, program, "--port", "80"], capture_output=True, text=True, timeout=60)
    first, second, last = ended.stdout.splitlines()
    assert first == second and first.endswith("False --port 80") and last == "on"
