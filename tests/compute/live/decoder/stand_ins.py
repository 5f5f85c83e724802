"""Programs that stand in for the decoding process and misbehave; each speaks the wire's frames by hand."""

from __future__ import annotations

import sys

READY = """
import os, struct, sys, time
def reply(kind, width=0, height=0, note=0, thumbnail=0, mark=b"LKr1"):
    os.write(1, struct.pack("<4sBxxxIIII", mark, kind, width, height, note, thumbnail))
def take():
    size = lambda count: b"".join(iter(lambda: os.read(0, 1), b"")) if count is None else sys.stdin.buffer.read(count)
    mark, large, thumbnail, name, data = struct.unpack("<4sBBHI", size(12))
    return bool(large), size(name), size(data)
reply(1)
"""


def program(body: str, *, ready: bool = True) -> tuple[str, ...]:
    """The command of a program that says that it is ready and then runs `body`."""
    return sys.executable, "-c", (READY if ready else "import os, sys, time\n") + body
