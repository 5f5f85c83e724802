"""Imports run one way, heavy packages load late, SQL stands in few files, and a class's name is its own.

Every import counts: those inside functions and those for type checkers too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    ROOT / "app.py",
    *sorted(path for name in ("compute", "leaderboard", "likeness") for path in (ROOT / name).rglob("*.py")),
)
HEAVY = ("torch", "torchvision", "umap", "sklearn", "skimage", "transformers", "timm", "open_clip", "numba", "ray")
FIGURES = "compute.analysis.figures"
NOT_AT_START = (*HEAVY, "scipy.stats", "scipy.special", "openai")

# The order, from the bottom to the top. A file may import what stands in a lower row, and anything of its own room; two
# rooms of one row do not know each other. A file belongs to the room with the longest name that begins its own.
ROOMS = (
    ("compute.types", "compute.paths", "compute.arrays", "compute.processes", "compute.options"),
    ("compute.versions",),
    ("compute.rounding", "compute.io"),
    ("compute.storage", "compute.bare_process", "compute.pages"),
    ("compute.progress", "compute.metrics", "compute.content", "compute.database"),
    ("compute.analysis", "compute.models", "compute.tasks"),
    ("compute.catalog", "compute.features"),
    ("compute.procedures", "compute.importing", "compute.claims"),
    ("compute.engine",),
    ("compute.calibration", "compute.training"),
    ("compute.live", "compute.database.build", "compute.database.publish"),
    ("compute.eyes",),
    ("compute.interface",),
    ("compute.sharing",),
    ("compute.cli",),
    ("compute",),  # the Python interface: its own names load on first use
    ("compute.__main__",),
    ("leaderboard.web",),
    ("leaderboard.html",),
    ("leaderboard.data",),
    ("leaderboard.host",),
    ("leaderboard.live",),
    ("leaderboard.page",),
    ("leaderboard.face", "leaderboard.search"),
    (
        "leaderboard.api",
        "leaderboard.pages.about",
        "leaderboard.pages.board",
        "leaderboard.pages.choose",
        "leaderboard.pages.claims",
        "leaderboard.pages.compare",
        "leaderboard.pages.try_it",
        "leaderboard.pages.correlations",
        "leaderboard.pages.cost",
        "leaderboard.pages.eyes",
        "leaderboard.pages.generators",
        "leaderboard.pages.judges",
        "leaderboard.pages.smaller_suite",
        "leaderboard.pages.map",
        "leaderboard.pages.model",
        "leaderboard.pages.models",
        "leaderboard.pages.overview",
        "leaderboard.pages.sql",
        "leaderboard.pages.task",
        "leaderboard.pages.tasks",
    ),
    ("leaderboard.pages",),
    ("leaderboard.server",),
    ("leaderboard.start", "leaderboard.serving"),
    ("leaderboard",),  # the Python interface: its own names load on first use
    ("likeness",),
    ("likeness.__main__", "app"),
)
RANKS = {room: rank for rank, row in enumerate(ROOMS) for room in row}

SQL_FILES = re.compile(
    r"compute\.claims|compute\.io\.tables|compute\.database\.(store|schema)|leaderboard\.data\.(database|visitors\.visitor_queries)"
)
SQL = re.compile(
    r"\b(SELECT\s.+?\sFROM|INSERT\s+INTO|CREATE\s+(TABLE|VIEW)|DELETE\s+FROM|ATTACH\s+'|COPY\s+\w+\s+TO)\b",
    re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Import:
    """One imported module or name; `late` inside a function or for type checkers only."""

    target: str
    line: int
    late: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import of a file; of `from package import name` the name below the package."""

    def walk(node: ast.AST, late: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for name in child.names:
                    yield Import(target=name.name, line=child.lineno, late=late)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}:{child.lineno}: relative import"
                for name in child.names:
                    yield Import(target=f"{child.module}.{name.name}", line=child.lineno, late=late)
            else:
                inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
                yield from walk(child, late or inside or checking)

    return tuple(walk(tree(path), False))


