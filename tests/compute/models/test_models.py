"""The table of adapters, what identifies a model before it is loaded, and where it runs."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compute.models import ADAPTERS, fetch, hardware, identity, load
from compute.types import BadInput, CannotDo, Model, NotHere
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import COMMIT, CPU, row

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("key", list(ADAPTERS))
def test_every_adapter_loads_from_a_row_hardware_and_a_folder(key: str) -> None:
    parameters = inspect.signature(ADAPTERS[key].load).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]
    assert names == ["row", "hardware", "folder"]


def test_rows_of_the_catalogue_name_known_adapters() -> None:
    from compute.catalog import shipped

    assert {model.adapter for model in shipped().models} - {""} <= set(ADAPTERS)


def test_identity_says_what_decides_the_numbers(tmp_path: Path) -> None:
    folder = checkpoints.clip(tmp_path / "clip")
    plain = row(folder, "clip")
    first = identity(plain, hardware=CPU)
    assert first["adapter"] == "clip"
    assert first["weights"] == "clip"
    assert first["packages"]["transformers"] == metadata.version("transformers")
    assert (first["dtype"], first["device"]) == ("float32", "cpu")
    json.dumps(first)
    assert identity(replace(plain, options={"parameters": "as the name says"}), hardware=CPU) == first, "a note"
    changed = [
        identity(replace(plain, options={"normalise": True}), hardware=CPU),
        identity(replace(plain, adapter="siglip"), hardware=CPU),
        identity(plain, hardware=hardware("cpu", "bf16")),
        identity(replace(plain, options={"random": True}), hardware=CPU),
    ]
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "logit_scale_init_value": 1.0}))
    changed.append(identity(plain, hardware=CPU))
    assert all(one != first for one in changed)
    assert len({json.dumps(one, sort_keys=True) for one in changed}) == len(changed)


def test_identity_of_a_hub_checkpoint_is_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    pinned, other = row("some/clip", "clip", revision="f" * 40), row("some/clip", "clip", revision=COMMIT)
    assert identity(pinned, hardware=CPU)["revision"] == "f" * 40
    assert identity(pinned, hardware=CPU) != identity(other, hardware=CPU)
    assert identity(row("some/clip", "clip"), hardware=CPU)["revision"] == ""
    checkpoints.in_hub_cache(checkpoints.clip(tmp_path / "clip"), cache=tmp_path, repository="some/clip")
    assert identity(row("some/clip", "clip"), hardware=CPU) == identity(other, hardware=CPU)
    assert fetch(row("some/clip", "clip")).name == COMMIT


def moco_v3(folder: Path) -> Path:
    return checkpoints.timm_folder(folder, architecture="vit_tiny_patch16_224", num_classes=0)


WRITE: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "open_clip": (checkpoints.open_clip, {}),
    "clip": (checkpoints.clip, {}),
    "siglip": (checkpoints.siglip, {}),
    "align": (checkpoints.align, {}),
    "blip": (checkpoints.blip, {}),
    "vision": (lambda folder: checkpoints.vision(folder, "dinov2"), {}),
    "moco_v3": (moco_v3, {"architecture": "vit_tiny_patch16_224"}),
    "timm": (lambda folder: checkpoints.timm_folder(folder, img_size=checkpoints.SIDE, num_classes=10), {}),
    "bert": (lambda folder: checkpoints.text(folder, "roberta"), {}),
    "t5": (lambda folder: checkpoints.text(folder, "t5"), {}),
}


@pytest.mark.parametrize("adapter", list(WRITE))
def test_the_hubs_cache_without_network_gives_what_a_folder_gives(
    adapter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    write, options = WRITE[adapter]
    folder = write(tmp_path / "own")
    checkpoints.in_hub_cache(folder, cache=tmp_path / "cache", repository="some/model")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    local = load(row(folder, adapter, **options), hardware=CPU)
    cached = load(row("some/model", adapter, **options), hardware=CPU)
    assert sorted(tmp_path.iterdir()) == before, "nothing is written into the working folder"
    assert cached.settings.pop("revision") == COMMIT
    assert local.settings.pop("revision").startswith("files-")
    assert cached.settings == local.settings
    json.dumps(cached.settings)
    modality, item = ("text", "a red cat") if adapter in ("bert", "t5") else ("image", checkpoints.images()[1])
    found, expected = (one.embed(modality, [one.prepare(modality, item)]) for one in (cached, local))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_identity_by_the_environment_alone_loads_no_torch(tmp_path: Path) -> None:
    """A fresh process, the cache and the lack of network told by the environment as a user tells them."""
    checkpoints.in_hub_cache(checkpoints.clip(tmp_path / "clip"), cache=tmp_path / "hub", repository="some/clip")
    code = (
        "import json, sys\nfrom compute.models import hardware, identity\nfrom compute.types import Model\n"
        "row = Model(key='m', title='m', adapter='clip', weights='some/clip')\n"
        "found = identity(row, hardware=hardware('cpu'))\n"
        "print(json.dumps([found['revision'], 'torch' in sys.modules]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == [COMMIT, False]


def test_what_cannot_be_loaded_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotDo, match="published figures only"):
        load(Model(key="m", title="m"), hardware=CPU)
    with pytest.raises(BadInput, match="no adapter 'clop'"):
        load(Model(key="m", title="m", adapter="clop"), hardware=CPU)

    def without(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", without)
    with pytest.raises(NotHere, match="pip install torch$"):
        load(row("some/clip", "clip"), hardware=CPU)


def test_hardware_is_what_is_asked_or_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert hardware() == CPU
    assert hardware(dtype="fp16").dtype == "float16"
    with pytest.raises(NotHere, match="no device 'cuda'"):
        hardware("cuda")
    with pytest.raises(BadInput, match="No device 'gpu'"):
        hardware("gpu")
    with pytest.raises(BadInput, match="No precision 'int8'"):
        hardware("cpu", "int8")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for able, dtype in ((True, "bfloat16"), (False, "float16")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda able=able: able)
        assert (hardware().device, hardware().dtype) == ("cuda", dtype)
    assert hardware("cuda:1", "fp32").dtype == "float32"
