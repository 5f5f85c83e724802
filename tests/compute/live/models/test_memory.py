"""Memory that the process freed goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Every 16th of many blocks stays in use, so that glibc returns none of those between.
SCATTERED = """
from compute.live.models import memory
bytearray(30_000_000)  # from now on glibc takes blocks below that size from its heap
blocks = [bytearray(b"x" * 200_000) for _ in range(1_000)]
kept = blocks[::16]
del blocks
before = memory.resident()
memory.return_freed()
print(before - memory.resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc")
def test_what_was_freed_between_other_blocks_is_returned() -> None:
    ended = subprocess.run([sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True)
    assert int(ended.stdout) > 100_000_000
