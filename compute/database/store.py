"""Writes the database as a whole and opens it read-only; its tables are defined in schema.py."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from compute.database.schema import SCHEMA_VERSION, TABLES, VIEWS
from compute.io.files import is_full, refusal, replacing, temporary_folder
from compute.io.tables import literal_path
from compute.paths import DATABASE
from compute.types import BadInput, CannotWrite, DatabaseError, UnknownKey, first_line

Ask = Callable[[str, list[Any]], pd.DataFrame]  # answers a SELECT with its values

NEW = "CREATE TEMP TABLE new_runs AS FROM runs LIMIT 0; CREATE TEMP TABLE new_scores AS FROM scores LIMIT 0"
# Removes from an old file the computed runs that changed, the thumbnails of their tasks, and tables that are always
# refilled. Returns the ids of the changed and new runs, and their tasks.
CHANGED = """
CREATE TEMP TABLE changed AS
WITH old AS (FROM runs WHERE origin = 'computed'), old_scores AS (FROM scores SEMI JOIN old ON run = id)
SELECT id FROM ((FROM old EXCEPT FROM new_runs) UNION (FROM new_runs EXCEPT FROM old))
UNION SELECT run FROM ((FROM old_scores EXCEPT FROM new_scores) UNION (FROM new_scores EXCEPT FROM old_scores));
CREATE TEMP TABLE of_tasks AS SELECT task FROM (FROM runs UNION FROM new_runs) SEMI JOIN changed USING (id);
DELETE FROM items WHERE run IN (FROM changed);
DELETE FROM ratings WHERE run IN (FROM changed);
DELETE FROM scores WHERE run IN (FROM changed);
DELETE FROM runs WHERE id IN (FROM changed);
DELETE FROM thumbnails WHERE task IN (FROM of_tasks);
DELETE FROM meta; DELETE FROM calibrations; DELETE FROM calibration_domains; DELETE FROM speeds;
FROM changed UNION FROM of_tasks
"""
COUNTED = ("models", "tasks", "runs", "scores", "claims")
JSON_COLUMNS = ("settings", "options", "detail", "category_weights")

# A task's value in one run: its only subset, else the printed average, else the mean of its subsets if none is missing.
# The mean's error is the mean of the subsets' errors, which is an upper bound under any dependence: languages share
# images, protocols share queries. Such a mean has no interval.
TASK_VALUES = """
WITH own AS (
    SELECT runs.model, runs.origin, runs.task, scores.metric, scores.subset, scores.value, scores.stderr, scores.n,
           scores.printed, scores.low, scores.high, scores.bias, runs.source
    FROM scores JOIN runs ON runs.id = scores.run
    WHERE runs.main AND runs.task IN (SELECT task FROM suite_tasks WHERE suite = ?)
),
counted AS (
    SELECT own.*, len(list_filter(tasks.subsets, lambda part: part <> 'default')) AS parts
    FROM own JOIN tasks ON tasks.key = own.task
)
SELECT model, origin, task, metric,
       coalesce(any_value(value) FILTER (subset = 'default'), any_value(value) FILTER (subset = 'average'),
                CASE WHEN count(*) FILTER (subset <> 'average') >= any_value(parts)
                     THEN avg(value) FILTER (subset <> 'average') END) AS value,
       coalesce(any_value(stderr) FILTER (subset = 'default'),
                CASE WHEN count(*) = count(stderr) AND count(*) >= any_value(parts) AND NOT bool_or(subset = 'average')
                     THEN avg(stderr) END) AS stderr,
       coalesce(any_value(bias) FILTER (subset = 'default'),
                CASE WHEN count(*) = count(bias) AND count(*) >= any_value(parts) THEN avg(bias) END) AS bias,
       any_value(low) FILTER (subset = 'default') AS low, any_value(high) FILTER (subset = 'default') AS high,
       any_value(n) FILTER (subset = 'default') AS n,
       any_value(printed) FILTER (subset IN ('default', 'average')) AS printed, any_value(source) AS source
