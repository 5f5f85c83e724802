"""A transformers model in memory: one with `get_image_features` or `get_text_features`, such as CLIP and SigLIP, or one
of images or of texts alone if its kind determines its vector.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.models.encoders import transformers_towers as library
from compute.models.files import pretrained, weights
from compute.models.files.weights import one_line
from compute.models.own.objects import Given, OwnEncoder, of_towers
from compute.types import BadInput

METHODS = {"image": "get_image_features", "text": "get_text_features"}
# Their last states are mean-pooled, as for the catalogue's models of these families.
MEAN = ("bert", "roberta", "xlm-roberta", "albert", "modernbert", "distilbert", "mpnet", "t5")
# Sources of a modality's preprocessing: an attribute of a processor, a method of it, the library's loader, its files.
PARTS = {
    "image": ("image_processor", "to_json_string", "AutoImageProcessor", weights.PROCESSOR),
    "text": ("tokenizer", "model_max_length", "AutoTokenizer", weights.TOKENIZER),
}


def matches(model: Any) -> bool:
    """Returns whether the object is a model of the library, or has such methods and a configuration."""
    transformers = sys.modules.get("transformers")
    if transformers is not None and isinstance(model, transformers.PreTrainedModel):
        return True
    return hasattr(model, "config") and any(callable(getattr(model, name, None)) for name in METHODS.values())


def read(given: Given) -> OwnEncoder:
    """Returns an encoder of the pooled outputs, projected if the model projects them, and not normalised.

    A model of both modalities embeds only one if its processor or folder prepares only that one. Raises BadInput if no
    preprocessing is known, and if the model's kind does not determine its vector.
    """
    model, of = given.model, given.of
    kind, pooling = getattr(model.config, "model_type", ""), "pooler"
    has = [modality for modality, name in METHODS.items() if callable(getattr(model, name, None))]
    if has:
        # A user's class may read its texts differently.
        known = "text" in has and type(model).get_text_features.__module__.startswith("transformers.models.")
        families = (each for each in (library.CLIP, library.SIGLIP) if known and kind in each.kinds)
        family = next(families, library.TwoTowers())
    else:
        modality, pooling = _pooling(model)
        if not pooling:
            raise BadInput(
                f"{of}: which vector a model of the kind {kind!r} gives is not settled. Pass an object "
                "with encode_image(images) or encode_text(texts) that pools its states, or a SentenceTransformer"
            )
        has, family = [modality], library.VISION if modality == "image" else library.BERT
    has = [modality for modality in has if _is_prepared(given, modality)] or has
    parts = {"preprocess" if modality == "image" else "tokenizer": _part(given, modality) for modality in has}
    pixels, tokenizer = None, parts.get("tokenizer")
    if given.preprocess is not None and "preprocess" in parts:
        pixels = _transformed(given.preprocess), "the caller's transform"
    elif "preprocess" in parts:
        pixels = pretrained.image_ready(parts["preprocess"])
    if tokenizer is not None and not hasattr(tokenizer, "model_max_length"):
        raise BadInput(f"{of} needs a tokenizer of transformers, not {type(tokenizer).__name__}")
    towers = library.towers_of(
        model,
        family,
        name=of,
        hardware=given.hardware,
        pooling=pooling,
        described=library.POOLINGS[pooling],
        pixels=pixels,
        tokenizer=tokenizer,
        limit=pretrained.positions(getattr(model.config, "text_config", model.config)),
        remedy="set tokenizer.model_max_length",
    )
    return of_towers(towers, **parts)


def _transformed(preprocess: Any) -> Any:
    def ready(image: Any) -> Any:
        made = preprocess(image)
        return made if isinstance(made, Mapping) else {"pixel_values": made}

    return ready


def _pooling(model: Any) -> tuple[str, str]:
    """Returns a model's modality, and the pooling of this kind of model in the catalogue; empty for a model with a
    head, and for unknown kinds.
    """
    config, kind = model.config, getattr(model.config, "model_type", "")
    modality = {"pixel_values": "image", "input_ids": "text"}.get(model.main_input_name, "")
    if model.base_model is not model or (kind == "vit_mae" and config.mask_ratio):  # a head, or masked patches
        return modality, ""
    if modality == "image" and (kind in library.SETTLED or not hasattr(config, "num_attention_heads")):
        return modality, library.usual_pooling(config)
    return modality, "mean" if modality == "text" and kind in MEAN else ""


def _passed(given: Given, modality: str) -> Any:
    """Returns what the caller passed to prepare a modality, separately or in `processor=`; None if nothing was
    passed.
    """
    attribute, method, *_ = PARTS[modality]
    passed = given.preprocess if modality == "image" else given.tokenizer
    own = given.processor if hasattr(given.processor, method) else None
    return getattr(given.processor, attribute, own) if passed is None else passed


def _is_prepared(given: Given, modality: str) -> bool:
    """Returns whether the modality's preprocessing was passed or is stored with the checkpoint."""
    name = getattr(given.model.config, "_name_or_path", "") or ""
    if _passed(given, modality) is not None:
        return True
    if given.processor is not None or not Path(name).is_dir():
        return given.processor is None and bool(name)
    return not weights.RequiredFiles(weights=PARTS[modality][3]).missing(weights.listing(Path(name)))


def _part(given: Given, modality: str) -> Any:
    """Returns what prepares a modality: what was passed, else what is in the model's folder or in the hub's files on
    this machine. Raises BadInput.
    """
    import transformers

    if (passed := _passed(given, modality)) is not None:
        return passed
    attribute, _, loader, _ = PARTS[modality]
    config = given.model.config
    name = getattr(config, "_name_or_path", "") or ""
    remedy = "Pass processor=transformers.AutoProcessor.from_pretrained(checkpoint)"
    if given.processor is not None or not name:
        what = "processor= has no" if given.processor is not None else "it does not say which checkpoint has its"
        raise BadInput(f"{given.of}: {what} {attribute}. {remedy}")
    revision = {} if Path(name).is_dir() else {"revision": getattr(config, "_commit_hash", None) or "main"}
    try:
        return getattr(transformers, loader).from_pretrained(
            name, local_files_only=True, trust_remote_code=False, **revision
        )
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise BadInput(f"{given.of}: no {attribute} with {Path(name).name}: {one_line(error)}. {remedy}") from error
