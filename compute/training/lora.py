"""LoRA (Hu et al. 2022) by the peft library on the attention and MLP layers of a vision tower.

OpenCLIP's attention is torch's own, whose query, key and value share one weight. peft adapts it by adding the change to
the weight before each pass and subtracting it afterwards: rounding accumulates in the weight, dropout is not applied,
and a resumed run differs. Here it is split into layers as in the transformers library, and fused again at the end.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from compute.models.files import weights as files
from compute.types import BadInput, NotHere
from compute.versions import install_command

if TYPE_CHECKING:
    import torch
    from peft import PeftModel
    from torch import nn

    from compute.training.plan import TuningPlan
    from compute.training.towers import DualEncoder


@cache
def split_attention() -> type[nn.Module]:
    """Returns the class of the layers inserted by `split`; defined on first use, when torch is imported."""
    import torch
    from torch import nn

    class SplitAttention(torch.nn.Module):
        """torch's MultiheadAttention with separate layers for query, key and value; its results are equal up to
        rounding.

        It supports only what vision towers use: no dropout, no key bias, no returned weights.
        """

        def __init__(self, fused: nn.MultiheadAttention) -> None:
            super().__init__()
            self.heads, self.batch_first, self.width = fused.num_heads, fused.batch_first, fused.embed_dim
            biases = [None] * 3 if fused.in_proj_bias is None else fused.in_proj_bias.detach().chunk(3)
            self.q_proj, self.k_proj, self.v_proj = (
                _linear(weight, bias)
                for weight, bias in zip(fused.in_proj_weight.detach().chunk(3), biases, strict=True)
            )
            self.out_proj = _linear(fused.out_proj.weight.detach(), fused.out_proj.bias)

        def forward(
            self,
            query: torch.Tensor,
            key: torch.Tensor,
            value: torch.Tensor,
            *,
            need_weights: bool = False,
            attn_mask: torch.Tensor | None = None,
        ) -> tuple[torch.Tensor, None]:
            """Returns (n, length, d), or with the length first if the fused layer had it first."""
            if not self.batch_first:
                query, key, value = (each.transpose(0, 1) for each in (query, key, value))
            n, length, _ = query.shape
            heads = [
                layer(each).view(n, each.shape[1], self.heads, -1).transpose(1, 2)
                for layer, each in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
            ]
            mixed = nn.functional.scaled_dot_product_attention(*heads, attn_mask=attn_mask)
            mixed = self.out_proj(mixed.transpose(1, 2).reshape(n, length, self.width))
            return (mixed if self.batch_first else mixed.transpose(0, 1)), None

        def fused(self) -> nn.MultiheadAttention:
            """Returns torch's fused layer with these weights."""
            made = nn.MultiheadAttention(
                self.width, self.heads, bias=self.q_proj.bias is not None, batch_first=self.batch_first
            )
            layers, out = (self.q_proj, self.k_proj, self.v_proj), self.out_proj.state_dict()
            state = {f"in_proj_{kind}": torch.cat([layer.state_dict()[kind] for layer in layers]) for kind in out}
            made.load_state_dict(state | {f"out_proj.{kind}": value for kind, value in out.items()})
            return made.to(self.q_proj.weight.device).requires_grad_(False).eval()

    return SplitAttention


def apply(base: DualEncoder, plan: TuningPlan) -> PeftModel:
    """Adds LoRA to the base's vision tower, in place; only LoRA's weights have gradients. OpenCLIP's attention is
    split.

    Raises NotHere without peft, BadInput if the vision tower has no layer that the family's LoRA adapts.
    """
    import torch

    if find_spec("peft") is None:
        raise NotHere(f"LoRA needs the package peft: {install_command('peft')}. Or tune=full")
    from peft import LoraConfig, get_peft_model

    if base.row.adapter == "open_clip":
        split(base.module.visual)
    names = []
    for part in base.family.vision:
        modules = dict(getattr(base.module, part).named_modules(prefix=part))
        # torch's own attention does not call its inner layers.
        own = [name for name, module in modules.items() if isinstance(module, torch.nn.MultiheadAttention)]
        names += [
            name
            for name, module in modules.items()
            if isinstance(module, torch.nn.Linear) and name.rpartition(".")[2] in base.family.targets
            if name.rpartition(".")[0] not in own
        ]
    if not names:
        raise BadInput(f"{base.row.key}'s vision tower has no layer that LoRA changes: tune all of it, tune=full")
    own = files.own_folder(base.row) is not None
    config = LoraConfig(
        r=plan.rank,
        lora_alpha=plan.alpha if plan.alpha % 1 else int(plan.alpha),
        lora_dropout=plan.dropout,
        target_modules=names,
        bias="none",
    )
    torch.manual_seed(plan.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft calls the transformers library by a deprecated name
        adapted = get_peft_model(base.module, config)
    # Set after peft, which writes the name stored in the module.
    config.base_model_name_or_path = str(base.folder) if own else base.row.weights
    config.revision = None if own else base.revision
    return adapted


def split(tower: nn.Module) -> None:
    """Replaces the attention layers of an OpenCLIP tower by split ones, in place, except poolers of another width."""
    from torch import nn

    for parent, name, layer in _children(tower, nn.MultiheadAttention):
        if layer._qkv_same_embed_dim and layer.bias_k is None and not layer.add_zero_attn and not layer.dropout:
            setattr(parent, name, split_attention()(layer))


def fuse(tower: nn.Module) -> None:
    """Reverts `split`, in place, with the current weights."""
    for parent, name, layer in _children(tower, split_attention()):
        setattr(parent, name, layer.fused())


def _children(tower: nn.Module, kind: type) -> list[tuple[nn.Module, str, nn.Module]]:
    return [
        (parent, name, child)
        for parent in tower.modules()
        for name, child in parent.named_children()
        if isinstance(child, kind)
    ]


def _linear(weight: torch.Tensor, bias: torch.Tensor | None) -> nn.Linear:
    import torch

    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    layer.load_state_dict({"weight": weight} if bias is None else {"weight": weight, "bias": bias})
    return layer.to(weight).requires_grad_(False)
