"""The table of adapters, what identifies a model before it is loaded, and where it runs."""

import json
import os
from dataclasses import replace
from functools import partial
from importlib import metadata
from types import SimpleNamespace

import pytest

from compute.catalog import shipped
from compute.models import ADAPTERS, hardware, hardware_for, identity, is_identified, load, model_rows
from compute.models.adapter import Adapter, Hardware
from compute.types import BadInput, CannotDo, Model, NotHere
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import COMMIT, CPU, row
from tests.compute.tasks.files import put


def test_identity_says_what_decides_the_numbers(tmp_path):
    folder = checkpoints.clip(tmp_path / "clip")
    plain = row(folder, "clip")
    known = partial(identity, hardware=CPU)
    first = known(plain)
    assert [first[name] for name in ("adapter", "weights", "dtype", "device")] == ["clip", "clip", "float32", "cpu"]
    assert first["packages"]["transformers"] == ".".join(metadata.version("transformers").split(".")[:2])
    assert known(replace(plain, options={"parameters": "as the name says"})) == first, "a note"
    all_of_them = [
        first,
        known(replace(plain, options={"normalise": True})),
        known(replace(plain, adapter="siglip")),
        *(known(row("some/clip", "clip", revision=commit)) for commit in (COMMIT, "f" * 40)),
        identity(plain, hardware=hardware("cpu", "bf16")),
        known(replace(plain, options={"random": True})),
    ]
    put(folder, {"config.json": "{}"})
    all_of_them.append(known(plain))
    assert len({json.dumps(one, sort_keys=True) for one in all_of_them}) == len(all_of_them)


def test_a_file_from_an_address_without_a_known_hash_is_known_by_its_content(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    dreamsim = Model(key="dreamsim", title="", adapter="dreamsim", options={"dreamsim_type": "open_clip_vitb32"})
    assert not is_identified(dreamsim)
    with pytest.raises(NotHere, match="dreamsim"):
        identity(dreamsim, hardware=CPU)
    [archive] = ADAPTERS["dreamsim"].published(dreamsim)
    archive.path.mkdir(parents=True)
    found = []
    for content in (b"one", b"other"):
        (archive.path / "weights.pth").write_bytes(content)
        os.utime(archive.path / "weights.pth", ns=(0, len(found)))
        found.append(identity(dreamsim, hardware=CPU)["files"])
    assert is_identified(dreamsim) and found[0] != found[1]


def test_what_cannot_be_loaded_says_why(monkeypatch):
    with pytest.raises(CannotDo, match="published"):
        load(Model(key="m", title="m"), hardware=CPU)

    def without(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", without)
    with pytest.raises(NotHere, match=r"needs torch, .*\[compute\]"):
        load(row("some/clip", "clip"), hardware=CPU)


@pytest.fixture
def cuda(monkeypatch):
    """A machine with a GPU, as far as torch says; without `bf16`, one that lacks it."""
    import torch

    def there(is_there=True, bf16=True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: is_there)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: bf16)
        monkeypatch.setattr(model_rows, "no_gpu", lambda: not is_there)

    there()
    return there


def test_hardware_is_what_is_asked_or_there(cuda):
    assert hardware() == Hardware(device="cuda", dtype="bfloat16", chosen=False)
    assert hardware("cuda:1", "fp32") == Hardware(device="cuda:1", dtype="float32")
    cuda(bf16=False)
    assert hardware().dtype == "float16"
    cuda(False)
    assert hardware() == CPU and hardware(dtype="fp16").dtype == "float16"
    for given, error in ((("cuda",), NotHere), (("gpu",), BadInput), (("cpu", "int8"), BadInput)):
        with pytest.raises(error, match=repr(given[-1])):
            hardware(*given)


@pytest.mark.parametrize(
    "key, dtype",
    [
        ("lpips-alex", "float32"),
        ("inception-v3", "float32"),  # FID's features
        ("openai/clip-vit-base-patch32", "bfloat16"),
    ],
)
def test_comparers_and_features_of_distributions_run_in_float32_on_cuda(key, dtype, cuda):
    """By default; a precision that is asked for is what they get. The identity, and so every run, holds which."""
    row = shipped().model(key)
    assert hardware_for(row, hardware()).dtype == dtype
    assert hardware_for(row, hardware(dtype="bf16")).dtype == "bfloat16"
    assert hardware_for(row, CPU) == CPU
    if row.adapter not in ("lpips", "inception"):  # whose files would have to be here
        assert identity(row, hardware=hardware())["dtype"] == dtype


def test_a_model_is_loaded_in_its_precision(monkeypatch):
    """In float32 on CUDA without the rounding of convolutions to 10 bits, which the library allows by default."""
    import torch

    given = []
    loads = lambda row, hardware, folder: given.append(hardware) or SimpleNamespace(settings={})  # noqa: E731
    monkeypatch.setitem(ADAPTERS, "gauge", Adapter(load=loads))
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    gauge, usual = (
        Model(key="m", title="m", adapter="gauge", abilities=("compare",)),
        Hardware(device="cuda", dtype="bfloat16", chosen=False),
    )
    load(replace(gauge, abilities=("embed_image",)), hardware=usual)
    assert torch.backends.cudnn.allow_tf32
    load(gauge, hardware=usual)
    assert not torch.backends.cudnn.allow_tf32
    assert [one.dtype for one in given] == ["bfloat16", "float32"]
