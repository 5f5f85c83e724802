"""What people and programs outside rely on, held against a snapshot: addresses, tables, files, and the commands.

`contract.json` beside this file lists it, one line an item. A change that was not meant shows here as a line added,
lost or changed. A change that was meant is written down with

    python -m tests.test_contract

and belongs in the same commit. The surface is read from the outside: from the built app, its answers, a database and a
run; commands and their options are held against `docs/commands.md`. What scripts read of an address is tested with
them.
"""

import csv
import io
import json
import os
import re
import sys
import tempfile
from contextlib import redirect_stdout, suppress
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import duckdb
import pandas as pd
import pytest
import typer
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.golden.freeze import differences
from tests.serving import ROOT

CONTRACT = Path(__file__).with_name("contract.json")
COMMANDS = ROOT / "docs" / "commands.md"
RENEW = "python -m tests.test_contract"


def command_line():
    from compute.__main__ import app

    return app


# ---- examples: each must be understood as it stands here

SUITE, TASK = "unisim-core", "mini/shapes"  # a suite with published figures; a task with computed runs
DERIVED = {"/model ?model"}  # whose default is the best model there is

# Addresses with a query string, and pairs that must each change the answer.
QUERIES = (
    (f"/data/rank/{SUITE}", "", ("w=IQA:3", "coverage=0", "tasks=unisim/nights,unisim/bapps", "version=another")),
    (f"/data/cell/{SUITE}", "row={row}&column={column}", ("row=none", "column=none", "w=none:x")),
    ("/data/model", "", ("model={model}",)),
    ("/data/task", "", (f"task={TASK}",)),
    ("/data/run", "", ("id={run}",)),
    (
        "/data/items",
        f"task={TASK}",
        ("task=mini/shapes-present", "items=colour-histogram", "show={show}", "order={order}", "every=yes"),
    ),
    ("/data/items", "task=mini/photographs", ("part=2",)),
    ("/data/items", "task={parted}", ("subset={subset}",)),
    (
        "/data/relations",
        "suites=unisim-core",
        (
            "suites=unisim-core,unisim-ood",
            "level=tasks",
            "method=kendall",
            "group=specialised",
            "origin=computed",
            "means=printed",
            "minimum=40",
        ),
    ),
    (
        "/export/relations",
        "",
        (
            "order=paper",
            *(f"preset={name}" for name in ("unisim-3a", "unisim-3b", "mieb-tasks", "pairbench", "cfred", "across")),
        ),
    ),
    ("/export/everything", "", ("format=parquet", "format=json", "format=duckdb", "format=none")),
    ("/live/plan", "kinds=image,image", ("kinds=text,text", "mode=quality")),
)
IDLE = "changes nothing"
FORMS = {
    "view": ("csv", "parquet", "json", "markdown", "latex", "bibtex"),
    "everything": ("csv", "parquet", "json", "duckdb"),
}
ANSWERS = {  # those that tests/golden does not freeze, and what they are asked with
    "/data/cell/{suite}": "row={row}&column={column}",
    "/data/model": "model={model}",
    "/data/task": f"task={TASK}",
    "/data/run": "id={run}",
}


# ---- the surface


def surface(database):
    """Everything, by section. A computed run is made beside the rest."""
    from leaderboard import server

    blocks, launch = server.build(database)
    served = launch["app_kwargs"]
    app = Starlette(routes=served["routes"], middleware=served["middleware"], lifespan=served["lifespan"])
    with TestClient(app) as client, tempfile.TemporaryDirectory() as folder:
        examples = chosen(client, database)
        found = {
            "pages": {f"/{key}": title for key, title, *_ in blocks.config["pages"]},
            "page parameters": page_parameters(blocks, database),
            "routes": dict(sorted(routes(served["routes"]))),
            "route parameters": route_parameters(client, examples),
            "route answers": route_answers(client, examples),
            "exports": exports(client, examples),
            "endpoints": dict(endpoints(client)),
            "environment": dict.fromkeys(sorted(environment()), ""),
            "database": tables(database),
            "run folder": run_folder(Path(folder)),
        }
    return json.loads(json.dumps(found))


def routes(served):
    for route in served:
        yield route.path, " ".join(sorted(getattr(route, "methods", None) or ["mounted"]))


class ReadError(Exception):
    """Nothing need be drawn."""


def page_parameters(blocks, database):
    """Every parameter that a page's first event reads, told by its shape."""
    with duckdb.connect(str(database), read_only=True) as connection:
        keys = {
            noun: {key for (key,) in connection.execute(f"SELECT key FROM {noun}").fetchall()}
            for noun in ("suites", "models", "tasks")
        }
    found = {}

    def read(parameters, query):
        names = {f"/{event.page} ?{one.key}": one for one in parameters}
        found.update({name: parameter(one, keys, derived=name in DERIVED) for name, one in names.items()})
        raise ReadError

    loads = [event for event in blocks.fns.values() if event.fn and any(name == "load" for _, name in event.targets)]
    for event in loads:
        if "request" in signature(event.fn).parameters:  # it reads the address
            with patch("leaderboard.page.parse", read), suppress(ReadError):
                event.fn(SimpleNamespace(query_params={}))
    return dict(sorted(found.items()))