FROM counted GROUP BY model, origin, task, metric
HAVING value IS NOT NULL
ORDER BY model, origin, task, metric
"""

# The median over the imported runs that report their duration; their hardware is unknown.
TASK_HOURS = """
SELECT task, median(seconds) / 3600 AS hours FROM runs
WHERE origin LIKE 'imported%' AND seconds IS NOT NULL AND task IN (SELECT task FROM suite_tasks WHERE suite = ?)
GROUP BY task
"""

# Limits of a Parquet file of items, pictures or a map: a file above them is skipped.
MAX_ROWS = 20_000_000  # per file
MAX_UNPACKED = 4 << 30  # bytes per file
MAX_CHUNK = 1 << 30  # bytes of one column in one row group
MAX_RATINGS = 1_000_000  # rows of a run's file of rated pairs; PairBench has 3,000 per split
MAX_NAME, MAX_DETAIL, MAX_PICTURE = 1000, 1 << 20, 1 << 17  # bytes of an item's name, its detail, and a small picture
MAX_SHOWN = 20_000  # characters of an answer that a page shows
LISTS = ["$.images", "$.texts", "$.scores", "$.hits", "$.relevant"]  # list-valued fields of an item's detail
# Item details that a page could not show: anything but an object, a value nested deeper than a list of plain values, a
# duplicate key, or a list with elements of an unexpected type.
UNKNOWN_FORM = f"""
json_type(detail) <> 'OBJECT'
OR len(list_distinct(json_keys(detail))) < len(json_keys(detail))
OR len(list_filter(json_type(detail, {LISTS}), lambda kind: kind NOT IN ('ARRAY', 'NULL'))) > 0
OR list_contains(json_type(detail, '$.*'), 'OBJECT')
OR len(list_filter(json_type(detail, '$.*[*]'), lambda kind: kind IN ('ARRAY', 'OBJECT'))) > 0
OR len(list_filter(json_type(detail, '$.images[*]'), lambda kind: kind NOT IN ('VARCHAR', 'NULL'))) > 0
OR len(list_filter(json_type(detail, '$.scores[*]'),
                   lambda kind: kind NOT IN ('DOUBLE', 'BIGINT', 'UBIGINT', 'NULL'))) > 0
"""
MEMORY = "4GB"  # while files are read; DuckDB spills to disk above it

PARQUET_SIZES = """
SELECT file_name, sum(num_values) / greatest(count(DISTINCT path_in_schema), 1) AS rows,
       sum(total_uncompressed_size) AS bytes, max(total_uncompressed_size) AS chunk
FROM parquet_metadata(?) GROUP BY file_name
"""

# Straight from the Parquet files, each with the run or task it is of: a frame in between would cost most of the time.
ROWS = "read_parquet(?, hive_partitioning = false, filename = true, union_by_name = true)"
OF_FILES = "AS parquet JOIN files ON files.path = parquet.filename"
ITEMS = f"""
INSERT INTO items (run, item, subset, expected, answer, correct, value, detail)
SELECT files.key,
       CASE WHEN strlen(item) > {MAX_NAME} THEN error('the name of an item is too long') ELSE item END,
       CASE WHEN strlen(subset) > {MAX_NAME} THEN error('the name of a subset is too long') ELSE subset END,
       left(expected, {MAX_SHOWN}), left(answer, {MAX_SHOWN}), correct, CASE WHEN isfinite(value) THEN value END,
       CASE WHEN strlen(detail) > {MAX_DETAIL} THEN error('the detail of an item is too long')
            WHEN {UNKNOWN_FORM}
            THEN error('the detail of an item has no known form')
            ELSE detail END
