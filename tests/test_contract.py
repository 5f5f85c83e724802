"""What people and programs outside rely on, held against a snapshot: addresses, commands, tables, files.

`contract.json` beside this file lists it, one line an item. A change that was not meant shows here as a line added,
lost or changed. A change that was meant is written down with

    python -m tests.test_contract

and belongs in the same commit. The surface is read from the outside: from the built app, its answers, the command line,
a database, and the browser's modules run by node. What must be imported for that stands at the top; when files move,
this is the one place to adapt.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gc
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from functools import cache, partial
from pathlib import Path
from types import CellType, FunctionType, MethodType
from typing import Any
from unittest.mock import patch

import duckdb
import pandas as pd
import pytest
import typer
from starlette.applications import Starlette
from starlette.testclient import TestClient

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = Path(__file__).with_name("contract.json")
COMMANDS = ROOT / "docs" / "commands.md"
RENEW = "python -m tests.test_contract"

# ---- what moves with the files

SOURCES = ("app.py", "compute", "leaderboard")  # where environment variables are read
PAYLOAD = "tests/leaderboard/pages/board/payload.mjs"  # a small table for the board's module
SCRIPTS = {  # the pure modules that read and write addresses in the browser
    "board": "leaderboard/pages/board/state.js",
    "claims": "leaderboard/pages/claims/claims.js",
    "items": "leaderboard/pages/task/items.js",
    "tray": "leaderboard/pages/try_it/tray/address.js",
}


def built_app(database: Path) -> tuple[Any, dict[str, Any]]:
    """The app and what `launch` gets, as app.py makes them."""
    from leaderboard import server

    return server.build(database)


def built_database(folder: Path) -> Path:
    """A database of the shipped figures alone."""
    from compute.database.build import build

    return build(folder / "likeness.duckdb", results=folder / "results").path


def command_line() -> typer.Typer:
    from compute.__main__ import app

    return app


def app_main() -> None:
    import app

    app.main()


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
ANSWERS = (
    "/data/board/{suite}",
    "/data/rank/{suite}",
    "/data/cell/{suite}",
    "/data/claims",
    "/data/model",
    "/data/task",
    "/data/run",
    "/data/items",
    "/data/relations",
    "/live/plan",
    "/live/examples",
)

# Query strings that a module must write again as it read them.
TRIPS = {
    "board": (
        "q=clip&sort=-u/nights&kind=encoder,metric&min_parameters=100000000&max_parameters=1000000000&modality=image&open=yes"
        "&usable=yes&late_interaction=no&instructions=yes,unknown&pin=lab/alpha~published"
        "&license=mit,unknown&released=2023,unknown&trained=no,unknown&origin=computed&group=specialised&models=lab/alpha,lab/beta&families=IQA"
        "&columns=u/nights,u/fid&w=IQA:3&borda=show&coverage=0.5&tasks=u/nights,u/bapps"
        "&select=lab/alpha~published,lab/beta~published",
        "sort=title",
        "sort=parameters",
        "sort=coverage",
        "sort=mean",
        "sort=borda",
        "sort=-rank",
        "trained=yes",
        "borda=hide",
        "interval=show",
        "memory=show&dimension=show&tokens=show&date=show&late=show",
        *(f"sort={fact}" for fact in ("memory", "dimension", "tokens", "date", "late")),
        "families=none",
        "columns=all",
        "preset=iqa",
        "size=unknown",
        "open=no",
        "open=unknown",
        "origin=all",
        "suite=small",
    ),
    "claims": (
        "claim=unisim/one&paper=unisim&verdict=conflict&severity=headline&q=clip&sort=-claim",
        "severity=table",
        "severity=detail",
        "sort=severity",
        "verdict=rounding",
        "verdict=reproduces",
        "verdict=cannot+be+recomputed",
        "sort=verdict",
        "sort=paper",
        "sort=where",
        "sort=printed",
        "sort=recomputed",
        "sort=formula",
        "sort=note",
    ),
    "items": ("items=lab/alpha,lab/beta&show=wrong&order=margin&subset=en&part=2&every=yes",),
    "tray": (
        "mode=pair&inputs=cat,cup&models=ssim&question=contrast",
        "mode=choice",
        "mode=odd",
        "mode=quality",
        "models=none",
        "question=brightness",
        "question=colorfulness",
        "question=sharpness",
    ),
}
TRIP = """
const {scripts, payload, trips} = JSON.parse(process.argv[1]);
const read = new Set();
const Usual = URLSearchParams;
globalThis.URLSearchParams = class extends Usual {
  get(key) { read.add(key); return super.get(key); }
  has(key) { read.add(key); return super.has(key); }
};
const small = (await import(payload)).payload();
const lists = await import(scripts.claims.replace('pages/claims/claims.js', 'js/facets.js'));
const examples = new Set(['cat', 'cup']);
const ways = {
  board: (module, search) => {
    small.suite.key = module.suiteOf(search) || 'home';
    return module.write(module.parse(search, small).state, small, '', 'home');
  },
  claims: ({facetsOf, COLUMNS}, search) => {
    const known = {facets: facetsOf([{key: 'unisim/one', paper: 'unisim'}]), sorts: COLUMNS.map(({key}) => key)};
    return lists.write(lists.parse(search, known).state, '');
  },
  items: (module, search) => module.write(module.parse(search), ''),
  tray: (module, search) => module.write('', module.parse(search, examples)),
};
const found = {};
for (const [name, path] of Object.entries(scripts)) {
  const module = await import(path);
  read.clear();
  const kept = {};
  for (const search of trips[name]) {
    const back = [...new Usual(ways[name](module, `?${search}`))].map(String);
    for (const [key, value] of new Usual(search)) {
      if (back.includes(String([key, value]))) (kept[key] ??= []).push(value);
    }
  }
  found[name] = Object.fromEntries([...read].map((key) => [key, kept[key] ?? []]));
}
console.log(JSON.stringify(found));
"""
Surface = dict[str, dict[str, Any]]  # section, item, what is known of it


# ---- the surface


def surface(database: Path) -> Surface:
    """Everything, by section. A computed run is made beside the rest."""
    with tempfile.TemporaryDirectory() as folder:
        running = start_run(Path(folder))
        try:
            blocks, launch = built_app(database)
            served = launch["app_kwargs"]
            app = Starlette(routes=served["routes"], middleware=served["middleware"], lifespan=served["lifespan"])
            blocks.local_url = "http://127.0.0.1/"  # what `launch` sets; the tools ask for it
            with TestClient(app) as client:
                examples = chosen(client, database)
                found = {
                    "pages": {f"/{key}": title for key, title, *_ in blocks.config["pages"]},
                    "page parameters": page_parameters(blocks, database),
                    "browser parameters": browser_parameters(),
                    "routes": dict(sorted(routes(served["routes"]))),
                    "route parameters": route_parameters(client, examples),
                    "route answers": route_answers(client, examples),
                    "exports": exports(client, examples),
                    "endpoints": dict(endpoints(blocks)),
                    "tools": tools(client),
                }
            found |= {
                "commands": dict(commands(typer.main.get_command(command_line()))),
                "app options": app_options(),
                "environment": dict.fromkeys(sorted(environment()), ""),
                "database": tables(database),
                "run folder": run_folder(running, Path(folder)),
            }
        finally:
            running.kill()
            running.communicate()
    return json.loads(json.dumps(found))


def routes(served: list[Any]) -> Iterator[tuple[str, str]]:
    for route in served:
        yield route.path, " ".join(sorted(getattr(route, "methods", None) or ["mounted"]))


def reached(start: Any) -> Iterator[Any]:
    """What a function holds on to: through closures, bound methods, partials and tuples."""
    kinds = (MethodType, CellType, tuple, partial)
    left, seen = [start], set()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, FunctionType):
            left += one.__closure__ or ()
        elif isinstance(one, kinds):
            left += gc.get_referents(one)


def page_parameters(blocks: Any, database: Path) -> dict[str, str]:
    """Every parameter that a page's first event holds, told by its shape."""
    with duckdb.connect(str(database), read_only=True) as connection:
        keys = {
            noun: {key for (key,) in connection.execute(f"SELECT key FROM {noun}").fetchall()}
            for noun in ("suites", "models", "tasks")
        }
    found: dict[str, str] = {}
    for event in blocks.fns.values():
        if not any(name == "load" for _, name in event.targets):
            continue
        held = list(reached(event.fn))
        # Those with the keys in the database: some pages are built before it is read.
        current = {each.key: each for one in held if is_current(one) for each in one()}
        for one in held:
            if all(hasattr(one, name) for name in ("key", "default", "read", "write")):
                one = current.get(one.key, one)
                name = f"/{event.page} ?{one.key}"
                told = parameter(one, keys, derived=name in DERIVED)
                assert found.setdefault(name, told) == told, name
    return dict(sorted(found.items()))


