"""OpenCLIP's text towers, run at each text's actual length if tokens after the end token cannot affect the vector.

Such a tower is causal and reads its vector at the end token. The library pads every text to full length, usually 77
tokens, but a caption has 10 to 20.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from compute.models.adapter import TextTower, buckets

if TYPE_CHECKING:
    import torch


def text_tower(model: Any, *, tokens: Callable[[str], Sequence[int]], limit: int) -> TextTower:
    """Returns the text tower of an OpenCLIP model; `tokens` returns a text's tokens as the library pads them, to
    `limit`.

    Towers that attend to the padding or pool after the end token (SigLIP, CoCa, CLIPA, those of transformers) run at
    full length.
    """
    tower, end = _causal(model)
    if tower is None:
        return TextTower(ready=tokens, run=lambda ids, mask: model.encode_text(ids), pad=0)

    def ready(text: str) -> list[int]:
        """Returns the tokens up to the pooled one."""
        made = list(tokens(text))
        return made[: made.index(max(made) if end is None else end) + 1]

    def run(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Returns (n, d) from ids (n, length). The steps are the library's, with positions and mask cut to the
        length.
        """
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
    """Returns the object with the parts of the model's text tower, and the token that it pools at (None for the
    greatest id). Both are None if a text may not be cut after its end token.
    """
    from open_clip import CLIP, CustomTextCLIP
    from open_clip.transformer import TextTransformer

    if "encode_text" in vars(model) or type(model).encode_text not in (CLIP.encode_text, CustomTextCLIP.encode_text):
        return None, None  # a custom method, which may use more than the tower
    if isinstance(model, CLIP):  # the model itself holds the tower's parts
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
