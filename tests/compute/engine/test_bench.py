"""The real parts together: a tiny random CLIP over data sets in the hub's layouts, from command line to database.

A score by chance is right here: what is tested is that every stage fits the next.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import datasets
import pytest
from typer.testing import CliRunner

from compute import catalog, paths
from compute.__main__ import app
from compute.database import build, store
from compute.engine import bench, run_folders
from compute.models.adapter import Hardware
from compute.tasks.source import Source
from compute.types import Model, NotHere
from tests.compute.models import checkpoints
from tests.compute.tasks import hub_files, unisim_files


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with weights, data sets and results of the test's own, and a catalogue with the tiny model."""
    folder = checkpoints.clip(tmp_path / "tiny")
    row = Model(
        key="tiny/clip",
        title="Tiny",
        adapter="clip",
        weights=str(folder),
        embed_dim=24,
        abilities=("embed_image", "embed_text"),
        modalities=("image", "text"),
    )
    whole = replace(catalog.shipped(), models=(*catalog.shipped().models, row))
    monkeypatch.setattr(catalog, "shipped", lambda: whole)
    monkeypatch.setattr(build, "shipped", lambda: whole)
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "DATABASE", tmp_path / "likeness.duckdb")
    classes = datasets.Features(image=datasets.Image(), label=datasets.ClassLabel(names=["a", "b"]))
    rows = datasets.Dataset.from_dict(
        {"image": [hub_files.image(40 * at) for at in range(6)], "label": [at % 2 for at in range(6)]}, features=classes
    )
    for key, splits in (("mieb/eurosat", ("train", "test")), ("mieb/tinyimagenetclustering", ("valid",))):
        hub_files.write(tmp_path / "data" / whole.task(key).dataset, {("default", split): rows for split in splits})
    unisim_files.nights(tmp_path / "data" / unisim_files.REPO)
    return tmp_path


def command(place: Path, *words: str):
    return CliRunner().invoke(
        app, ["run", "--models", "tiny/clip", "--device", "cpu", "--offline", "--data", str(place / "data"), *words]
    )


def test_a_model_runs_over_data_sets_on_disk(place: Path) -> None:
    two = ("--suite", "mieb-lite", "--tasks", "mieb/eurosat,mieb/tinyimagenetclustering")
    said = command(place, *two, "--dry-run")
    assert said.exit_code == 0 and "6 distinct items to encode; vectors: 6 x 24 x 4 bytes" in said.output, said.output
    for words in (two, ("--suite", "unisim-core", "--tasks", "unisim/nights")):
        result = command(place, *words)
        assert result.exit_code == 0, result.output
    with store.connect(place / "likeness.duckdb") as connection:
        found = connection.execute("""SELECT task, subset, metric, value BETWEEN 0 AND 1 FROM leaderboard_scores
                                      WHERE model = 'tiny/clip' ORDER BY task""").fetchall()
    assert found == [
        ("mieb/eurosat", "default", "accuracy", True),
        ("mieb/tinyimagenetclustering", "default", "nmi", True),
        ("unisim/nights", "default", "accuracy", True),
    ]
    kept = [run_folders.read(folder) for folder in run_folders.every(place / "results")]
    settings = {one.run.task: one.run.settings for one in kept}
    nights = settings["unisim/nights"]
    assert nights["model"]["revision"].startswith("files-") and nights["model"]["packages"]["torch"]
    assert nights["procedure"]["options"]["quality"] == "prompt" and nights["adapter"]
    assert settings["mieb/tinyimagenetclustering"]["encodings"][0]["encoded"] == 6


def test_a_second_run_gives_the_same_scores(place: Path) -> None:
    words = ("--suite", "unisim-core", "--tasks", "unisim/nights", "--again")
    first, second = (command(place, *words) for _ in range(2))
    assert first.exit_code == second.exit_code == 0, first.output
    table = [[line for line in one.output.splitlines() if line.startswith("|")] for one in (first, second)]
    assert table[0] == table[1] and len(table[0]) == 3


def test_data_that_is_not_here_is_told_with_the_way_to_fetch_it(place: Path) -> None:
    result = command(place, "--suite", "mieb-lite", "--tasks", "mieb/eurosat,mieb/gtsrb")
    assert result.exit_code == 1
    assert "Failed: tiny/clip on mieb/gtsrb" in result.output and "hf download mteb/wds_gtsrb" in result.output
    assert "| mieb/eurosat" in result.output


def test_weights_that_are_not_here_are_looked_for_once() -> None:
    asked = []

    def load(row: Model, *, hardware: Hardware) -> None:
        asked.append(row.key)
        raise NotHere("fetch it")

    again = bench.once(load)
    for _ in range(3):
        with pytest.raises(NotHere, match="fetch it"):
            again(Model(key="a", title=""), hardware=Hardware(device="cpu", dtype="float32"))
    assert asked == ["a"]


def test_only_an_unpinned_branch_is_fetched_to_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from compute import models

    fetched = []
    monkeypatch.setattr(models, "fetch", lambda row: fetched.append(row.key))
    hardware = Hardware(device="cpu", dtype="float32")
    for offline in (False, True):
        made = bench.assemble(features=tmp_path, source=Source(offline=offline), hardware=hardware)
        for key, weights, revision in (("branch", "a/b", ""), ("pin", "a/b", "c" * 40), ("metric", "", "")):
            made.fetch(Model(key=key, title="", weights=weights, revision=revision))
    assert fetched == ["branch"]
