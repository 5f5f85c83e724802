"""A model of open_clip in memory: behind the preprocessing that it holds and the tokenizer of its architecture."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from compute.models.encoders import open_clip as library
from compute.models.own.objects.held import Arguments, Held, sides_of
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.models.encoders.towers import Towers

KIND = "an open_clip model"
# Of the library's configurations all with this vocabulary, and no others, read OpenAI's byte pairs; of the rest the
# vocabulary alone does not tell the tokenizer (32,000 has three).
VOCABULARY = 49408


def matches(model: Any) -> bool:
    """Whether the object is one of the library's own models, or of a class made from them."""
    open_clip = sys.modules.get("open_clip")
    return open_clip is not None and isinstance(model, open_clip.CLIP | open_clip.CustomTextCLIP | open_clip.CoCa)


def held(arguments: Arguments) -> Held:
    """Images and texts into the projected outputs, not normalised, as for the open_clip models of the catalogue.

    Raises BadInput where neither the model nor the arguments tell the preprocessing or the tokenizer.
    """
    arguments.refuse_unused("processor", "higher_is_better", kind=KIND)
    model, preprocess = arguments.model, arguments.preprocess
    tokenizer = arguments.tokenizer if arguments.tokenizer is not None else _tokenizer(arguments)
    if preprocess is None and not getattr(model.visual, "preprocess_cfg", None):
        raise BadInput(
            f"{arguments.of} does not hold its preprocessing, as models of open_clip.create_model do. "
            "Pass the transform of its evaluation: preprocess=..."
        )
    towers = _towers(model, tokenizer, arguments)
    if preprocess is not None and towers.image is not None:
        towers.image = replace(towers.image, ready=lambda image: {"pixel_values": preprocess(image)})
        towers.settings["image"] = "the caller's transform"

    return Held(
        kind=KIND,
        abilities=("embed_image", "embed_text"),
        modalities=("image", "text"),
        make=sides_of(towers, ("image", "text"), towers.settings),
        settings=towers.settings,
        code={"model": model, "preprocess": preprocess, "tokenizer": arguments.tokenizer},
        packages=("torch", "torchvision", "open_clip_torch", "timm", "transformers", "pillow"),
        advice="If the preprocessing is not that of the checkpoint, pass preprocess= and tokenizer=",
    )


def _towers(model: Any, tokenizer: Any, arguments: Arguments) -> Towers:
    if not hasattr(tokenizer, "context_length"):
        raise BadInput(
            f"{arguments.of}: tokenizer= is a {type(tokenizer).__name__} without a context_length. "
            "Pass one of open_clip.get_tokenizer(architecture)"
        )
    return library.towers_of(
        model,
        name=arguments.of,
        hardware=arguments.hardware,
        tokenizer=tokenizer,
        configuration="in memory",
    )


def _tokenizer(arguments: Arguments) -> Any:
    """The tokenizer of the model's architecture. Raises BadInput where the model does not tell it."""
    import open_clip

    told = open_clip.get_model_tokenize_cfg(arguments.model)
    if told.get("vocab_size") == VOCABULARY and told.get("context_length"):
        return open_clip.get_tokenizer("", context_length=told["context_length"])
    raise BadInput(
        f"{arguments.of} has a vocabulary of {told.get('vocab_size', 'unknown')} tokens, which more than one of "
        "open_clip's tokenizers has. Pass the one of its architecture: tokenizer=open_clip.get_tokenizer(architecture)"
    )
