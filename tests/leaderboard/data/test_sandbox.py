"""Visitors' queries: one SELECT is answered, everything else is refused in a sentence, and nothing outgrows its bounds.

The clock proves little on a busy machine, so the bounds on time are generous; bytes and refusals are exact.
"""

import json
import sys

import pytest

from compute import bare_process, processes
from compute.types import BadInput
from leaderboard.data.visitors import sandbox, visitor_queries
from leaderboard.data.visitors.sandbox import STOPPED
from leaderboard.data.visitors.visitor_queries import LARGE, MOST_BYTES, MOST_ROWS, SLOW

ON_LINUX = pytest.mark.skipif(not bare_process.enforced(), reason="this system bounds no process")


def ask(database, sql):
    return sandbox.run(database, sql)


def refused(database, sql):
    with pytest.raises(BadInput) as caught:
        ask(database, sql)
    sentence = str(caught.value)
    assert sentence and len(sentence) < 1000 and "\n" not in sentence and "Traceback" not in sentence
    assert str(database.parent) not in sentence and "/root" not in sentence
    return sentence


def test_a_select_is_answered_with_types_and_exact_numbers(database):
    answer = ask(
        database,
        "WITH c AS (FROM claims) SELECT count(*) AS n, 1.5::DECIMAL(4, 2) AS d, NULL AS e, [1, 2] AS l, 'x'::BLOB AS b,"
        "99999999999999999999::HUGEINT AS h, 'nan'::DOUBLE AS f, DATE '2024-01-02' AS t, true AS y FROM c",
    )
    assert [column["name"] for column in answer["columns"]] == list("ndelbhfty")
    assert [column["numeric"] for column in answer["columns"]][:4] == [True, True, False, False]
    assert answer["rows"][0][1:] == ["1.50", None, "[1, 2]", "78", "99999999999999999999", "nan", "2024-01-02", True]
    assert answer["rows"][0][0] > 1000 and answer["truncated"] == "" and answer["cells"] == 0


@pytest.mark.flaky(reruns=1)  # a query has a second, also on a busy machine
@pytest.mark.parametrize(
    "sql",
    ["SHOW TABLES", "DESCRIBE claims", "SUMMARIZE suites", "VALUES (1), (2)", "FROM range(3)", "TABLE suites",
     "FROM (PIVOT claims ON verdict IN ('conflict') USING count(*))", "SELECT unnest([1, 2]);", "FROM likeness.claims",
     "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) FROM t"],
)  # fmt: skip
def test_every_form_of_a_select_works(database, sql):
    assert ask(database, sql)["rows"]


@pytest.mark.parametrize(
    "sql, says",
    [
        ("-- nothing", "0 statements"),
        ("SELECT 1; DROP TABLE claims", "2 statements"),
        ("DELETE FROM claims", "DELETE"),
        ("CREATE TEMP TABLE t AS SELECT 1", "CREATE"),
        ("ATTACH 'other.duckdb'", "ATTACH"),
        ("COPY claims FROM '/etc/passwd'", "COPY"),
        ("LOAD httpfs", "LOAD"),
        ("RESET lock_configuration", "SET"),
        ("PRAGMA database_list", "PRAGMA"),
        ("CALL pragma_version()", "CALL"),
        ("SELECT $1", "parameter"),
        ("WITH x AS (INSERT INTO claims SELECT * FROM claims RETURNING *) FROM x", "read-only"),
        ("FROM read_text('/etc/passwd')", "'read_text'"),
        ("SELECT (SELECT count(*) FROM glob('/*'))", "'glob'"),
        ("FROM '/etc/passwd.csv'", "No table"),
        ("FROM duckdb_databases()", "'duckdb_databases'"),
        ("FROM pragma_database_list, (WITH Pragma_Database_List AS (SELECT 1) SELECT 1)", "name of a view"),
        ("FROM information_schema.schemata", "No table"),
        ("FROM query('FROM duckdb_settings()')", "'query'"),
        ("SHOW DATABASES", "SHOW TABLES"),
        ("SELECT current_setting('secret_directory')", "'current_setting'"),
    ],
    ids=lambda value: value[:60],
)  # fmt: skip
def test_whatever_else_is_refused_by_name(database, sql, says):
    assert says in refused(database, sql)


