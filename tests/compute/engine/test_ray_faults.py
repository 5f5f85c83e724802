"""A real Ray cluster of several workers on this machine: what is lost with them, and that the run ends complete.

Proofs are counts of items that were encoded, and the files that are left; no clock.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compute.engine import plan, run
from compute.engine.run import Outcome
from compute.features import passes
from compute.features.store import Shelf
from compute.paths import ROOT
from tests.compute.engine import crewed
from tests.compute.engine.crewed import BATCH, ITEMS, encoded, processes
from tests.compute.small_bench import CATALOG

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")

SHARD = 3 * BATCH
TOTAL = 3 * ITEMS
PATIENCE = 240.0  # seconds, for a machine that is busy


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of one machine with two cores; tests may have others join."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    started = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100 << 20},
    )
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files that this process alone leaves."""
    monkeypatch.setattr(passes, "SHARD", SHARD)
    monkeypatch.setattr(Shelf, "merge", Shelf.refresh)  # it would make one file of them
    (tmp_path / "alone").mkdir()
    assert execute(tmp_path / "alone")[0].state == "made"
    assert sorted(encoded(tmp_path / "alone")) == list(range(TOTAL))
    return files(tmp_path / "alone")


def execute(folder: Path, *, address: str = "", workers: int = 2, report: Any = print) -> list[Outcome]:
    """The run of one model on one task, in this process or on the cluster at an address."""
    from compute.engine.workers.ray_cluster import RayCluster

    bench = crewed.bench(folder, features=folder / "features")
    planned = plan.make(
        CATALOG, suite="small", models=["small/eye"], tasks=["unisim/near"], bench=bench, results=folder / "results"
    )
    crews = RayCluster(address=address, workers=workers) if address else None
    try:
        return run.execute(planned, bench=bench, results=folder / "results", report=report, workers=crews)
    finally:
        if crews:
            crews.close()


def files(folder: Path) -> dict[str, bytes]:
    """Every file of vectors, scores and evidence by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in ("features/**/*.safetensors", "results/**/*.parquet")
        for path in folder.glob(pattern)
    }


def wait_for(true: Callable[[], Any]) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def hold_again(folder: Path) -> bool:
    """Has a second worker wait too; whether one does."""
    names = [path.name for path in folder.glob("hold-*")]
    if len(names) == 1:
        (folder / "hold").touch()
    return len(names) == 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ray").mkdir()
    return tmp_path / "ray"


def beside(folder: Path, do: Callable[[], None], **options: Any) -> list[Outcome]:
    """Executes on the cluster in a thread, while `do` interferes."""
    ended: list[Any] = []

    def executed() -> None:
        try:
            ended.append(execute(folder, **options))
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=executed)
    thread.start()
    try:
        do()
    finally:
        (folder / "go").touch()
        thread.join(PATIENCE)
    assert ended and isinstance(ended[0], list), ended
    return ended[0]


def test_a_worker_killed_in_the_middle_loses_its_shard_alone(
    cluster: Any, folder: Path, whole: dict[str, bytes]
) -> None:
    (folder / "hold").touch()

    def kill() -> None:
        wait_for((folder / "held").exists)
        os.kill(int((folder / "held").read_text()), signal.SIGKILL)

    outcomes = beside(folder, kill, address=cluster.address)
    assert [outcome.state for outcome in outcomes] == ["made"]
    assert files(folder) == whole
    times = Counter(encoded(folder))
    assert set(times) == set(range(TOTAL))
    assert 0 < sum(count - 1 for count in times.values()) <= SHARD


def test_a_machine_that_joins_takes_part(cluster: Any, folder: Path, whole: dict[str, bytes]) -> None:
    """Of three workers two have room. Both wait until a third encodes, which has room on the new machine alone."""
    (folder / "hold").touch()
    joined: list[Any] = []

    def join() -> None:
        wait_for((folder / "held").exists)
        wait_for(lambda: hold_again(folder))
        joined.append(cluster.add_node(num_cpus=2, object_store_memory=100 << 20))
        wait_for(lambda: len(processes(folder)) == 3)

    outcomes = beside(folder, join, address=cluster.address, workers=3)
    cluster.remove_node(joined[0])
    assert [outcome.state for outcome in outcomes] == ["made"]
    assert files(folder) == whole
    assert sorted(encoded(folder)) == list(range(TOTAL))


def test_a_slow_worker_holds_up_its_own_shard_alone(cluster: Any, folder: Path, whole: dict[str, bytes]) -> None:
    """It is in its first batch until the other one has encoded all other shards."""
    (folder / "hold").touch()
    outcomes = beside(
        folder, lambda: wait_for(lambda: len(encoded(folder)) == TOTAL - SHARD + BATCH), address=cluster.address
    )
    assert [outcome.state for outcome in outcomes] == ["made"]
    assert files(folder) == whole
    assert sorted(encoded(folder)) == list(range(TOTAL)) and len(processes(folder)) == 2


def test_a_worker_with_a_full_disk_stops_and_others_go_on(cluster: Any, folder: Path, whole: dict[str, bytes]) -> None:
    (folder / "full").touch()
    lines: list[str] = []
    outcomes = execute(folder, address=cluster.address, report=lines.append)
    assert [outcome.state for outcome in outcomes] == ["made"]
    assert files(folder) == whole
    assert any("A worker stops" in line and "No space left" in line for line in lines)
    times = Counter(encoded(folder))
    assert set(times) == set(range(TOTAL)) and sum(count - 1 for count in times.values()) <= SHARD


DRIVER = """
import sys
from pathlib import Path
from compute.features import passes
from compute.features.store import Shelf
from tests.compute.engine import test_ray_faults as faults

