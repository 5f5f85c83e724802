"""Functions on a model's row: what it can score, its files, what determines its numbers, and the loaded model."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compute import versions
from compute.models.adapter import Adapter, Comparer, Encoder, Hardware, Judge
from compute.models.files import weights
from compute.models.files.weights import OPTIONAL, RequiredFiles, digest
from compute.models.own.own_model import ADAPTER, NOTE
from compute.models.registry import ADAPTERS
from compute.types import BadInput, CannotDo, Model, NotHere

HALF_ABOVE = 1000  # million parameters: larger checkpoints are stored in half precision
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# Options that describe a row without affecting its numbers. `not_computable`, a sentence, says why no adapter can load
# the model. `features_of` names the distribution metrics that use the vectors as features, which determines the default
# precision (`hardware_for`). NOTE says where a user's model came from.
NOTES = ("parameters", "library", "not_computable", "features_of", NOTE)
LATE = "many vectors per item (late interaction), which only retrieval compares"


def load(row: Model, *, hardware: Hardware) -> Encoder | Comparer | Judge:
    """Returns the row's model, ready to run, in the precision of `hardware_for`.

    Raises CannotDo without an adapter, NotHere for a missing package or file, BadInput for options it does not know.
    """
    return _loaded(row, hardware_for(row, hardware), trainable=False)


def load_trainable(row: Model, *, hardware: Hardware) -> Encoder:
    """Returns the row's dual encoder with its torch module, in exactly this precision, to be trained."""
    family = ADAPTERS.get(row.adapter)
    if family is not None and family.trainable is None:
        families = ", ".join(key for key, other in ADAPTERS.items() if other.trainable)
        raise CannotDo(f"{row.key}: models of adapter {row.adapter!r} cannot be trained. Those of {families} can")
    return _loaded(row, hardware, trainable=True)


def _loaded(row: Model, hardware: Hardware, *, trainable: bool) -> Any:
    family, row, required = _resolved(row)
    _versions(row, family)
    folder = weights.local_folder(row, required=required) if required else None
    if hardware.device.startswith("cuda") and hardware.dtype == "float32":
        import torch

        torch.backends.cudnn.allow_tf32 = False  # otherwise convolutions round to 10 bits (bfloat16: 7)
    model = (family.trainable if trainable else family.load)(row, hardware, folder)
    if required:
        model.settings["revision"] = weights.revision(row, required=required)
    return model


def fetch(row: Model) -> Path | None:
    """Downloads the row's files if necessary, without loading them, and returns their folder; None for a family without
    files.
    """
    family, row, required = _resolved(row)
    paths = [file.fetch() for file in family.published(row)]
    if required:
        return weights.local_folder(row, required=required)
    return paths[0].parent if paths else None


def is_downloaded(row: Model) -> bool:
    """Returns whether all files that the row needs are on this machine, without fetching any. True for a row without
    files.
    """
    family, row, required = _resolved(row)
    return (not required or weights.is_downloaded(row, required=required)) and all(
        file.path.exists() for file in family.published(row)
    )


def missing(row: Model) -> str:
    """Returns why the row's model cannot run on this machine at present; empty if it can."""
    try:
        family, _, _ = _resolved(row)
        _versions(row, family)
    except (CannotDo, NotHere) as error:
        return str(error).removeprefix(f"{row.key}").lstrip(": ")
    if family.variable and not os.environ.get(family.variable, "").strip():
        return f"{family.variable} is not set"
    return "" if is_downloaded(row) else f"weights not here{row.weights and f': {row.weights}'}"


def size_of_weights(row: Model) -> tuple[int | None, bool]:
    """Returns the bytes of a model's weights, including those from URLs, and whether all are on this machine.

    For missing files, the size is the publisher's, else an estimate from the row's number of parameters.
    """
    own: int | None = 0
    present = True
    if row.weights and not endpoint_variable(row):
        try:
            folder = weights.own_folder(row) or weights.cached_folder(row)
        except NotHere:
            folder = None
        own, present = (_bytes(folder), True) if folder else (size_by_parameters(row), False)
    sizes = [own]
    for file in ADAPTERS[row.adapter].published(row) if row.adapter in ADAPTERS else ():
        there = file.path.exists()
        sizes.append(_bytes(file.path) if there else file.size)
        present = present and there
    return (size_by_parameters(row) if None in sizes else sum(size or 0 for size in sizes)), present


