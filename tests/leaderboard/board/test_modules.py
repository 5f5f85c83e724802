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


def classes(sheet: str) -> set[str]:
    """The class names in the selectors of a style sheet that are ours."""
    rules = re.sub(r"/\*.*?\*/", "", sheet, flags=re.S)
    selectors = " ".join(re.findall(r"([^{}]+)\{", rules))
    return set(re.findall(r"\.((?:lk|pg)-[\w-]+)", selectors))


def test_pages_and_table_share_no_class_names() -> None:
    # Gradio rewrites the page's sheet so that its rules would win over the table's.
    own = classes((BOARD / "board.css").read_text(encoding="utf-8"))
    generated = re.findall(r"\.(lk-[\w-]*)(\$\{)?", (BOARD / "colour.js").read_text(encoding="utf-8"))
    steps = {f"{name}{step}" for name, open_end in generated if open_end for step in range(21)}
    own |= steps | {name for name, open_end in generated if not open_end}
    pages = classes((BOARD.parent / "look.css").read_text(encoding="utf-8"))
    assert len(steps) == 21
    assert {"lk-name", "lk-strip", "lk-shade-20"} <= own
    assert {"pg-heading", "pg-table"} <= pages
    assert not own & pages
    assert {name[:3] for name in pages} == {"pg-"}
    assert {name[:3] for name in own} == {"lk-"}


def test_pages_use_only_their_own_classes() -> None:
    taken = classes((BOARD / "board.css").read_text(encoding="utf-8"))
    taken -= {"lk-plain", "lk-claims"}  # what the pages give the table to mount in
    for path in BOARD.parent.rglob("*.py"):
        used = set(re.findall(r"(?<![\w-])(?:lk|pg)-[\w-]+", path.read_text(encoding="utf-8")))
        assert not used & taken, path.name


def test_every_class_of_the_style_sheet_is_ours() -> None:
    rules = re.sub(r"/\*.*?\*/", "", (BOARD / "board.css").read_text(encoding="utf-8"), flags=re.S)
    for selector in re.findall(r"(?:^|[{}])\s*([^@{}]+)\{", rules):
        assert "likeness-board" in selector or "lk-plain" in selector, selector
