"""The image processor and the tokenizer of a transformers model in memory: the caller's, or its checkpoint's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.models.encoders.text import tower_of
from compute.models.encoders.towers import ImageTower, TextTower
from compute.models.files import pretrained
from compute.models.files.checkpoint import one_line
from compute.models.own.held import Arguments
from compute.types import BadInput


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
    processor = _part(arguments, "image_processor", "AutoImageProcessor", "preprocess=", has="to_json_string")
    ready_image, described = pretrained.image_ready(processor)
    return ImageTower(ready=ready_image, run=run), described, processor


def text_tower(
    arguments: Arguments, *, run: Any, config: Any, full_length: bool = False, causal: bool = False
) -> tuple[TextTower, dict[str, Any], Any]:
    """The tower of `run` behind `tokenizer=`, `processor=` or the checkpoint's tokenizer; its settings; and that
    tokenizer."""
    tokenizer = arguments.tokenizer
    if tokenizer is None:
        tokenizer = _part(arguments, "tokenizer", "AutoTokenizer", "tokenizer=", has="model_max_length")
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


def _part(arguments: Arguments, attribute: str, loader: str, argument: str, *, has: str) -> Any:
    """A part of `processor=`, or `processor=` itself where it is that part; else read from the model's own folder, or
    from the hub's files on this machine. Raises BadInput."""
    processor = arguments.processor
    if processor is not None:
        part = getattr(processor, attribute, None)
        if part is None and hasattr(processor, has):
            part = processor
        if part is None:
            raise BadInput(
                f"{arguments.of}: processor= is a {type(processor).__name__} without {attribute}. "
                f"Pass transformers.AutoProcessor.from_pretrained(checkpoint), or {argument}"
            )
        return part
    import transformers

    config = arguments.model.config
    name = getattr(config, "_name_or_path", "") or ""
    remedy = f"Pass processor=transformers.AutoProcessor.from_pretrained(checkpoint), or {argument}"
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
