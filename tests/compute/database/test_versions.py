"""Earlier versions of the data, stored as differences and restored."""

import shutil

import duckdb
import pytest

from compute.database import store, versions
from compute.types import BadInput

CELL = "run IN (SELECT id FROM runs WHERE model = 'openai/clip-vit-base-patch32' AND task = 'mieb/cub200i2iretrieval')"
# A later version: one value corrected, one model new, the facts of another corrected.
CHANGES = (
    f"UPDATE scores SET value = value / 2 WHERE {CELL}",
    "INSERT INTO models BY NAME SELECT 'new/model' AS key, 'New \"quoted\"' AS title, 'encoder' AS kind",
    "UPDATE models SET license = 'other-licence' WHERE key = 'dreamsim-ensemble'",
)


@pytest.fixture(scope="module")
def later(database, tmp_path_factory):
    """A version after that of the shipped database, which holds what leads back to it."""
    tmp_path = tmp_path_factory.mktemp("versions")
    path = shutil.copy(database, tmp_path / "later.duckdb")
    now = store.recorded(database, "version")
    with duckdb.connect(str(path)) as connection:
        for sql in CHANGES:
            connection.execute(sql)
        connection.execute("UPDATE meta SET value = '99.0' WHERE key = 'version'")
        connection.execute("INSERT INTO versions VALUES ('99.0', '2099-01-01', '- more', -1)")
    folder = versions.store_version(database, path, folder=tmp_path / "versions")
    assert folder.name == now
    with duckdb.connect(str(path)) as connection:
        for name in ("undone", "past_ranks"):
            rows = f"SELECT '{now}' AS version, * FROM '{folder / name}.parquet'"
            connection.execute(f"INSERT INTO {name} BY NAME {rows}")
    return path


def rows(path, table):
    with duckdb.connect(str(path), read_only=True) as connection:
        return sorted(map(repr, connection.execute(f"SELECT * FROM {table}").fetchall()))


def test_what_is_restored_is_the_version_before_row_by_row(database, later, tmp_path):
    now = store.recorded(database, "version")
    versions.restore(later, tmp_path / "restored.duckdb", version=now)
    assert store.recorded(tmp_path / "restored.duckdb", "version") == now
    for table in ("models", "tasks", "suites", "suite_tasks", "runs", "scores", "claims", "doubts", "items", "notes"):
        assert rows(tmp_path / "restored.duckdb", table) == rows(database, table), table
    assert rows(later, "scores") != rows(database, "scores")


def test_ranks_of_the_version_before_are_stored(later):
    with duckdb.connect(str(later), read_only=True) as connection:
        ranks = connection.execute("SELECT rank, rank_low, rank_high FROM past_ranks WHERE suite = 'mieb'").fetchall()
    assert len(ranks) > 30 and all(low <= rank <= high for rank, low, high in ranks)


def test_a_version_that_is_not_stored_is_refused(database, later, tmp_path):
    with pytest.raises(BadInput, match="0.1"):
        versions.restore(later, tmp_path / "restored.duckdb", version="0.1")
    with pytest.raises(BadInput, match="CHANGELOG"):
        versions.store_version(database, database, folder=tmp_path)


def test_an_earlier_database_may_have_other_columns_and_lack_tables(database, tmp_path):
    earlier = shutil.copy(database, tmp_path / "earlier.duckdb")
    with duckdb.connect(str(earlier)) as connection:
        connection.execute("UPDATE meta SET value = '0.9' WHERE key = 'version'")
        connection.execute("ALTER TABLE claims DROP COLUMN why")
        connection.execute("DROP TABLE same_data")
    folder = versions.store_version(earlier, database, folder=tmp_path / "other")
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT DISTINCT relation FROM '{folder}/undone.parquet'").fetchall()
    assert found == []
