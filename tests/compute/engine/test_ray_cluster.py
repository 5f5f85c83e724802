"""On a Ray cluster of two workers: the same files as this process alone leaves."""

import os
import sys

import numpy as np
import pytest

from compute.engine import ray_cluster
from compute.engine.ray_cluster import RayCluster
from compute.engine.workspace import RunSettings
from compute.features import passes
from compute.features.store import EmbeddingCache
from compute.interface.evaluate import evaluate
from compute.types import BadInput, NotHere
from tests.compute.engine import crewed


class Lengths:
    """Texts by their lengths."""

    def encode_text(self, texts):
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def test_a_run_by_two_workers_equals_one_of_this_process(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")
    monkeypatch.setattr(passes, "SHARD", crewed.SHARD)
    monkeypatch.setattr(EmbeddingCache, "merge", EmbeddingCache.refresh)  # it would make one file of them
    assert crewed.execute(tmp_path / "here")[0].state == "made"
    cluster = RayCluster(workers=2)
    try:
        assert [outcome.state for outcome in crewed.execute(tmp_path / "ray", cluster)] == ["made"]
        assert crewed.files(tmp_path / "ray") == crewed.files(tmp_path / "here")
        assert sorted(crewed.encoded(tmp_path / "ray")) == list(range(crewed.TOTAL))
        assert os.getpid() not in crewed.processes(tmp_path / "ray")
        data = tmp_path / "pairs.csv"
        data.write_text("first,second,score\na,b,1\nc,d,2\ne,f,3\n")
        with pytest.warns(UserWarning, match="lengths.*without --engine ray"):
            evaluate(Lengths(), engine="ray", data=data, version="1", results=tmp_path / "r", name="lengths")
    finally:
        cluster.close()


def test_a_cluster_that_does_not_answer_is_named():
    settings = RunSettings(engine="ray", address="127.0.0.1:1")
    with pytest.raises(BadInput, match="127.0.0.1:1"), ray_cluster.opened(settings):
        pass


def test_without_ray_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NotHere, match="pip install"), ray_cluster.opened(RunSettings(engine="ray")):
        pass
