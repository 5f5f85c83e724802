"""A torch.nn.Module: `forward(batch)` of images by `preprocess=`, of texts by `tokenizer=`, into (n, d)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from compute.models.own.objects.batches import Batches, tokens_of
from compute.models.own.objects.held import Arguments, Held, HeldEncoder, Side
from compute.models.own.objects.signatures import inputs_of
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.types import Model

KIND = "a torch.nn.Module"


def matches(model: Any) -> bool:
    """Whether the object is a module of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def held(arguments: Arguments) -> Held:
    """What `forward` gives for a batch on the module's device and in its precision: (n, d).

    Raises BadInput where neither preprocessing nor tokenizer is given, and for a metric without its direction.
    """
    arguments.refuse_unused("processor", kind=KIND)
    model, preprocess, tokenizer = arguments.model, arguments.preprocess, arguments.tokenizer
    if inputs_of(model.forward) == 2:
        raise BadInput(
            f"{arguments.of} takes two inputs, as a metric does: say which way it counts, higher_is_better=False for a "
            "distance, True for a similarity"
        )
    if preprocess is None and tokenizer is None:
        raise BadInput(
            f"{arguments.of} is {KIND}: pass preprocess=, a function from an RGB PIL image to a tensor, or tokenizer= "
            "for a module that takes texts"
        )
    batches = Batches.on(model, hardware=arguments.hardware)
    ready = {"image": preprocess, "text": None if tokenizer is None else tokens_of(tokenizer)}
    has = tuple(modality for modality in ("image", "text") if ready[modality] is not None)
    settings = {
        modality: f"the caller's {'transform' if modality == 'image' else 'tokens'}, stacked" for modality in has
    }

    def run(items: Any) -> Any:
        return batches.call(model, items)

    def make(row: Model, digest: str) -> HeldEncoder:
        sides = {modality: Side(ready=ready[modality], run=run) for modality in has}
        return HeldEncoder(name=row.key, sides=sides, settings=dict(settings))

    return Held(
        kind=KIND,
        abilities=tuple(f"embed_{modality}" for modality in has),
        modalities=has,
        make=make,
        settings=settings,
        code={"model": model, "preprocess": preprocess, "tokenizer": tokenizer},
        packages=("torch", "pillow"),
        advice="preprocess= gives one image's tensor without the dimension of the batch, and forward(batch) gives an "
        "array of shape (n, d)",
    )
