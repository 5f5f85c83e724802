"""An object with `encode_image` and `encode_text` of its own: of lists, or of tensors where preprocessing is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compute.models.own.objects.batches import Batches, tokens_of
from compute.models.own.objects.held import Arguments, Held, HeldEncoder, Side
from compute.models.own.objects.placement import modules_of

if TYPE_CHECKING:
    from compute.types import Model

KIND = "an object with encode_image or encode_text"
METHODS = {"image": "encode_image", "text": "encode_text"}


def matches(model: Any) -> bool:
    """Whether the object has one of the two methods."""
    return any(callable(getattr(model, name, None)) for name in METHODS.values())


def held(arguments: Arguments) -> Held:
    """`encode_image` gets a list of PIL images, or with `preprocess` the batch that its outputs are stacked to;
    `encode_text` a list of texts, or with `tokenizer` the batch of their tokens."""
    arguments.refuse_unused("processor", "higher_is_better", kind=KIND)
    model, preprocess, tokenizer = arguments.model, arguments.preprocess, arguments.tokenizer
    batches = Batches.on(next(iter(modules_of(model)), None), hardware=arguments.hardware)
    has = tuple(modality for modality, name in METHODS.items() if callable(getattr(model, name, None)))

    def make(row: Model, digest: str) -> HeldEncoder:
        sides = {}
        if "image" in has:
            sides["image"] = (
                Side(ready=_itself, run=lambda images: model.encode_image(list(images)))
                if preprocess is None
                else Side(ready=preprocess, run=lambda items: batches.call(model.encode_image, items))
            )
        if "text" in has:
            sides["text"] = (
                Side(ready=_itself, run=lambda texts: model.encode_text(list(texts)))
                if tokenizer is None
                else Side(ready=tokens_of(tokenizer), run=lambda items: batches.call(model.encode_text, items))
            )
        return HeldEncoder(name=row.key, sides=sides, settings=dict(settings))

    settings = {
        "image": "PIL images" if preprocess is None else "the caller's transform, stacked",
        "text": "texts" if tokenizer is None else "the caller's tokens, stacked",
    }
    settings = {modality: settings[modality] for modality in has}
    return Held(
        kind=KIND,
        abilities=tuple(f"embed_{modality}" for modality in has),
        modalities=has,
        make=make,
        settings=settings,
        code={"model": model, "preprocess": preprocess, "tokenizer": tokenizer},
        packages=("pillow",),
        advice="encode_image gets a list of PIL images and encode_text a list of texts; where they take tensors, pass "
        "preprocess= and tokenizer=",
    )


def _itself(item: Any) -> Any:
    return item
