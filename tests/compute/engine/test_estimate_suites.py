"""What a model takes over MIEB and UniSim-Bench, of which nothing is here: counted once, and summed by hand."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compute import tasks
from compute.__main__ import app
from compute.catalog import shipped
from compute.tasks.source import Need, Source
from compute.types import BadInput
from tests.compute.commands import assert_refused

MODEL = "openai/clip-vit-base-patch32"
RATE = 500


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """A results folder, and a hub's cache without data sets and weights."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "results"


def needs(results: Path, *suites: str) -> list[Need]:
    source = Source.keeping(results, root=None, offline=True)
    of = [task for task in shipped().tasks if set(suites) & set(task.suites)]
    return [tasks.needs(task, source=source) for task in of]


def summed(found: list[Need]) -> int:
    """Items counted once: of tasks that show the same items the largest number, and the training items of every
    probe."""
    largest: dict[tuple[str, str], int] = defaultdict(int)
    trained = 0
    for at, need in enumerate(found):
        name = need.shared or f"task {at}"
        trained += need.trained
        largest[name, "image"] = max(largest[name, "image"], (need.images or 0) - need.trained)
        largest[name, "text"] = max(largest[name, "text"], need.texts or 0)
    return trained + sum(largest.values())


def estimated(results: Path, suite: str, *more: str) -> str:
    words = [
        "run",
        "--suite",
        suite,
        "--models",
        MODEL,
        "--dry-run",
        "--estimate",
        str(RATE),
        "--results",
        str(results),
    ]
    result = CliRunner().invoke(app, [*words, *more])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "suites", [("mieb",), ("unisim-core", "unisim-ood"), ("mieb", "unisim-core", "unisim-ood")], ids="+".join
)
def test_items_bytes_and_hours(nothing, suites):
    output = estimated(nothing, ",".join(suites))
    once = summed(needs(nothing, *suites))
    [items] = re.findall(r"items    about ([0-9,]+) distinct items to encode", output)
    assert int(items.replace(",", "")) == once
    assert f"{once:,} x 512 x 4 bytes" in output
    hours = once / RATE / 3600
    shown = f"{hours:.1f}" if hours >= 1 else f"{hours:.3f}"
    assert f"({shown} device hours)" in output


def test_suites_that_share_tasks_count_them_once(nothing):
    lite, both = (
        re.findall(r"(\d+) runs\n", estimated(nothing, suite))[0] for suite in ("mieb-lite", "mieb-lite,mieb-en")
    )
    of = [task for task in shipped().tasks if {"mieb-lite", "mieb-en"} & set(task.suites)]
    assert int(lite) == sum("mieb-lite" in task.suites for task in of) and int(both) == len(of)


def test_several_suites_are_for_an_estimate_only(nothing):
    words = ["run", "--suite", "mieb,unisim-core", "--models", MODEL, "--results", str(nothing)]
    assert_refused(CliRunner().invoke(app, words), BadInput, "A run is of one suite", "--dry-run")