FROM (SELECT * REPLACE (detail::VARCHAR AS detail) FROM {ROWS}) {OF_FILES} -- without any detail it has no type
QUALIFY row_number() OVER (PARTITION BY files.key ORDER BY md5(item)) <= ?
"""
# Only integer scores, because DuckDB would round others. A model without a prompt has no template.
WHOLE_SCORE = """CASE WHEN isfinite({0}) AND {0} IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10) THEN {0}
             WHEN {0} IS NULL OR isnan({0}) THEN NULL ELSE error('{0} is not a whole score from 1 to 10') END"""
RATINGS = f"""
INSERT INTO ratings (run, subset, source, type, template, expected, forward, reverse, forward_problem, reverse_problem)
SELECT files.key,
       CASE WHEN strlen(subset) > {MAX_NAME} THEN error('the name of a subset is too long') ELSE subset END,
       CASE WHEN strlen(source) > {MAX_NAME} THEN error('the name of a source is too long') ELSE source END,
       type, CASE WHEN (detail->'$.replies') IS NOT NULL THEN template END,
       {WHOLE_SCORE.format("expected_score")}, {WHOLE_SCORE.format("forward")}, {WHOLE_SCORE.format("reverse")},
       nullif(detail->>'$.problems[0]', ''), nullif(detail->>'$.problems[1]', '')
FROM {ROWS} {OF_FILES}
"""
PICTURE = f"CASE WHEN octet_length(webp) > {MAX_PICTURE} THEN error('a picture is too large') ELSE webp END"
THUMBNAILS = f"""
INSERT INTO thumbnails (task, image, webp)
SELECT files.key, CASE WHEN strlen(image) > {MAX_NAME} THEN error('the name of an image is too long') ELSE image END,
       any_value({PICTURE})
FROM {ROWS} {OF_FILES} GROUP BY ALL
ON CONFLICT DO NOTHING
"""
KeyedFiles = Iterable[tuple[str, Path]]  # the key of each Parquet file: a run's id, or a task's key
# Tables filled from files: the name in `write`, the statement, the content skipped if a file is damaged, and the
# maximum number of rows.
FROM_FILES = (
    ("items", ITEMS, "pictures or items", MAX_ROWS),
    ("ratings", RATINGS, "ratings", MAX_RATINGS),
    ("thumbnails", THUMBNAILS, "pictures or items", MAX_ROWS),
)


def write(
    path: Path,
    *,
    frames: dict[str, pd.DataFrame],
    files: Mapping[str, KeyedFiles] | None = None,
    most_items: int = 0,
    about: Mapping[str, str] | None = None,
    derived: Mapping[str, Callable[[Ask], pd.DataFrame]] | None = None,
    copied: bool = False,
) -> tuple[dict[Path, str], dict[str, int]]:
    """Makes a whole database at `path` from one frame a table; the old file stays until the new one is complete.

    Frames may lack columns (they become NULL), and others than the table's are not stored: a task's `suites` are the
    rows of suite_tasks, the order of suites and tasks their `position`. `files` are Parquet files by FROM_FILES:
    `items` are runs' ids with theirs, of which the `most_items` of lowest MD5 are taken; `ratings` those of them whose
    rows are all rated pairs; `thumbnails` tasks' keys with theirs. `about` is recorded: `sources` a digest of what all
    of it is made from, `fixed` one of what no run changes, `version` that of the published scores. `derived` tables are
    made of the others, and rest on `fixed`. Where `copied`, the rows that rest on `fixed` are those of the old file,
    and so are those of computed runs that the frames have unchanged. Returns the Parquet files that are skipped because
    they cannot be read or hold what no such file does, with the reasons, and how many rows the COUNTED tables have.
    Raises DatabaseError naming the table.
    """
    unknown = sorted(set(frames) - set(TABLES))
    if unknown:
        raise DatabaseError(f"The schema has no table {unknown[0]!r}; it has: {', '.join(TABLES)}")
    if "suites" in frames.get("tasks", ()):
        pairs = frames["tasks"][["suites", "key"]].explode("suites").dropna()
        frames = {**frames, "suite_tasks": pairs.set_axis(["suite", "task"], axis=1)}
    listed = {name: list(each) for name, each in (files or {}).items()}
    damaged: dict[Path, str] = {}
    with written(path) as draft, contextlib.ExitStack() as opened:
        if copied:
            shutil.copyfile(path, draft)
        connection = opened.enter_context(duckdb.connect(str(draft)))
        if copied:
            connection.execute(NEW)
            for name in ("runs", "scores"):
                if len(frames[name]):
                    _fill(connection, f"new_{name}", frames[name])
            changed = [key for (key,) in connection.execute(CHANGED).fetchall()]
            for name, key in {"runs": "id", "scores": "run"}.items():
                if len(frames[name]):
                    frames[name] = frames[name][frames[name][key].isin(changed)]
            listed = {name: [each for each in some if each[0] in changed] for name, some in listed.items()}
        else:
            for name, columns in TABLES.items():
                connection.execute(f"CREATE TABLE {name} ({columns})")
            for view in VIEWS:
                connection.execute(view)
        for name in TABLES:
            if name in frames and len(frames[name]):
                _fill(connection, name, frames[name])
        for name, made in () if copied else (derived or {}).items():
            _fill(connection, name, made(lambda query, values: connection.execute(query, values).df()))
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        for name, sql, what, most_rows in FROM_FILES:
            sound = [each for each in listed.get(name, ()) if each[1] not in damaged]
            values = [most_items] if name == "items" else []
            damaged |= _fill_from(connection, sql, sound, values, what=what, most_rows=most_rows)
        facts = {"schema": str(SCHEMA_VERSION), "sources": "", "fixed": "", "version": "", **(about or {})}
        if damaged:  # the next build must report them again
            facts["fixed"] = ""
        connection.executemany("INSERT INTO meta VALUES (?, ?)", [list(fact) for fact in facts.items()])
        connection.execute("CHECKPOINT")  # closing would pass over a disk that is full
        return damaged, {name: len(connection.table(name)) for name in COUNTED}


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Converts DuckDB's errors for Ctrl-C to KeyboardInterrupt, so that they are not taken for errors of a file."""
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:
        if isinstance(error, duckdb.InterruptException) or re.search("Query interrupted|KeyboardInterrupt", str(error)):
            raise KeyboardInterrupt from error
        raise


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yields the draft of a file that DuckDB writes atomically. Raises DatabaseError, also if the disk is full."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft, _interruptible():
            yield draft
    except (duckdb.Error, OSError) as error:
        raise DatabaseError(refusal(path, error)) from error
    except CannotWrite as error:
        raise DatabaseError(str(error)) from error


