"""Prepared items as the batch of tensors that a module takes, on its device and in its precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.own.objects.placement import modules_of
from compute.models.own.objects.wrapped import Arguments, Side, Wrapped, encoder, weight_of
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

    from compute.models.adapter import Hardware


@dataclass(frozen=True, kw_only=True)
class Batches:
    """Where batches go."""

    device: Any
    dtype: Any  # of floating-point inputs

    @classmethod
    def on(cls, module: torch.nn.Module | None, *, hardware: Hardware) -> Batches:
        """Where a module's parameters are and in their precision; `hardware` for an object without any."""
        weight = None if module is None else weight_of(module)
        if weight is None:
            return cls(device=hardware.device, dtype=hardware.torch_dtype)
        return cls(device=weight.device, dtype=weight.dtype)

    def of(self, items: Sequence[Any]) -> Any:
        """(n, ...) of n tensors or arrays of one shape; for n mappings a mapping of such."""
        if isinstance(items[0], Mapping):
            return {name: self.of([item[name] for item in items]) for name in items[0]}
        import torch

        batch = torch.stack([torch.as_tensor(item if hasattr(item, "detach") else np.asarray(item)) for item in items])
        return batch.to(self.device, self.dtype if batch.is_floating_point() else None)

    def side(self, function: Callable[..., Any], ready: Callable[[Any], Any] | None) -> Side:
        """A modality that a function embeds: lists of the items, or batches of what `ready` makes of each."""

        def run(items: Sequence[Any]) -> Any:
            batch = self.of(items)
            return function(**batch) if isinstance(batch, Mapping) else function(batch)

        if ready is None:
            return Side(ready=lambda item: item, run=lambda items: function(list(items)))
        return Side(ready=ready, run=run)


def encoder_of(
    arguments: Arguments,
    *,
    image: Callable[..., Any] | None,
    text: Callable[..., Any] | None,
    packages: tuple[str, ...],
    advice: str,
) -> Wrapped:
    """The encoder of two functions: `image` gets a list of PIL images, or with `preprocess` the batch that its outputs
    are stacked to; `text` a list of texts, or with `tokenizer` the batch of their tokens."""
    preprocess, tokenizer = arguments.preprocess, arguments.tokenizer
    batches = Batches.on(next(iter(modules_of(arguments.model)), None), hardware=arguments.hardware)
    sides, settings = {}, {}
    if image is not None:
        settings["image"] = "PIL images" if preprocess is None else "the caller's transform, stacked"
        sides["image"] = batches.side(image, preprocess)
    if text is not None:
        settings["text"] = "texts" if tokenizer is None else "the caller's tokens, stacked"
        sides["text"] = batches.side(text, tokenizer and tokens_of(tokenizer))
    code = {"model": arguments.model, "preprocess": preprocess, "tokenizer": tokenizer}
    return encoder(sides, settings=settings, code=code, packages=packages, advice=advice)


def tokens_of(tokenizer: Callable[..., Any]) -> Callable[[str], Any]:
    """A text's tokens, padded to one length: by a tokenizer of transformers as a mapping, by another as a tensor.

    A tokenizer of transformers pads to its `model_max_length`; another gets a list of one text and gives (1, length).
    """
    longest = getattr(tokenizer, "model_max_length", None)
    if longest is None:
        return lambda text: tokenizer([text])[0]
    if longest > 100_000:
        raise BadInput("tokenizer= has no length that texts are padded to: set tokenizer.model_max_length")

    def ready(text: str) -> Mapping[str, Any]:
        tokens = tokenizer(text, padding="max_length", truncation=True, max_length=longest, return_tensors="np")
        return {name: value[0] for name, value in tokens.items()}

    ready("")  # settles truncation and padding, which would not be safe to change among threads
    return ready
