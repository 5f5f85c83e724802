"""Imports run one way, heavy packages load late, and SQL stands in few files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for package in ("compute", "leaderboard") for path in (ROOT / package).rglob("*.py"))
OURS = ("compute", "leaderboard")
FOR_PAGES = ("types", "store", "catalog", "analysis", "metrics")  # what of compute the pages may use
LATE = ("published",)  # and this inside functions: the list of the papers' tables
HEAVY = ("torch", "umap", "sklearn", "transformers", "numba", "ray")
SQL = re.compile(
    r"\b(SELECT\s.+?\sFROM|INSERT\s+INTO|CREATE\s+(TABLE|VIEW)|DELETE\s+FROM|ATTACH\s+'|COPY\s+\w+\s+TO)\b",
    re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Import:
    """One imported module; `late` inside a function, `hint` for type checkers only."""

    target: str
    line: int
    late: bool
    hint: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[Import]:
    """Every import of a file; of `from package import name` both the package and the name below it."""

    def walk(node: ast.AST, late: bool, hint: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for name in child.names:
                    yield Import(target=name.name, line=child.lineno, late=late, hint=hint)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}:{child.lineno}: relative import"
                for name in child.names:
                    yield Import(target=f"{child.module}.{name.name}", line=child.lineno, late=late, hint=hint)
            else:
                inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
                yield from walk(child, late or inside, hint or checking)

    yield from walk(ast.parse(path.read_text()), False, False)


def where(path: Path, one: Import) -> str:
    return f"{path.relative_to(ROOT)}:{one.line} imports {one.target}"


def top(target: str) -> str:
    return target.partition(".")[0]


def part(target: str) -> str:
    """The second name: `store` of `compute.database.store.connect`."""
    return target.split(".")[1] if "." in target else ""


def test_the_files_are_found() -> None:
    names = {module_name(path) for path in FILES}
    assert {"compute.database.store", "compute.types", "leaderboard.page", "leaderboard.data.suite_table"} <= names


def test_compute_knows_nothing_of_the_pages() -> None:
    wrong = [
        where(path, one)
        for path in FILES
        if module_name(path).startswith("compute")
        for one in imports(path)
        if top(one.target) in ("leaderboard", "gradio", "plotly", "app")
    ]
    assert wrong == []


def test_the_pages_use_only_the_reading_side_of_compute() -> None:
    """compute.models and what runs them: only live.py, and there only inside functions."""
    wrong = []
    for path in FILES:
        if not module_name(path).startswith("leaderboard"):
            continue
        for one in imports(path):
            late = one.late and (path.name == "live.py" or part(one.target) in LATE)
            if top(one.target) == "compute" and part(one.target) not in FOR_PAGES and not (late or one.hint):
                wrong.append(where(path, one))
    assert wrong == []


def test_the_lower_floors_do_not_look_up() -> None:
    allowed = {
        "compute.types": (),
        "compute.database.schema": (),
        "compute.database.store": ("types", "schema"),
        "compute.metrics": ("types", "metrics"),
        "compute.analysis": ("types", "analysis", "metrics"),
    }
    wrong = []
    for path in FILES:
        name = module_name(path)
        for floor, below in allowed.items():
            if name == floor or name.startswith(f"{floor}."):
                wrong += [
                    where(path, one)
                    for one in imports(path)
                    if top(one.target) in OURS and part(one.target) not in below and not one.hint
                ]
    assert wrong == []


def test_no_file_imports_a_heavy_package_before_it_is_needed() -> None:
    wrong = [
        where(path, one)
        for path in FILES
        for one in imports(path)
        if top(one.target) in HEAVY and not one.late and not one.hint
    ]
    assert wrong == []


def test_imports_have_no_circle() -> None:
    known = {module_name(path) for path in FILES}
    edges = {}
    for path in FILES:
        found = set()
        for one in imports(path):
            if one.late or one.hint or top(one.target) not in OURS:
                continue
            found.add(one.target if one.target in known else one.target.rpartition(".")[0])
        edges[module_name(path)] = found & known
    done: set[str] = set()

    def follow(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for below in sorted(edges[name]):
                follow(below, (*trail, name))
            done.add(name)

    for name in edges:
        follow(name, ())


def test_sql_stands_in_the_store_and_the_queries_only() -> None:
    wrong = []
    for path in FILES:
        if path.name in ("store.py", "schema.py") or path.name.startswith("queries"):
            continue
        wrong += [f"{where(path, one)}" for one in imports(path) if top(one.target) == "duckdb"]
        wrong += [
            f"{path.relative_to(ROOT)}:{node.lineno} holds SQL"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
        ]
    assert wrong == []


@pytest.mark.parametrize("module", ["leaderboard.page, leaderboard.pages", "compute.database.build"])
def test_importing_it_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*(name for name in {(*HEAVY, 'scipy.stats')!r} if name in sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == []


def test_app_stays_short() -> None:
    assert len((ROOT / "app.py").read_text().splitlines()) < 40
