"""A dual encoder of the catalogue ready to be tuned: the weights of its towers, and its vectors with gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models import ADAPTERS, load_trainable, required_files
from compute.models.adapter import Hardware
from compute.models.encoders.towers import Towers
from compute.models.files import weights
from compute.training.unisim.data.examples import TASKS
from compute.training.unisim.steps import in_parts, light_layers, preserving
from compute.types import BadInput, CannotDo, LikenessError, Model

if TYPE_CHECKING:
    import torch
    from peft import PeftModel
    from PIL import Image

TEXT_BATCH = 32  # texts that are encoded at once; always as many, so that a text's vector does not depend on the others
TEXTS = 65_536  # texts whose vectors are cached: 200 MB of 768 dimensions


@dataclass(frozen=True, kw_only=True)
class Family:
    """Where a family's module has its towers: names of their parts, and of the layers that LoRA changes.

    `text` are modules or weights; those that a model lacks are skipped. `targets` are the family's names for the
    paper's q, k, v, out_proj, fc1 and fc2, also skipped.
    """

    vision: tuple[str, ...]
    text: tuple[str, ...]
    targets: tuple[str, ...]


OF_TRANSFORMERS = ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2")
# OpenCLIP's own blocks, whose fused in_proj is split (lora.py), and the blocks of timm's towers behind its interface.
OF_OPEN_CLIP = (*OF_TRANSFORMERS, "c_fc", "c_proj", "qkv", "proj")
FAMILIES = {
    "clip": Family(
        vision=("vision_model", "visual_projection"), text=("text_model", "text_projection"), targets=OF_TRANSFORMERS
    ),
    "siglip": Family(vision=("vision_model",), text=("text_model",), targets=OF_TRANSFORMERS),
    "align": Family(vision=("vision_model",), text=("text_model", "text_projection"), targets=OF_TRANSFORMERS),
    "blip": Family(
        vision=("vision_model", "vision_proj"),
        text=("text_encoder", "text_proj"),
        targets=("qkv", "projection", "fc1", "fc2"),
    ),
    "open_clip": Family(
        vision=("visual",),
        text=("text", "transformer", "token_embedding", "positional_embedding", "ln_final", "text_projection"),
        targets=OF_OPEN_CLIP,
    ),
}


@dataclass(kw_only=True)
class DualEncoder:
    """A base in memory. `module` is its library's model, with all weights frozen until some are to be trained;
    `folder` is that of its files."""

    row: Model
    towers: Towers
    module: torch.nn.Module
    folder: Path
    family: Family
    revision: str  # of its files
    hardware: Hardware
    adapted: PeftModel | None = None  # the module with LoRA, once it has it
    frozen: DualEncoder | None = None  # the base as it was, where training changes its weights themselves
    trains_text: bool = False  # whether the text tower's weights are trained too
    threads: in_parts.Threads | None = None  # that images and texts are embedded in at once, each a part of them
    _texts: dict[str, torch.Tensor] = field(default_factory=dict, repr=False)

    def vision_parts(self) -> list[torch.nn.Module]:
        """The modules of the vision tower."""
        return [getattr(self.module, name) for name in self.family.vision]

    def text_parts(self) -> list[torch.nn.Module | torch.nn.Parameter]:
        """The modules and weights of the text tower; none where it has no such tower."""
        if self.towers.text is None:
            return []
        parts = (getattr(self.module, name, None) for name in self.family.text)
        return [part for part in parts if part is not None]

    def unfreeze(self, *, text: bool) -> None:
        """Makes all weights of the vision tower trainable, and with `text` those of the text tower."""
        for part in (*self.vision_parts(), *(self.text_parts() if text else ())):
            part.requires_grad_(True)
        self.trains_text = text

    def prepared(self, image: Image.Image) -> Mapping[str, torch.Tensor]:
        """An RGB image's tensors, without a batch, on the CPU. Thread-safe."""
        return self.towers.prepare("image", image)

    def vectors(
        self, prepared: Sequence[Mapping[str, torch.Tensor]], texts: Sequence[str] = ()
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """(n, d) of images and (k, d) of texts, None without any: `image_vectors` and `text_vectors`, those of trained
        towers at once in `threads` where there are some."""
        return self._vectors(self, prepared, texts)

    def base_vectors(
        self, prepared: Sequence[Mapping[str, torch.Tensor]], texts: Sequence[str] = ()
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The same of the base as it was before training, without gradients or dropout."""
        import torch

        with torch.no_grad():
            if self.adapted is None:
                return self._vectors(self.frozen or self, prepared, texts)
            was_training = self.adapted.training or any(part.training for part in self.vision_parts())
            self.training(False)
            try:
                with self.adapted.disable_adapter():
                    return self._vectors(self, prepared, texts)
            finally:
                self.training(was_training)

    def _vectors(
        self, encoder: DualEncoder, prepared: Sequence[Mapping[str, torch.Tensor]], texts: Sequence[str]
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Those of `encoder`, this one or its base; a text tower that is not trained gives the same of both."""
        passes = [(encoder.image_vectors, prepared)]
        if texts and self.trains_text:
            passes.append((encoder._together, texts))
        if self.threads is None:
            made = [function(items) for function, items in passes]
        else:
            made = in_parts.run(passes, weights=list(self.parameters().values()), threads=self.threads)
        if texts and not self.trains_text:
            made.append(self.text_vectors(texts))
        return made[0], made[1] if texts else None

    def image_vectors(self, prepared: Sequence[Mapping[str, torch.Tensor]]) -> torch.Tensor:
        """(n, d) float32 of length 1, with gradients."""
        import torch

        return torch.nn.functional.normalize(self.towers.run("image", prepared).float(), dim=-1)

    def text_vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d) float32 of length 1: with gradients where the text tower is trained, else of the last TEXTS texts
        cached."""
        import torch

        if self.trains_text:
            return self._together(texts)
        distinct = list(dict.fromkeys(texts))
        self._encode([text for text in distinct if text not in self._texts])
        self._texts |= {text: self._texts.pop(text) for text in distinct}  # the last used are at the end
        vectors = torch.stack([self._texts[text] for text in texts]).to(self.hardware.device)
        for text in list(islice(self._texts, max(0, len(self._texts) - TEXTS))):
            del self._texts[text]
        return vectors

    def _together(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d) float32 of length 1, with what gradients the weights have. Nothing is cached: new texts come each
        step, and to encode them one length at a time takes 7 times as long."""
        import torch

        vectors = self.towers.run("text", [self.towers.prepare("text", text) for text in texts])
        return torch.nn.functional.normalize(vectors.float(), dim=-1)

    def _encode(self, texts: Sequence[str]) -> None:
        """Encodes texts of equal length together, always TEXT_BATCH of them: the last batch is filled up."""
        import torch

        by_length: dict[int, list[tuple[str, Any]]] = {}
        for text in texts:
            tokens = self.towers.prepare("text", text)
            by_length.setdefault(len(tokens), []).append((text, tokens))
        for pairs in by_length.values():
            for start in range(0, len(pairs), TEXT_BATCH):
                part = pairs[start : start + TEXT_BATCH]
                filled = [*part, *[part[0]] * (TEXT_BATCH - len(part))]
                with torch.autocast(self.hardware.device.split(":")[0], enabled=False):
                    vectors = torch.from_numpy(self.towers.embed("text", [tokens for _, tokens in filled]))
                vectors = torch.nn.functional.normalize(vectors, dim=-1)
                # Copies: a row of the batch would keep all of its rows in memory.
                self._texts |= {text: vectors[at].clone() for at, (text, _) in enumerate(part)}

    def parameters(self) -> dict[str, torch.nn.Parameter]:
        """The weights that are trained, by name."""
        return {name: weight for name, weight in self.module.named_parameters() if weight.requires_grad}

    def checkpoint_activations(self) -> None:
        """Computes the trained towers' activations again in the backward pass rather than storing them."""
        if hasattr(self.module, "gradient_checkpointing_enable"):
            self.module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        else:
            (self.module if self.trains_text else self.module.visual).set_grad_checkpointing(True)

    def draws(self, *, text: bool) -> bool:
        """Whether a pass of the vision tower, or with `text` of either, draws at random in training, dropout or layers
        left out, by what its modules are called."""
        import torch

        return any(
            "drop" in f"{type(module).__name__} {name}".lower() and type(value) in (int, float) and value > 0
            for part in (*self.vision_parts(), *(self.text_parts() if text else ()))
            if isinstance(part, torch.nn.Module)
            for module in part.modules()
            for name, value in vars(module).items()
        )

    def training(self, on: bool) -> None:
        """Dropout on in the trained towers, or off. Norms over a batch always use their stored statistics."""
        import torch

        self.module.eval()
        if on:
            for part in (*self.vision_parts(), *(self.text_parts() if self.trains_text else ())):
                if not isinstance(part, torch.nn.Module):
                    continue
                part.train()
                for module in part.modules():
                    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                        module.eval()

    @contextmanager
    def evaluated(self) -> Iterator[Towers]:
        """The encoder as it is now, dropout off, behind the interface that procedures take."""
        self.training(False)
        try:
            yield self.towers
        finally:
            self.training(True)


def load(row: Model, *, hardware: Hardware, tasks: Sequence[str] = tuple(TASKS)) -> DualEncoder:
    """The row's dual encoder in float32, frozen, to be tuned on these tasks.

    Raises CannotDo where it has no vision tower, no text tower for tasks with texts, or is of a family that cannot be
    trained; NotHere, BadInput as loading does.
    """
    check(row, tasks=tasks)
    hardware = Hardware(device=hardware.device, dtype="float32")
    towers = load_trainable(row, hardware=hardware)
    if towers.text is None and (needed := _with_texts(tasks)):
        raise CannotDo(
            f"{row.key} has no text tower, which the task {needed[0]} needs. Leave such tasks out, or tune "
            "a dual encoder"
        )
    module = towers.module
    required = required_files(row)
    base = DualEncoder(
        row=row,
        towers=towers,
        module=module,
        folder=weights.local_folder(row, required=required),
        family=FAMILIES[row.adapter],
        revision=weights.revision(row, required=required),
        hardware=hardware,
    )
    missing = [part for part in base.family.vision if getattr(module, part, None) is None]
    if missing:
        raise CannotDo(f"{row.key} has no {missing[0]}, where its vision tower is expected: it cannot be tuned")
    module.requires_grad_(False)
    if hardware.device == "cpu":
        light_layers.lighten(module)
    return base


def move_towards_base(base: DualEncoder, *, base_share: float) -> None:
    """Replaces the tuned weights by those between base and tuned model, `preserving.interpolated`, in place.

    LoRA's change of a weight is alpha / rank x B A: shrinking B by the share interpolates the weights themselves. Full
    tuning needs the copy of the base.
    """
    import torch

    tuned = base.parameters()
    if base.adapted is not None:
        start = {name: torch.zeros_like(weight) for name, weight in tuned.items() if ".lora_B." in name}
        tuned = {name: tuned[name] for name in start}
    elif base.frozen is not None:
        first = dict(base.frozen.module.named_parameters())
        start = {name: first[name] for name in tuned}
    else:
        raise LikenessError(f"{base.row.key}: the base's weights were not stored before it was tuned")
    with torch.no_grad():
        for name, weight in preserving.interpolated(base=start, tuned=tuned, base_share=base_share).items():
            tuned[name].copy_(weight)


@contextmanager
def moved_towards_base(base: DualEncoder, *, base_share: float) -> Iterator[None]:
    """Within it, the weights are those of `move_towards_base`; afterwards they are as they were."""
    import torch

    before = {name: weight.detach().clone() for name, weight in base.parameters().items()}
    move_towards_base(base, base_share=base_share)
    try:
        yield
    finally:
        with torch.no_grad():
            for name, weight in base.parameters().items():
                weight.copy_(before[name])


def check(row: Model, *, tasks: Sequence[str]) -> None:
    """Raises CannotDo for a row that cannot be tuned on these tasks, before anything is loaded."""
    if row.abilities and "embed_image" not in row.abilities:
        raise CannotDo(f"{row.key} has no vision tower to tune: choose a dual encoder, such as tiny")
    if row.abilities and "embed_text" not in row.abilities and (needed := _with_texts(tasks)):
        raise CannotDo(
            f"{row.key} has no text tower, which the task {needed[0]} needs: choose a dual encoder, such as tiny"
        )
    family = ADAPTERS.get(row.adapter)
    if family is not None and (family.trainable is None or row.adapter not in FAMILIES):
        raise CannotDo(
            f"{row.key}: models of adapter {row.adapter!r} cannot be tuned. Those of {', '.join(FAMILIES)} can"
        )
    if not row.weights:
        raise BadInput(f"{row.key} names no weights, so there is nothing to tune")


def _with_texts(tasks: Sequence[str]) -> list[str]:
    return [task for task in tasks if "text" in TASKS[task]]