def parameter(one, keys, *, derived):
    default = "from the data" if derived else one.write(one.default) or "empty"
    if hasattr(one, "choices"):
        values = set(one.choices)
        of = next(
            (
                f"{noun}{' or empty' if '' in values else ''}"
                for noun in keys
                if values - {""} and values - {""} <= keys[noun]
            ),
            ", ".join(sorted(map(repr, values))),
        )
        many = f"{one.least} to {one.most} of" if one.several else "one of"
        return f"{many} {of}; default {default}"
    if hasattr(one, "low"):
        return f"{'whole ' if one.whole else ''}number {one.low:.10g} to {one.high:.10g}; default {default}"
    return f"text of at most {one.longest} characters; default {default}"


def chosen(client, database):
    """Values for the examples that are only in the data."""
    board = client.get(f"/data/board/{SUITE}").json()
    items = client.get("/data/items", params={"task": TASK}).json()
    with duckdb.connect(str(database), read_only=True) as connection:
        (run,) = connection.execute("SELECT id FROM runs WHERE origin = 'computed' AND main ORDER BY id").fetchone()
        parted, subset = connection.execute(
            "SELECT runs.task, max(items.subset) FROM items JOIN runs ON runs.id = items.run WHERE runs.main "
            "GROUP BY runs.task HAVING count(DISTINCT items.subset) > 1 ORDER BY runs.task"
        ).fetchone() or ("", "")
    return {
        "row": board["rows"][0]["id"],
        "column": board["columns"][-1]["key"],
        "model": board["rows"][0]["model"],
        "models": ",".join(row["model"] for row in board["rows"][:12]),
        "run": run,
        "parted": parted,
        "subset": subset,
        "show": next(one["key"] for one in items["shows"] if one["key"] != items["show"]),
        "order": next((one["key"] for one in items["orders"] if one["key"] != items["order"]), ""),
    }


def route_parameters(client, examples):
    """Which query parameters change an answer."""
    found = {}
    for path, base, pairs in QUERIES:
        given = dict(part.split("=", 1) for part in base.format(**examples).split("&") if part)
        usual = client.get(path, params=given).content
        for pair in pairs:
            key, value = pair.split("=", 1)
            changed = client.get(path, params={**given, key: value.format(**examples)}).content != usual
            name = f"{path.replace(SUITE, '{suite}')} ?{pair if key in ('preset', 'format') else key}"
            found[name] = "changes the answer" if changed else IDLE
    return dict(sorted(found.items()))


def route_answers(client, examples):
    """The names at the top of JSON answers."""
    return {
        route: " ".join(sorted(client.get(route.format(suite=SUITE), params=query.format(**examples)).json()))
        for route, query in ANSWERS.items()
    }


def exports(client, examples):
    """Every file one can download: its name and type, and the columns of those that have some."""
    found = {}
    body = {"rows": [examples["row"]], "columns": [examples["column"]], "query": ""}
    for form in FORMS["view"]:
        found[f"view {form}"] = file_facts(client.post("/export/board/" + SUITE, json={**body, "format": form}))
    for form in FORMS["everything"]:
        answer = client.get("/export/everything", params={"format": form})
        found[f"everything {form}"] = file_facts(answer)
        if form == "csv":
            found["everything csv columns"] = ", ".join(next(csv.reader(io.StringIO(answer.text))))
    found["relations csv"] = file_facts(client.get("/export/relations", params={"suites": SUITE}))
    found["published table"] = file_facts(client.get("/published/unisim-table-2.csv"))
    return found


def file_facts(answer):
    if answer.status_code != 200:
        return f"answers {answer.status_code}"
    return f"{answer.headers['content-disposition'].partition('filename=')[2]} {answer.headers['content-type']}"


