"""The tables of the shipped figures, and of the same with stand-ins of all that they have not."""

import shutil

import duckdb
import pytest

from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.web import redact
from tests.leaderboard.web.launched import launched


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
def stand_in_suite_cache(app_database):
    return SuiteCache(Database(app_database))


@pytest.fixture(scope="session")
def app(database, tmp_path_factory):
    """The whole app on the shipped figures."""
    with launched(database, tmp_path_factory.mktemp("app")) as found:
        yield found
