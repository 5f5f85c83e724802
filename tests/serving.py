"""Programs of ours in processes of their own."""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
APP = (sys.executable, "app.py")


@dataclass(frozen=True)
class Server:
    """Its process, its address, ending in a slash, and the file of what it prints."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path

    @property
    def port(self):
        return urlsplit(self.address).port

    def get(self, path=""):
        """What a path answers with; fails where that is an error."""
        with urllib.request.urlopen(self.address + path, timeout=60) as answer:
            return answer.read()


def ended(*words, cwd=ROOT, **place):
    """A Python process in the checkout that has ended: its exit code, what it printed, and its errors."""
    own, command = os.environ | {"PYTHONPATH": str(ROOT)} | place, [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=own, capture_output=True, text=True, timeout=300)


def begun(*words, log=None, **place):
    """A Python process in the checkout, whose output is read from it, or from a file with its errors."""
    own, command = os.environ | {"PYTHONPATH": str(ROOT)} | place, [sys.executable, *map(str, words)]
    to = {"stdout": log.open("w"), "stderr": subprocess.STDOUT} if log else {"stdout": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, env=own, text=True, **to)


def wait(
    until,
    *,
    seconds=600,
    running=None,
    said=str,
):
    """What `until` gives once it is true; fails after so many seconds, or where a process that is to run has ended."""
    end = time.monotonic() + seconds
    while not (found := until()):
        assert time.monotonic() < end and (running is None or running.poll() is None), said()[-3000:]
        time.sleep(0.02)
    return found


def whole(address):
    """Waits until a page is sent with its whole first screen: one that takes long is sent without, and not stored."""
    wait(lambda: urllib.request.urlopen(address, timeout=60).headers["cache-control"] != "no-store")


@contextmanager
def serving(*words, place, command=APP, cwd=ROOT):
    """The server once it has said its address; `place` is its environment.

    Fails where it ends by itself or its log holds a traceback.
    """
    environment = {**place, "PYTHONUNBUFFERED": "1"}
    with tempfile.TemporaryDirectory() as folder, (log := Path(folder) / "log").open("w") as out:
        process = subprocess.Popen([*command, *words], cwd=cwd, env=environment, stdout=out, stderr=subprocess.STDOUT)
        try:
            found = wait(
                lambda: re.search(r"Running on local URL:\s+(http://[\d.:]+)", log.read_text()),
                running=process,
                said=log.read_text,
            )
            yield Server(process, f"{found[1]}/", log)
            ended = process.poll()
        finally:
            process.terminate()
            process.wait(timeout=60)
        said = log.read_text()
        assert ended is None and "Traceback" not in said, said[-3000:]
