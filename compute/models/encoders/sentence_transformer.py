"""Text encoders in the format of the sentence-transformers library, run by that library."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from compute.models.adapter import Hardware, chosen
from compute.models.files import pretrained
from compute.types import BadInput, CannotDo, Model

MODULES = "modules.json"


def stored_modules(folder: Path) -> list[dict[str, Any]]:
    """Returns the entries of modules.json. Raises BadInput if it is not a list of types with paths."""
    try:
        listed = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        return [{"type": str(each["type"]), "path": str(each["path"])} for each in listed]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadInput(f"{folder / MODULES} is not a list of modules with their types and paths") from error


def width(folder: Path, settings_in: Callable[[str], dict[str, Any]], *, hidden_size: int | None) -> int | None:
    """Returns the dimension of the vectors according to the modules' settings; None if they do not state it.
    `settings_in` reads a file of the folder, as `CheckpointFiles.json` does. Raises BadInput.
    """
    size = hidden_size
    for module in stored_modules(folder)[1:]:
        settings = settings_in(f"{module['path']}/config.json")
        if module["type"].endswith("Pooling"):
            size = settings.get("embedding_dimension") or settings.get("word_embedding_dimension") or size
            modes = settings.get("pooling_mode") or [
                name for name in settings if settings[name] is True and "_mode_" in name
            ]
            size = size and size * (len(modes) if modes and isinstance(modes, list) else 1)
        size = settings.get("out_features", size)
    return size if isinstance(size, int) else None


def load(row: Model, hardware: Hardware, folder: Path) -> SimpleNamespace:
    """Embeds texts as `SentenceTransformer(folder).encode` does, with the checkpoint's default prompt if it has one.

    Options: `max_tokens`, `text_prefix` instead of the default prompt. Raises BadInput for a checkpoint that the
    library refuses or that contains custom code.
    """
    from sentence_transformers import SentenceTransformer

    options = chosen(row, {"max_tokens": None, "text_prefix": None})
    remedy = ". A model with code of its own runs from Python: compute.evaluate(model, ...)"
    with pretrained.reading(row, folder, kind="SentenceTransformer", remedy=remedy):
        model = SentenceTransformer(
            str(folder),
            device=hardware.device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": hardware.torch_dtype},
        )
    if options["max_tokens"]:
        model.max_seq_length = min(options["max_tokens"], model.max_seq_length or options["max_tokens"])
    model = model.to(hardware.torch_dtype).eval()

    def prepare(modality: str, item: str) -> str:
        """Returns the text itself. Raises CannotDo for other items."""
        if modality != "text":
            raise CannotDo(f"{row.key} embeds texts only, not a {modality}")
        return item

    def embed(modality: str, prepared: Sequence[str]) -> np.ndarray:
        """Returns (n, d) float32."""
        vectors = model.encode(
            list(prepared),
            prompt=options["text_prefix"],  # None: the checkpoint's default prompt
            batch_size=len(prepared),
            convert_to_tensor=True,
            show_progress_bar=False,
        )
        return vectors.float().cpu().numpy()

    return SimpleNamespace(
        prepare=prepare,
        embed=embed,
        settings={
            "model": row.key,
            "max_tokens": model.max_seq_length,
            "prefix": options["text_prefix"],
            "prompt": (model.prompts or {}).get(model.default_prompt_name or ""),
            "modules": [type(module).__name__ for module in model],
        },
    )
