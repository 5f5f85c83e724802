"""The README's first block, which a Space is made from, and what the README says of the environment."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import SpaceHardware
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from compute import models
from compute.catalog import shipped
from compute.types import Model

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = "laion/clip-vit-b-32-laion2b-s34b-b79k"
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
# https://huggingface.co/docs/hub/spaces-config-reference
KNOWN = {
    "title",
    "emoji",
    "colorFrom",
    "colorTo",
    "sdk",
    "python_version",
    "sdk_version",
    "suggested_hardware",
    "suggested_storage",
    "app_file",
    "app_build_command",
    "app_port",
    "base_path",
    "fullWidth",
    "header",
    "short_description",
    "models",
    "datasets",
    "tags",
    "thumbnail",
    "pinned",
    "hf_oauth",
    "hf_oauth_scopes",
    "hf_oauth_expiration_minutes",
    "disable_embedding",
    "startup_duration_timeout",
    "custom_headers",
    "preload_from_hub",
    "license",
}


@pytest.fixture(scope="module")
def front() -> dict[str, Any]:
    _, block, _ = (ROOT / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(block)


@pytest.fixture(scope="module")
def row() -> Model:
    return shipped().model(DEFAULT)


def test_every_key_is_one_that_spaces_know(front: dict[str, Any]) -> None:
    assert set(front) <= KNOWN
    assert front["sdk"] == "gradio" and isinstance(front["pinned"], bool)
    assert {front["colorFrom"], front["colorTo"]} <= COLOURS
    assert front["suggested_hardware"] in {one.value for one in SpaceHardware}
    assert 0 < len(front["short_description"]) <= 60 and front["title"]
    assert front["tags"] and all(re.fullmatch(r"[a-z-]+", tag) for tag in front["tags"])
    assert (ROOT / front["app_file"]).is_file()
    assert ("license" in front) == any(ROOT.glob("LICEN[CS]E*"))


def test_versions_are_those_that_are_required_and_tested(front: dict[str, Any]) -> None:
    lines = [line.partition("#")[0].strip() for line in (ROOT / "requirements.txt").read_text().splitlines()]
    required = {one.name: one.specifier for one in map(Requirement, filter(None, lines))}
    assert isinstance(front["sdk_version"], str) and front["sdk_version"] in required["gradio"]
    assert front["sdk_version"].split(".")[0] == version("gradio").split(".")[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # Unquoted, YAML would read 3.10 as 3.1.
    assert isinstance(front["python_version"], str)
    assert front["python_version"] in SpecifierSet(project["requires-python"])


def test_what_is_prepared_is_the_default_model_as_it_is_pinned(front: dict[str, Any], row: Model) -> None:
    assert front["models"] == [row.weights]
    [line] = front["preload_from_hub"]
    repository, files, revision = line.split(" ")
    assert (repository, revision) == (row.weights, row.revision)
    assert len(set(files.split(","))) == len(files.split(","))


def test_the_prepared_files_are_all_that_the_default_model_needs(
    front: dict[str, Any], row: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the cache as a Space fills it, without a network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    repository, files, revision = front["preload_from_hub"][0].split(" ")
    folder = tmp_path / f"models--{repository.replace('/', '--')}" / "snapshots" / revision
    folder.mkdir(parents=True)
    for name in files.split(","):
        (folder / name).write_bytes(b"")
    assert models.fetch(row) == folder
    assert "open_clip_config.json" in files  # what the adapter reads beside the weights: the row names no architecture
    assert not row.options


def test_every_variable_of_the_app_is_explained() -> None:
    read = {
        name
        for path in [ROOT / "app.py", ROOT / "compute" / "paths.py", *(ROOT / "leaderboard").rglob("*.py")]
        for name in re.findall(r"environ\S*\(\"(LIKENESS_[A-Z_]+)\"", path.read_text(encoding="utf-8"))
    }
    assert {"LIKENESS_DATA", "LIKENESS_DATABASE"} <= read
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {name for name in read if f"`{name}`" not in text} == set()
