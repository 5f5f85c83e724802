"""Loads a model of the catalogue, fetches its files, and says what decides its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from compute.models.adapter import Adapter, Comparer, Encoder, Hardware, Judge
from compute.models.files import weights
from compute.models.files.weights import RequiredFiles
from compute.models.registry import ADAPTERS
from compute.types import BadInput, CannotDo, Model, NotHere

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
NOTES = ("parameters", "library")  # options that describe a row and change no number


def load(row: Model, *, hardware: Hardware, root: Path | None = None) -> Encoder | Comparer | Judge:
    """The row's model, ready to run. `root`: where a relative `weights` folder lies; the repository by default.

    Raises CannotDo without an adapter, NotHere for a missing package or file, BadInput for options it does not know.
    """
    family, row = _adapter(row), _plain(row)
    _versions(row, family)
    required = _required(row, family)
    folder = weights.local_folder(row, required=required, root=root) if required else None
    model = family.load(row, hardware, folder)
    if required:
        model.settings["revision"] = weights.revision(row, required=required, root=root)
    return model


def fetch(row: Model, *, root: Path | None = None) -> Path | None:
    """The folder of the row's files, downloaded if need be and nothing loaded; None for a family without files."""
    family, row = _adapter(row), _plain(row)
    required, paths = _required(row, family), [file.fetch() for file in family.published(row)]
    if required:
        return weights.local_folder(row, required=required, root=root)
    return paths[0].parent if paths else None


def is_downloaded(row: Model, *, root: Path | None = None) -> bool:
    """Whether all files that the row needs are on this machine; nothing is fetched. True without files."""
    family, row = _adapter(row), _plain(row)
    required = _required(row, family)
    return (not required or weights.is_downloaded(row, required=required, root=root)) and all(
        file.path.exists() for file in family.published(row)
    )


def required_files(row: Model) -> RequiredFiles | None:
    """Which files of its checkpoint the row's family reads; None where it reads none."""
    return _required(_plain(row), _adapter(row))


def has_patches(row: Model) -> bool:
    """Whether the row's encoder embeds images and its family gives a vector a patch; nothing is loaded.

    Single checkpoints may still have none, which their `patches` says by CannotDo.
    """
    family = ADAPTERS.get(row.adapter)
    return family is not None and family.patches and (not row.abilities or "embed_image" in row.abilities)


def identity(row: Model, *, hardware: Hardware, root: Path | None = None) -> dict[str, Any]:
    """All that decides the model's numbers and is known without loading it or asking the network.

    `revision` is the pin, the commit in the hub's cache, a digest of an own folder's files, or empty for a branch that
    was never fetched (`fetch` first, for an identity that lasts). An own folder goes by its name, wherever it lies.
    Of a family without weights, device and precision decide nothing and are left empty.
    """
    family, row = _adapter(row), _plain(row)
    required, has_files = _required(row, family), bool(family.weights or family.needs)
    return {
        "adapter": row.adapter,
        "version": family.version,
        "weights": Path(row.weights).name if Path(row.weights).is_absolute() else row.weights,
        "revision": weights.revision(row, required=required, root=root) if required else row.revision,
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


def _adapter(row: Model) -> Adapter:
    if not row.adapter:
        raise CannotDo(f"{row.key} has published figures only: no adapter loads it")
    if row.adapter not in ADAPTERS:
        raise BadInput(f"{row.key}: no adapter {row.adapter!r}. There are: {', '.join(ADAPTERS)}")
    return ADAPTERS[row.adapter]


def _plain(row: Model) -> Model:
    """The row without the notes among its options. Raises BadInput where it allows code of no pinned revision."""
    if (row.options.get("trust_remote_code") or row.options.get("remote_code")) and not weights.COMMIT.fullmatch(
        row.revision
    ):
        raise BadInput(
            f"{row.key} allows the checkpoint's own code, so its revision must be a whole commit, not {row.revision!r}"
        )
    return replace(row, options={name: value for name, value in row.options.items() if name not in NOTES})


def _required(row: Model, family: Adapter) -> RequiredFiles | None:
    """What the row reads of its checkpoint; None where it has none or its family reads nothing."""
    if not row.weights or not (family.weights or family.needs):
        return None
    options: Mapping[str, Any] = row.options
    patterns = (options["file"],) if options.get("file") else () if options.get("random") else family.weights
    return RequiredFiles(
        weights=patterns, needs=family.needs, code=bool(options.get("trust_remote_code") or options.get("remote_code"))
    )


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