def test_the_answer_names_no_folder_of_the_server(database):
    answer = ask(database, f"SELECT '{database.parent}/x' AS path, current_database() AS name")
    assert answer["rows"] == [["…/x", "likeness"]]


SLOW_ONES = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "SELECT count(*) FROM range(100000) a, range(100000) b, range(10000) c WHERE a.range <> b.range",
    "SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))",
)
LARGE_ONES = (
    "SELECT repeat('x', 1000000000)",
    "SELECT length(repeat('x', 50000000 + i::INT)) FROM range(2048) t(i)",
    "SELECT printf('%1000000000d', 1)",
    "SELECT replace(repeat('a', 100000), 'a', repeat('b', 100000))",
    "SELECT list_sort(range(100000000))[1]",
    "SELECT list_resize([1], 1000000000)",
    "SELECT string_agg(claim, ',') FROM claims, range(100000)",
    "SELECT array_agg(x ORDER BY -x) FROM range(100000000) t(x)",
    "SELECT json(repeat('[', 10000000))",
)


@ON_LINUX
@pytest.mark.parametrize("sql", [*SLOW_ONES, *LARGE_ONES], ids=lambda sql: sql[:50])
def test_what_takes_too_much_is_stopped_and_the_server_does_not_grow(database, sql):
    import resource

    def largest():
        """Bytes of the largest program that this one has ended, other tests' too."""
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024

    before, others = processes.resident(), largest()
    assert refused(database, sql) in (SLOW, LARGE, STOPPED)
    assert processes.resident() - before < 30_000_000
    assert largest() <= max(others, 700_000_000), "a query's process had more than its share"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT regexp_matches(repeat('a', 1000000), '(a*)*b')",
        "SELECT regexp_extract_all(repeat('ab', 99999), '((a|b)*)*c')",
    ],
)
def test_regular_expressions_take_linear_time(database, sql):
    assert len(ask(database, sql)["rows"]) == 1


def test_rows_cells_columns_and_bytes_are_bounded(database):
    many = ask(database, "FROM range(1000000)")
    assert len(many["rows"]) == MOST_ROWS and f"{MOST_ROWS:,}" in many["truncated"]
    assert ask(database, f"FROM range({MOST_ROWS})")["truncated"] == ""
    long = ask(database, "SELECT repeat('é', 100000) FROM range(3)")
    assert long["cells"] == 3 and {len(row[0]) for row in long["rows"]} == {1001}
    heavy = ask(database, "SELECT repeat('x', 900) FROM range(9000)")
    assert 4000 < len(heavy["rows"]) < 9000 and heavy["truncated"] and len(json.dumps(heavy["rows"])) < 2 * MOST_BYTES
    assert "900 columns" in refused(database, "SELECT " + ", ".join(map(str, range(900))))
    wide = ask(database, "SELECT {'a': range(100000), 'b': repeat('x', 1000000)} AS nested")
    assert len(wide["rows"][0][0]) == 1001
    assert "6,000" in refused(database, "SELECT 1 --" + "x" * 6000)


def test_a_process_that_dies_or_talks_nonsense_is_one_sentence(database):
    for code in ("raise SystemExit(3)", "print('<html>')", "import os; os.abort()"):
        with pytest.raises(BadInput, match="stopped"):
            sandbox.run(database, "SELECT 1", command=(sys.executable, "-c", code))


def test_the_instance_alone_holds_even_where_the_parser_is_passed_by(database):
    """The second wall, without the first: what DuckDB itself refuses."""
    import duckdb

    connection = visitor_queries.locked(database)
    for sql in (
        "FROM read_text('/etc/passwd')",
        "FROM glob('/*')",
        "ATTACH 'x.duckdb'",
        "COPY claims TO 'x.csv'",
        "SET enable_external_access = true",
        "SET memory_limit = '64GB'",
        "RESET lock_configuration",
        "LOAD httpfs",
        "DELETE FROM claims",
        "CREATE TABLE t (a INT)",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(sql)
    settings = dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    assert settings["enable_external_access"] == "false" and settings["lock_configuration"] == "true"
    assert settings["threads"] == "1" and settings["max_temp_directory_size"] == "0 bytes"
    connection.close()