passes.SHARD, Shelf.merge = faults.SHARD, Shelf.refresh
[outcome] = faults.execute(Path(sys.argv[1]), address=sys.argv[2])
print(outcome.state)
"""


def test_a_driver_killed_in_the_middle_is_resumed(cluster: Any, folder: Path, whole: dict[str, bytes]) -> None:
    def driver() -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(folder), cluster.address], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )

    (folder / "hold").touch()
    first = driver()
    wait_for(lambda: (folder / "held").exists() and len(set(encoded(folder))) > 3 * SHARD)
    first.kill()
    first.communicate(timeout=PATIENCE)
    (folder / "go").touch()
    second = driver()
    assert second.communicate(timeout=PATIENCE)[0].strip().endswith("made") and second.returncode == 0
    assert files(folder) == whole
    times = Counter(encoded(folder))
    assert set(times) == set(range(TOTAL))
    assert sum(count - 1 for count in times.values()) <= 2 * SHARD  # one for each worker


def test_a_run_of_the_mini_suite_equals_one_in_this_process(cluster: Any, tmp_path: Path) -> None:
    """Scores, evidence and vectors bit for bit, through the command; prompts that a procedure brings among them."""
    tasks = "mini/quality,mini/odd-one-out,mini/images-by-text"
    command = ["run", "--suite", "mini", "--models", "tiny", "--tasks", tasks, "--offline", "--results"]
    on_ray = ["--engine", "ray", "--address", cluster.address, "--workers", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for name, options in (("here", []), ("ray", on_ray)):
        done = subprocess.run(
            [sys.executable, "-m", "compute", *command, str(tmp_path / name), *options],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
        )
        assert done.returncode == 0, done.stderr
    here, ray_files = (
        {
            str(path.relative_to(tmp_path / name)): path.read_bytes()
            for pattern in ("features/**/*.safetensors", "tiny/**/*.parquet")
            for path in (tmp_path / name).glob(pattern)
        }
        for name in ("here", "ray")
    )
    assert ray_files == here and sum(name.endswith("scores.parquet") for name in here) == 4
