"""The image processor and the tokenizer of a transformers model in memory: the caller's, or its checkpoint's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.models.encoders.text import tower_of
from compute.models.encoders.towers import ImageTower, TextTower
from compute.models.files import pretrained, weights
from compute.models.files.checkpoint import one_line
from compute.models.own.objects.held import Arguments
from compute.types import BadInput

PARTS = {
    "image": ("image_processor", "preprocess", "to_json_string", weights.PROCESSOR),
    "text": ("tokenizer", "tokenizer", "model_max_length", weights.TOKENIZER),
}


def ready_sides(arguments: Arguments, *, has: tuple[str, ...]) -> tuple[str, ...]:
    """Those modalities of a model's whose preprocessing is passed, or lies with its checkpoint; all where none does,
    for the errors of their towers.

    A CLIP with an image processor alone embeds images, and needs a tokenizer for nothing.
    """
    return tuple(modality for modality in has if _is_ready(arguments, modality)) or has


def _is_ready(arguments: Arguments, modality: str) -> bool:
    attribute, argument, method, patterns = PARTS[modality]
    if getattr(arguments, argument) is not None:
        return True
    if arguments.processor is not None:
        return getattr(arguments.processor, attribute, None) is not None or hasattr(arguments.processor, method)
    name = getattr(arguments.model.config, "_name_or_path", "") or ""
    folder = Path(name)
    if not name or not folder.is_dir():
        return bool(name)
    return not weights.RequiredFiles(weights=patterns).missing(weights.listing(folder))


def image_tower(arguments: Arguments, *, run: Any) -> tuple[ImageTower, Any, Any]:
    """The tower of `run` behind `preprocess=`, `processor=` or the checkpoint's processor; what an image goes through,
    for settings; and the object that does it.

    A transform gives an image's `pixel_values`, as a tensor or in a mapping.
    """
    transform = arguments.preprocess
    if transform is not None:

        def ready(image: Any) -> Any:
            made = transform(image)
            return made if isinstance(made, Mapping) else {"pixel_values": made}

        return ImageTower(ready=ready, run=run), "the caller's transform", transform
    processor = _part(arguments, "image", "AutoImageProcessor")
    ready_image, described = pretrained.image_ready(processor)
    return ImageTower(ready=ready_image, run=run), described, processor


def text_tower(
    arguments: Arguments, *, run: Any, config: Any, full_length: bool = False, causal: bool = False
) -> tuple[TextTower, dict[str, Any], Any]:
    """The tower of `run` behind `tokenizer=`, `processor=` or the checkpoint's tokenizer; its settings; and that
    tokenizer."""
    tokenizer = arguments.tokenizer
    if tokenizer is None:
        tokenizer = _part(arguments, "text", "AutoTokenizer")
    elif not hasattr(tokenizer, "model_max_length"):
        raise BadInput(f"{arguments.of} needs a tokenizer of transformers, not {type(tokenizer).__name__}")
    ready, longest = pretrained.text_ready(
        tokenizer, limit=pretrained.positions(config), of=arguments.of, remedy="set tokenizer.model_max_length"
    )
    tower, settings = tower_of(
        ready,
        run=run,
        tokenizer=type(tokenizer).__name__,
        longest=longest,
        prefix="",
        pad=tokenizer.pad_token_id or 0,
        left=tokenizer.padding_side == "left",
        full_length=full_length,
        causal=causal,
    )
    return tower, settings, tokenizer


def _part(arguments: Arguments, modality: str, loader: str) -> Any:
    """What prepares a modality: a part of `processor=`, or `processor=` itself where it is that part; else read from
    the model's own folder, or from the hub's files on this machine. Raises BadInput."""
    attribute, argument, method, _ = PARTS[modality]
    processor = arguments.processor
    if processor is not None:
        part = getattr(processor, attribute, None)
        if part is None and hasattr(processor, method):
            part = processor
        if part is None:
            raise BadInput(
                f"{arguments.of}: processor= is a {type(processor).__name__} without {attribute}. "
                f"Pass transformers.AutoProcessor.from_pretrained(checkpoint), or {argument}="
            )
        return part
    import transformers

    config = arguments.model.config
    name = getattr(config, "_name_or_path", "") or ""
    remedy = f"Pass processor=transformers.AutoProcessor.from_pretrained(checkpoint), or {argument}="
    if not name:
        raise BadInput(f"{arguments.of} does not say which checkpoint its preprocessing is of. {remedy}")
    revision = {} if Path(name).is_dir() else {"revision": getattr(config, "_commit_hash", None) or "main"}
    try:
        return getattr(transformers, loader).from_pretrained(
            name, local_files_only=True, trust_remote_code=False, **revision
        )
    except (OSError, ValueError, TypeError, ImportError) as error:
        named = Path(name).name if Path(name).is_absolute() else name
        raise BadInput(
            f"{arguments.of}: no {attribute.replace('_', ' ')} with {named}: {one_line(error)}. {remedy}"
        ) from error
