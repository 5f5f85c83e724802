"""The modules of the table component: they parse, stay small, write no markup, compute rightly."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BOARD = HERE.parents[2] / "leaderboard" / "board"
MODULES = sorted(BOARD.glob("*.js"))
NODE = shutil.which("node")


def version() -> tuple[int, int]:
    """The version of node, (0, 0) where there is none."""
    if NODE is None:
        return 0, 0
    found = subprocess.run([NODE, "--version"], capture_output=True, text=True, timeout=30, check=False)
    major, minor = re.findall(r"\d+", found.stdout)[:2]
    return int(major), int(minor)


# Browsers take the .js files as modules; node does so without a package.json since 20.19 and 22.7.
AGE = version()
READS_MODULES = (20, 19) <= AGE < (21, 0) or AGE >= (22, 7)
needs_node = pytest.mark.skipif(not READS_MODULES, reason="node 20.19, 22.7 or later is not installed")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs node from the tests' folder and hands back its output."""
    return subprocess.run(
        [str(NODE), *arguments], cwd=HERE, capture_output=True, text=True, timeout=120, check=False
    )


def test_there_are_modules() -> None:
    assert {"board.js", "grid.js", "state.js", "colour.js"} <= {path.name for path in MODULES}


@needs_node
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_module_parses(path: Path) -> None:
    # Read as a module through standard input: a .js file alone would be checked as CommonJS.
    found = subprocess.run(
        [str(NODE), "--input-type=module", "--check"],
        input=path.read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 0, found.stderr


@needs_node
def test_pure_modules() -> None:
    files = sorted(path.name for path in HERE.glob("*.test.mjs"))
    assert len(files) >= 3
    found = run("--test", *files)
    assert found.returncode == 0, found.stdout[-6000:]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_module_keeps_to_the_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 300
    assert not re.search(r"(inner|outer|Adjacent)HTML|document\.write|\beval\(|new Function", text)
    assert not re.search(r"https?://", text), "a page makes no request beyond its own host"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_imports_are_files_beside_it(path: Path) -> None:
    for name in re.findall(r"from '([^']+)'", path.read_text(encoding="utf-8")):
        assert name.startswith("./"), name
        assert (BOARD / name).is_file(), name


def test_every_class_of_the_style_sheet_is_ours() -> None:
    rules = re.sub(r"/\*.*?\*/", "", (BOARD / "board.css").read_text(encoding="utf-8"), flags=re.S)
    for selector in re.findall(r"(?:^|[{}])\s*([^@{}]+)\{", rules):
        assert "likeness-board" in selector or "lk-plain" in selector, selector