def _fill(connection: duckdb.DuckDBPyConnection, name: str, frame: pd.DataFrame) -> None:
    there = {"position": range(len(frame)), **frame}
    known = [column for column in connection.table(name).columns if column in there]
    connection.register("frame", pd.DataFrame({column: there[column] for column in known}))
    columns = ", ".join(f'"{column}"' for column in known)
    try:
        with _interruptible():
            connection.execute(f"INSERT INTO {name} ({columns}) SELECT {columns} FROM frame")
    except duckdb.Error as error:
        if is_full(error):
            raise
        raise DatabaseError(f"Table {name!r} cannot be filled: {first_line(error)}") from error
    finally:
        connection.unregister("frame")


def _fill_from(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    files: Sequence[tuple[str, Path]],
    values: Sequence[int],
    *,
    what: str,
    most_rows: int,
) -> dict[Path, str]:
    """Runs `sql` over all files at once; if it fails, over one at a time. Returns the damaged files
    with the reasons.
    """
    paths = [os.path.abspath(path) for _, path in files]

    @_interruptible()
    def fill(some: list[str]) -> None:
        _check_sizes(connection, some, most_rows=most_rows)
        connection.execute(sql, [list(map(literal_path, some)), *values])

    damaged = {}
    if files:
        connection.register("files", pd.DataFrame({"key": [key for key, _ in files], "path": paths}))
        try:
            fill(paths)
        except (duckdb.Error, BadInput):
            for path, (_, given) in zip(paths, files, strict=True):
                try:
                    fill([path])
                except (duckdb.Error, BadInput) as error:
                    if isinstance(error, duckdb.IOException) and is_full(error):
                        raise
                    reason = first_line(error).replace(path, given.name)[:200]
                    damaged[given] = f"{reason}: its {what} are skipped"
        connection.unregister("files")
    return damaged


