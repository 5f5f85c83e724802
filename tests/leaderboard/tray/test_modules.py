"""The modules of the tray: they parse, stay small, write no markup, keep to their own classes, compute rightly."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.leaderboard.board.test_modules import NODE, classes, needs_node

HERE = Path(__file__).parent
TRAY = HERE.parents[2] / "leaderboard" / "tray"
MODULES = sorted(TRAY.glob("*.js"))
SHEET = (TRAY / "tray.css").read_text(encoding="utf-8")


def test_there_are_modules() -> None:
    assert {"tray.js", "slots.js", "address.js", "picks.js"} <= {path.name for path in MODULES}


@needs_node
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_module_parses(path: Path) -> None:
    found = subprocess.run([str(NODE), "--input-type=module", "--check"], input=path.read_text(encoding="utf-8"),
                           capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 0, found.stderr


@needs_node
def test_pure_modules() -> None:
    files = sorted(path.name for path in HERE.glob("*.test.mjs"))
    assert len(files) >= 3
    found = subprocess.run([str(NODE), "--test", *files], cwd=HERE, capture_output=True, text=True, timeout=120,
                           check=False)
    assert found.returncode == 0, found.stdout[-6000:]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_module_keeps_to_the_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 300
    assert not re.search(r"(inner|outer|Adjacent)HTML|document\.write|\beval\(|new Function", text)
    assert not re.search(r"https?://", text), "a page makes no request beyond its own host"
    kept = text.replace("localStorage", "") if path.name == "answers.js" else text  # a tally, and nothing of the inputs
    assert not re.search(r"localStorage|sessionStorage|indexedDB|document\.cookie", kept), "uploads are kept nowhere"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_imports_are_served_files_whose_names_exist(path: Path) -> None:
    for names, place in re.findall(r"^import \{([^}]+)\} from '([^']+)'", path.read_text(encoding="utf-8"), re.M):
        assert place.startswith("./") or place == "../board/dom.js", place
        there = (TRAY / place).read_text(encoding="utf-8")
        for name in names.split(","):
            assert re.search(rf"^export (async )?(function|const|class) {name.strip()}\b", there, re.M), (place, name)


def test_every_rule_is_the_tray_s_and_no_class_is_another_sheet_s() -> None:
    rules = re.sub(r"/\*.*?\*/", "", SHEET, flags=re.S)
    for selector in re.findall(r"(?:^|[{}])\s*([^@{}]+)\{", rules):
        assert "likeness-tray" in selector, selector
    assert not classes(SHEET), "classes of the pages (pg-) and the table (lk-) are theirs"


def test_every_class_that_is_styled_is_drawn_and_the_reverse() -> None:
    styled = set(re.findall(r"\.(tr-[\w-]+)", SHEET))
    code = "".join(path.read_text(encoding="utf-8") for path in MODULES)
    drawn = set(re.findall(r"(?<![\w-])tr-[a-z]+", code)) - {"tr-mode"}
    ids = {"tr-reason", "tr-private"}
    assert styled - drawn == set()
    assert drawn - styled - ids == set()
