"""A suite of one's own, from its file to its pages: the app opens on its board, marked as own, by its own weights."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compute import tasks
from compute.catalog import shipped
from compute.content.items import Column
from compute.tasks.source import Source
from tests.browser.conftest import ROOT, serving

SUITE = """
title = "Field notes"
aggregate = "category-mean"
weights = { "Shapes" = 3 }

[[tasks]]
file = "choices.csv"
title = "Nearest drawing"
category = "Shapes"

[[tasks]]
file = "things.csv"
title = "Names of things"
columns = { item = "image" }

[[tasks]]
task = "mini/odd-one-out"
"""


def write(folder: Path) -> Path:
    """Drawings of the bundled tasks as files with manifests, and the suite's file."""
    source = Source(offline=True)
    choices = tasks.load(shipped().task("mini/image-choice"), source=source)["default"]
    things = tasks.load(shipped().task("mini/things"), source=source)["default"].test

    def image(column: Column, row: int, name: str) -> str:
        (folder / name).write_bytes(column.read(row))
        return name

    with (folder / "choices.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["reference", "alternative_1", "alternative_2", "answer"])
        for row in range(24):
            sides = (choices.reference, *choices.alternatives)
            rows.writerow(
                [*(image(side, row, f"{at}-{row}.png") for at, side in enumerate(sides)), choices.answer[row] + 1]
            )
    with (folder / "things.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["image", "label"])
        rows.writerows(
            [image(things.items, row, f"t-{row}.png"), things.classes[things.labels[row]]] for row in range(20)
        )
    path = folder / "suite.toml"
    path.write_text(SUITE)
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("own-suite")
    path, results, database = write(folder), folder / "results", folder / "likeness.duckdb"
    place = os.environ | {"LIKENESS_RESULTS": str(results), "LIKENESS_DATABASE": str(database)}
    command = [
        sys.executable,
        "-m",
        "compute",
        "run",
        "--suite",
        str(path),
        "--models",
        "tiny,tiny-random",
        "--offline",
    ]
    done = subprocess.run(command, cwd=ROOT, env=place, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    with serving(database, "--suite", str(path), "--offline", results=results) as address:
        yield address


def test_the_app_opens_on_its_board(server: str, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server)
    page.locator(".likeness-board[data-ready=true]").wait_for(timeout=60_000)
    assert page.url == f"{server}board?suite=own-field-notes"
    page.locator("header.site-bar").get_by_role("link", name="Likeness").first.click()
    page.wait_for_url(lambda url: "board" not in url)
    context.close()


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["light", "dark, on a phone"])
def test_the_board_is_marked_and_ranked_by_the_suites_weights(
    open_board: Callable[..., Any], width: int, dark: bool
) -> None:
    page = open_board("suite=own-field-notes", width=width, dark=dark)
    text = page.locator(".likeness-board").inner_text()
    assert "Your own data" in text and "Own suite: Field notes" in text
    assert "Weights in the mean: Shapes 3, Zero-shot Classification 1, OOO 1." in text
    payload = page.evaluate("fetch('data/board/own-field-notes').then((answer) => answer.json())")
    weights = payload["presets"][0]["weights"]
    assert weights == {"Shapes": 3, "Zero-shot Classification": 1, "OOO": 1}
    row = [row["model"] for row in payload["rows"]].index("tiny")
    keys = [column["key"] for column in payload["columns"]]
    percent = {name: payload["cells"][row][keys.index(name)] / 10 for name in weights}  # sent as whole tenths
    expected = sum(weights[name] * percent[name] for name in weights) / sum(weights.values())
    assert payload["ranking"]["mean"][row] == pytest.approx(expected, abs=0.1)
    assert abs(expected - sum(percent.values()) / len(percent)) > 1, "which equal weights do not give"
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["light", "dark, on a phone"])
def test_its_tasks_and_correlations_say_whose_data_they_are_of(
    visit: Callable[..., Any], width: int, dark: bool
) -> None:
    page = visit("task?task=own/field-notes/nearest-drawing", width=width, dark=dark)
    page.get_by_text("Own suite: Field notes").first.wait_for()
    assert "Own data" in page.locator("main, gradio-app").first.inner_text()
    page = visit("correlations?suites=own-field-notes&origin=computed", width=width, dark=dark)
    page.get_by_text("Own suite: Field notes").first.wait_for(state="attached")
    page = visit("task?task=mini/odd-one-out", width=width, dark=dark)
    page.get_by_role("link", name="Own suite: Field notes").first.wait_for()
