"""An object with its own `encode_image` and `encode_text`: of lists, or of tensors where preprocessing is given."""

from __future__ import annotations

from typing import Any

from compute.models.own.objects.batches import encoder_of
from compute.models.own.objects.wrapped import Arguments, Wrapped

KIND, TAKES = "an object with encode_image or encode_text", ("preprocess", "tokenizer")
METHODS = ("encode_image", "encode_text")


def matches(model: Any) -> bool:
    """Whether the object has one of the two methods."""
    return any(callable(getattr(model, name, None)) for name in METHODS)


def wrap(arguments: Arguments) -> Wrapped:
    """What the two methods give for lists, or for tensors where `preprocess` or `tokenizer` is passed: (n, d)."""
    image, text = (getattr(arguments.model, name, None) for name in METHODS)
    return encoder_of(
        arguments,
        image=image if callable(image) else None,
        text=text if callable(text) else None,
        packages=("pillow",),
        advice="encode_image gets a list of PIL images and encode_text a list of texts; where they take tensors, pass "
        "preprocess= and tokenizer=",
    )
