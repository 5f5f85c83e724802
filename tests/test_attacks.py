"""The real app under a small attack: others are served, memory comes back, nothing fails and nothing restarts.

`python -m tests.bench.bench_attacks` is the large one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.bench import attacks, spoilt
from tests.bench.attacked import Attacked, Innocent, attacked, resident
from tests.bench.attacks import Attack
from tests.bench.visitor import Visitor

SOME = (  # one of each kind, of those that are made fast
    "tiff_shared_tags",
    "tiff_million_strips",
    "tiff_large_tile",
    "png_exif_shared_tags",
    "png_text_bombs",
    "jpeg_tiny_exif_segments",
    "gif_comment_of_bytes",
    "webp_large_canvas",
    "jpeg2000_many_tiles",
    "bmp_jump",
)
SLOWEST = 5.0  # seconds of another visitor's answer: this machine may do much else. It was 62 and more
MORE = 600.0  # MB beyond those before; it was 8,000
BACK = 150.0  # MB


@pytest.fixture(scope="module")
def server() -> Iterator[Attacked]:
    """The app, whose log must hold no traceback in the end."""
    with attacked(stop_at=3_000) as running:
        Visitor(running.port).call("score_pair", "a cat", "a dog", attacks.MODEL)  # its memory is no attack's
        yield running
        assert running.alive and running.tracebacks == 0, running.log.read_text()[-3000:]


def test_a_server_holds_no_library_that_only_a_build_or_other_models_need(server: Attacked) -> None:
    """It built its database and loaded the bundled model: SciPy's statistics and torchvision, 100 MB, are not there."""
    mapped = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "Building" in server.log.read_text() and "libtorch_cpu" in mapped
    assert [library for library in ("scipy/stats", "torchvision", "sklearn") if library in mapped] == []


def survived(server: Attacked, attack: Attack) -> None:
    """Runs the attack in a thread beside an innocent visitor and a sampler of memory."""
    at_first, answers, peak = resident(server.process.pid), [], 0.0
    attacker = threading.Thread(target=lambda: answers.extend(attack.run(server.port)), daemon=True)
    with Innocent(server.port) as innocent:
        attacker.start()
        while attacker.is_alive():
            attacker.join(0.2)
            peak = max(peak, resident(server.process.pid))
    assert server.alive
    assert attack.check(answers) == ""
    assert innocent.failed == [] and innocent.slowest < SLOWEST
    assert peak - at_first < MORE
    assert server.settle(at_first + BACK, seconds=30) <= at_first + BACK


def test_crafted_files_from_several_visitors(server: Attacked) -> None:
    flood = partial(
        attacks.flood_with_files, seconds=4, clients=3, fuzzed=60, images=SOME, zips=("zip_signs_in_a_cell",)
    )
    survived(server, Attack(row="", title="", limit="", run=flood, check=attacks.answered))


@pytest.mark.parametrize(
    "run",
    [
        partial(attacks.fill_queue, events=30),
        partial(attacks.ask_with_giant_keys, size=2_000_000),
        partial(attacks.read_slowly, readers=20, seconds=2),
        partial(attacks.open_sessions, sessions=100),
    ],
    ids=["queue", "keys", "readers", "sessions"],
)
def test_floods(server: Attacked, run: partial) -> None:
    survived(server, Attack(row="", title="", limit="", run=run, check=attacks.answered))


def test_pages_of_other_sites(server: Attacked) -> None:
    check = partial(attacks.refused, within=SLOWEST)
    survived(server, Attack(row="", title="", limit="", run=attacks.come_from_elsewhere, check=check))


def test_hostile_queries_of_the_database(server: Attacked) -> None:
    check = partial(attacks.only_the_innocent, within=30)
    survived(server, Attack(row="", title="", limit="", run=attacks.query_the_database, check=check))


def test_spoilt_run_folders_are_named_and_cost_no_suite() -> None:
    with spoilt.spoilt(stop_at=3_000) as server:
        answers = spoilt.look(server.port)
        assert spoilt.whole(answers) == "" and spoilt.unnamed(server) == []
        assert server.alive and server.tracebacks == 0, server.log.read_text()[-3000:]
