"""Imports run one way, heavy packages load late, SQL stands in few files, and a class's name is its own.

Every import counts: those inside functions and those for type checkers too.
"""

import ast
import re
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from typing import NamedTuple

import pytest

from tests.serving import ROOT, ended

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
    ("compute.training", "compute.database.calibrations", "compute.database.doubts", "compute.database.versions"),
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
        "leaderboard.pages.moved",
        "leaderboard.pages.overview",
        "leaderboard.pages.replication",
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

SQL_FILES = ("compute.claims", "compute.io.tables", "compute.database.store", "compute.database.schema")
SQL_FILES += ("compute.database.doubts", "compute.database.versions")
SQL_FILES += ("leaderboard.data.database", "leaderboard.data.visitors.visitor_queries")
SQL = re.compile(
    r"\b(SELECT\s.+?\sFROM|INSERT\s+INTO|CREATE\s+(TABLE|VIEW)|DELETE\s+FROM|ATTACH\s+'|COPY\s+\w+\s+TO)\b",
    re.DOTALL,
)


class Import(NamedTuple):
    """One imported module or name; `late` inside a function or for type checkers only."""

    target: str
    late: bool
    place: str  # file and line


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


@cache
def tree(name):
    return ast.parse(MODULES[name].read_text())


@cache
def imports(name):
    """Every import of a file; of `from package import name` the name below the package."""

    def walk(node, late):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                above = ""
                if isinstance(child, ast.ImportFrom):
                    assert child.level == 0, f"{name}:{child.lineno}: relative import"
                    above = f"{child.module}."
                for one in child.names:
                    yield Import(above + one.name, late, f"{name}:{child.lineno}")
            else:
                inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
                yield from walk(child, late or inside or checking)

    return tuple(walk(tree(name), False))


@cache
def edges(name):
    """The project's own files that a file imports. A package's `__init__` is no arrow from the files inside it."""
    found = {}
    for one in imports(name):
        for target in (one.target, one.target.rpartition(".")[0]):
            own_package = target in MODULES and MODULES[target].name == "__init__.py" and name.startswith(f"{target}.")
            if target in MODULES and target != name and not own_package:
                found[target] = one
    return found


def room(name):
    while name not in RANKS:
        name = name.rpartition(".")[0]
    return name


def begins_with(name, packages):
    return name.startswith(tuple(f"{package}." for package in packages)) or name in packages


def test_every_room_is_in_the_order():
    assert {*RANKS} <= {*MODULES}
    alone = ("compute", "leaderboard", "leaderboard.pages")
    assert [name for name in MODULES if room(name) in alone and name != room(name)] == [], "not in ROOMS"


def test_imports_run_one_way():
    wrong = [
        f"{found.place} imports {target}"
        for name in MODULES
        for target, found in edges(name).items()
        if room(target) != room(name) and RANKS[room(target)] >= RANKS[room(name)]
    ]
    assert wrong == []


def test_imports_have_no_circle():
    TopologicalSorter({name: edges(name) for name in MODULES}).prepare()


EVERY = ("compute", "leaderboard", "likeness", "app")


@pytest.mark.parametrize(
    "files, but, packages, late",
    [
        (("compute",), (), ("leaderboard", "gradio", "app"), False),
        (("compute",), (FIGURES,), ("plotly",), False),
        (("compute",), (FIGURES,), (FIGURES,), True),
        (EVERY, (), HEAVY, True),
        (EVERY, SQL_FILES, ("duckdb",), False),
    ],
    ids=["pages", "drawing", "figures", "heavy", "duckdb"],
)
def test_no_other_file_imports(files, but, packages, late):
    """Nor, where `late`, before it is needed; compute draws in one folder that loads when a figure is asked for."""
    wrong = [
        f"{found.place} imports {found.target}"
        for name in MODULES
        if begins_with(name, files) and not begins_with(name, but)
        for found in imports(name)
        if begins_with(found.target, packages) and not (late and found.late)
    ]
    assert wrong == []


def test_sql_stands_in_the_store_and_the_queries_only():
    wrong = [
        f"{name}:{node.lineno} holds SQL"
        for name in MODULES
        if not begins_with(name, SQL_FILES)
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
    ]
    assert wrong == []


def test_no_two_classes_share_a_name():
    classes = Counter(
        node.name.lstrip("_") for name in MODULES for node in ast.walk(tree(name)) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


@pytest.mark.parametrize(
    "module, packages",
    [
        ("leaderboard.server", NOT_AT_START),
        ("compute.database.build", NOT_AT_START),
        # It reads whether it is offline when it is imported, and `--offline` says so by the environment.
        ("leaderboard.start", ("huggingface_hub",)),
    ],
)
def test_importing_it_loads_nothing_heavy(module, packages):
    code = f"import sys, {module}; print(*(name for name in {packages!r} if name in sys.modules))"
    done = ended("-c", code)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
