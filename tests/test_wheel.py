"""The wheel holds the program as one package, `likeness`, and runs in an environment of its own; more in tests/slow."""

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import likeness.compute.types
import pytest

import compute.types
from compute.versions import DISTRIBUTION, VERSION, install_command
from tests.serving import ROOT

FOLDERS = ("likeness", "compute", "leaderboard", "assets", "docs")
DERIVED = shutil.ignore_patterns("__pycache__", "*.duckdb*")
MOST_BYTES = 15_000_000  # of the wheel; 9.2 MB when this was written: most is shipped runs and the bundled model
PIP = (sys.executable, "-m", "pip")
INSIDE = """
import importlib.util, sys, likeness, likeness.compute, likeness.leaderboard
from likeness.compute import paths
assert likeness.compute.rank and likeness.leaderboard.serve and paths.IS_INSTALLED
assert (paths.CATALOG / "models.csv").is_file() and (paths.DOCS / "quickstart.md").is_file()
print(likeness.__version__)
print(*(name for name in ("compute", "leaderboard", "assets", "docs", "app") if importlib.util.find_spec(name)))
"""
HELP = """
import sys
from likeness.__main__ import main
sys.argv[1:] = ["--help"]
try:
    main()
finally:
    print("loaded:", *({"torch", "pandas", "gradio", "duckdb"} & set(sys.modules)))
"""


def run(*words, **how):
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=240, **how)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    return ended.stdout


def built(folder):
    """The wheel, built by pip from a copy, so that the checkout gets no build folder."""
    source = folder / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=DERIVED)
    for name in ("pyproject.toml", "setup.py", "requirements.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    (source / "assets" / "likeness.duckdb").write_bytes(b"a database that was built in the checkout")
    run(*PIP, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", folder, source)
    (wheel,) = folder.glob("likeness_bench-*.whl")
    return wheel


def environment(folder, wheel, *, sees):
    """The Python of a fresh environment with the wheel, which finds the other packages in the folder `sees`."""
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    packages = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])").strip())
    (packages / "others.pth").write_text(f"{sees}\n")
    run(*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel)
    return python


def own_packages():
    """Where the tests' own environment has its packages."""
    return Path(pytest.__file__).parents[1]


def test_a_wheel_is_built_and_runs_outside_the_checkout(tmp_path):
    wheel = built(tmp_path)
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = {
        path.relative_to(ROOT).as_posix()
        for name in FOLDERS
        for path in (ROOT / name).rglob("*")
        if path.is_file() and not {"__pycache__", "recipe"} & {*path.parts} and ".duckdb" not in path.name
    }
    assert packed == {name if name.startswith("likeness/") else f"likeness/{name}" for name in files}

    python = environment(tmp_path, wheel, sees=own_packages())
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LIKENESS_", "XDG_"))}
    here = {"cwd": tmp_path / "work", "env": bare | {"HOME": str(tmp_path)}}
    here["cwd"].mkdir()
    assert run(python, "-c", INSIDE, **here) == f"{VERSION}\n\n"
    command = python.with_name("likeness")
    assert run(command, "--version", **here).strip() == VERSION
    assert "mieb-lite" in run(command, "list", "suites", **here)
    printed = run(python, "-c", HELP, **here)
    assert printed.endswith("loaded:\n") and "likeness run" in printed and "python -m compute" not in printed
    assert not any(here["cwd"].iterdir())
    (here["cwd"] / "scores.csv").write_text("model,task,value\ngood,x,1\ngood,y,1\nbad,x,0\nbad,y,0\n")
    ranked = run(command, "rank", "scores.csv", **here)
    assert 0 < ranked.index("| good ") < ranked.index("| bad ")


def test_in_a_checkout_both_names_are_one_module():
    assert likeness.compute.types is compute.types and likeness.compute.types.Model.__module__ == "compute.types"
    assert likeness.compute.types.__spec__.name == "compute.types" and likeness.__version__ == VERSION
    with pytest.raises(ModuleNotFoundError):
        import_module("likeness.compute.none")


def test_what_is_missing_is_installed_by_distribution_and_extra(monkeypatch):
    assert install_command() == 'pip install -e ".[compute]"', "a checkout's own"
    assert install_command("mcp") == 'pip install -e "."'
    monkeypatch.setattr("compute.versions.installed", lambda packages: dict.fromkeys(packages, VERSION))
    assert install_command() == install_command("umap") == f'pip install "{DISTRIBUTION}[compute]"'
    assert install_command("torch", "lpips", "peft") == f'pip install "{DISTRIBUTION}[compute,perceptual,training]"'
