"""Loads a model of the catalogue, fetches its files, and says what decides its numbers."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from compute.models.adapter import Adapter, Comparer, Encoder, Hardware, Judge
from compute.models.files import weights
from compute.models.files.weights import OPTIONAL, RequiredFiles
from compute.models.registry import ADAPTERS
from compute.types import BadInput, CannotDo, Model, NotHere

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
NOTES = ("parameters", "library")  # options that describe a row and change no number


def load(row: Model, *, hardware: Hardware) -> Encoder | Comparer | Judge:
    """The row's model, ready to run.

    Raises CannotDo without an adapter, NotHere for a missing package or file, BadInput for options it does not know.
    """
    family, row, required = _resolved(row)
    _versions(row, family)
    if not row.weights and family.weights not in ((), OPTIONAL):
        raise NotHere(f"{row.key} names no weights")
    folder = weights.local_folder(row, required=required) if required else None
    model = family.load(row, hardware, folder)
    if required:
        model.settings["revision"] = weights.revision(row, required=required)
    return model


def fetch(row: Model) -> Path | None:
    """The folder of the row's files, downloaded if need be and nothing loaded; None for a family without files."""
    family, row, required = _resolved(row)
    paths = [file.fetch() for file in family.published(row)]
    if required:
        return weights.local_folder(row, required=required)
    return paths[0].parent if paths else None


def is_downloaded(row: Model) -> bool:
    """Whether all files that the row needs are on this machine; nothing is fetched. True without files."""
    family, row, required = _resolved(row)
    return (not required or weights.is_downloaded(row, required=required)) and all(
        file.path.exists() for file in family.published(row)
    )


def required_files(row: Model) -> RequiredFiles | None:
    """Which files of its checkpoint the row's family reads; None where it reads none."""
    return _resolved(row)[2]


def has_patches(row: Model) -> bool:
    """Whether the row's encoder embeds images and its family gives a vector a patch; nothing is loaded.

    Single checkpoints may still have none, which their `patches` says by CannotDo.
    """
    family = ADAPTERS.get(row.adapter)
    return family is not None and family.patches and (not row.abilities or "embed_image" in row.abilities)


def identity(row: Model, *, hardware: Hardware) -> dict[str, Any]:
    """All that decides the model's numbers and is known without loading it or asking the network.

    `revision` is the pin, the commit in the hub's cache, a digest of an own folder's files, or empty for a branch that
    was never fetched (`fetch` first, for an identity that lasts). An own folder goes by its name, wherever it lies.
    Of a family without weights, device and precision decide nothing and are left empty.
    """
    family, row, required = _resolved(row)
    has_files = bool(family.weights or family.needs)
    return {
        "adapter": row.adapter,
        "version": family.version,
        "weights": Path(row.weights).name if Path(row.weights).is_absolute() else row.weights,
        "revision": weights.revision(row, required=required) if required else row.revision,
        "options": dict(row.options),
        "dtype": hardware.dtype if has_files else "",
        "device": hardware.device.split(":")[0] if has_files else "",
        "packages": _versions(row, family),
    }


def hardware(device: str = "", dtype: str = "") -> Hardware:
    """The given device and precision; by default CUDA in bfloat16 (float16 where it has none), else the CPU in float32.

    `dtype`: float32, bfloat16, float16, or fp32, bf16, fp16. Raises NotHere for a device that this machine lacks.
    """
    dtype = DTYPES.get(dtype, dtype)
    if dtype not in ("", *DTYPES.values()):
        raise BadInput(f"No precision {dtype!r}. There are: {', '.join(DTYPES.values())}")
    if device == "cpu":
        return Hardware(device=device, dtype=dtype or "float32")
    import torch

    if not device:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise BadInput(f"No device {device!r}. There are: cpu, cuda, cuda:1, mps") from error
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available.get(kind, False):
        raise NotHere(f"This machine has no device {device!r}. Leave it out to use an available one")
    if kind == "cuda":
        return Hardware(device=device, dtype=dtype or ("bfloat16" if torch.cuda.is_bf16_supported() else "float16"))
    return Hardware(device=device, dtype=dtype or "float32")


def _resolved(row: Model) -> tuple[Adapter, Model, RequiredFiles | None]:
    """The row's family; the row without the notes among its options; and what it reads of its checkpoint.

    The latter is None where the row names no checkpoint or its family reads none. Raises CannotDo without an adapter,
    BadInput for an unknown one, and where the checkpoint's own code is allowed at no pinned revision.
    """
    if not row.adapter:
        raise CannotDo(f"{row.key} has published figures only: no adapter loads it")
    if row.adapter not in ADAPTERS:
        raise BadInput(f"{row.key}: no adapter {row.adapter!r}. There are: {', '.join(ADAPTERS)}")
    family, options = ADAPTERS[row.adapter], row.options
    code = bool(options.get("trust_remote_code") or options.get("remote_code"))
    if code and not weights.COMMIT.fullmatch(row.revision):
        raise BadInput(
            f"{row.key} allows the checkpoint's own code, so its revision must be a whole commit, not {row.revision!r}"
        )
    row = replace(row, options={name: value for name, value in options.items() if name not in NOTES})
    if not row.weights or not (family.weights or family.needs):
        return family, row, None
    patterns = (options["file"],) if options.get("file") else () if options.get("random") else family.weights
    return family, row, RequiredFiles(weights=patterns, needs=family.needs, code=code)


def _versions(row: Model, family: Adapter) -> dict[str, str]:
    versions = {}
    for package in family.packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError as error:
            raise NotHere(
                f"{row.key} needs the package {package}, which is not installed: pip install {package}"
            ) from error
    return versions