def size_by_parameters(row: Model) -> int | None:
    """Estimates the bytes of the row's weights: four per parameter, two for large models; None if the number is
    unknown.
    """
    bytes_each = 2 if (row.parameters_m or 0) > HALF_ABOVE else 4
    return round(row.parameters_m * 1e6 * bytes_each) if row.parameters_m else None


def endpoint_variable(row: Model) -> str:
    """Returns the environment variable with the address of the model's endpoint; empty if the model runs here."""
    return ADAPTERS[row.adapter].variable if row.adapter in ADAPTERS else ""


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())


def required_files(row: Model) -> RequiredFiles | None:
    """Returns which files of its checkpoint the row's family reads; None if it reads none."""
    return _resolved(row)[2]


def identity(row: Model, *, hardware: Hardware) -> dict[str, Any]:
    """Returns everything that determines the model's numbers and is known without loading it or using the network.

    `revision` is the pinned commit, the commit in the hub's cache, a digest of a local folder's files, or empty for a
    branch that was never fetched (call `fetch` first for a permanent identity). Local folders are identified by name,
    not by location. `files` has digests of other files: from URLs, from a package, from checkpoints named by options.
    Packages are identified by major and minor version. For a family without weights, device and precision have no
    effect and are empty. Raises NotHere if a file or package that is needed to identify it is missing.
    """
    hardware = hardware_for(row, hardware)
    family, row, required = _resolved(row)
    has_files = bool(family.weights or family.needs)
    packages = versions.minor(_versions(row, family))
    named = weights.by_name(row)
    return {
        "adapter": row.adapter,
        "version": family.version,
        "weights": named.weights,
        "revision": weights.revision(row, required=required) if required else row.revision,
        "files": _digests(row, family),
        "options": named.options,
        "dtype": hardware.dtype if has_files else "",
        "device": hardware.device.split(":")[0] if has_files else "",
        "packages": packages,
    }


def is_identified(row: Model) -> bool:
    """Returns whether `fetch` leaves `identity` unchanged: no branch is followed, and no missing file lacks a hash in
    the catalogue.
    """
    family, row, required = _resolved(row)
    return (not required or bool(row.revision) or weights.own_folder(row) is not None) and all(
        file.sha256 or file.path.exists() for file in family.published(row)
    )


def no_gpu() -> bool:
    """Returns whether the system certainly has no GPU for torch: it is Linux without a driver's file. This avoids
    importing torch, which takes seconds.
    """
    files = (path for name in ("nv*", "kfd", "dxg") for path in Path("/dev").glob(name))
    return sys.platform == "linux" and next(files, None) is None


def hardware(device: str = "", dtype: str = "") -> Hardware:
    """Returns the given device and precision; by default CUDA in bfloat16 (float16 if it has none), else the CPU in
    float32.

    If no precision is given, `hardware_for` determines that of a row.

    `dtype`: float32, bfloat16, float16, or fp32, bf16, fp16. Raises NotHere for a device that this machine lacks.
    """
    dtype = DTYPES.get(dtype, dtype)
    if dtype not in ("", *DTYPES.values()):
        raise BadInput(f"No precision {dtype!r}. There are: {', '.join(DTYPES.values())}")
    if device == "cpu" or (not device and no_gpu()):
        return Hardware(device="cpu", dtype=dtype or "float32")
    if importlib.util.find_spec("torch") is None:  # metrics on pixels do not need torch
        if device:
            raise NotHere(f"The device {device!r} needs torch, which is not installed: {versions.install_command()}")
        return Hardware(device="cpu", dtype=dtype or "float32")
    import torch

    if not device:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise BadInput(f"No device {device!r}. There are: cpu, cuda, cuda:1, mps") from error
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available.get(kind, False):
        raise NotHere(f"This machine has no device {device!r}. Omit it to use an available one")
    if kind == "cuda":
        usual = "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
        return Hardware(device=device, dtype=dtype or usual, chosen=bool(dtype))
    return Hardware(device=device, dtype=dtype or "float32")


def hardware_for(row: Model, hardware: Hardware) -> Hardware:
    """Returns the hardware with the row's precision.

    The default is float32 for comparers and for features of distribution metrics. In bfloat16, 1.75% of compared items
    were exact ties and 1.5% of LPIPS's picks changed, and a covariance accumulates the rounding of every feature.
    """
    exact = "compare" in row.abilities or bool(row.options.get("features_of"))
    return replace(hardware, dtype="float32") if exact and not hardware.chosen else hardware


def _resolved(row: Model) -> tuple[Adapter, Model, RequiredFiles | None]:
    """Returns the row's family, the row without the options in NOTES, and which files of its checkpoint are read.

    The latter is None if the row has no checkpoint or its family reads none. Raises CannotDo without an adapter,
    BadInput for an unknown one.
    """
    if problem := not_computable(row):
        raise CannotDo(f"{row.key}: {problem}")
    if row.adapter == ADAPTER:
        raise NotHere(f"{row.key} is not a checkpoint: pass it again, in Python: compute.evaluate(model, ...)")
    if row.adapter not in ADAPTERS:
        raise BadInput(f"{row.key}: no adapter {row.adapter!r}. There are: {', '.join(ADAPTERS)}")
    family, options = ADAPTERS[row.adapter], row.options
    row = replace(row, options={name: value for name, value in options.items() if name not in NOTES})
    if not row.weights and family.weights not in ((), OPTIONAL):
        raise NotHere(f"{row.key} has no weights")
    if not row.weights or not (family.weights or family.needs):
        return family, row, None
    patterns = (options["file"],) if options.get("file") else () if options.get("random") else family.weights
    # A checkpoint of two towers whose row embeds only images needs no tokenizer.
    spare = [weights.TOKENIZER] if row.abilities == ("embed_image",) else []
    needs = tuple(group for group in family.needs if group not in spare)
    return family, row, RequiredFiles(weights=patterns, needs=needs, also=family.also)


def _digests(row: Model, family: Adapter) -> dict[str, str]:
    """Returns digests of the files that neither `weights` nor `revision` identifies, by file or option."""
    files = {}
    for file in family.published(row):
        if not file.sha256 and not file.path.exists():
            raise NotHere(
                f"{row.key}: {file.path.name} is not on this machine. Fetch it: likeness fetch --models {row.key}"
            )
        files[file.path.name] = file.sha256 or digest(file.path)
    for path in family.bundled(row):
        files[path.name] = digest(path)
    for option, value in row.options.items():
        if isinstance(value, Mapping) and value.get("weights"):
            named = replace(row, weights=value["weights"], revision=value.get("revision", ""), options={})
            files[option] = weights.revision(named)
    return files


def _versions(row: Model, family: Adapter) -> dict[str, str]:
    installed = versions.installed(family.packages)
    missing = [package for package, version in installed.items() if version == versions.MISSING]
    if missing:
        problem = f"{row.key} needs {', '.join(missing)}, not installed here"
        raise NotHere(f"{problem}: {versions.install_command(*missing)}")
    return installed


def pairing_of(first: str, second: str) -> str:
    """Returns two modalities as one word, in alphabetical order: `image-image`, `image-text`, `text-text`."""
    return "-".join(sorted((first, second)))


def compares(row: Model, pairing: str) -> bool:
    """Returns whether the model's own comparison supports the pairing, which must be of two images."""
    return "compare" in row.abilities and pairing == "image-image"


def bounds(row: Model) -> tuple[float, float] | None:
    """Returns the lowest and the highest score of the model's own comparison; None if it is unbounded."""
    return ADAPTERS[row.adapter].bounds if row.adapter in ADAPTERS else None


def embeds(row: Model, pairing: str) -> bool:
    """Returns whether the model has one vector for both sides of the pairing."""
    return not row.late_interaction and all(f"embed_{side}" in row.abilities for side in pairing.split("-"))


def scores(row: Model, pairing: str) -> bool:
    """Returns whether the model can score the similarity of two items, by their vectors or by its own comparison."""
    return embeds(row, pairing) or compares(row, pairing)


def embeds_jointly(row: Model) -> bool:
    """Returns whether the model embeds an image with its text in one prompt; a row's own prompts may lack one for
    pairs.
    """
    family = ADAPTERS.get(row.adapter)
    return family is not None and family.joint and "pair" in row.options.get("prompts", ("pair",))


def learned_vectors(row: Model) -> list[str]:
    """Returns the modalities of which the model has vectors. Image vectors count only if they are learned rather than
    computed from pixels.
    """
    family = ADAPTERS.get(row.adapter)
    learned = family is None or bool(family.weights or family.needs)
    return [kind for kind in ("image", "text") if f"embed_{kind}" in row.abilities and (learned or kind == "text")]


def not_computable(row: Model) -> str:
    """Returns why no adapter loads the model, as a clause; empty if one does."""
    if row.adapter:
        return ""
    reason = row.options.get("not_computable")
    return f"published scores only. {reason}" if reason else "published scores only: nothing here loads it"
