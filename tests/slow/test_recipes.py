"""The recipes of docs/extend.md and docs/judges.md, followed in a copy: what each adds is all that it takes."""

import json
import os
import re
import shutil
import sys
from dataclasses import replace

import pytest

from compute import tasks
from compute.catalog import shipped
from compute.tasks.source import Source
from compute.types import NotHere
from tests.compute.models.chat_server import running
from tests.compute.tasks.pairbench.images import folder_of
from tests.serving import ROOT
from tests.test_wheel import run

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
ADAPTER = '    "brightness": Adapter(load=brightness.load, packages=("numpy", "pillow")),\n'
RAW = """
    _raw(key="error_rate", title="Errors", higher_is_better=False, compute=error_rate, inputs=("accuracy",)),
"""
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


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of the repository to follow a recipe in."""
    folder = tmp_path_factory.mktemp("recipes")
    for name in ("compute", "leaderboard", "assets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.duckdb*"))
    shutil.copy(ROOT / "app.py", folder)
    return folder


def follow(root, *steps):
    """Adds a text behind the first place of a file that reads so, or at its end; a file that is not there is made."""
    for name, after, text in steps:
        path = root / name
        path.parent.mkdir(exist_ok=True)
        content = path.read_text(encoding="utf-8") if path.exists() else ""
        assert after in content, f"{name} has no {after!r}"
        path.write_text(content.replace(after, after + text, 1) if after else content + text, encoding="utf-8")


def python(root, *words):
    """What a program prints in the copy."""
    place = os.environ | {"LIKENESS_DATABASE": str(root / "likeness.duckdb"), "HF_HUB_OFFLINE": "1"}
    return run(sys.executable, *words, cwd=root, env=place)


def test_a_model_of_a_new_family_a_metric_and_a_task(root):
    """A model: one row; its family: one file, one row. A metric: one function, one row. A task: one row."""
    heading = (root / "assets/catalog/models.csv").open(encoding="utf-8").readline().strip().split(",")
    row = {"key": "example/brightness", "title": "Brightness", "kind": "metric", "adapter": "brightness"}
    row |= {"abilities": "compare", "modalities": "image"}
    rows = (root / "assets/catalog/tasks.csv").read_text(encoding="utf-8")
    task = re.search("^mini/image-choice,.*,choice,accuracy", rows, re.MULTILINE)[0]
    registry, metrics = "compute/models/registry.py", "compute/metrics/registry.py"
    follow(
        root,
        ("assets/catalog/models.csv", "", ",".join(row.get(column, "") for column in heading) + "\n"),
        ("compute/models/metrics/brightness.py", "", FAMILY),
        (registry, "ADAPTERS: dict[str, Adapter] = {\n", ADAPTER),
        (registry, "from compute.models.metrics import ", "brightness, "),
        ("compute/metrics/figures.py", "", METRIC),
        (metrics, "from compute.metrics.figures import ", "error_rate, "),
        (metrics, "METRICS: tuple[Metric, ...] = (\n", RAW),
        ("assets/catalog/tasks.csv", task, ";error_rate"),
    )
    assert "example/brightness" in python(root, "-m", "compute", "list", "models")
    command = ("run", "--suite", "mini", "--models", "example/brightness", "--tasks", "mini/image-choice")
    printed = python(root, "-m", "compute", *command, "--device", "cpu")
    assert "mini/image-choice" in printed and "example/brightness" in printed
    scores = json.loads(python(root, "-c", SCORES, str(root / "likeness.duckdb")))
    assert scores.keys() == {"accuracy", "error_rate"}
    assert scores["accuracy"] + scores["error_rate"] == pytest.approx(1)
    assert json.loads(python(root, "-c", LIVE)) == ["ready"]


def test_a_task_without_a_loader_names_what_is_missing():
    with pytest.raises(NotHere, match="'ordering'.*PROCEDURES.*compute/tasks/mini"):
        tasks.load(replace(shipped().task("mini/quality"), procedure="ordering"), source=Source())


def test_a_judge_of_ones_own_rates_pairs_of_photographs(root, monkeypatch):
    page = (ROOT / "docs" / "judges.md").read_text("utf-8")
    named = re.search(r"--models (endpoint:\S+)", page)[1]
    folder_of(root / "images", 3)
    monkeypatch.setenv("LIKENESS_RESULTS", str(root / "results"))
    python(root, "-m", "compute", "pairs", "make", "--images", "images", "--out", "pairs.parquet", "--splits", "cj,gb")
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        command = ("run", "--suite", "pairbench", "--data", "pairs.parquet", "--models", named)
        printed = python(root, "-m", "compute", *command)
        assert server.last["model"] == named.removeprefix("endpoint:")
    assert re.search(r"^\| own/pairs-pairs/cj +\| MMScore \| 18 +\| 0.00 +\| \d", printed, re.MULTILINE)


def test_a_page(root):
    """One folder with page and template, and its name in VIEWS."""
    pages = "leaderboard/pages/__init__.py"
    follow(
        root,
        ("leaderboard/pages/census/__init__.py", "", '"""The page of numbers."""\n'),
        ("leaderboard/pages/census/page.py", "", PAGE),
        ("leaderboard/pages/census/page.html", "", "<p>{{ models|thousands }} models</p>\n"),
        (pages, "VIEWS: tuple[View, ...] = (\n    OVERVIEW,\n", "    CENSUS,\n"),
        (pages, "from leaderboard.page import View\n", "from leaderboard.pages.census.page import CENSUS\n"),
    )
    database = str(root / "likeness.duckdb")
    python(root, "-m", "compute", "build", "--path", database)
    assert int(python(root, "-c", VISIT, database).split()[-1]) >= 1
