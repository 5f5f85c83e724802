"""OpenCLIP's text towers, at each text's own length where what follows its end token cannot matter.

Such a tower looks back only and reads its vector at the end token. The library gives it every text at full length, 77
tokens as a rule, most of them padding; a caption has 10 to 20.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from compute.models.adapter import TextTower, buckets

if TYPE_CHECKING:
    import torch


def text_tower(model: Any, *, tokens: Callable[[str], Sequence[int]], limit: int) -> TextTower:
    """Returns the text tower of an OpenCLIP model; `tokens` are a text's as the library pads them, to `limit`.

    Towers that see the padding or pool past the end (SigLIP, CoCa, CLIPA, those of transformers) keep the full length.
    """
    tower, end = _causal(model)
    if tower is None:
        return TextTower(ready=tokens, run=lambda ids, mask: model.encode_text(ids), pad=0)

    def ready(text: str) -> list[int]:
        """Returns the tokens up to the one that is pooled."""
        made = list(tokens(text))
        return made[: made.index(max(made) if end is None else end) + 1]

    def run(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(n, d) of ids (n, length): the library's own steps with its positions and its mask cut to the length."""
        import torch

        length, dtype = ids.shape[1], tower.transformer.get_cast_dtype()
        states = tower.token_embedding(ids).to(dtype) + tower.positional_embedding[:length].to(dtype)
        states = tower.transformer(states, attn_mask=tower.attn_mask[:length, :length])
        at = ids.argmax(dim=1) if end is None else (ids == end).int().argmax(dim=1)
        pooled = tower.ln_final(states[torch.arange(len(ids), device=ids.device), at])
        projection = tower.text_projection
        if projection is None:
            return pooled
        return projection(pooled) if isinstance(projection, torch.nn.Linear) else pooled @ projection

    return TextTower(ready=ready, run=run, pad=0, buckets=buckets(limit))


def _causal(model: Any) -> tuple[Any, int | None]:
    """Returns what holds the parts of the model's text tower, and the token that it pools at, None for the greatest id;
    two None if a text may not be cut after its end token."""
    from open_clip import CLIP, CustomTextCLIP
    from open_clip.transformer import TextTransformer

    if "encode_text" in vars(model) or type(model).encode_text not in (CLIP.encode_text, CustomTextCLIP.encode_text):
        return None, None  # its own way, which may see more than the tower
    if isinstance(model, CLIP):  # it holds the tower's parts itself
        tower, pooling, end = model, model.text_pool_type, model.text_eos_id
    else:
        tower = getattr(model, "text", None)
        if not isinstance(tower, TextTransformer) or tower.cls_emb is not None:
            return None, None
        pooling, end = tower.pool_type, tower.eos_id
    mask = tower.attn_mask
    if mask is None or not bool(mask.isneginf().triu(1).sum() == len(mask) * (len(mask) - 1) // 2):
        return None, None
    return {"argmax": (tower, None), "eos": (tower, end)}.get(pooling, (None, None))
