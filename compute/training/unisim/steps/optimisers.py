"""The optimisers of a tuning: AdamW, or Muon for the matrices of linear layers and AdamW for what is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import call
from typing import TYPE_CHECKING, Any

from compute.types import BadInput

if TYPE_CHECKING:
    import torch

    from compute.training.unisim.plan import TuningPlan
    from compute.training.unisim.steps import in_parts
    from compute.training.unisim.trainable import DualEncoder

# What each keeps of a weight from step to step, beside AdamW's count of steps.
MOMENTS = {"adamw": ("exp_avg", "exp_avg_sq"), "muon": ("momentum_buffer",)}


class Optimiser:
    """Several of torch's optimisers that share a base's trained weights, as one."""

    def __init__(self, parts: Mapping[str, Sequence[torch.optim.Optimizer]]) -> None:
        """`parts`: by name, of MOMENTS."""
        self.parts = {name: list(each) for name, each in parts.items()}

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Those of all parts, to be read and changed."""
        return [group for each in self._each() for group in each.param_groups]

    def zero_grad(self) -> None:
        """Forgets the gradients."""
        for each in self._each():
            each.zero_grad(set_to_none=True)

    def step(self, threads: in_parts.Threads | None = None) -> None:
        """Changes the weights by their gradients, at once in `threads` where there are some."""
        steps = [each.step for each in self._each()]
        list(map(call, steps) if threads is None else threads.pool.map(call, steps))

    def moments(self, weight: torch.Tensor) -> dict[str, torch.Tensor]:
        """What is kept of a weight, by name of MOMENTS; empty before the first step."""
        return {
            moment: each.state[weight][moment]
            for name, part in self.parts.items()
            for each in part
            if weight in each.state
            for moment in MOMENTS[name]
        }

    def restore(self, weight: torch.Tensor, moments: Mapping[str, torch.Tensor], *, step: int) -> None:
        """Puts back what `moments` gave after `step` steps. Raises BadInput for moments of another optimiser."""
        import torch

        name, own = next(
            (name, each)
            for name, part in self.parts.items()
            for each in part
            if any(weight is one for group in each.param_groups for one in group["params"])
        )
        if moments.keys() != set(MOMENTS[name]):
            raise BadInput(
                f"The stored state has {', '.join(sorted(moments))} of a weight, and {name} needs "
                f"{', '.join(MOMENTS[name])}. Remove the folder, and train again"
            )
        counted = {"step": torch.tensor(float(step))} if name == "adamw" else {}
        own.state[weight] = counted | {moment: value.to(weight.device) for moment, value in moments.items()}

    def _each(self) -> list[torch.optim.Optimizer]:
        return [each for part in self.parts.values() for each in part]


def optimiser_of(base: DualEncoder, plan: TuningPlan) -> Optimiser:
    """The plan's optimiser over the base's trained weights; biases and norms (of one dimension or none) do not decay.

    Muon makes the change of a matrix orthogonal and gives it the size that AdamW's has, so that one learning rate
    serves both (Jordan et al., 2024; Liu et al., 2025, section 2.2). It has the weights of linear layers; AdamW has
    embeddings, convolutions, biases, norms, and matrices outside a linear layer, as OpenCLIP's fused in_proj is.
    Muon's matrices are in as many parts, of nearly equal sizes, as the plan has at once.
    """
    import torch

    weights = list(base.parameters().values())
    matrices: list[torch.Tensor] = []
    parts: dict[str, list[torch.optim.Optimizer]] = {}
    if plan.optimiser == "muon":
        linear = [module for module in base.module.modules() if isinstance(module, torch.nn.Linear)]
        multiply = {id(module.weight) for module in linear}
        matrices = [weight for weight in weights if id(weight) in multiply]
    if matrices:
        by_size = sorted(matrices, key=torch.Tensor.numel)
        parts["muon"] = [
            torch.optim.Muon(
                by_size[first :: plan.parallel],
                lr=plan.learning_rate,
                weight_decay=plan.weight_decay,
                momentum=plan.momentum,
                adjust_lr_fn="match_rms_adamw",
            )
            for first in range(min(plan.parallel, len(by_size)))
        ]
    taken = {id(weight) for weight in matrices}
    rest = [weight for weight in weights if id(weight) not in taken]
    if rest:
        decays = [
            {"params": [weight for weight in rest if weight.ndim > 1], "weight_decay": plan.weight_decay},
            {"params": [weight for weight in rest if weight.ndim <= 1], "weight_decay": 0.0},
        ]
        parts["adamw"] = [
            torch.optim.AdamW(decays, lr=plan.learning_rate, betas=(plan.beta1, plan.beta2), eps=plan.epsilon)
        ]
    return Optimiser(parts)
