"""A torch.nn.Module: `forward(batch)` of images by `preprocess=`, of texts by `tokenizer=`, into (n, d)."""

from __future__ import annotations

import sys
from typing import Any

from compute.models.own.objects.batches import encoder_of
from compute.models.own.objects.wrapped import Arguments, Wrapped
from compute.types import BadInput

KIND, TAKES = "a torch.nn.Module", ("preprocess", "tokenizer")


def matches(model: Any) -> bool:
    """Whether the object is a module of torch."""
    return "torch" in sys.modules and isinstance(model, sys.modules["torch"].nn.Module)


def wrap(arguments: Arguments) -> Wrapped:
    """What `forward` gives for a batch on the module's device and in its precision: (n, d).

    Raises BadInput where neither preprocessing nor tokenizer is given.
    """
    model, preprocess, tokenizer = arguments.model, arguments.preprocess, arguments.tokenizer
    if preprocess is None and tokenizer is None:
        raise BadInput(
            f"{arguments.of} is {KIND}: pass preprocess=, a function from an RGB PIL image to a tensor, or tokenizer= "
            "for a module that takes texts"
        )
    return encoder_of(
        arguments,
        image=None if preprocess is None else model,
        text=None if tokenizer is None else model,
        packages=("torch", "pillow"),
        advice="preprocess= gives one image's tensor without the dimension of the batch, and forward(batch) gives an "
        "array of shape (n, d)",
    )
