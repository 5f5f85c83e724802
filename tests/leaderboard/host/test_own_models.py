"""The host's own models: named as for a run, recorded before the build, and refused in one sentence."""

import json
import shutil
from pathlib import Path

import pytest

from compute.catalog.own import models as records
from compute.engine.named_models import named, record_named
from compute.engine.workspace import catalog_with_own
from compute.models.own.own_model import ModelSource
from compute.types import LikenessError, Model, NotHere
from leaderboard.host import own_models
from tests.compute.models import checkpoints


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return checkpoints.clip(tmp_path_factory.mktemp("made") / "mine")


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "mine"))


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def record(*texts, results, told=None):
    report = ([] if told is None else told).append
    return own_models.record([str(text) for text in texts], results=results, offline=True, report=report)


def test_a_model_is_recorded_as_a_run_records_it(folder, results):
    told = []
    (row,) = record(folder, results=results, told=told)
    assert (row.key, row.title, row.abilities) == ("own/mine", "mine (own)", ("embed_image", "embed_text"))
    assert told == ["mine is read as clip (config.json: model_type 'clip')"]
    (file,) = records.files(results)
    before = file.read_bytes()
    (of_run,) = named([str(folder)], catalog=catalog_with_own(results, warn=print), offline=True)
    assert record_named(of_run, results=results) == row and file.read_bytes() == before
    assert record(folder, f"{folder}/", results=results) == (row,), "so that no build follows"
    assert record("own/mine", results=results, told=told) == (row,)
    assert told[-1] == f"Reads {folder} as recorded for own/mine"
    assert file.read_bytes() == before


def test_a_model_of_the_catalogue_adds_nothing(folder, results):
    told = []
    rows = record("tiny", folder, "hub:openai/clip-vit-base-patch32", results=results, told=told)
    assert [row.key for row in rows] == ["own/mine"]
    assert "tiny is in the catalogue already: naming it changes nothing" in told
    assert "openai/clip-vit-base-patch32 is in the catalogue already: naming it changes nothing" in told


def test_weights_of_the_hub_must_be_on_this_machine_where_it_is_offline(folder, results, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    snapshot = checkpoints.in_hub_cache(folder, cache=tmp_path / "hub", repository="Org/Name")
    (row,) = record("hub:Org/Name", results=results)
    assert (row.key, row.revision) == ("org/name", checkpoints.COMMIT)
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(NotHere, match="hf download Org/Name --revision"):
        record("hub:Org/Name", results=results)
    with pytest.raises(NotHere, match="hf download Org/Other"):
        record("hub:Org/Other", results=results)


def changed(folder):
    (folder / "preprocessor_config.json").write_text("{}")
    return "own/mine"


def held(folder):
    row = Model(key="own/held", title="Held", adapter="own", abilities=("embed_image",), modalities=("image",))
    records.record(
        row,
        digest="0123456789abcdef",
        results=folder.parent / "results",
        source=ModelSource(kind="session", name="Net"),
    )
    return "own/held"


def unknown_family(folder):
    (folder / "config.json").write_text(json.dumps({"model_type": "mine"}))
    return str(folder)


@pytest.mark.parametrize(
    "name, said",
    [
        (lambda folder: f"{folder}-gone", "folder"),
        (lambda folder: shutil.rmtree(folder) or "own/mine", "own/mine: there is no folder"),
        (changed, "The files of own/mine have changed since it was recorded: name the folder"),
        (lambda folder: "own/mime", "Did you mean 'own/mine'"),
        (lambda folder: "model.py:make", "is code, which is not run"),
        (held, "own/held is not a checkpoint: name a folder"),
        (unknown_family, "options of likeness run: run the model with them, and name the key"),
    ],
)
def test_what_cannot_be_is_one_sentence_with_a_remedy(folder, results, name, said):
    record(folder, results=results)
    text = name(folder)
    before = [file.name for file in records.files(results)]
    with pytest.raises(LikenessError, match=said) as raised:
        record(text, results=results)
    assert "\n" not in str(raised.value) and [file.name for file in records.files(results)] == before
