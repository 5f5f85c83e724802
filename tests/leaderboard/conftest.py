"""The tables of the shipped figures, of the same with one import beside them, and with computed runs of stand-ins."""

import shutil

import duckdb
import pytest

from compute.catalog import shipped
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.web import redact
from tests.leaderboard.served import with_scores
from tests.leaderboard.web.launched import launched

MODEL = "google/siglip-so400m-patch14-224"


@pytest.fixture(scope="module", autouse=True)
def nothing_hidden_before():
    """The folders of a module's models are hidden as long as its tests run."""
    yield
    redact._hidden.clear()


@pytest.fixture
def path(database, tmp_path):
    """A copy of the shipped figures that a test may change."""
    return shutil.copyfile(database, tmp_path / "likeness.duckdb")


@pytest.fixture(scope="session")
def suite_cache(database):
    """Tables, rankings and payloads of the shipped figures."""
    return SuiteCache(Database(database))


@pytest.fixture(scope="session")
def imported_suite_cache(once):
    """The same with one model measured again on every task of unisim-core but the last, from a file."""
    tasks = [task for task in shipped().tasks if "unisim-core" in task.suites][:-1]
    lines = ["benchmark,model,task,metric,value,n", *(f"unisim,{MODEL},{task.key},accuracy,0.5,100" for task in tasks)]
    return SuiteCache(Database(once("imported", lambda folder: with_scores(folder, lines))))


@pytest.fixture(scope="session")
def changed(database, tmp_path_factory):
    """Makes the shipped database, or another, after statements."""

    def make(*statements, of=database):
        path = shutil.copyfile(of, tmp_path_factory.mktemp("changed") / "likeness.duckdb")
        with duckdb.connect(str(path)) as connection:
            for statement in statements:
                connection.execute(statement)
        return Database(path)

    return make


@pytest.fixture(scope="session")
def stand_in_database(once):
    """The shipped figures, computed runs of stand-in models on a task of every kind."""
    from tests.leaderboard import stand_ins

    def make(folder):
        stand_ins.make(folder / "results")
        return stand_ins.database(folder, results=folder / "results")

    return once("stand-ins", make)


@pytest.fixture(scope="session")
def stand_in_suite_cache(stand_in_database):
    return SuiteCache(Database(stand_in_database))


@pytest.fixture(scope="session")
def app(database, tmp_path_factory):
    """The whole app on the shipped figures."""
    from leaderboard import server

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_warm", lambda *_: None)  # what is made ahead is not what is tested
        patch.delenv("LIKENESS_RATE", raising=False)
        blocks, launch = server.build(database)
    yield from launched(blocks, launch, tmp_path_factory.mktemp("app"))