def endpoints(client):
    """What the document of API v1 says that each function takes and answers."""
    for path, methods in client.get("/api/v1/openapi.json").json()["paths"].items():
        for method, about in methods.items():
            name = f"{about['operationId']}: {method.upper()} {path}"
            sent = about.get("requestBody", {"content": {"application/json": {"schema": {"properties": {}}}}})
            for key, schema in sent["content"]["application/json"]["schema"]["properties"].items():
                yield f"{name} {key}", f"in the body; {kind(schema)}"
            for one in about["parameters"]:
                required = "; required" * one["required"]
                yield f"{name} {one['name']}", f"in the {one['in']}; {kind(one['schema'])}{required}"
            answer = about["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["result"]
            yield f"{name} returns", " ".join(answer.get("items", answer)["properties"])


def kind(schema):
    kinds = " or ".join(each["type"] for each in schema.get("anyOf", [schema]))
    return f"{kinds}; default {schema['default']!r}" if "default" in schema else kinds


def environment():
    """The names LIKENESS_* that stand in the code as a whole string."""
    files = [ROOT / "app.py", *(path for name in ("compute", "leaderboard") for path in (ROOT / name).rglob("*.py"))]
    return {name for file in files for name in re.findall(r'"(LIKENESS_[A-Z_]+)"', file.read_text(encoding="utf-8"))}


def tables(database):
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "ORDER BY table_name, ordinal_position"
        ).fetchall()
        kinds = dict(connection.execute("SELECT table_name, table_type FROM information_schema.tables").fetchall())
        (version,) = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    found = {"version": version}
    for table, column, kind, nullable in rows:
        found.setdefault(table, "view" if kinds[table] == "VIEW" else "table")
        found[f"{table}.{column}"] = kind if nullable == "YES" else f"{kind} NOT NULL"
    return found


def run_folder(folder):
    """The files of one computed run, the names in run.json, and the columns of the tables."""
    words = ["--suite", "mini", "--tasks", TASK, "--models", "colour-histogram", "--offline", "--results", str(folder)]
    ran = CliRunner().invoke(command_line(), ["run", *words])
    assert ran.exit_code == 0, ran.output
    (mark,) = (folder / "colour-histogram").rglob("run.json")
    record = json.loads(mark.read_text(encoding="utf-8"))
    parts = [record["model"].replace("/", "__"), record["task"].replace("/", "__"), record["fingerprint"]]
    assert list(mark.parent.relative_to(folder).parts) == parts
    found = {}
    for path in sorted(mark.parent.iterdir()):
        if path.suffix == ".parquet":
            frame = pd.read_parquet(path)
            found[path.name] = ", ".join(f"{name} {frame[name].dtype}" for name in frame)
        else:
            found[path.name] = "file"
    found |= {f"run.json {name}": type(value).__name__ for name, value in sorted(record.items())}
    found |= {f"run.json scores {name}": type(value).__name__ for name, value in sorted(record["scores"][0].items())}
    found = {f"(model)/(task)/(fingerprint)/{name}": facts for name, facts in found.items()}
    return found | {
        f"thumbnails/{path.name.replace(parts[1], '(task)')}": "file" for path in (folder / "thumbnails").iterdir()
    }


# ---- the snapshot


def written(found):
    """The snapshot's text: sections and items in order, one line an item."""
    return json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_public_surface_is_as_it_was_written_down(database):
    found = list(differences(json.loads(CONTRACT.read_text(encoding="utf-8")), surface(database), close=0))
    meant = f"Not meant? Mend the code. Meant? Write it down with: {RENEW}"
    assert not found, "\n".join([f"{len(found)} differences from {CONTRACT.name}:", *found, meant])


def test_the_snapshot_is_in_order():
    text = CONTRACT.read_text(encoding="utf-8")
    assert written(json.loads(text)) == text, f"Edited by hand? {RENEW} writes it in order"


def command_reference():
    """The Markdown of docs/commands.md, made by typer."""
    from typer.cli import MARKUP_MODE_KEY, get_docs_for_click

    from leaderboard.host import options

    app = command_line()
    command = typer.main.get_command(app)
    context = typer.Context(command, obj={MARKUP_MODE_KEY: app.rich_markup_mode})
    text = get_docs_for_click(obj=command, ctx=context, name="likeness", title="Commands")
    text = text.strip().replace("&#x27;", "'").replace("&quot;", '"')
    printed = io.StringIO()
    with patch.dict(os.environ, {"COLUMNS": "100"}), redirect_stdout(printed), pytest.raises(SystemExit):
        options.read(["--help"], program="likeness")
    return f"{text}\n\n## The app: `likeness` alone, or `python app.py`\n\n```text\n{printed.getvalue().strip()}\n```\n"


def test_the_command_reference_is_up_to_date():
    assert command_reference() == COMMANDS.read_text(encoding="utf-8"), f"run {RENEW}"


def main():
    """Writes the snapshot and docs/commands.md, and prints what differs from the snapshot before."""
    from compute.database.build import build

    with tempfile.TemporaryDirectory() as folder:
        now = surface(build(Path(folder) / "likeness.duckdb", results=Path(folder) / "results").path)
    if idle := [item for item, facts in now["route parameters"].items() if facts == IDLE]:
        sys.exit(f"These show nothing, choose other examples: {', '.join(idle)}")
    kept = json.loads(CONTRACT.read_text(encoding="utf-8")) if CONTRACT.is_file() else {}
    CONTRACT.write_text(written(now), encoding="utf-8")
    COMMANDS.write_text(command_reference(), encoding="utf-8")
    print("\n".join(differences(kept, now, close=0)) or "Nothing differs")


if __name__ == "__main__":
    main()
