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


# Photographs that lie between small blocks, after one block of 24 MB: what is freed goes back without being collected.
LARGE = """
from compute.live.models import memory
memory.map_large_blocks()
bytearray(24_000_000)
large, small = [], []
for _ in range(12):
    large.append(bytearray(8_000_000))
    large[-1][::4096] = b"x" * len(range(0, 8_000_000, 4096))
    small.append(bytearray(b"x" * 100_000))
before = memory.resident()
large.clear()
print(before - memory.resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc")
def test_a_large_block_goes_back_once_it_is_freed() -> None:
    def returned(program: str) -> int:
        return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)

    assert returned(LARGE) > 90_000_000
    assert returned(LARGE.replace("memory.map_large_blocks()", "")) < 30_000_000, "glibc would keep them"


def test_what_a_start_makes_is_never_searched_for_garbage() -> None:
    program = """
import gc
from compute.live.models import memory

with memory.long_lived():
    assert not gc.isenabled()
    lasting = [[] for _ in range(1000)]
assert gc.isenabled() and gc.get_freeze_count() > 1000
try:
    with memory.long_lived():
        raise OSError
except OSError:
    assert gc.isenabled()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
