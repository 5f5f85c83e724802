"""A small world for commands and the Python interface."""

from dataclasses import replace

import pytest

import compute
from compute import catalog, paths
from compute.engine import workspace
from compute.tasks.calibration import photographs
from tests.compute.small_bench import CATALOG, World


def small_world(folder, patch):
    """A catalogue with small tasks and models more, results and database in the folder."""
    shipped = catalog.shipped()
    sets = tuple(catalog.Dataset(key=task.dataset, title="") for task in CATALOG.tasks)
    whole = replace(
        shipped,
        suites=(*shipped.suites, *CATALOG.suites),
        tasks=(*shipped.tasks, *CATALOG.tasks),
        models=(*shipped.models, *CATALOG.models),
        datasets=(*shipped.datasets, *sets),
    )
    made = World(folder=folder)
    patch.setattr(catalog, "shipped", lambda: whole)
    patch.setattr(catalog, "known", lambda: whole)
    patch.setattr(paths, "RESULTS", folder / "results")
    patch.setattr(paths, "COMPUTED", folder / "computed")  # what is shipped is not counted
    patch.setattr(paths, "IMPORTED", folder / "shipped")
    patch.setattr(paths, "DATABASE", folder / "likeness.duckdb")
    patch.setattr(workspace, "Bench", lambda *, settings, **parts: made.bench(settings))
    return made


@pytest.fixture
def world(tmp_path, monkeypatch):
    return small_world(tmp_path, monkeypatch)


@pytest.fixture
def few_photographs(monkeypatch):
    """Two small changed parts of each photograph; tests/compute/tasks/test_calibration_items.py makes them all."""
    monkeypatch.setattr(photographs, "CHANGED", 2)
    monkeypatch.setattr(photographs, "SIDES", (96,))


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory, database):
    """Three models on the small suite, by their names, in a world that the module's tests share; what is shipped is
    a database before."""
    with pytest.MonkeyPatch.context() as patch:
        small_world(tmp_path_factory.mktemp("world"), patch)
        names = ("eye", "dim", "vision")
        yield {name: compute.evaluate(f"small/{name}", suite="small", progress=False) for name in names}
