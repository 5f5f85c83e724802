"""Earlier versions of the shipped data: the changes to undo in the next version, and the rankings of models.

Each is a folder of `assets/versions`, written by `store_version` once the next version exists. Every database contains
all of them, so that `restore` can rebuild any. Tables without a key (votes, notes, gaps) and computed runs are those of
the current version.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import duckdb
import pandas as pd

from compute import paths
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.means import UNRANKED
from compute.analysis.table import HUMAN, USUAL, of_database
from compute.catalog import published
from compute.database import store
from compute.database.schema import TABLES, VIEWS
from compute.io.files import temporary_folder
from compute.types import BadInput, unknown

# Tables that come from run folders, calibrations and measured speeds, and from the database itself.
OF_RUNS = ("meta", "items", "ratings", "thumbnails", "calibrations", "calibration_domains", "speeds")
NOT_COMPUTED = {
    "runs": "WHERE origin <> 'computed'",
    "scores": "WHERE run IN (SELECT id FROM {0}.runs WHERE origin <> 'computed')",
}
COMMITS = {"runs": ("settings",)}  # columns that every refresh changes: they contain the commit that was read
OF_VERSIONS = ("versions", "undone", "past_ranks")  # tables
CONSTRAINTS = """
SELECT table_name, constraint_column_names, referenced_table, referenced_column_names FROM duckdb_constraints()
WHERE database_name = 'later_version' AND constraint_type = ?
"""
SUITES = "SELECT key FROM suites WHERE aggregate <> ? ORDER BY position"
COLUMNS = "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = ? AND table_name = ?"
# Rows that the earlier database had, and the keys of rows that it did not have.
DIFFERENCE = """
SELECT '{name}' AS relation, CAST(to_json([{key}]) AS VARCHAR) AS key, CAST(to_json(old) AS VARCHAR) AS before
FROM (SELECT {columns} FROM earlier_version.{name} {then}) AS old
SEMI JOIN (
    SELECT {compared} FROM earlier_version.{name} {then} EXCEPT SELECT {compared} FROM later_version.{name} {now}
)
USING ({key})
UNION ALL
SELECT '{name}', CAST(to_json([{key}]) AS VARCHAR), NULL
FROM (SELECT {key} FROM later_version.{name} {now} EXCEPT SELECT {key} FROM earlier_version.{name} {then})
ORDER BY ALL
"""
# The state of each row in the earliest of the undone versions.
CHANGED = """
CREATE OR REPLACE TEMP TABLE changed AS
SELECT key, arg_max(coalesce(before, ''), list_position($chain, version)) AS before FROM differences
WHERE relation = $name AND list_contains($chain, version) GROUP BY key
"""
RESTORED = """
SELECT * FROM later_version.{name} WHERE CAST(to_json([{key}]) AS VARCHAR) NOT IN (SELECT key FROM changed)
UNION ALL BY NAME SELECT unnest(from_json(before, '{shape}')) FROM changed WHERE before <> ''
"""


def frames() -> dict[str, pd.DataFrame]:
    """Returns the tables of versions: all versions, the newest first, and for the stored ones the changes to undo and
    the ranks.
    """
    out = {"versions": pd.DataFrame(published.history()).rename(columns={"number": "version"})}
    for name in OF_VERSIONS[1:]:
        files = sorted(paths.VERSIONS.glob(f"*/{name}.parquet"))
        parts = [store.read_parquet(path).assign(version=path.parent.name) for path in files]
        out[name] = pd.concat(parts, ignore_index=True) if parts else store.frame(())
    return out


def store_version(earlier: Path, later: Path, *, folder: Path = paths.VERSIONS) -> Path:
    """Stores the changes from a database back to an earlier one, in a folder named after the earlier version.

    A column in only one of them stays as in the later one, so the earlier may have another schema. Raises
    DatabaseError, and BadInput if both have the same version.
    """
    version, now = (store.recorded(path, "version") for path in (earlier, later))
    if version == now:
        raise BadInput(f"Both databases are of version {now}. A version begins with its entry in CHANGELOG.md")
    with duckdb.connect() as connection:
        _attach(connection, earlier_version=earlier, later_version=later)
        parts = []
        for name, key in _keys(connection).items():
            found = [connection.execute(COLUMNS, [of, name]).fetchall() for of in ("earlier_version", "later_version")]
            then, columns = map(dict, found)
            if then.keys() >= set(key):
                shared = {column: kind for column, kind in columns.items() if column in then}
                shipped = NOT_COMPUTED.get(name, "")
                sql = DIFFERENCE.format(
                    name=name,
                    key=_listed(key),
                    columns=_texts(shared),
                    compared=_listed(shared.keys() - COMMITS.get(name, ())),
                    then=shipped.format("earlier_version"),
                    now=shipped.format("later_version"),
                )
                parts.append(connection.execute(sql).df())
    undone = pd.concat(parts, ignore_index=True)
    with temporary_folder() as temporary:
        before = temporary / later.name
        _write(later, before, chain=[version], undone=undone.assign(version=version))
        ranks = _ranks(before)
    for name, frame in {"undone": undone, "past_ranks": ranks}.items():
        store.write_parquet(folder / version / f"{name}.parquet", frame=frame)
    return folder / version


def restore(path: Path, to: Path, *, version: str) -> None:
    """Writes a database as it was in an earlier version. Raises BadInput for a version that is not stored."""
    parts = store.frames(path, names=OF_VERSIONS)
    history = list(parts["versions"].sort_values("position")["version"])
    earlier = history[history.index(store.recorded(path, "version")) + 1 :]
    stored = list(itertools.takewhile({*parts["undone"]["version"]}.__contains__, earlier))
    if version not in stored:
        raise BadInput(f"{unknown('version of the data', version, stored)} Stored are: {', '.join(stored) or 'none'}")
    _write(path, to, chain=stored[: stored.index(version) + 1], undone=parts["undone"])


def _write(later: Path, to: Path, *, chain: Sequence[str], undone: pd.DataFrame) -> None:
    """Writes a database without the changes undone by a chain of versions, the newest first."""
    with store.written(to) as draft, duckdb.connect(str(draft)) as connection:
        _attach(connection, later_version=later)
        connection.register("differences", undone)
        keys = _keys(connection)
        references = connection.execute(CONSTRAINTS, ["FOREIGN KEY"]).fetchall()
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            rows = f"SELECT * FROM later_version.{name}"
            if name in keys:
                connection.execute(CHANGED, {"chain": list(chain), "name": name})
                described = connection.execute(COLUMNS, ["later_version", name]).fetchall()
                rows = RESTORED.format(name=name, key=_listed(keys[name]), shape=_shape(described))
            there = [
                f"{column} IN (SELECT {key} FROM {other})"
                for own, (column,), other, (key,) in references
                if own == name
            ]
            where = f"WHERE {' AND '.join(there)}" if there else ""
            connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM ({rows}) {where}")
        connection.execute("UPDATE meta SET value = ? WHERE key = 'version'", [chain[-1]])
        for view in VIEWS:
            connection.execute(view)
        connection.execute("DETACH later_version")
        connection.execute("CHECKPOINT")


def _attach(connection: duckdb.DuckDBPyConnection, **files: Path) -> None:
    for name, path in files.items():
        connection.execute(f"ATTACH '{store.quoted(path)}' AS {name} (READ_ONLY)")


def _keys(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Returns the key columns of each table whose versions are stored."""
    rows = connection.execute(CONSTRAINTS, ["PRIMARY KEY"]).fetchall()
    return {name: key for name, key, *_ in rows if name not in (*OF_RUNS, *OF_VERSIONS)}


