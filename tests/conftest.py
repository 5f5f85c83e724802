"""What the tests share: a database built once from the repository's own files, and a place for small ones."""

import fcntl
import gc
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SETTLED = ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS", "OMP_WAIT_POLICY")  # what commands set for their whole process
# Tests say themselves when they are offline; their downloads come from servers of their own.
for switch in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"):
    os.environ.pop(switch, None)
# The test processes have every core busy: threads that wait for each other within one halve what they do.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")


def pytest_collection_finish():
    """What the tests import stays: the program collects garbage after every model, and need not look through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def environment():
    """The environment and the hub library's own switch, as they were."""
    from huggingface_hub import constants

    before, offline = {name: os.environ.get(name) for name in SETTLED}, constants.HF_HUB_OFFLINE
    yield
    constants.HF_HUB_OFFLINE = offline
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(scope="session", autouse=True)
def claims_read_once():
    """The shipped claims, a third of what a database takes to build, are worked out once a process, and once more
    for builds without results of others."""
    from compute import paths
    from compute.database import build

    shipped, imported, of_these, known = (paths.PUBLISHED, paths.CLAIMS), paths.IMPORTED, build.all_claims, {}

    def claims():
        others = paths.IMPORTED if paths.IMPORTED.is_dir() else None
        if shipped != (paths.PUBLISHED, paths.CLAIMS) or others not in (imported, None):
            return of_these()
        if others not in known:
            known[others] = of_these()
        return list(known[others])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "all_claims", claims)
        yield


@pytest.fixture
def without_imports(tmp_path, monkeypatch):
    """Builds read no shipped results, of others or computed, which take most of their time."""
    from compute import paths

    for name in ("IMPORTED", "COMPUTED"):
        monkeypatch.setattr(paths, name, tmp_path / "shipped" / name)


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """`once(name, make)`: the path that `make(folder)` returns, made by the first of the test processes and shared by
    all of them. Nobody may write below it afterwards."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if base.name.startswith("popen-") else base  # pytest-xdist: a folder a process

    def made(name, make):
        folder, stated = root / f"once-{name}", root / f"once-{name}.path"
        with (root / f"once-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not stated.exists():
                folder.mkdir()
                stated.write_text(str(make(folder)))
        return Path(stated.read_text())

    return made


@pytest.fixture(scope="session")
def database(once):
    """What is shipped as a database: the papers' figures, the public results, the computed runs; no more."""
    from compute.database.build import build

    return once("database", lambda folder: build(folder / "likeness.duckdb", results=folder / "results").path)


@pytest.fixture(scope="session")
def app_database(once):
    """What is shipped, and stand-ins of all that it has not: see `served.everything`."""
    from tests.leaderboard.served import everything

    return once("app", everything)
