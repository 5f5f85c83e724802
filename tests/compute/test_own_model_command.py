"""Commands over models of one's own: folders, the hub's, and what cannot be run, each in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from compute.__main__ import app
from compute.catalog.own import models as own_models
from compute.database import store
from compute.types import BadInput, NotHere, UnknownKey
from tests.compute.commands import assert_refused
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import COMMIT, in_hub_cache
from tests.compute.small_bench import World

Command = Callable[..., Result]


@pytest.fixture
def run(world: World) -> Command:
    return lambda *words: CliRunner().invoke(app, ["run", "--suite", "small", *words])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return checkpoints.clip(tmp_path / "checkpoints" / "My Model")


def shown(world: World) -> list[tuple[str, str, str]]:
    """The models with computed runs in the database: key, title, weights."""
    with store.connect(world.folder / "likeness.duckdb") as connection:
        return connection.execute(
            """SELECT DISTINCT models.key, title, weights FROM runs JOIN models ON models.key = runs.model
               WHERE origin = 'computed' ORDER BY ALL"""
        ).fetchall()


def test_a_folder_is_run_recorded_and_shown(run: Command, world: World, checkpoint: Path) -> None:
    result = run("--models", f"{checkpoint},small/dim")
    assert result.exit_code == 0, result.output
    assert "My Model is read as clip (config.json: model_type 'clip')" in result.output
    assert ("own/my-model", "My Model (own)", "My Model") in shown(world)
    ((row,), _) = own_models.recorded(world.folder / "results")
    assert row.key == "own/my-model" and row.weights == str(checkpoint)
    encoded = world.encoded
    again = run("--models", "own/my-model")  # by the key that `list models` has
    assert "0 runs to make" in again.output and world.encoded == encoded, again.output
    assert "0 runs to make" in run("--models", str(checkpoint)).output and world.encoded == encoded


def test_a_key_wins_over_a_folder_and_a_dot_makes_a_path(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    checkpoints.clip(tmp_path / "here" / "small" / "eye")
    monkeypatch.chdir(tmp_path / "here")
    assert "is read as" not in run("--models", "small/eye", "--tasks", "unisim/near").output
    assert "eye is read as clip" in run("--models", "./small/eye", "--tasks", "unisim/near").output
    assert {key for key, _, _ in shown(world)} == {"small/eye", "own/eye"}


def test_other_files_under_one_name_are_another_model(run: Command, world: World, tmp_path: Path) -> None:
    first, second = (checkpoints.clip(tmp_path / str(seed) / "tuned", seed=seed) for seed in (0, 1))
    assert run("--models", str(first)).exit_code == run("--models", str(second)).exit_code == 0
    (one, *_), (other, *_) = shown(world)
    assert one == "own/tuned" and other.startswith("own/tuned-") and len(other) == len("own/tuned-") + 8


def test_a_recorded_folder_whose_files_changed_is_not_run_under_its_old_key(
    run: Command, checkpoint: Path, tmp_path: Path
) -> None:
    assert run("--models", str(checkpoint), "--tasks", "unisim/near").exit_code == 0
    other = checkpoints.clip(tmp_path / "other", seed=5)
    (other / "model.safetensors").replace(checkpoint / "model.safetensors")
    assert_refused(run("--models", "own/my-model"), BadInput, "own/my-model")
    assert run("--models", str(checkpoint), "--tasks", "unisim/near").exit_code == 0


def test_the_folder_of_a_recorded_model_is_shown_before_it_is_read(run: Command, checkpoint: Path) -> None:
    """A record may name any folder: it may come with a results folder that somebody else made."""
    made = run("--models", str(checkpoint), "--tasks", "unisim/near")
    assert made.exit_code == 0 and "as recorded" not in made.output
    assert f"Reads {checkpoint} as recorded" in run("--models", "own/my-model", "--tasks", "unisim/near").stderr


def test_a_name_and_options_of_the_users(run: Command, world: World, checkpoint: Path) -> None:
    result = run("--models", str(checkpoint), "--model-name", "Tuned, v2", "--model-option", "normalise=true")
    assert result.exit_code == 0, result.output
    ((row,), _) = own_models.recorded(world.folder / "results")
    assert (row.key, row.title, row.options["normalise"]) == ("own/tuned-v2", "Tuned, v2 (own)", True)
    for words in (["--model-name", "x"], ["--family", "clip"], ["--model-option", "a=b"]):
        assert_refused(run("--models", "small/eye", *words), BadInput, "checkpoint")
        assert_refused(run("--models", f"{checkpoint},./b", *words), BadInput, "2 of these models")
    assert_refused(run("--models", str(checkpoint), "--model-option", "alone"), BadInput, "name=value")


def test_a_dry_run_records_nothing(run: Command, world: World, checkpoint: Path) -> None:
    result = run("--models", str(checkpoint), "--dry-run")
    assert result.exit_code == 0 and "own/my-model" in result.output, result.output
    assert not (world.folder / "results").exists()


def test_a_model_of_the_hub(
    run: Command, world: World, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    in_hub_cache(checkpoint, cache=tmp_path / "cache", repository="Org/Name")
    result = run("--models", "hub:Org/Name")
    assert result.exit_code == 0, result.output
    assert f"Org/Name@{COMMIT} is read as clip" in result.output
    assert ("org/name", "Org/Name (own)", "Org/Name") in shown(world)
    assert_refused(run("--models", "hub:Org/Name@abc"), NotHere, "Org/Name")
    fetched = CliRunner().invoke(app, ["fetch", "--models", f"hub:Org/Name@{COMMIT}"])
    assert fetched.exit_code == 0 and f"snapshots/{COMMIT}" in fetched.output, fetched.output


def test_a_hub_id_that_the_catalogue_has_is_the_catalogues(run: Command, world: World) -> None:
    for name in ("hub:small/Eye", f"hub:small/eye@{'a' * 40}", "hub:small/eye@aaaaaaaa"):
        result = run("--models", name, "--tasks", "unisim/near")
        assert result.exit_code == 0 and "is the catalogue's small/eye, which is run" in result.output, result.output
    assert own_models.recorded(world.folder / "results") == ([], [])


@pytest.mark.parametrize(
    ("text", "error", "word"),
    [
        ("./absent", NotHere, "absent"),
        ("./my,folder", NotHere, "commas"),
        ("small/eey", UnknownKey, "'small/eye'"),
        ("nothing/like-it", UnknownKey, "./nothing/like-it"),
        ("hub:absent", BadInput, "hub:org/name"),
    ],
)
def test_what_is_not_a_model_is_said_in_one_line(text: str, error: type, word: str, run: Command, world: World) -> None:
    result = run("--models", text)
    assert_refused(result, error, word)
    assert len([line for line in result.output.splitlines() if line.startswith("Error")]) == 1


def test_folders_that_hold_no_checkpoint(run: Command, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert_refused(run("--models", str(tmp_path)), NotHere, "model.safetensors")
    assert_refused(run("--models", str(tmp_path / "config.json")), BadInput, "folder")


MODEL = """
import numpy as np

