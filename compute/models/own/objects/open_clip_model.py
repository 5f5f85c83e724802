"""A model of open_clip in memory: behind the preprocessing that it holds and the tokenizer of its architecture."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from compute.models.encoders import open_clip as library
from compute.models.own.objects.wrapped import Arguments, Wrapped, encoder, sides_of
from compute.types import BadInput

KIND, TAKES = "an open_clip model", ("preprocess", "tokenizer")
# Of the library's configurations all with this vocabulary, and no others, read OpenAI's byte pairs; of the rest the
# vocabulary alone does not tell the tokenizer (32,000 has three).
VOCABULARY = 49408


def matches(model: Any) -> bool:
    """Whether the object is one of the library's own models, or of a class made from them."""
    open_clip = sys.modules.get("open_clip")
    return open_clip is not None and isinstance(model, open_clip.CLIP | open_clip.CustomTextCLIP | open_clip.CoCa)


def wrap(arguments: Arguments) -> Wrapped:
    """Images and texts into the projected outputs, not normalised, as for the open_clip models of the catalogue.

    Raises BadInput where neither the model nor the arguments tell the preprocessing or the tokenizer.
    """
    import open_clip

    model, preprocess, tokenizer = arguments.model, arguments.preprocess, arguments.tokenizer
    if tokenizer is None:
        told = open_clip.get_model_tokenize_cfg(model)
        if told.get("vocab_size") != VOCABULARY:
            raise BadInput(
                f"{arguments.of} has a vocabulary of {told.get('vocab_size', 'unknown')} tokens, which does not tell "
                "its tokenizer. Pass tokenizer=open_clip.get_tokenizer(architecture)"
            )
        tokenizer = open_clip.get_tokenizer("", context_length=told["context_length"])
    elif not hasattr(tokenizer, "context_length"):
        raise BadInput(f"{arguments.of}: tokenizer= is not one of open_clip.get_tokenizer(architecture)")
    if preprocess is None and not getattr(model.visual, "preprocess_cfg", None):
        raise BadInput(
            f"{arguments.of} does not hold its preprocessing, as models of open_clip.create_model do. "
            "Pass the transform of its evaluation: preprocess=..."
        )
    towers = library.towers_of(
        model, name=arguments.of, hardware=arguments.hardware, tokenizer=tokenizer, configuration="in memory"
    )
    if preprocess is not None:
        towers.image = replace(towers.image, ready=lambda image: {"pixel_values": preprocess(image)})
        towers.settings["image"] = "the caller's transform"
    return encoder(
        sides_of(towers),
        settings=towers.settings,
        code={"model": model, "preprocess": preprocess, "tokenizer": arguments.tokenizer},
        packages=("torch", "torchvision", "open_clip_torch", "timm", "transformers", "pillow"),
        advice="If the preprocessing is not that of the checkpoint, pass preprocess= and tokenizer=",
    )
