"""Late-interaction models of the transformers library, a vector per token: ColPali and ColQwen2 (Faysse et al. 2024).

Texts are embedded as queries and images as documents, by the checkpoint's own prompts; MaxSim compares them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.adapter import Hardware, chosen
from compute.models.encoders.mllm_embedding import padded
from compute.models.encoders.towers import in_rgb
from compute.models.files import pretrained
from compute.models.files.weights import architecture
from compute.types import BadInput, CannotDo, Model

if TYPE_CHECKING:
    import torch

    from compute.models.adapter import Item

KINDS = ("colmodernvbert", "colpali", "colqwen2")  # the library's `model_type`


@dataclass(kw_only=True)
class LateInteraction:
    """An encoder of images and texts by one network."""

    settings: dict[str, Any]
    model: torch.nn.Module
    processor: Any
    hardware: Hardware

    def prepare(self, modality: str, item: Item) -> dict[str, torch.Tensor]:
        """The processor's tensors for one item, a batch of one. Raises CannotDo for an image with its text."""
        if modality == "pair":
            raise CannotDo("A late-interaction model embeds an image and its text one by one: omit fusion=joint")
        if modality == "image":
            inputs = self.processor.process_images(images=[in_rgb(item)], return_tensors="pt")
        else:
            inputs = self.processor.process_queries(text=[item], return_tensors="pt")
        return {name: value for name, value in inputs.items() if name != "labels"}

    def embed(self, modality: str, prepared: Sequence[Mapping[str, torch.Tensor]]) -> list[np.ndarray]:
        """(tokens, d) float32 an item, each of length 1."""
        import torch

        batch = padded(prepared, pad=self.processor.tokenizer.pad_token_id or 0, hardware=self.hardware)
        with torch.inference_mode():
            vectors = self.model(**batch).embeddings.float().cpu().numpy()
        counts = batch["attention_mask"].sum(dim=1).tolist()
        return [item[:count] for item, count in zip(vectors, counts, strict=True)]


def load(row: Model, hardware: Hardware, folder: Path) -> LateInteraction:
    """Raises NotHere, and BadInput for a checkpoint of another kind."""
    from transformers import AutoProcessor

    options, kind = chosen(row, pretrained.OPTIONS), architecture(folder)
    if kind not in KINDS:
        raise BadInput(f"{row.key} is of architecture {kind!r}, not of {', '.join(KINDS)}")
    processor = AutoProcessor.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    model, _ = pretrained.model(row, "AutoModelForPreTraining", folder=folder, hardware=hardware, options=options)
    processor.tokenizer("ready")  # sets its padding and truncation now, so that threads need not
    prompts = {name: getattr(processor, name) for name in ("query_prefix", "visual_prompt_prefix")}
    settings = {"image": pretrained.image_ready(processor.image_processor)[1], "texts": "as queries", **prompts}
    return LateInteraction(settings=settings, model=model, processor=processor, hardware=hardware)
