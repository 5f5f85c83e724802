"""An object with `encode_image` and `encode_text` of its own: of lists, or of tensors where preprocessing is given."""

from __future__ import annotations

from typing import Any

from compute.models.own.objects.batches import Batches, tokens_of
from compute.models.own.objects.held import Arguments, Held, encoder
from compute.models.own.objects.placement import modules_of

KIND, TAKES = "an object with encode_image or encode_text", ("preprocess", "tokenizer")


def matches(model: Any) -> bool:
    """Whether the object has one of the two methods."""
    return any(callable(getattr(model, name, None)) for name in ("encode_image", "encode_text"))


def held(arguments: Arguments) -> Held:
    """`encode_image` gets a list of PIL images, or with `preprocess` the batch that its outputs are stacked to;
    `encode_text` a list of texts, or with `tokenizer` the batch of their tokens."""
    model, preprocess, tokenizer = arguments.model, arguments.preprocess, arguments.tokenizer
    batches = Batches.on(next(iter(modules_of(model)), None), hardware=arguments.hardware)
    sides, settings = {}, {}
    if callable(getattr(model, "encode_image", None)):
        settings["image"] = "PIL images" if preprocess is None else "the caller's transform, stacked"
        sides["image"] = batches.side(model.encode_image, preprocess)
    if callable(getattr(model, "encode_text", None)):
        settings["text"] = "texts" if tokenizer is None else "the caller's tokens, stacked"
        sides["text"] = batches.side(model.encode_text, tokenizer and tokens_of(tokenizer))
    return encoder(
        sides,
        settings=settings,
        code={"model": model, "preprocess": preprocess, "tokenizer": tokenizer},
        packages=("pillow",),
        advice="encode_image gets a list of PIL images and encode_text a list of texts; where they take tensors, pass "
        "preprocess= and tokenizer=",
    )
