"""Answers one SELECT written by a visitor, in a separate process with limits.

    python -m leaderboard.data.visitors.visitor_queries PARENT

reads `{"path": ..., "sql": ...}` from its standard input, writes one JSON object and ends. A process, because DuckDB
bounds neither memory nor time inside one function: `repeat('x', 1000000000)` takes gigabytes beyond `memory_limit`, and
`jaro_similarity` of two long texts ignores interrupts. There are four lines of defence:

1. DuckDB's own parser must find exactly one SELECT, which reads no table but the database's and calls no function that
   reads files, settings or other statements (`check`).
2. The instance is this process's alone: in memory, the file attached read-only, access to files switched off, the
   configuration locked.
3. The system bounds the process: address space, processor time, no new files, nothing of the server's environment.
4. It is interrupted after SECONDS, and killed GRACE later.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import duckdb

from compute import bare_process
from compute.types import BadInput, shortened, unknown

SECONDS, GRACE = 1.0, 0.25  # until a query is interrupted, and from then until its process is killed
MEMORY_MB = 100  # of DuckDB
ADDRESS_SPACE = 200_000_000  # bytes of the process, beyond what it has when it starts
LONGEST_SQL = 6_000  # characters: it must fit into an address
MOST_ROWS, MOST_COLUMNS = 10_000, 100
MOST_BYTES = 4_000_000  # of all cells
LONGEST_CELL = 1_000  # characters
ROWS_AT_ONCE = 100
EXACT = 2**53  # JSON's whole numbers are exact below it
TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest", "json_each", "json_tree"})
SYSTEM_VIEWS = "SELECT lower(view_name) FROM duckdb_views() WHERE internal"
NO_FUNCTIONS = frozenset(("current_setting", "getvariable", "write_log"))
SHOWN = frozenset({"", '"tables"'})  # of DESCRIBE, SUMMARIZE and SHOW TABLES
NAME = "likeness"  # of the database within the instance
ZONES = ("pytz", "zoneinfo")  # what DuckDB imports for a time with a zone: before 2.0.1, and since
TABLES = "SELECT table_name FROM information_schema.tables WHERE table_catalog = ?"
SLOW = f"The query took more than {SECONDS:g} s and was stopped. Read fewer rows, or join on keys"
LARGE = "The query needs more memory than a query may use here. Read fewer rows, or shorter texts and lists"


def main() -> None:
    """Answers the query on the standard input."""
    bare_process.end_with(int(sys.argv[1]))
    query = json.loads(sys.stdin.buffer.read())
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is not an answer
    try:
        result = answer(Path(query["path"]), query["sql"])
    except BadInput as error:
        result = {"error": str(error)}
    text = json.dumps(result, ensure_ascii=False, allow_nan=False).replace(str(Path(query["path"]).parent), "…")
    target.write(text.encode("utf-8", "replace"))
    target.close()
    os._exit(0)  # what is left of a large query may take long to free


def answer(path: Path, sql: str) -> dict[str, Any]:
    """Returns `columns` as (name, type, whether numeric), `rows`, and in `truncated` what is missing. Raises BadInput.

    Bounds this process: nothing else runs in it before or after.
    """
    connection = locked(path)
    tables = {name for (name,) in connection.execute(TABLES, [NAME]).fetchall()}
    _bound()
    timer = threading.Timer(SECONDS, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        check(connection, sql, tables=tables)
        return fetched(connection.execute(sql))
    except duckdb.InterruptException as error:
        raise BadInput(SLOW) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise BadInput(LARGE) from error
    except (duckdb.Error, UnicodeError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(sentence(error)) from error
    finally:
        timer.cancel()


def locked(path: Path) -> duckdb.DuckDBPyConnection:
    """Returns an in-memory instance with the file attached read-only, which can open nothing else and whose settings
    are locked.
    """
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{MEMORY_MB}MB",
            "threads": 1,
            "temp_directory": "",
            "max_temp_directory_size": "0B",  # what does not fit into memory is refused, not written to disk
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "python_enable_replacements": False,  # a table's name is not a variable of this program
        },
    )
    quoted = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {NAME} (READ_ONLY)")
    connection.execute(f"USE {NAME}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def check(connection: duckdb.DuckDBPyConnection, sql: str, *, tables: set[str]) -> None:
    """Raises BadInput, or DuckDB's own error, unless the text is one SELECT over `tables`."""
    if len(sql) > LONGEST_SQL:
        raise BadInput(f"The query has {len(sql):,} characters, more than {LONGEST_SQL:,}. Write a shorter one")
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise BadInput(f"Write one SELECT. This text has {len(statements)} statements")
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = statements[0].type.name.replace("_", " ")
        raise BadInput(f"Only SELECT is possible here, and this is {kind}. The database is read-only")
    if statements[0].named_parameters:
        raise BadInput("The query has a parameter. Write its value instead")
    tree = json.loads(connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0])
    if tree["error"]:
        raise BadInput("This form of SELECT cannot be checked. Write it without PIVOT, UNPIVOT or data changes")
    nodes, named = _nodes(tree), set(tables)
    for node in nodes:
        named |= {entry["key"] for entry in (node.get("cte_map") or {}).get("map", ())}
    # A WITH clause's name counts in the whole text here, but not for DuckDB: it must be no view's of the system.
    system = {name for (name,) in connection.execute(SYSTEM_VIEWS).fetchall()}
    if clash := sorted(name for name in named - tables if name.lower() in system):
        raise BadInput(f"WITH {shortened(clash[0])!r} has the name of a view of DuckDB. Choose another name")
    for node in nodes:
        _check_node(node, tables={name.lower() for name in named})


