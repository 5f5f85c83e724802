"""A dual encoder of the catalogue, ready to be tuned: the weights of its towers, and its vectors with gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from compute.models import load_trainable, required_files
from compute.models.adapter import Hardware, Towers
from compute.models.files import weights
from compute.training.examples import TASKS
from compute.types import BadInput, CannotDo, Model

if TYPE_CHECKING:
    import torch
    from peft import PeftModel


class Family(NamedTuple):
    """The towers in a family's module: names of their parts, and of the layers that LoRA adapts.

    `text` names modules or weights. `targets` are the family's names for the paper's q, k, v, out_proj, fc1 and fc2.
    Names that a model lacks are skipped.
    """

    vision: tuple[str, ...]
    text: tuple[str, ...]
    targets: tuple[str, ...]


OF_TRANSFORMERS = ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2")
# OpenCLIP's blocks, whose fused in_proj is split (lora.py), and the blocks of timm's towers in OpenCLIP.
OF_OPEN_CLIP = (*OF_TRANSFORMERS, "c_fc", "c_proj", "qkv", "proj")
FAMILIES = {
    "clip": Family(("vision_model", "visual_projection"), ("text_model", "text_projection"), OF_TRANSFORMERS),
    "siglip": Family(("vision_model",), ("text_model",), OF_TRANSFORMERS),
    "align": Family(("vision_model",), ("text_model", "text_projection"), OF_TRANSFORMERS),
    "blip": Family(
        ("vision_model", "vision_proj"),
        ("text_encoder", "text_proj"),
        ("qkv", "projection", "fc1", "fc2"),
    ),
    "open_clip": Family(
        ("visual",),
        ("text", "transformer", "token_embedding", "positional_embedding", "ln_final", "text_projection"),
        OF_OPEN_CLIP,
    ),
}


@dataclass(kw_only=True)
class DualEncoder:
    """A base in memory. `module` is its library's model, with all weights frozen until some are made trainable;
    `folder` has its files.
    """

    row: Model
    towers: Towers
    module: torch.nn.Module
    folder: Path
    family: Family
    revision: str  # of its files
    hardware: Hardware
    adapted: PeftModel | None = None  # the module with LoRA, if it was added
    trains_text: bool = False  # whether the text tower is trained too

    def trained_parts(self) -> list[torch.nn.Module | torch.nn.Parameter]:
        """Returns the modules and weights of the towers that are trained."""
        texts = [getattr(self.module, name, None) for name in self.family.text if self.trains_text]
        images = [getattr(self.module, name) for name in self.family.vision]
        return [*images, *(part for part in texts if part is not None)]

    def unfreeze(self, *, text: bool) -> None:
        """Makes all weights of the vision tower trainable, and with `text` those of the text tower."""
        self.trains_text = text
        for part in self.trained_parts():
            part.requires_grad_(True)

    def image_vectors(self, images: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Returns (n, d) float32 unit vectors of n prepared and stacked images, with gradients."""
        import torch

        moved = {name: value.to(self.hardware.device) for name, value in images.items()}
        return torch.nn.functional.normalize(self.towers.image.run(moved).float(), dim=-1)

    def text_vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Returns (n, d) float32 unit vectors, with gradients if the text tower is trained."""
        import torch

        vectors = self.towers.run("text", [self.towers.prepare("text", text) for text in texts])
        return torch.nn.functional.normalize(vectors.float(), dim=-1)

    def parameters(self) -> dict[str, torch.nn.Parameter]:
        """Returns the trainable weights by name."""
        return {name: weight for name, weight in self.module.named_parameters() if weight.requires_grad}

    def training(self, on: bool) -> None:
        """Turns dropout in the trained towers on or off. Batch norms always use their stored statistics."""
        import torch

        self.module.eval()
        for part in self.trained_parts() if on else ():
            if isinstance(part, torch.nn.Module):
                part.train()
                for module in part.modules():
                    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                        module.eval()


def load(row: Model, *, hardware: Hardware, tasks: Sequence[str] = tuple(TASKS)) -> DualEncoder:
    """Returns the row's dual encoder in float32, frozen, to be tuned on these tasks.

    Raises CannotDo if it has no vision tower, no text tower for tasks with texts, or is of a family that cannot be
    trained; NotHere and BadInput as in loading.
    """
    with_texts = [task for task in tasks if "text" in TASKS[task]]
    without_text = (
        f"{row.key} has no text tower, which the task {next(iter(with_texts), '')} needs: choose a dual encoder"
    )
    if row.abilities and "embed_image" not in row.abilities:
        raise CannotDo(f"{row.key} has no vision tower to tune: choose a dual encoder, such as tiny")
    if row.abilities and "embed_text" not in row.abilities and with_texts:
        raise CannotDo(without_text)
    if not row.weights:
        raise BadInput(f"{row.key} has no weights, so there is nothing to tune")
    hardware = Hardware(device=hardware.device, dtype="float32")
    towers = load_trainable(row, hardware=hardware)
    if towers.text is None and with_texts:
        raise CannotDo(without_text)
    module, required = towers.module, required_files(row)
    missing = [part for part in FAMILIES[row.adapter].vision if getattr(module, part, None) is None]
    if missing:
        raise CannotDo(f"{row.key} has no {missing[0]}, where its vision tower is expected: it cannot be tuned")
    module.requires_grad_(False)
    if hardware.device == "cpu" and hasattr(module, "set_attn_implementation"):
        module.set_attn_implementation("eager")  # backwards through a small image twice as fast as the fused kernel
    return DualEncoder(
        row=row,
        towers=towers,
        module=module,
        folder=weights.local_folder(row, required=required),
        family=FAMILIES[row.adapter],
        revision=weights.revision(row, required=required),
        hardware=hardware,
    )
