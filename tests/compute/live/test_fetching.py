"""Weights fetched by a process that can be watched and stopped."""

import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from compute.catalog import shipped
from compute.live import fetching
from compute.live.fetching import DownloadProgress, Fetcher
from compute.types import NotHere

ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")
OTHER = replace(ROW, key="another", title="Another")
WAITS = "import time; print(7, 10, flush=True); time.sleep(60)"


@pytest.fixture
def program(monkeypatch):
    """Runs some Python in the place of the download, for each another; hands back the processes that were started."""
    monkeypatch.setattr(fetching, "LOOK", 0.01)
    started, popen = [], subprocess.Popen

    def stand_in(*codes):
        def start(command, **rest):
            assert command[1:5] == ["-m", "compute", "fetch", "--models"]
            assert command[6:] == ["--room", "5000", "--lines"]
            started.append(popen([sys.executable, "-c", codes[len(started)]], **rest))
            return started[-1]

        monkeypatch.setattr(fetching.subprocess, "Popen", start)
        return started

    return stand_in


def test_progress_is_what_the_process_says(program):
    program("import time\nfor at in (0, 4, 10):\n  print('Fetching files'); print(at, 10, flush=True); time.sleep(.1)")
    seen = list(Fetcher().fetch(ROW, room=5000))
    assert list(dict.fromkeys(seen))[-3:] == [DownloadProgress(done=done, total=10) for done in (0, 4, 10)]


def test_it_can_be_stopped(program):
    started = program(WAITS)
    looks = iter((False, False, True))
    with pytest.raises(NotHere, match="was stopped"):
        list(Fetcher().fetch(ROW, room=5000, stop=lambda: next(looks)))
    assert started[0].poll() is not None


def test_closing_the_iterator_ends_the_process_and_lets_the_next_begin(program):
    started, fetcher = program(WAITS, WAITS), Fetcher()
    for _ in range(2):
        running = fetcher.fetch(ROW, room=5000)
        next(running)
        running.close()
    assert [process.poll() is None for process in started] == [False, False]


def test_a_failure_is_the_commands_own_sentence(program):
    program(
        "import sys; print('noise', file=sys.stderr); print('Error: no such commit', file=sys.stderr); sys.exit(1)",
        "print('x' * 300_000); raise SystemExit(3)",
    )
    fetcher = Fetcher()
    with pytest.raises(NotHere, match="^no such commit$"):
        list(fetcher.fetch(ROW, room=5000))
    with pytest.raises(NotHere, match="^The download of OpenCLIP ViT-B/32 LAION-2B failed. Try again later$"):
        list(fetcher.fetch(ROW, room=5000))


def test_another_model_waits_for_its_turn_and_may_be_stopped(program):
    started, fetcher, stop = program(WAITS), Fetcher(), threading.Event()
    first, second = fetcher.fetch(ROW, room=5000), fetcher.fetch(OTHER, room=5000, stop=stop.is_set)
    next(first)
    assert next(second) == DownloadProgress(behind=ROW.title)
    stop.set()
    with pytest.raises(NotHere, match="The download of Another was stopped"):
        next(second)
    assert started[0].poll() is None
    first.close()
