"""A transformers model with `get_image_features` or `get_text_features` in memory: CLIP, SigLIP, ALIGN, ..."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from compute.models.encoders import dual
from compute.models.encoders.towers import Towers
from compute.models.own.objects import processors
from compute.models.own.objects.held import Arguments, Held, sides_of
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

KIND = "a transformers model with get_image_features or get_text_features"
METHODS = {"image": "get_image_features", "text": "get_text_features"}


def matches(model: Any) -> bool:
    """Whether the object has one of the two methods, and a configuration."""
    return hasattr(model, "config") and any(callable(getattr(model, name, None)) for name in METHODS.values())


def held(arguments: Arguments) -> Held:
    """Images and texts into the pooled outputs, projected where the model projects them, and not normalised.

    Texts of CLIP's kind are padded behind their end, which it cannot see; SigLIP's to full length, as in training; all
    others to the batch's longest, masked. Raises BadInput where no preprocessing is known.
    """
    arguments.refuse_unused("higher_is_better", kind=KIND)
    model = arguments.model
    kind = getattr(model.config, "model_type", "")
    has = tuple(modality for modality, name in METHODS.items() if callable(getattr(model, name, None)))
    has = processors.ready_sides(arguments, has=has)
    # A class of one's own may read its texts otherwise.
    known = "text" in has and type(model).get_text_features.__module__.startswith("transformers.models.")
    causal, full_length = known and kind in dual.CLIP, known and kind in dual.SIGLIP

    def see(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return features_of(model.get_image_features(**inputs), of=arguments.of)

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        masked = {} if full_length or causal else {"attention_mask": mask}
        return features_of(model.get_text_features(input_ids=ids, **masked), of=arguments.of)

    towers = Towers(name=arguments.of, settings={}, hardware=arguments.hardware)
    settings: dict[str, Any] = {"pooling": "the model's own", "normalised": False}
    code = {"model": model}
    if "image" in has:
        towers.image, settings["image"], code["preprocess"] = processors.image_tower(arguments, run=see)
    if "text" in has:
        config = getattr(model.config, "text_config", model.config)
        towers.text, settings["text"], code["tokenizer"] = processors.text_tower(
            arguments, run=read, config=config, full_length=full_length, causal=causal
        )
    return Held(
        kind=KIND,
        abilities=tuple(f"embed_{modality}" for modality in has),
        modalities=has,
        make=sides_of(towers, has, settings),
        settings=settings,
        code=code,
        packages=("torch", "torchvision", "transformers", "tokenizers", "pillow"),
        advice="If its preprocessing is not that of the checkpoint, pass processor=",
    )


def features_of(output: Any, *, of: str) -> torch.Tensor:
    """(n, d) of what such a method gives: a tensor, or an output with the pooled vectors in it."""
    if hasattr(output, "detach"):
        return output
    pooled: Any = getattr(output, "pooler_output", None)
    if not hasattr(pooled, "detach"):
        raise BadInput(
            f"{of} gives a {type(output).__name__} without a pooled vector an item. Wrap it in an object with "
            "encode_image and encode_text"
        )
    return pooled
