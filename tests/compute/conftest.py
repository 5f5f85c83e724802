"""A small world for commands and the Python interface."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compute import catalog, paths
from compute.engine import workspace
from tests.compute.small_bench import CATALOG, World


@pytest.fixture(autouse=True, scope="session")
def own_notes(tmp_path_factory):
    """Digests of the tests' files are noted in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIKENESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A catalogue with small tasks and models more, results and database in the test's own folder."""
    shipped = catalog.shipped()
    sets = tuple(catalog.Dataset(key=task.dataset, title="") for task in CATALOG.tasks)
    whole = replace(
        shipped,
        suites=(*shipped.suites, *CATALOG.suites),
        tasks=(*shipped.tasks, *CATALOG.tasks),
        models=(*shipped.models, *CATALOG.models),
        datasets=(*shipped.datasets, *sets),
    )
    made = World(folder=tmp_path)
    monkeypatch.setattr(catalog, "shipped", lambda: whole)
    monkeypatch.setattr(catalog, "known", lambda: whole)
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "COMPUTED", tmp_path / "computed")  # what is shipped is not counted
    monkeypatch.setattr(paths, "IMPORTED", tmp_path / "shipped")
    monkeypatch.setattr(paths, "DATABASE", tmp_path / "likeness.duckdb")
    monkeypatch.setattr(workspace, "assemble", lambda settings, **parts: made.bench(settings))
    return made
