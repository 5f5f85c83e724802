"""Several processes of this machine: the same files as one process alone leaves, and what is lost with one of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from compute.engine import plan, run
from compute.engine.execution import Execution, Outcome, items_key
from compute.engine.workers import processes
from compute.engine.workers.chosen import chosen
from compute.features import passes
from compute.features.store import Shelf
from compute.types import BadInput, NotHere
from tests.bench import bench_scaling
from tests.compute.engine import crewed
from tests.compute.engine.crewed import BATCH, ITEMS, encoded
from tests.compute.small_bench import CATALOG, World, executed

SHARD = 3 * BATCH
TOTAL = 3 * ITEMS


def prepared(folder: Path) -> tuple[plan.Plan, Execution]:
    """A plan of one run, and what is shared while it is made."""
    folder.mkdir(exist_ok=True)
    bench = crewed.bench(folder, features=folder / "features")
    planned = plan.make(
        CATALOG, suite="small", models=["small/eye"], tasks=["unisim/near"], bench=bench, results=folder / "results"
    )
    execution = Execution(
        bench=bench,
        results=folder / "results",
        skip_bad=False,
        pictures=0,
        report=lambda line: None,
        uses=Counter(map(items_key, planned.missing)),
    )
    return planned, execution


def execute(folder: Path, *devices: str, report: Callable[[str], None] = lambda line: None) -> list[Outcome]:
    workers = processes.DeviceProcesses(devices) if devices else None
    planned, execution = prepared(folder)
    return run.execute(planned, bench=execution.bench, results=execution.results, workers=workers, report=report)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in ("features/**/*.safetensors", "results/**/*.parquet")
        for path in folder.glob(pattern)
    }


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "SHARD", SHARD)
    monkeypatch.setattr(Shelf, "merge", Shelf.refresh)  # it would make one file of them


def test_a_lost_process_loses_its_shard_alone(tmp_path: Path) -> None:
    """One of two is killed in the middle; the files are those of a single process."""
    assert execute(tmp_path / "alone")[0].state == "made"
    folder = tmp_path / "two"
    folder.mkdir()
    (folder / "hold").touch()

    def kill() -> None:
        until = time.monotonic() + 120
        while not (folder / "held").exists() and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(int((folder / "held").read_text()), signal.SIGKILL)
        (folder / "go").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    outcomes = execute(folder, "cpu", "cpu")
    thread.join()
    assert [outcome.state for outcome in outcomes] == ["made"]
    assert files(folder) == files(tmp_path / "alone")
    assert sum(name.endswith(".safetensors") for name in files(folder)) == TOTAL // SHARD
    times = Counter(encoded(folder))
    assert set(times) == set(range(TOTAL))
    assert 0 < sum(count - 1 for count in times.values()) <= SHARD
    assert os.getpid() not in crewed.processes(folder)


def test_a_process_killed_while_idle_is_started_anew(tmp_path: Path) -> None:
    """An executor whose process is gone refuses a call at once, which is no failure of the pass."""
    planned, execution = prepared(tmp_path)
    with processes.DeviceProcesses(["cpu"]).crew(planned.models[0], planned.jobs, execution) as crew:
        assert crew.encoders.settings() == {"pixel": "first"}
        [process] = multiprocessing.active_children()
        name = f"process {process.pid} on {socket.gethostname()}, device cpu"
        assert crew.encoders._idle[0][0].name() == name
        process.kill()
        until = time.monotonic() + 60
        while (executor := crew.encoders._idle[0][0]._executor) and not executor._broken and time.monotonic() < until:
            time.sleep(0.02)
        [job] = planned.jobs
        columns = run.prepared_columns(job, execution.items(job))
        execution.bench.subject(job.model).prepare(columns, encoders=crew.encoders)
    assert sorted(encoded(tmp_path)) == list(range(TOTAL)) and process.pid not in crewed.processes(tmp_path)


def test_where_no_worker_has_room_left_this_process_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "full").touch()
    lines: list[str] = []
    assert [outcome.state for outcome in execute(folder, "cpu", report=lines.append)] == ["made"]
    assert [line for line in lines if "this process goes on" in line and "No space left" in line]
    assert os.getpid() in crewed.processes(folder)
    assert sorted(set(encoded(folder))) == list(range(TOTAL))


def test_a_model_that_this_process_holds_is_run_here_alone(tmp_path: Path) -> None:
    """Without a recipe no other process can make the bench: every run says so."""
    world = World(folder=tmp_path)
    outcomes = executed(world, "small/dim", only=("unisim/near",), workers=processes.DeviceProcesses(["cpu"]))
    assert [outcome.state for outcome in outcomes] == ["failed"]
    assert "held by this process" in outcomes[0].reason and "--engine ray" in outcomes[0].reason


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"engine": "slurm"}, "No engine 'slurm': choose from local, ray"),
        ({"engine": "ray", "devices": ("cpu",)}, "name how many --workers"),
        ({"workers": 2}, "add --engine ray"),
        ({"address": "auto"}, "add --engine ray"),
        ({"devices": ("cpu", "cpu"), "device": "cpu"}, "omit --device"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_options_that_do_not_go_together(options: dict, problem: str) -> None:
    with pytest.raises(BadInput, match=problem), chosen(**options):
        pass


def test_without_ray_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NotHere, match=r'pip install "ray\[data\]"'), chosen("ray"):
        pass


def test_this_process_alone_and_one_a_device() -> None:
    with chosen() as alone:
        assert alone == (None, None)
    with chosen(devices=("cpu", "cpu")) as (workers, hardware):
        assert workers.devices == ("cpu", "cpu") and (hardware.device, hardware.dtype) == ("cpu", "float32")


def test_the_bench_of_scaling_shows_the_median_of_its_turns(capsys: pytest.CaptureFixture[str]) -> None:
    """And says how many images its workers need, before it draws any."""
    assert bench_scaling.typical([(5.0, 0.3), (90.0, 0.1), (6.0, 0.2)]) == (6.0, 0.2)
    assert bench_scaling.typical([(5.0, 0.3), (6.0, 0.2)]) == (5.5, 0.25)
    for options, problem in (
        (["--images", "256", "--workers", "16"], "--images 256 are too few: 16 workers need 512, a shard of 32 each"),
        (["--turns", "0"], "at least 1"),
    ):
        with pytest.raises(SystemExit):
            bench_scaling.main(options)
        assert problem in capsys.readouterr().err
