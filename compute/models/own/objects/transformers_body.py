"""A transformers model of images alone or of texts alone in memory, where its kind leaves no doubt about its vector."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from compute.models.encoders import text, vision
from compute.models.encoders.towers import Towers
from compute.models.own.objects import processors
from compute.models.own.objects.held import Arguments, Held, sides_of
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

KIND = "a transformers model of one modality"
# Their last states are pooled as the catalogue's models of these families are (compute/models/encoders/text.py).
MEAN = ("bert", "roberta", "xlm-roberta", "albert", "modernbert", "distilbert", "mpnet", "t5")


def matches(model: Any) -> bool:
    """Whether the object is a model of the library."""
    transformers = sys.modules.get("transformers")
    return transformers is not None and isinstance(model, transformers.PreTrainedModel)


def held(arguments: Arguments) -> Held:
    """Images into the first token, the mean or the pooled map (compute/models/encoders/vision.py); texts into the mean
    of the last states. Raises BadInput where the model's kind does not say which."""
    arguments.refuse_unused("higher_is_better", kind=KIND)
    model = arguments.model
    modality = {"pixel_values": "image", "input_ids": "text"}.get(model.main_input_name)
    pooling = _pooling(model, modality)
    if modality is None or not pooling:
        model_type = getattr(model.config, "model_type", type(model).__name__)
        raise BadInput(
            f"{arguments.of}: which vector a model of the kind {model_type!r} gives is not settled. Pass an object "
            "with encode_image(images) or encode_text(texts) that pools its states, or a "
            "sentence_transformers.SentenceTransformer with the pooling of your choice"
        )
    towers = Towers(name=arguments.of, settings={}, hardware=arguments.hardware)
    settings: dict[str, Any] = {"pooling": {**vision.POOLINGS, **text.POOLINGS}[pooling], "normalised": False}
    code = {"model": model}
    if modality == "image":

        def see(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return vision.pooled(model(**inputs), pooling)

        towers.image, settings["image"], code["preprocess"] = processors.image_tower(arguments, run=see)
    else:

        def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return text.mean_of(model(input_ids=ids, attention_mask=mask).last_hidden_state, mask)

        towers.text, settings["text"], code["tokenizer"] = processors.text_tower(
            arguments, run=read, config=model.config
        )
    return Held(
        kind=KIND,
        abilities=(f"embed_{modality}",),
        modalities=(modality,),
        make=sides_of(towers, (modality,), settings),
        settings=settings,
        code=code,
        packages=("torch", "torchvision", "transformers", "tokenizers", "pillow"),
        advice="If its preprocessing is not that of the checkpoint, pass processor=",
    )


def _pooling(model: Any, modality: str | None) -> str:
    """How the catalogue pools a model of this kind; empty for a head, and for kinds that it does not know."""
    config, kind = model.config, getattr(model.config, "model_type", "")
    if model.base_model is not model:  # with a head for a task of its own
        return ""
    if modality == "image" and (kind in vision.BEFORE or not hasattr(config, "num_attention_heads")):
        masked = kind == "vit_mae" and config.mask_ratio
        return "" if masked else vision.usual_pooling(config)
    return "mean" if modality == "text" and kind in MEAN else ""
