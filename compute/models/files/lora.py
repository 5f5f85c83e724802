"""LoRA checkpoints of the peft library, merged into their base models."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.files.weights import RequiredFiles, existing, one_line
from compute.types import BadInput, NotHere
from compute.versions import install_command

if TYPE_CHECKING:
    import torch

CONFIG = "adapter_config.json"
REQUIRED = RequiredFiles(weights=("adapter_model.safetensors", "adapter_model.bin"), needs=((CONFIG,),))


def config(folder: Path) -> dict[str, Any]:
    """Returns the folder's adapter_config.json. Raises NotHere if it is missing, BadInput for another kind of
    adapter.
    """
    try:
        content = json.loads(existing(folder / CONFIG).read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"{folder / CONFIG} cannot be read: {one_line(error)}") from error
    kind = content.get("peft_type") if isinstance(content, dict) else None
    if kind != "LORA":
        raise BadInput(f"{folder / CONFIG} is of peft_type {kind!r}; only LORA is read. Merge it into its base model")
    return content


def merged(model: torch.nn.Module, folder: Path) -> torch.nn.Module:
    """Returns the model with the folder's LoRA weights merged into it.

    Raises NotHere without peft, and BadInput if the weights do not belong to this model, because peft would ignore
    them.
    """
    try:
        from peft import PeftModel
    except ImportError as error:
        raise NotHere(f"This checkpoint is a LoRA, which needs peft: {install_command('peft')}") from error
    config(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            changed = PeftModel.from_pretrained(model, folder)
        except (ValueError, RuntimeError, KeyError) as error:
            raise BadInput(f"The LoRA in {folder} does not fit its base model: {one_line(error)}") from error
    if any("missing adapter keys" in str(warning.message) for warning in caught):
        raise BadInput(f"The LoRA in {folder} was trained on another class of its base model: its weights fit no layer")
    return changed.merge_and_unload()