def _check_sizes(connection: duckdb.DuckDBPyConnection, paths: Iterable[str | Path], *, most_rows: int) -> None:
    """Raises BadInput for a file that would unpack to more than any valid one."""
    for _, rows, size, chunk in connection.execute(PARQUET_SIZES, [list(map(literal_path, paths))]).fetchall():
        if rows > most_rows or size > MAX_UNPACKED or chunk > MAX_CHUNK:
            raise BadInput(f"it unpacks to {size / 2**20:,.0f} MB in {rows:,.0f} rows, more than any valid file")


def connect(
    path: Path = DATABASE, *, memory_mb: int | None = None, threads: int | None = None, long_lived: bool = False
) -> duckdb.DuckDBPyConnection:
    """Opens the database read-only. Raises DatabaseError if it is missing, locked, damaged or of another version.

    `memory_mb` and `threads` limit DuckDB over all queries; None: most of the machine. `long_lived`: memory freed by a
    query returns to the system after a short time; otherwise the allocator keeps it, 40 MB for a query with many joins.
    """
    options = {
        "memory_limit": memory_mb and f"{memory_mb}MB",
        "threads": threads,
        "allocator_background_threads": long_lived,
    }
    connection = _open(path, config={name: value for name, value in options.items() if value})
    if _meta(connection, "schema") != str(SCHEMA_VERSION):
        connection.close()
        raise DatabaseError(f"{path.name} is not a database of this version. Rebuild it: likeness build")
    return connection


def free_later(connection: duckdb.DuckDBPyConnection) -> None:
    """Sets `long_lived` of `connect` again: DuckDB resets it for the whole process when any file is closed."""
    connection.cursor().execute("SET allocator_background_threads = true")


class DamagedDatabase(DatabaseError):
    """A truncated or corrupt file that no process has open for writing."""


def recorded(path: Path, key: str) -> str:
    """Returns the `sources`, `fixed` or `version` given to `write`, for a database of any version; empty if not
    recorded.

    Raises DatabaseError if the file is missing, locked, damaged, or not a database of this project.
    """
    with contextlib.closing(_open(path)) as connection:
        if not _meta(connection, "schema"):
            raise DatabaseError(f"{path.name} is not a database of this project. Give another file")
        return _meta(connection, key)