class Mine:
    def encode_image(self, images):
        return np.stack([np.asarray(image.resize((4, 4)), dtype=np.float32).ravel() for image in images])

def make_model():
    return Mine(), {"version": "4"}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_file.py"
    path.write_text(MODEL)
    return path


def test_a_function_in_a_file_makes_a_model(run: Command, world: World, file: Path) -> None:
    result = run("--models", f"small/dim,{file}:make_model", "--tasks", "unisim/near")
    assert result.exit_code == 0, result.output
    ((row,), _) = own_models.recorded(world.folder / "results")
    assert (row.key, row.title, row.adapter, row.abilities) == ("own/my_file", "my_file (own)", "own", ("embed_image",))
    assert own_models.source_of(row).name == "my_file.py:make_model"
    assert {key for key, _, _ in shown(world)} == {"own/my_file", "small/dim"}
    named = run("--models", f"{file}:make_model", "--tasks", "unisim/near", "--model-name", "Pixels")
    assert named.exit_code == 0 and "own/pixels" in named.output, named.output
    file.write_text(MODEL.replace("(4, 4)", "(5, 5)").replace('"4"', '"5"'))
    assert run("--models", f"{file}:make_model", "--tasks", "unisim/near").exit_code == 0
    assert len([key for key, _, _ in shown(world) if key.startswith("own/my_file-")]) == 1


def test_a_file_whose_function_fails_is_one_line_and_nothing_is_made(run: Command, world: World, file: Path) -> None:
    assert_refused(run("--models", f"{file}:make_mdel"), BadInput, "'make_model'")
    file.write_text("def make_model():\n    return 3\n")
    assert_refused(run("--models", f"{file}:make_model"), BadInput, "int")
    assert not (world.folder / "results").exists()


def test_other_commands_take_no_code(world: World, file: Path) -> None:
    for command in (["fetch"], ["calibrate"]):
        result = CliRunner().invoke(app, [*command, "--models", f"{file}:make_model"])
        assert_refused(result, BadInput, "is code")