def edges(path: Path) -> Iterator[tuple[str, Import]]:
    """The project's own files that a file imports. A package's `__init__` is no arrow from the files inside it."""
    name = module_name(path)
    for found in imports(path):
        for target in (found.target, found.target.rpartition(".")[0]):
            own_package = MODULES.get(target, path).name == "__init__.py" and name.startswith(f"{target}.")
            if target in MODULES and target != name and not own_package:
                yield target, found


def room(name: str) -> str:
    parts = name.split(".")
    return next(room for end in range(len(parts), 0, -1) if (room := ".".join(parts[:end])) in RANKS)


def begins_with(target: str, packages: tuple[str, ...]) -> bool:
    return any(target == package or target.startswith(f"{package}.") for package in packages)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of files that reach each other."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        left = [start]
        while left:
            new = graph[left.pop()] - seen
            seen |= new
            left += new
        reach[start] = seen
    groups = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    return sorted(sorted(group) for group in groups)


def test_every_room_is_in_the_order():
    assert {"compute.database.store", "compute.types", "leaderboard.page", "leaderboard.data.board_table"} <= set(
        MODULES
    )
    unknown = [room for room in RANKS if room not in MODULES]
    assert unknown == []
    top = [
        name for name in MODULES if room(name) in ("compute", "leaderboard", "leaderboard.pages") and name != room(name)
    ]
    assert top == [], "not in ROOMS"


def test_imports_run_one_way():
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {target}"
        for name, path in MODULES.items()
        for target, found in edges(path)
        if room(target) != room(name) and RANKS[room(target)] >= RANKS[room(name)]
    ]
    assert wrong == []


def test_imports_have_no_circle():
    graph = {name: {target for target, _ in edges(path)} for name, path in MODULES.items()}
    assert circles(graph) == []


def test_compute_knows_nothing_of_the_pages():
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.target}"
        for name, path in MODULES.items()
        if name.startswith("compute")
        for found in imports(path)
        if begins_with(found.target, ("leaderboard", "gradio", "app"))
    ]
    assert wrong == []


def test_compute_draws_in_one_folder_that_loads_when_a_figure_is_asked_for():
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.target}"
        for name, path in MODULES.items()
        if name.startswith("compute.") and not name.startswith(FIGURES)
        for found in imports(path)
        if begins_with(found.target, ("plotly",)) or (begins_with(found.target, (FIGURES,)) and not found.late)
    ]
    assert wrong == []


def test_no_file_imports_a_heavy_package_before_it_is_needed():
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.target}"
        for path in FILES
        for found in imports(path)
        if begins_with(found.target, HEAVY) and not found.late
    ]
    assert wrong == []


def test_sql_stands_in_the_store_and_the_queries_only():
    wrong = []
    for name, path in MODULES.items():
        if SQL_FILES.fullmatch(name):
            continue
        wrong += [
            f"{name}:{found.line} imports duckdb" for found in imports(path) if begins_with(found.target, ("duckdb",))
        ]
        wrong += [
            f"{name}:{node.lineno} holds SQL"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
        ]
    assert wrong == []


def test_no_two_classes_share_a_name():
    classes = defaultdict(list)
    for name, path in MODULES.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                classes[node.name.lstrip("_")].append(name)
    shared = {name: where for name, where in classes.items() if len(where) > 1}
    assert shared == {}


@pytest.mark.parametrize("module", ["leaderboard.server", "compute.database.build"])
def test_importing_it_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*(name for name in {NOT_AT_START!r} if name in sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == []


def test_the_app_reads_its_options_before_the_hub_s_library_is_imported():
    """The library reads whether it is offline when it is imported, and `--offline` says so by the environment."""
    code = "import sys, leaderboard.start; print(*(name for name in sys.modules if name == 'huggingface_hub'))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == []
