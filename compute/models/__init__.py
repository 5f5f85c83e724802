"""Models behind three interfaces, one adapter a family. Importing this loads no torch; loading a model does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from compute.models.adapter import Adapter, Comparer, Encoder, Hardware, Judge
from compute.models.files import downloads, weights
from compute.models.files.weights import ADAPTED, CONFIG, OPEN_CLIP, PROCESSOR, TOKENIZER, WEIGHTS, Wanted
from compute.types import BadInput, CannotDo, Model, NotHere

TRANSFORMERS = ("torch", "torchvision", "transformers", "tokenizers", "pillow")
OF_BOTH = (CONFIG, PROCESSOR, TOKENIZER)

ADAPTERS: dict[str, Adapter] = {
    # Two towers
    "open_clip": Adapter(
        module="compute.models.encoders.open_clip",
        load="load",
        weights=OPEN_CLIP,
        packages=("torch", "torchvision", "open_clip_torch", "timm", "transformers", "pillow"),
        patches=True,
    ),
    "clip": Adapter(
        module="compute.models.encoders.dual",
        load="load_clip",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=OF_BOTH,
        patches=True,
    ),
    "siglip": Adapter(
        module="compute.models.encoders.dual",
        load="load_siglip",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=OF_BOTH,
        patches=True,
    ),
    "align": Adapter(
        module="compute.models.encoders.dual",
        load="load_align",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=OF_BOTH,
        patches=True,
    ),
    "blip": Adapter(
        module="compute.models.encoders.dual",
        load="load_blip",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=OF_BOTH,
        patches=True,
    ),
    # Images alone
    "vision": Adapter(
        module="compute.models.encoders.vision",
        load="load",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=(CONFIG, PROCESSOR),
        patches=True,
    ),
    "moco_v3": Adapter(
        module="compute.models.encoders.timm_vision",
        load="load_moco_v3",
        weights=WEIGHTS,
        packages=("torch", "torchvision", "timm", "pillow"),
        patches=True,
    ),
    "timm": Adapter(
        module="compute.models.encoders.timm_vision",
        load="load",
        weights=(*WEIGHTS, *OPEN_CLIP),
        needs=(CONFIG,),
        packages=("torch", "torchvision", "timm", "pillow"),
        patches=True,
    ),
    "inception": Adapter(
        module="compute.models.encoders.inception",
        load="load",
        weights=("*",),
        packages=("torch", "torchvision", "pillow"),
        published="files",
    ),
    # Texts alone
    "bert": Adapter(
        module="compute.models.encoders.text",
        load="load_bert",
        packages=("torch", "transformers", "tokenizers"),
        weights=WEIGHTS,
        needs=(CONFIG, TOKENIZER),
    ),
    "t5": Adapter(
        module="compute.models.encoders.text",
        load="load_t5",
        packages=("torch", "transformers", "tokenizers"),
        weights=WEIGHTS,
        needs=(CONFIG, TOKENIZER),
    ),
    # Multimodal language models as encoders
    "e5_v": Adapter(
        module="compute.models.encoders.mllm_embedding", load="load_e5_v", packages=TRANSFORMERS, weights=ADAPTED
    ),
    "vlm2vec": Adapter(
        module="compute.models.encoders.mllm_embedding", load="load_vlm2vec", packages=TRANSFORMERS, weights=ADAPTED
    ),
    "gme": Adapter(
        module="compute.models.encoders.mllm_embedding", load="load_gme", packages=TRANSFORMERS, weights=ADAPTED
    ),
    # What people prefer
    "hpsv2": Adapter(
        module="compute.models.metrics.preference",
        load="load_hpsv2",
        weights=("HPS_v2_compressed.pt",),
        packages=("torch", "torchvision", "open_clip_torch", "pillow"),
    ),
    "pickscore": Adapter(
        module="compute.models.metrics.preference",
        load="load_pickscore",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=(CONFIG,),
    ),
    "imagereward": Adapter(
        module="compute.models.metrics.preference",
        load="load_imagereward",
        packages=TRANSFORMERS,
        weights=("ImageReward.pt",),
    ),
    "aesthetic": Adapter(
        module="compute.models.metrics.preference",
        load="load_aesthetic",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=(CONFIG, PROCESSOR),
        published="aesthetic_files",
    ),
    # Perceptual metrics
    "psnr": Adapter(
        module="compute.models.metrics.pixels", load="load_psnr", packages=("numpy", "pillow"), pairs_only=True
    ),
    "ssim": Adapter(
        module="compute.models.metrics.pixels", load="load_ssim", packages=("numpy", "scipy", "pillow"), pairs_only=True
    ),
    "ms_ssim": Adapter(
        module="compute.models.metrics.pixels",
        load="load_ms_ssim",
        packages=("numpy", "scipy", "pillow"),
        pairs_only=True,
    ),
    "colour_histogram": Adapter(
        module="compute.models.metrics.pixels", load="load_colour_histogram", packages=("numpy", "pillow")
    ),
    "perceptual_hash": Adapter(
        module="compute.models.metrics.pixels", load="load_perceptual_hash", packages=("numpy", "scipy", "pillow")
    ),
    "lpips": Adapter(
        module="compute.models.metrics.perceptual",
        load="load_lpips",
        weights=("*",),
        packages=("torch", "torchvision", "lpips", "pillow"),
        published="lpips_files",
        pairs_only=True,
    ),
    "dreamsim": Adapter(
        module="compute.models.metrics.perceptual",
        load="load_dreamsim",
        weights=("*",),
        packages=("torch", "torchvision", "dreamsim", "peft", "open_clip_torch", "pillow"),
        published="dreamsim_files",
        pairs_only=True,
    ),
    # Judges that answer in words
    "endpoint": Adapter(module="compute.models.judges.endpoint", load="load", packages=("huggingface_hub", "pillow")),
    "vlm": Adapter(
        module="compute.models.judges.vlm",
        load="load",
        packages=TRANSFORMERS,
        weights=WEIGHTS,
        needs=(CONFIG, PROCESSOR),
    ),
}
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
NOTES = ("parameters", "library")  # options that say something of a row and decide no number


def load(row: Model, *, hardware: Hardware, root: Path | None = None) -> Encoder | Comparer | Judge:
    """The row's model, ready to run. `root`: where a relative `weights` folder lies; the repository by default.

    Raises CannotDo without an adapter, NotHere for a missing package or file, BadInput for options it does not know.
    """
    family, row = _adapter(row), _plain(row)
    _versions(row, family)
    reads = _wanted(row, family)
    folder = weights.local_folder(row, wanted=reads, root=root) if reads else None
    model = getattr(import_module(family.module), family.load)(row, hardware, folder)
    if reads:
        model.settings["revision"] = weights.revision(row, wanted=reads, root=root)
    return model


def fetch(row: Model, *, root: Path | None = None) -> Path | None:
    """The folder of the row's files, downloaded if need be and nothing loaded; None for a family without files."""
    family, row = _adapter(row), _plain(row)
    reads, places = _wanted(row, family), [one.fetch() for one in _published(row, family)]
    if reads:
        return weights.local_folder(row, wanted=reads, root=root)
    return places[0].parent if places else None


def here(row: Model, *, root: Path | None = None) -> bool:
    """Whether all files that the row needs are on this machine; nothing is fetched. True without files."""
    family, row = _adapter(row), _plain(row)
    reads = _wanted(row, family)
    return (not reads or weights.present(row, wanted=reads, root=root)) and all(
        one.place.exists() for one in _published(row, family)
    )


def wanted(row: Model) -> Wanted | None:
    """What the row's family reads of a checkpoint; None where it reads none."""
    return _wanted(_plain(row), _adapter(row))


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
    reads, own = _wanted(row, family), bool(family.weights or family.needs)
    return {
        "adapter": row.adapter,
        "version": family.version,
        "weights": Path(row.weights).name if Path(row.weights).is_absolute() else row.weights,
        "revision": weights.revision(row, wanted=reads, root=root) if reads else row.revision,
        "options": dict(row.options),
        "dtype": hardware.dtype if own else "",
        "device": hardware.device.split(":")[0] if own else "",
        "packages": _versions(row, family),
    }


def hardware(device: str = "", dtype: str = "") -> Hardware:
    """What is asked for, else what is there: CUDA in bfloat16 (float16 where it has none), the CPU in float32.

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
    here = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not here.get(kind, False):
        raise NotHere(f"This machine has no device {device!r}. Leave it out to take what is there")
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


def _wanted(row: Model, family: Adapter) -> Wanted | None:
    """What the row reads of its checkpoint; None where it has none or its family reads nothing."""
    if not row.weights or not (family.weights or family.needs):
        return None
    options: Mapping[str, Any] = row.options
    held = (options["file"],) if options.get("file") else () if options.get("random") else family.weights
    return Wanted(
        weights=held, needs=family.needs, code=bool(options.get("trust_remote_code") or options.get("remote_code"))
    )


def _published(row: Model, family: Adapter) -> Iterator[downloads.Published]:
    """What the row needs from addresses, each told when the one before it is here."""
    if family.published:
        yield from getattr(import_module(family.module), family.published)(row)


def _versions(row: Model, family: Adapter) -> dict[str, str]:
    found = {}
    for package in family.packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError as error:
            raise NotHere(
                f"{row.key} needs the package {package}, which is not installed: pip install {package}"
            ) from error
    return found
