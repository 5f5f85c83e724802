"""WordLlama (Miller 2024): a package with one vector per token of a vocabulary, derived from large language models.

A text's vector is the mean of its tokens' vectors, regardless of their order. Only the package's table and tokenizer
are read; its code is never run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware, TextTower, Towers, chosen
from compute.models.files.weights import existing
from compute.types import Model

if TYPE_CHECKING:
    import torch

TABLE = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
SETTINGS = {"tokenizer": Path(TOKENIZER).name, "special_tokens": False, "max_tokens": None, "pooling": "mean"}


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Returns a text tower. The vector (256,) is the mean of the tokens' vectors, not normalised."""
    chosen(row, {})
    return Towers(
        name=row.key,
        hardware=hardware,
        text=text_tower(folder, hardware),
        settings={"text": SETTINGS, "normalised": False},
    )


def text_tower(folder: Path, hardware: Hardware) -> TextTower:
    """Returns the tower of the package in `folder`. Raises NotHere for a missing file."""
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    table = load_file(existing(folder / TABLE))["embedding.weight"].to(hardware.device, hardware.torch_dtype)
    tokenizer: Any = Tokenizer.from_file(str(existing(folder / TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def ready(text: str) -> list[int]:
        # Tokens are sorted, so that the same words in any order give exactly the same vector. Texts that differ only in
        # word order then tie, rather than being separated by rounding.
        return sorted(tokenizer.encode(text, add_special_tokens=False).ids)

    def run(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        weights = (mask / mask.sum(dim=1, keepdim=True).clamp(min=1)).to(table.dtype)
        return torch.nn.functional.embedding_bag(ids, table, per_sample_weights=weights, mode="sum")

    return TextTower(ready=ready, run=run, pad=0)