def _check_node(node: dict[str, Any], *, tables: set[str]) -> None:
    kind = node.get("type")
    if kind == "TABLE_FUNCTION":
        name = str((node.get("function") or {}).get("function_name", "")).lower()
        if name not in TABLE_FUNCTIONS:
            listed = ", ".join(sorted(TABLE_FUNCTIONS))
            raise BadInput(f"The table function {shortened(name)!r} is not available here. These are: {listed}")
    elif kind == "BASE_TABLE":
        name = str(node.get("table_name", ""))
        own = node.get("catalog_name") in ("", None, NAME) and node.get("schema_name") in ("", None, "main", NAME)
        if name.lower() not in tables or not own:
            raise BadInput(f"{unknown('table', name, tables)} SHOW TABLES lists them")
    elif kind == "SHOW_REF" and node.get("table_name") not in SHOWN:
        raise BadInput("Only SHOW TABLES, DESCRIBE and SUMMARIZE are available of their kind")
    elif str(node.get("function_name", "")).lower() in NO_FUNCTIONS:
        raise BadInput(f"The function {node['function_name']!r} is not available here: it reads or changes settings")


def _nodes(tree: Any) -> list[dict[str, Any]]:
    """Yields every object in parsed JSON."""
    nodes, pending = [], [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            nodes.append(each)
            pending += each.values()
        elif isinstance(each, list):
            pending += each
    return nodes


def fetched(cursor: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Returns the answer up to its limits; rows are read a few at a time, so that no more are in memory. Raises
    BadInput.
    """
    described = cursor.description or []
    if len(described) > MOST_COLUMNS:
        raise BadInput(f"The answer has {len(described):,} columns, more than {MOST_COLUMNS}. Name those you need")
    columns = [
        {"name": shortened(str(name)), "type": shortened(str(kind)), "numeric": is_number(str(kind))}
        for name, kind, *_ in described
    ]
    rows: list[list[Any]] = []
    size, cells, truncated = 0, 0, ""
    while not truncated and (part := cursor.fetchmany(ROWS_AT_ONCE)):
        for row in part:
            if len(rows) == MOST_ROWS:
                truncated = f"Only the first {MOST_ROWS:,} rows are shown: the answer has more."
                break
            texts = [cell(value) for value in row]
            size += sum(len(text) if isinstance(text, str) else 8 for text in texts)
            if size > MOST_BYTES:
                truncated = f"Only the first {len(rows):,} rows are shown: the answer is larger than a page can hold."
                break
            cells += sum(isinstance(text, str) and len(text) > LONGEST_CELL for text in texts)
            rows.append(texts)
    return {"columns": columns, "rows": rows, "truncated": truncated, "cells": cells}


def is_number(kind: str) -> bool:
    """Returns whether a column of this type is numeric."""
    return "[" not in kind and kind.startswith(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
        + ("UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BIGNUM")
    )


def cell(value: Any) -> Any:
    """Returns a value as JSON: a number, true or false, null, or text of at most about LONGEST_CELL characters."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= EXACT else _shortened(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return _shortened(value[:LONGEST_CELL].hex())
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        return _shortened(json.dumps(value, ensure_ascii=False, default=str))
    return _shortened(str(value))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"


def sentence(error: Exception) -> str:
    """Returns DuckDB's error with its hint, without the marked line below it, and without Python's traceback."""
    if any(f"Required module {module!r}" in str(error) for module in ZONES):
        return "A time with a time zone cannot be shown. Cast it to VARCHAR"
    text = str(error).split("\n\nLINE ")[0].split("\nLINE ")[0].split("\n\nPossible")[0]
    return " ".join(text.split()) or "The query failed"


def _bound() -> None:
    """Limits this process from now on."""
    if hasattr(signal, "setitimer"):  # the system's own, which a running function cannot delay
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, SECONDS + GRACE)
    bare_process.confine(memory=ADDRESS_SPACE, seconds=2 * (SECONDS + GRACE))


if __name__ == "__main__":
    main()