def _texts(columns: Mapping[str, str]) -> str:
    """Returns the columns by type, JSON as text, because as part of a row it would lose its whitespace."""
    return ", ".join(
        f'CAST("{name}" AS VARCHAR) AS "{name}"' if kind == "JSON" else f'"{name}"' for name, kind in columns.items()
    )


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _shape(columns: Iterable[tuple[str, str]]) -> str:
    """Returns the columns as the structure that DuckDB reads from JSON."""
    kinds = {name: "VARCHAR" if kind == "JSON" else kind for name, kind in columns}
    return json.dumps({name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in kinds.items()})


def _ranks(path: Path) -> pd.DataFrame:
    """Returns the ranks of models in each suite by the default scores of its board."""
    with duckdb.connect(str(path), read_only=True) as connection:
        suites = [key for (key,) in connection.execute(SUITES, [HUMAN]).fetchall()]
    parts = [store.frame(())]
    for suite, table in zip(suites, of_database(path, suites=suites, origin=USUAL), strict=True):
        if table.models and table.counted.any():
            ranked = Ranking.of(table)
            numbers = {name: getattr(ranked, name) for name in ("rank", "rank_low", "rank_high")}
            rows = pd.DataFrame(numbers, dtype="Int64")
            rows = rows.mask(rows == UNRANKED).assign(mean=ranked.mean, suite=suite, origin=table.usual_origin)
            parts.append(rows.assign(model=table.models).dropna(subset="rank"))
    return pd.concat(parts, ignore_index=True)
