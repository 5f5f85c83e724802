"""Weights fetched by a process that can be watched and stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compute.catalog import shipped
from compute.live import fetching
from compute.types import NotHere

ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs some Python in the place of the download; hands back the processes that were started."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(fetching, "LOOK", 0.01)
    started, popen = [], subprocess.Popen

    def stand_in(code: str) -> list[subprocess.Popen]:
        def start(command: list[str], **rest: object) -> subprocess.Popen:
            assert command[1:] == ["-m", "compute", "fetch", "--models", ROW.key]
            started.append(popen([sys.executable, "-c", code, str(tmp_path)], **rest))
            return started[-1]

        monkeypatch.setattr(fetching.subprocess, "Popen", start)
        return started

    return stand_in


def test_progress_is_what_has_come(program) -> None:
    program(f"""
import pathlib, sys, time
blobs = pathlib.Path(sys.argv[1]) / 'models--{ROW.weights.replace("/", "--")}' / 'blobs'
blobs.mkdir(parents=True)
draft = blobs / 'abc.incomplete'
with draft.open('wb') as out:
    out.truncate(10_000_000)
    for _ in range(8):
        out.write(b'x' * 65536); out.flush(); time.sleep(.05)
""")
    counts = list(fetching.fetch(ROW))
    assert counts == sorted(counts)
    assert 0 < counts[-1] <= 8 * 65536 + 65536  # what was written, not how long the file will be


def test_it_can_be_stopped(program) -> None:
    started = program("import time; time.sleep(60)")
    looks = iter((False, False, True))
    with pytest.raises(NotHere, match="was stopped; what has come is kept"):
        list(fetching.fetch(ROW, stop=lambda: next(looks)))
    assert started[0].poll() is not None


def test_closing_the_iterator_ends_the_process(program) -> None:
    started = program("import time; time.sleep(60)")
    running = fetching.fetch(ROW)
    next(running)
    running.close()
    assert started[0].poll() is not None


def test_a_failure_is_the_commands_own_sentence(program) -> None:
    program("import sys; print('noise', file=sys.stderr); print('Error: no such commit', file=sys.stderr); sys.exit(1)")
    with pytest.raises(NotHere, match="^no such commit$"):
        list(fetching.fetch(ROW))


def test_the_command_fetches_nothing_without_a_network(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-m", "compute", "fetch", "--models", f"ssim,{ROW.key}"], text=True,
                           env={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PATH": ""}, capture_output=True,
                           timeout=120, check=False)
    assert "ssim: no weights to fetch" in ended.stdout
    assert ended.returncode == 1 and "hf download" in ended.stderr and "Traceback" not in ended.stderr