def is_current(held: Any) -> bool:
    """Whether this is the function of `leaderboard.page.bind` that gives a page's parameters."""
    return isinstance(held, FunctionType) and held.__qualname__ == "bind.<locals>.current"


def parameter(one: Any, keys: Mapping[str, set[str]], *, derived: bool) -> str:
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
        many = f"{one.least} to {one.most} of" if hasattr(one, "most") else "one of"
        return f"{many} {of}; default {default}"
    if hasattr(one, "low"):
        return f"{'whole ' if one.whole else ''}number {one.low:.10g} to {one.high:.10g}; default {default}"
    return f"text of at most {one.longest} characters; default {default}"


def browser_parameters() -> dict[str, str]:
    """What each module reads of an address, and which values come back as they were."""
    asked = {
        "scripts": {name: (ROOT / path).as_uri() for name, path in SCRIPTS.items()},
        "payload": (ROOT / PAYLOAD).as_uri(),
        "trips": TRIPS,
    }
    ended = subprocess.run(
        [str(NODE), "--input-type=module", "-e", TRIP, json.dumps(asked)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return {
        f"{name} ?{key}": " | ".join(sorted(values))
        for name, read in json.loads(ended.stdout).items()
        for key, values in sorted(read.items())
    }


def chosen(client: TestClient, database: Path) -> dict[str, str]:
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


def route_parameters(client: TestClient, examples: Mapping[str, str]) -> dict[str, str]:
    """Which query parameters change an answer."""
    found: dict[str, str] = {}
    for path, base, pairs in QUERIES:
        given = dict(part.split("=", 1) for part in base.format(**examples).split("&") if part)
        usual = client.get(path, params=given).content
        for pair in pairs:
            key, value = pair.split("=", 1)
            changed = client.get(path, params={**given, key: value.format(**examples)}).content != usual
            name = f"{path.replace(SUITE, '{suite}')} ?{pair if key in ('preset', 'format') else key}"
            found[name] = "changes the answer" if changed else IDLE
    return dict(sorted(found.items()))


def route_answers(client: TestClient, examples: Mapping[str, str]) -> dict[str, str]:
    """The names at the top of every JSON answer."""
    asked = {"/data/cell/{suite}": ("row", "column"), "/data/model": ("model",), "/data/run": ("run",)}
    found = {}
    for route in ANSWERS:
        given = {"id" if name == "run" else name: examples[name] for name in asked.get(route, ())}
        given |= {"task": TASK} if route in ("/data/task", "/data/items") else {}
        given |= {"kinds": "image,image"} if route == "/live/plan" else {}
        answer = client.get(route.format(suite=SUITE), params=given)
        body = answer.json() if answer.status_code == 200 else [f"answers {answer.status_code}"]
        found[route] = " ".join(sorted(body))
    return found


def exports(client: TestClient, examples: Mapping[str, str]) -> dict[str, str]:
    """Every file one can download: its name and type, and the columns of those that have some."""
    found = {}
    body = {"rows": [examples["row"]], "columns": [examples["column"]], "query": ""}
    for form in FORMS["view"]:
        answer = client.post("/export/board/" + SUITE, json={**body, "format": form})
        found[f"view {form}"] = file_facts(answer)
        if form == "csv":
            heads = columns(answer).replace(examples["column"], "(the chosen columns)")
            found["view csv columns"] = heads
    for form in FORMS["everything"]:
        answer = client.get("/export/everything", params={"format": form})
        found[f"everything {form}"] = file_facts(answer)
        if form == "csv":
            found["everything csv columns"] = columns(answer)
    answer = client.get("/export/relations", params={"suites": SUITE})
    found |= {"relations csv": file_facts(answer), "relations csv columns": columns(answer)}
    answer = client.get("/published/unisim-table-2.csv")
    found |= {"published table": file_facts(answer).replace("unisim-table-2", "(table)")}
    return found


def file_facts(answer: Any) -> str:
    if answer.status_code != 200:
        return f"answers {answer.status_code}"
    return f"{answer.headers['content-disposition'].partition('filename=')[2]} {answer.headers['content-type']}"


def columns(answer: Any) -> str:
    return ", ".join(next(csv.reader(io.StringIO(answer.text))))


def endpoints(blocks: Any) -> Iterator[tuple[str, str]]:
    for name, facts in sorted(blocks.get_api_info()["named_endpoints"].items()):
        for one in facts["parameters"]:
            default = f"; default {one['parameter_default']!r}" if one["parameter_has_default"] else ""
            yield f"{name} {one['parameter_name']}", f"{one['python_type']['type']}{default}"
        yield f"{name} returns", ", ".join(one["python_type"]["type"] for one in facts["returns"])


def tools(client: TestClient) -> dict[str, str]:
    """The same for language models, where the package is installed."""
    if not has_tools():
        return {}
    answer = client.get("/gradio_api/mcp/schema")
    assert answer.status_code == 200, answer.text[:400]
    found = {}
    for tool in answer.json():
        found[tool["name"]] = "tool"
        for name, facts in tool["inputSchema"].get("properties", {}).items():
            default = f"; default {json.dumps(facts['default'])}" if "default" in facts else ""
            found[f"{tool['name']} {name}"] = f"{facts.get('type', 'any')}{default}"
    return found


def has_tools() -> bool:
    return importlib.util.find_spec("mcp") is not None


def commands(command: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every command with its arguments and options."""
    if hasattr(command, "commands"):
        context = typer.Context(command)
        for name in sorted(command.list_commands(context)):
            yield from commands(command.get_command(context, name), f"{path} {name}".strip())
        if not command.invoke_without_command:
            return
    yield path, "command"
    for one in command.params:
        name = "/".join((*one.opts, *one.secondary_opts))
        flag, repeated = getattr(one, "is_flag", False), getattr(one, "multiple", False)
        facts = [
            "flag" if flag else kind_of(one),
            "required" * one.required,
            "repeated" * repeated,
            "" if flag or one.required else f"default {one.default!r}",
        ]
        yield f"{path} {name}", ", ".join(filter(None, facts))


def kind_of(one: Any) -> str:
    """The type of an option and its bounds; click keeps them in `type`, typer without click beside the option."""
    kind = getattr(one, "type", None)
    name = kind.name.removesuffix(" range") if kind else getattr(one.type_descriptor.annotation, "__name__", "choice")
    bounds = [
        f"{word} {found}"
        for key, word in (("min", "from"), ("max", "to"))
        if (found := getattr(kind or one, key, None)) is not None
    ]
    known = {"integer": "int", "text": "str", "list": "str", "Path": "path"}  # of a list, click names one
    return " ".join([known.get(name, name), *bounds])


def app_options() -> dict[str, str]:
    """The options of app.py: its own parser, caught before it reads anything."""

    class CaughtError(Exception):
        pass

    def catch(parser: argparse.ArgumentParser, *_: Any) -> None:
        raise CaughtError(parser)

    with patch.object(argparse.ArgumentParser, "parse_args", catch), pytest.raises(CaughtError) as caught:
        app_main()
    (parser,) = caught.value.args
    found = {}
    for one in parser._actions:
        default = "the usual file" if isinstance(one.default, Path) else one.default
        kind = "path" if one.type is Path else "checked" if one.type else "text"
        name = "/".join(one.option_strings)
        found[name] = "flag" if one.nargs == 0 else f"{kind}, default {default}"
    return dict(sorted(found.items()))


def environment() -> set[str]:
    """The names LIKENESS_* that stand in the code as a whole string."""
    found = set()
    for source in SOURCES:
        path = ROOT / source
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            found |= {
                node.value
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.startswith("LIKENESS_")
                and node.value.replace("_", "").isalpha()
            }
    return found


def tables(database: Path) -> dict[str, str]:
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


def start_run(folder: Path) -> subprocess.Popen[str]:
    words = [
        "run",
        "--suite",
        "mini",
        "--tasks",
        TASK,
        "--models",
        "colour-histogram",
        "--offline",
        "--results",
        str(folder),
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "compute", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"LIKENESS_ANSWERS": str(folder)},
    )


def run_folder(running: subprocess.Popen[str], folder: Path) -> dict[str, str]:
    """The files of one computed run, the names in run.json, and the columns of the tables."""
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 0, said
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

NODE = shutil.which("node")


@cache
def reads_modules() -> bool:
    """Whether node takes a .js file as a module, as browsers do: since 20.19 and 22.7."""
    if NODE is None:
        return False
    said = subprocess.run([NODE, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    major, minor = map(int, said.strip().removeprefix("v").split(".")[:2])
    return (20, 19) <= (major, minor) < (21, 0) or (major, minor) >= (22, 7)


def differences(kept: Surface, now: Surface) -> list[str]:
    """One line for each item that was added, lost or changed."""
    lines = []
    for section in sorted({*kept, *now}):
        before, after = kept.get(section, {}), now.get(section, {})
        lines += [f"lost     {section}: {item} ({before[item]})" for item in before if item not in after]
        lines += [f"added    {section}: {item} ({after[item]})" for item in after if item not in before]
        lines += [
            f"changed  {section}: {item}\n           was {before[item]}\n           is  {after[item]}"
            for item in before
            if item in after and before[item] != after[item]
        ]
    return lines


def written(found: Surface) -> str:
    """The snapshot's text: sections and items in order, one line an item."""
    sections = []
    for name, items in sorted(found.items()):
        lines = [
            f"    {json.dumps(item, ensure_ascii=False)}: {json.dumps(facts, ensure_ascii=False)}"
            for item, facts in sorted(items.items())
        ]
        sections.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(sections) + "\n}\n"


@pytest.mark.skipif(not reads_modules(), reason="node 20.19, 22.7 or later is not installed")
def test_the_public_surface_is_as_it_was_written_down(database):
    kept, now = json.loads(CONTRACT.read_text(encoding="utf-8")), surface(database)
    if not has_tools():
        kept.pop("tools"), now.pop("tools")
    found = differences(kept, now)
    assert not found, "\n".join(
        [
            f"{len(found)} differences between {CONTRACT.name} and what is public now:",
            *found,
            f"Not meant? Mend the code. Meant? Write it down with: {RENEW}",
            "A file that was only moved: adapt the imports and paths at the top of this test.",
        ]
    )


def test_the_snapshot_is_in_order():
    text = CONTRACT.read_text(encoding="utf-8")
    assert written(json.loads(text)) == text, f"Edited by hand? {RENEW} writes it in order"


def command_reference() -> str:
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


def main() -> None:
    """Writes the snapshot and docs/commands.md, and prints what differs from the snapshot before."""
    if not (reads_modules() and has_tools()):
        sys.exit("The snapshot needs node 20.19, 22.7 or later, and the package mcp")
    with tempfile.TemporaryDirectory() as folder:
        now = surface(built_database(Path(folder)))
    if idle := [item for item, facts in now["route parameters"].items() if facts == IDLE]:
        sys.exit(f"These show nothing, choose other examples: {', '.join(idle)}")
    kept = json.loads(CONTRACT.read_text(encoding="utf-8")) if CONTRACT.is_file() else {}
    CONTRACT.write_text(written(now), encoding="utf-8")
    COMMANDS.write_text(command_reference(), encoding="utf-8")
    print("\n".join(differences(kept, now)) or "Nothing differs")


if __name__ == "__main__":
    main()
