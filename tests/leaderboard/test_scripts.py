"""The scripts of the pages: they parse, write no markup, import what exists, keep to their classes, compute rightly.

Everything that needs node runs in one process of it.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "leaderboard"
MODULES = sorted(PACKAGE.rglob("*.js"))
PURE = sorted(HERE.rglob("*.test.mjs"))
NODE = shutil.which("node")
TRAY = PACKAGE / "pages" / "try_it" / "tray"
each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))


def version():
    """The version of node, (0, 0) where there is none."""
    if NODE is None:
        return 0, 0
    printed = subprocess.run([NODE, "--version"], capture_output=True, text=True, timeout=30, check=False)
    major, minor = re.findall(r"\d+", printed.stdout)[:2]
    return int(major), int(minor)


# Browsers take the .js files as modules; node does so without a package.json since 20.19 and 22.7.
AGE = version()
READS_MODULES = (20, 19) <= AGE < (21, 0) or AGE >= (22, 7)
needs_node = pytest.mark.skipif(not READS_MODULES, reason="node 20.19, 22.7 or later is not installed")


def node(code, paths):
    """Runs a module in one node process; `paths` are its variable `paths`."""
    listed = json.dumps([str(path) for path in paths])
    return subprocess.run(
        [str(NODE), "--experimental-vm-modules", "--no-warnings", "--input-type=module"],
        input=f"const paths = {listed};\n{code}",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_scripts_are_found():
    names = {str(path.relative_to(PACKAGE)) for path in MODULES}
    assert {"js/grid.js", "pages/board/state.js", "pages/try_it/tray/tray.js"} <= names
    assert len(PURE) >= 9


@needs_node
def test_all_modules_parse():
    ended = node(
        """
import { readFileSync } from 'node:fs';
import { SourceTextModule } from 'node:vm';
for (const path of paths) new SourceTextModule(readFileSync(path, 'utf8'), { identifier: path });
""",
        MODULES,
    )
    assert ended.returncode == 0, ended.stderr


@needs_node
def test_pure_modules_compute_rightly():
    ended = node("for (const path of paths) await import(path);", PURE)
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    assert len(re.findall(r"^# tests (\d+)|^ℹ tests (\d+)", ended.stdout, re.M)) == 1


@each_module
def test_module_keeps_to_the_rules(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(inner|outer|Adjacent)HTML|document\.write|\beval\(|new Function", text)
    assert not re.search(r"https?://", text), "a page makes no request beyond its own host"
    assert not re.search(r"\.to(Fixed|Precision)\(", text), "numbers are written by rounded() of js/number.js"
    if path.is_relative_to(PACKAGE / "pages" / "try_it"):
        assert not re.search(r"localStorage|sessionStorage|indexedDB|document\.cookie", text), "uploads are not stored"


@each_module
def test_imports_are_served_files_whose_names_exist(path):
    for names, target in re.findall(r"^import \{([^}]+)\} from '([^']+)'", path.read_text(encoding="utf-8"), re.M):
        imported = (path.parent / target).resolve()
        own = PACKAGE.joinpath(*path.relative_to(PACKAGE).parent.parts[:2])
        assert any(map(imported.is_relative_to, (own, PACKAGE / "js"))), f"{target}: a page's own, or shared in js/"
        source = imported.read_text(encoding="utf-8")
        for name in filter(None, (part.partition(" as ")[0].strip() for part in names.split(","))):
            assert re.search(rf"^export (async )?(function|const|class) {name}\b", source, re.M), (target, name)


def test_the_tray_knows_the_longest_text_that_the_server_takes():
    from compute.live.inputs import LONGEST

    assert f"LONGEST_TEXT = {LONGEST:_};" in (TRAY / "inputs.js").read_text()
