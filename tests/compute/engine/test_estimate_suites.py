"""What a model takes over MIEB and UniSim-Bench, of which nothing is here: counted once, and summed by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compute.__main__ import app
from compute.types import BadInput
from tests.compute.commands import assert_refused

MODEL = "openai/clip-vit-base-patch32"


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """A results folder, and a hub's cache without data sets and weights."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "results"


def estimated(results: Path, suite: str, *more: str) -> str:
    words = ("run", "--suite", suite, "--models", MODEL, "--dry-run", "--results", str(results), *more)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_items_that_tasks_share_are_counted_once_and_those_of_training_besides(nothing):
    def items(*tasks: str) -> int:
        keys = ",".join(f"mieb/cifar100{task}" for task in tasks)
        [found] = re.findall("about ([0-9,]+) distinct items to encode", estimated(nothing, "mieb", "--tasks", keys))
        return int(found.replace(",", ""))

    once, trained = items("zeroshot"), items("") - items("clustering")
    assert items("zeroshot", "clustering") == once > items("clustering") and 7000 < trained < 8000
    assert items("", "zeroshot", "clustering") == once + trained
    output = estimated(nothing, "mieb", "--tasks", "mieb/cifar100clustering", "--estimate", "0.5")
    assert f"{items('clustering'):,} x 512 x 4 bytes" in output
    assert f"({items('clustering') / 0.5 / 3600:.1f} device hours)" in output


def test_several_suites_are_for_an_estimate_only(nothing):
    words = ["run", "--suite", "mieb,unisim-core", "--models", MODEL, "--results", str(nothing)]
    assert_refused(CliRunner().invoke(app, words), BadInput, "A run is of one suite", "--dry-run")
