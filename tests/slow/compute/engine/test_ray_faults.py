"""A real Ray cluster of several workers on this machine: what is lost with them, and that the run ends complete.

Proofs are counts of items that were encoded, and the files that are left; no clock.
"""

import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from compute.engine.ray_cluster import RayCluster
from compute.features import passes
from compute.features.store import EmbeddingCache
from tests.compute.engine import crewed
from tests.compute.engine.crewed import SHARD, TOTAL, encoded, files, processes
from tests.serving import begun, wait

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")

PATIENCE = 240.0  # seconds, for a machine that is busy


@pytest.fixture(scope="module")
def cluster():
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
def whole(tmp_path, monkeypatch):
    """The files that this process alone leaves."""
    monkeypatch.setattr(passes, "SHARD", SHARD)
    monkeypatch.setattr(EmbeddingCache, "merge", EmbeddingCache.refresh)  # it would make one file of them
    assert crewed.execute(tmp_path / "alone")[0].state == "made"
    return files(tmp_path / "alone")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ray").mkdir()
    return tmp_path / "ray"


def execute(folder, address):
    cluster = RayCluster(address=address, workers=3)
    try:
        return crewed.execute(folder, cluster)
    finally:
        cluster.close()


def hold_again(folder):
    """Has a second worker wait too; whether one does."""
    names = [path.name for path in folder.glob("hold-*")]
    if len(names) == 1:
        (folder / "hold").touch()
    return len(names) == 2


def beside(folder, address, do):
    """Executes on the cluster in a thread, while `do` interferes."""
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(execute, folder, address)
        try:
            do()
        finally:
            (folder / "go").touch()
        assert [outcome.state for outcome in ended.result(PATIENCE)] == ["made"]


def test_a_machine_that_joins_takes_part_and_a_killed_worker_loses_its_shard_alone(cluster, folder, whole):
    """Of three workers two have room. Both wait until a third encodes, which has room on the new machine alone."""
    (folder / "hold").touch()

    def interfere():
        wait((folder / "held").exists)
        wait(lambda: hold_again(folder))
        cluster.add_node(num_cpus=2, object_store_memory=100 << 20)
        wait(lambda: len(processes(folder)) == 3)
        os.kill(int((folder / "held").read_text()), signal.SIGKILL)

    beside(folder, cluster.address, interfere)
    assert files(folder) == whole
    times = Counter(encoded(folder))
    assert set(times) == set(range(TOTAL))
    assert 0 < sum(count - 1 for count in times.values()) <= SHARD


DRIVER = """
import sys
from pathlib import Path
from compute.engine.ray_cluster import RayCluster
from compute.features import passes
from compute.features.store import EmbeddingCache
from tests.compute.engine import crewed

passes.SHARD, EmbeddingCache.merge = crewed.SHARD, EmbeddingCache.refresh
[outcome] = crewed.execute(Path(sys.argv[1]), RayCluster(address=sys.argv[2], workers=2))
print(outcome.state)
"""


def test_a_driver_killed_in_the_middle_is_resumed(cluster, folder, whole):
    (folder / "hold").touch()
    first = begun("-c", DRIVER, folder, cluster.address)
    wait(lambda: (folder / "held").exists() and len(set(encoded(folder))) > 3 * SHARD)
    first.kill()
    first.communicate(timeout=PATIENCE)
    (folder / "go").touch()
    second = begun("-c", DRIVER, folder, cluster.address)
    assert second.communicate(timeout=PATIENCE)[0].strip().endswith("made") and second.returncode == 0
    assert files(folder) == whole
    times = Counter(encoded(folder))
    assert set(times) == set(range(TOTAL))
    assert sum(count - 1 for count in times.values()) <= 2 * SHARD  # one for each worker
