"""The recipes of docs/extend.md and docs/judges.md, followed in a copy: what each adds is all that it takes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compute.models.chat_server import running
from tests.compute.tasks.pairbench.images import folder_of
from tests.serving import ROOT

FAMILY = '''"""A metric that compares the mean grey levels of two images."""

import numpy as np


class Brightness:
    settings = {}

    def compare(self, first, second):
        """(n,) float64: minus the difference of the means."""
        means = [[np.asarray(image.convert("L"), float).mean() for image in side] for side in (first, second)]
        return -np.abs(np.subtract(*means))


def load(row, hardware, folder):
    return Brightness()
'''
METRIC = '''

def error_rate(accuracy):
    """Share of items answered wrongly."""
    values = np.asarray(accuracy, float)
    return Figure(value=float(1 - values.mean()), n=len(values), stderr=float(values.std() / len(values) ** 0.5))
'''
PAGE = '''"""A page that counts models."""

from leaderboard.html.templates import render
from leaderboard.page import Site, View, static_html


def draw(site: Site) -> None:
    static_html(render("pages/census/page.html", models=len(site.db.query("listed_models"))))


CENSUS = View(key="census", title="Census", sentence="How many models there are.", draw=draw)
'''
SCORES = """
import duckdb, json, sys
query = "SELECT metric, value FROM leaderboard_scores WHERE model = 'example/brightness'"
print(json.dumps(dict(duckdb.connect(sys.argv[1], read_only=True).execute(query).fetchall())))
"""
# What the Try page says of the new model.
LIVE = """
import json
from leaderboard.live.live import Live
print(json.dumps([model["state"] for model in Live().roster.records("pair") if model["key"] == "example/brightness"]))
"""
NO_LOADER = """
from dataclasses import replace
from compute.catalog import shipped
from compute.tasks import loaders
from compute.tasks.source import Source
from compute.types import NotHere
task = next(task for task in shipped().tasks if task.key == "mini/quality")
try:
    loaders.load(replace(task, procedure="ordering"), source=Source())
except NotHere as error:
    print(error)
"""
# How often the new page has its sentence, asked as a browser asks.
VISIT = """
import json, sys, urllib.request
from pathlib import Path
from leaderboard import server
blocks, launch = server.build(Path(sys.argv[1]))
_, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
page = urllib.request.urlopen(f"{address}census", timeout=60).read().decode()
print(page.count("How many models there are."))
blocks.close(verbose=False)
"""


class Copy:
    """A copy of the repository to follow a recipe in."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def insert(self, name: str, after: str, text: str) -> None:
        """Adds `text` behind the first `after` of a file."""
        content = (self.root / name).read_text(encoding="utf-8")
        assert after in content, f"{name} has no {after!r}"
        self.write(name, content.replace(after, after + text, 1))

    def append(self, name: str, line: str) -> None:
        with (self.root / name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def python(self, *words: str) -> str:
        """What a program prints; it must end well."""
        ended = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | {"LIKENESS_DATABASE": str(self.root / "likeness.duckdb"), "HF_HUB_OFFLINE": "1"},
        )
        assert ended.returncode == 0, ended.stderr[-3000:] + ended.stdout[-1000:]
        return ended.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recipes")
    for name in ("compute", "leaderboard", "assets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.duckdb*"))
    shutil.copy(ROOT / "app.py", folder)
    return Copy(folder)


def test_a_model_of_a_new_family_a_metric_and_a_task(copy):
    """A model: one row; its family: one file, one row. A metric: one function, one row. A task: one row."""
    heading = (copy.root / "assets/catalog/models.csv").open(encoding="utf-8").readline().strip().split(",")
    row = {"key": "example/brightness", "title": "Brightness", "kind": "metric", "adapter": "brightness"}
    row |= {"abilities": "compare", "modalities": "image"}
    copy.append("assets/catalog/models.csv", ",".join(row.get(column, "") for column in heading))
    copy.write("compute/models/metrics/brightness.py", FAMILY)
    copy.insert(
        "compute/models/registry.py",
        "ADAPTERS: dict[str, Adapter] = {\n",
        '    "brightness": Adapter(load=brightness.load, packages=("numpy", "pillow")),\n',
    )
    copy.insert("compute/models/registry.py", "from compute.models.metrics import ", "brightness, ")
    copy.append("compute/metrics/figures.py", METRIC)
    copy.insert("compute/metrics/registry.py", "from compute.metrics.figures import ", "error_rate, ")
    copy.insert(
        "compute/metrics/registry.py",
        "METRICS: tuple[Metric, ...] = (\n",
        "    _raw(\n"
        '        key="error_rate", title="Errors", higher_is_better=False, compute=error_rate, inputs=("accuracy",)\n'
        "    ),\n",
    )
    tasks = (copy.root / "assets/catalog/tasks.csv").read_text(encoding="utf-8")
    task = re.search("^mini/image-choice,.*,choice,accuracy", tasks, re.MULTILINE)[0]
    copy.insert("assets/catalog/tasks.csv", task, ";error_rate")
    assert "example/brightness" in copy.python("-m", "compute", "list", "models")
    command = ("run", "--suite", "mini", "--models", "example/brightness", "--tasks", "mini/image-choice")
    printed = copy.python("-m", "compute", *command, "--device", "cpu")
    assert "mini/image-choice" in printed and "example/brightness" in printed
    scores = json.loads(copy.python("-c", SCORES, str(copy.root / "likeness.duckdb")))
    assert scores.keys() == {"accuracy", "error_rate"}
    assert scores["accuracy"] + scores["error_rate"] == pytest.approx(1)
    assert json.loads(copy.python("-c", LIVE)) == ["ready"]


def test_a_task_without_a_loader_names_what_is_missing(copy):
    printed = copy.python("-c", NO_LOADER)
    assert "'ordering'" in printed and "PROCEDURES" in printed and "compute/tasks/mini" in printed


def test_a_judge_of_ones_own_rates_pairs_of_photographs(copy, monkeypatch):
    page = (ROOT / "docs" / "judges.md").read_text("utf-8")
    named = re.search(r"--models (endpoint:\S+)", page)[1]
    folder_of(copy.root / "images", 3)
    monkeypatch.setenv("LIKENESS_RESULTS", str(copy.root / "results"))
    copy.python("-m", "compute", "pairs", "make", "--images", "images", "--out", "pairs.parquet", "--splits", "cj,gb")
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        command = ("run", "--suite", "pairbench", "--data", "pairs.parquet", "--models", named)
        printed = copy.python("-m", "compute", *command)
        assert server.state()["last"]["model"] == named.removeprefix("endpoint:")
    assert re.search(r"^\| own/pairs-pairs/cj +\| MMScore \| 18 +\| 0.00 +\| \d", printed, re.MULTILINE)


def test_a_page(copy):
    """One folder with page and template, and its name in VIEWS."""
    copy.write("leaderboard/pages/census/__init__.py", '"""The page of numbers."""\n')
    copy.write("leaderboard/pages/census/page.py", PAGE)
    copy.write("leaderboard/pages/census/page.html", "<p>{{ models|thousands }} models</p>\n")
    copy.insert("leaderboard/pages/__init__.py", "VIEWS: tuple[View, ...] = (\n    OVERVIEW,\n", "    CENSUS,\n")
    copy.insert(
        "leaderboard/pages/__init__.py",
        "from leaderboard.page import View\n",
        "from leaderboard.pages.census.page import CENSUS\n",
    )
    database = copy.root / "likeness.duckdb"
    copy.python("-m", "compute", "build", "--path", str(database))
    assert int(copy.python("-c", VISIT, str(database)).split()[-1]) >= 1
