"""A transformers model in memory: with `get_image_features` or `get_text_features`, as CLIP and SigLIP have them, or of
images or texts alone, where its kind leaves no doubt about its vector.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.encoders import dual, text, vision
from compute.models.encoders.towers import ImageTower, Towers
from compute.models.files import pretrained, weights
from compute.models.files.weights import one_line
from compute.models.own.objects.wrapped import Arguments, Wrapped, encoder, sides_of
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

KIND, TAKES = "a transformers model", ("preprocess", "tokenizer", "processor")
METHODS = {"image": "get_image_features", "text": "get_text_features"}
# Their last states are pooled as the catalogue's models of these families are (compute/models/encoders/text.py).
MEAN = ("bert", "roberta", "xlm-roberta", "albert", "modernbert", "distilbert", "mpnet", "t5")
# What prepares a modality: an attribute of a processor, one that it has itself, the library's loader, its files.
PARTS = {
    "image": ("image_processor", "to_json_string", "AutoImageProcessor", weights.PROCESSOR),
    "text": ("tokenizer", "model_max_length", "AutoTokenizer", weights.TOKENIZER),
}


def matches(model: Any) -> bool:
    """Whether the object is a model of the library, or has such methods and a configuration."""
    transformers = sys.modules.get("transformers")
    if transformers is not None and isinstance(model, transformers.PreTrainedModel):
        return True
    return hasattr(model, "config") and any(callable(getattr(model, name, None)) for name in METHODS.values())


def wrap(arguments: Arguments) -> Wrapped:
    """Images and texts into the pooled outputs, projected where the model projects them, and not normalised.

    A model of both whose processor or folder prepares one of them alone embeds that one. Raises BadInput where no
    preprocessing is known, and where the model's kind does not say which vector it gives.
    """
    model = arguments.model
    kind = getattr(model.config, "model_type", "")
    towers = Towers(name=arguments.of, settings={}, hardware=arguments.hardware)
    settings: dict[str, Any] = {"normalised": False}
    code = {"model": model}
    has = [modality for modality, name in METHODS.items() if callable(getattr(model, name, None))]
    if has:
        # A class of user may read its texts otherwise.
        known = "text" in has and type(model).get_text_features.__module__.startswith("transformers.models.")
        full_length, causal = known and kind in dual.SIGLIP, known and kind in dual.CLIP
        settings["pooling"] = "the model's own"
        has = [modality for modality in has if _is_prepared(arguments, modality)] or has
    else:
        full_length = causal = False
        modality, pooling = _pooling(model)
        if not pooling:
            raise BadInput(
                f"{arguments.of}: which vector a model of the kind {kind!r} gives is not settled. Pass an object "
                "with encode_image(images) or encode_text(texts) that pools its states, or a SentenceTransformer"
            )
        settings["pooling"] = {**vision.POOLINGS, **text.POOLINGS}[pooling]
        has = [modality]

    def see(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if hasattr(model, "get_image_features"):
            return _features(model.get_image_features(**inputs), of=arguments.of)
        return vision.pooled(model(**inputs), pooling)

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        if hasattr(model, "get_text_features"):
            masked = {} if full_length or causal else {"attention_mask": mask}
            return _features(model.get_text_features(input_ids=ids, **masked), of=arguments.of)
        return text.mean_of(model(input_ids=ids, attention_mask=mask).last_hidden_state, mask)

    if "image" in has and arguments.preprocess is not None:
        code["preprocess"] = transform = arguments.preprocess
        settings["image"] = "the caller's transform"

        def transformed(image: Any) -> Any:
            made = transform(image)
            return made if isinstance(made, Mapping) else {"pixel_values": made}

        towers.image = ImageTower(ready=transformed, run=see)
    elif "image" in has:
        code["preprocess"] = _part(arguments, "image")
        ready, settings["image"] = pretrained.image_ready(code["preprocess"])
        towers.image = ImageTower(ready=ready, run=see)
    if "text" in has:
        code["tokenizer"] = tokenizer = arguments.tokenizer or _part(arguments, "text")
        if not hasattr(tokenizer, "model_max_length"):
            raise BadInput(f"{arguments.of} needs a tokenizer of transformers, not {type(tokenizer).__name__}")
        towers.text, settings["text"] = text.tower_by(
            tokenizer,
            run=read,
            limit=pretrained.positions(getattr(model.config, "text_config", model.config)),
            of=arguments.of,
            remedy="set tokenizer.model_max_length",
            full_length=full_length,
            causal=causal,
        )
    return encoder(
        sides_of(towers),
        settings=settings,
        code=code,
        packages=("torch", "torchvision", "transformers", "tokenizers", "pillow"),
        advice="If its preprocessing is not that of the checkpoint, pass processor=",
    )


def _features(output: Any, *, of: str) -> torch.Tensor:
    """(n, d) of what such a method gives: a tensor, or an output with the pooled vectors in it."""
    pooled = output if hasattr(output, "detach") else getattr(output, "pooler_output", None)
    if pooled is None:
        raise BadInput(f"{of} gives a {type(output).__name__} without a pooled vector per item")
    return pooled


def _pooling(model: Any) -> tuple[str, str]:
    """A model's modality, and how the catalogue pools a model of this kind; empty for a head, and for unknown kinds."""
    config, kind = model.config, getattr(model.config, "model_type", "")
    modality = {"pixel_values": "image", "input_ids": "text"}.get(model.main_input_name, "")
    if model.base_model is not model or (kind == "vit_mae" and config.mask_ratio):  # a head, or patches skipped
        return modality, ""
    if modality == "image" and (kind in vision.BEFORE or not hasattr(config, "num_attention_heads")):
        return modality, vision.usual_pooling(config)
    return modality, "mean" if modality == "text" and kind in MEAN else ""


def _is_prepared(arguments: Arguments, modality: str) -> bool:
    """Whether the modality's preprocessing is passed, or lies with the checkpoint."""
    attribute, method, _, files = PARTS[modality]
    if getattr(arguments, "preprocess" if modality == "image" else "tokenizer") is not None:
        return True
    if arguments.processor is not None:
        return hasattr(arguments.processor, attribute) or hasattr(arguments.processor, method)
    name = getattr(arguments.model.config, "_name_or_path", "") or ""
    if not Path(name).is_dir():
        return bool(name)
    return not weights.RequiredFiles(weights=files).missing(weights.listing(Path(name)))


def _part(arguments: Arguments, modality: str) -> Any:
    """What prepares a modality: of `processor=`, or that itself; else read from the model's own folder, or from the
    hub's files on this machine. Raises BadInput."""
    import transformers

    attribute, method, loader, _ = PARTS[modality]
    processor, config = arguments.processor, arguments.model.config
    part = getattr(processor, attribute, processor if hasattr(processor, method) else None)
    if part is not None:
        return part
    name = getattr(config, "_name_or_path", "") or ""
    remedy = "Pass processor=transformers.AutoProcessor.from_pretrained(checkpoint)"
    if processor is not None or not name:
        what = "processor= has no" if processor is not None else "it does not say which checkpoint has its"
        raise BadInput(f"{arguments.of}: {what} {attribute}. {remedy}")
    revision = {} if Path(name).is_dir() else {"revision": getattr(config, "_commit_hash", None) or "main"}
    try:
        return getattr(transformers, loader).from_pretrained(
            name, local_files_only=True, trust_remote_code=False, **revision
        )
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise BadInput(f"{arguments.of}: no {attribute} with {Path(name).name}: {one_line(error)}. {remedy}") from error