def _open(path: Path, *, config: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
    """Opens any DuckDB file read-only. Raises DatabaseError if it is missing, locked or damaged."""
    if not path.is_file():
        raise DatabaseError(f"There is no database {path.name}. Make it: likeness build")
    try:
        connection = duckdb.connect(str(path), read_only=True, config=dict(config or {}))
    except duckdb.Error as error:
        if "lock" in str(error).lower():
            raise DatabaseError(f"{path.name} is in use by another program. Close it and try again") from error
        with path.open("rb") as file:  # a file that does not begin like a database belongs to another program
            kind = DamagedDatabase if file.read(12)[8:] in (b"", b"DUCK") else DatabaseError
        raise kind(f"{path.name} is damaged or half-written. Rebuild it: likeness build") from error
    try:
        whole = connection.execute("SELECT total_blocks * block_size FROM pragma_database_size()").fetchall()[0][0]
    except duckdb.Error:
        whole = 0
    if path.stat().st_size < whole:  # its header can be read, so DuckDB opens it
        connection.close()
        raise DamagedDatabase(f"{path.name} is half-written. Rebuild it: likeness build")
    return connection


def _meta(connection: duckdb.DuckDBPyConnection, key: str) -> str:
    """Returns the database's meta value for a key; empty if there is none."""
    try:
        rows = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchall()
    except duckdb.Error:  # a database of another program
        return ""
    return rows[0][0] if rows else ""


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """Returns a frame as one Parquet file."""
    with temporary_folder() as folder:
        path = folder / "frame.parquet"
        write_parquet(path, frame=frame)
        return path.read_bytes()


def write_parquet(path: Path, *, frame: pd.DataFrame) -> None:
    """Writes a frame to `path` as Parquet, atomically. Raises DatabaseError, also if the disk is full."""
    with written(path) as draft, _in_memory(os.getpid()).cursor() as connection:
        connection.register("frame", frame)
        connection.execute(f"COPY frame TO '{quoted(draft)}' (FORMAT parquet, COMPRESSION zstd)")


def read_parquet(path: Path, *, most_rows: int = MAX_ROWS) -> pd.DataFrame:
    """Returns a Parquet file as a frame. Raises DatabaseError with the file's name, also if it unpacks to too much."""
    try:
        with _interruptible(), _in_memory(os.getpid()).cursor() as connection:
            _check_sizes(connection, [path], most_rows=most_rows)
            return connection.read_parquet(literal_path(path), hive_partitioning=False).df()
    except (duckdb.Error, BadInput) as error:
        raise DatabaseError(f"{path.name} cannot be read as Parquet: {first_line(error)}. Make it again") from error


@cache
def _in_memory(process: int) -> duckdb.DuckDBPyConnection:
    """Returns the process's shared DuckDB connection for files: opening one takes ten times as long as reading a small
    file.

    `process` is the process id, because a forked process does not have its parent's threads.
    """
    return duckdb.connect(config={"memory_limit": MEMORY})


def quoted(path: Path) -> str:
    return os.path.abspath(path).replace("'", "''")  # DuckDB expands a name that begins with ~ to the home folder


def frames(path: Path, *, names: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Returns whole tables or views of a database by name. Raises DatabaseError as `connect` does, and for a missing
    name.
    """
    with contextlib.closing(connect(path)) as connection:
        try:
            return {name: connection.table(name).df() for name in names}
        except duckdb.Error as error:
            raise DatabaseError(f"{path.name} is missing a table: {first_line(error)}") from error


def frame(rows: Iterable) -> pd.DataFrame:
    """Converts dataclass rows to a frame; mappings become JSON text, tuples lists."""
    rows = list(rows)
    if not rows:
        return pd.DataFrame()
    records = []
    for row in rows:
        record = {field.name: getattr(row, field.name) for field in fields(row)}
        for name, value in record.items():
            if isinstance(value, tuple):
                record[name] = list(value)
            elif name in JSON_COLUMNS:
                record[name] = json.dumps(value, sort_keys=True, ensure_ascii=False)
        records.append(record)
    return pd.DataFrame.from_records(records).astype(object)


def suite_frames(ask: Ask, *, suite: str) -> dict[str, pd.DataFrame]:
    """Returns one suite's frames: about (one row), tasks in catalogue order, values, averages (printed category means),
    hours.

    `ask` answers a SELECT with its values. Raises UnknownKey.
    """
    about = ask("SELECT * FROM suites WHERE key = ?", [suite])
    if about.empty:
        raise UnknownKey("suite", suite, ask("SELECT key FROM suites", [])["key"])
    return {
        "about": about,
        "tasks": ask(
            """SELECT tasks.key, tasks.title, tasks.category, tasks.cluster, tasks.ranked, tasks.metrics[1] AS metric,
                               metrics.higher_is_better AS higher, metrics.proportion,
                               metrics.lower, metrics.upper, metrics.scale
                        FROM tasks JOIN suite_tasks ON suite_tasks.task = tasks.key
                        LEFT JOIN metrics ON metrics.key = tasks.metrics[1]
                        WHERE suite_tasks.suite = ? ORDER BY position""",
            [suite],
        ),
        "values": ask(TASK_VALUES, [suite]),
        "averages": ask("SELECT category, model, value FROM averages WHERE suite = ?", [suite]),
        "hours": ask(TASK_HOURS, [suite]),
    }
