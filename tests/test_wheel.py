"""The wheel holds the program, its assets and docs, and runs in an environment of its own; more in tests/slow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("compute", "leaderboard", "assets", "docs")
DERIVED = shutil.ignore_patterns("__pycache__", "*.duckdb*")


def run(*words: object, **how: object) -> str:
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=240, **how)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    return ended.stdout


def test_a_wheel_is_built_and_runs_outside_the_checkout(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=DERIVED)
    for name in ("pyproject.toml", "setup.py", "requirements.txt", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", tmp_path, source)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = {path.relative_to(source).as_posix() for name in FOLDERS for path in (source / name).rglob("*")}
    files = {name for name in files if (source / name).is_file() and not name.startswith("build/")}
    assert packed == {f"compute/{name}" if name.startswith(("assets/", "docs/")) else name for name in files}

    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    packages = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])").strip())
    (packages / "others.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")  # what the wheel requires
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel)
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LIKENESS_", "XDG_"))}
    (tmp_path / "work").mkdir()
    printed = run(
        python.with_name("likeness"), "list", "suites", cwd=tmp_path / "work", env=bare | {"HOME": str(tmp_path)}
    )
    assert "mieb-lite" in printed and not any((tmp_path / "work").iterdir())
