"""Starts the app, visits pages and tells what came back, as JSON: python hosted.py PAGE ...

Meant for a network namespace of its own, whose loopback is down at first; the app is asked from within.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

UP, SET, GET = 0x1, 0x8914, 0x8913  # IFF_UP, SIOCSIFFLAGS, SIOCGIFFLAGS
OUTSIDE = ("192.0.2.1", 443)  # of RFC 5737, answered by nobody: where there is a network, it times out


def loopback_up() -> None:
    """As `ip link set lo up`, where it is down."""
    with socket.socket() as any_socket:
        name = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(any_socket, GET, name))[1]
        if not flags & UP:
            fcntl.ioctl(any_socket, SET, struct.pack("16sh", b"lo", flags | UP))


def network() -> bool:
    """Whether anything but this machine could be reached."""
    with socket.socket() as outside:
        outside.settimeout(2)
        try:
            outside.connect(OUTSIDE)
        except TimeoutError:
            return True
        except OSError:
            return False
    return True


def wait(process: subprocess.Popen, *, log: Path, port: int) -> None:
    """Until the app's log tells its address."""
    for _ in range(1200):
        if f":{port}" in log.read_text():
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"The app does not run: {log.read_text()[-2000:]}")


def visit(address: str) -> tuple[int, int]:
    """Status and size of an answer."""
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.status, len(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, 0


def main(pages: list[str]) -> None:
    loopback_up()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        log, begun = Path(folder) / "log", time.monotonic()
        with log.open("w") as out:
            process = subprocess.Popen(
                [sys.executable, "-u", "app.py", "--port", str(port)], stdout=out, stderr=subprocess.STDOUT
            )
        try:
            wait(process, log=log, port=port)
            seconds = time.monotonic() - begun
            found = {page: visit(f"http://127.0.0.1:{port}/{page}") for page in pages}
            print(json.dumps({"pages": found, "log": log.read_text(), "network": network(), "seconds": seconds}))
        finally:
            process.terminate()
            process.wait(timeout=60)


if __name__ == "__main__":
    main(sys.argv[1:])
