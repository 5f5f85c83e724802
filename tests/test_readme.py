"""The README: its commands run, and a Space can be made from the block at its top."""

import tomllib

import pytest
import yaml
from huggingface_hub import SpaceHardware
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from compute import models
from compute.catalog import shipped
from tests import documents
from tests.serving import ROOT

README = ROOT / "README.md"
DEFAULT = "laion/clip-vit-b-32-laion2b-s34b-b79k"


@pytest.fixture(scope="module")
def front():
    _, block, _ = README.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(block)


def test_its_commands_run(tmp_path, monkeypatch):
    assert documents.run(README, tmp_path, monkeypatch) == 2


def test_a_space_gets_versions_that_are_required_and_hardware_that_exists(front):
    """Source: https://huggingface.co/docs/hub/spaces-config-reference"""
    lines = [line.partition("#")[0].strip() for line in (ROOT / "requirements.txt").read_text().splitlines()]
    space = {"python_full_version": front["python_version"]}
    listed = [one for one in map(Requirement, filter(None, lines)) if not one.marker or one.marker.evaluate(space)]
    required = {
        name: SpecifierSet(",".join(str(one.specifier) for one in listed if one.name == name))
        for name in ("gradio", "torch")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert front["sdk"] == "gradio" and front["sdk_version"] in required["gradio"]
    assert front["python_version"] in SpecifierSet(project["requires-python"])
    if front["suggested_hardware"] == "zero-a10g":  # https://huggingface.co/docs/hub/spaces-zerogpu
        assert front["python_version"] in ("3.12.12", "3.10.13")
        assert "2.11.0" in required["torch"] and "2.12.0" not in required["torch"]
    assert front["suggested_hardware"] in {one.value for one in SpaceHardware}
    assert len(front["short_description"]) <= 60 and (ROOT / front["app_file"]).is_file()


def test_a_space_prepares_all_that_the_default_model_needs(front, tmp_path, monkeypatch):
    """In the cache as a Space fills it, without a network."""
    row = shipped().model(DEFAULT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    repository, files, revision = front["preload_from_hub"][0].split(" ")
    assert front["models"] == [row.weights] == [repository] and revision == row.revision
    folder = tmp_path / f"models--{repository.replace('/', '--')}" / "snapshots" / revision
    folder.mkdir(parents=True)
    for name in files.split(","):
        (folder / name).write_bytes(b"")
    assert models.fetch(row) == folder
    assert "open_clip_config.json" in files  # what the adapter reads beside the weights
