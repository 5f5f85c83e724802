"""Adapters: a loaded model behind one of three small interfaces, and the options of its family.

Most encoders are Towers, with one tower each for images and texts, from any library.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from compute.content.messages import Question, Reply
from compute.types import BadInput, CannotDo, Model

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from PIL import Image

    from compute.models.files.downloads import Published

    Item = Image.Image | str | tuple[Image.Image, str]

BUCKETS = (8, 16, 24, 32, 48, 64)  # tokens: finer buckets mean less padding but smaller batches
# How texts are padded: BUCKETED if a tower sees nothing after the end token.
MASKED, FULL, BUCKETED = "to the longest, masked", "to max_tokens, not masked", "to the next of "


class Encoder(Protocol):
    """Embeds images, texts or image-text pairs as vectors.

    `settings` holds everything that affects the numbers and is known only after loading: preprocessing, pooling,
    prompt, the commit of a branch.
    """

    settings: dict[str, Any]

    def prepare(self, modality: str, item: Item) -> Any:
        """Prepares one decoded RGB image, text or pair on the CPU. Thread-safe."""

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray | list[np.ndarray]:
        """Returns (n, d) float32 for a batch, normalised only if the checkpoint does so. A late-interaction model
        returns (vectors, d) per item.
        """


class Comparer(Protocol):
    """Scores pairs of images."""

    settings: dict[str, Any]

    def compare(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> np.ndarray:
        """Returns (n,) float64; higher is nearer, so distances are negated."""


class Judge(Protocol):
    """Answers questions in words."""

    settings: dict[str, Any]

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Returns one reply per question, in order."""


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Where a model runs and in what precision."""

    device: str  # cpu | cuda | cuda:1 | mps
    dtype: str  # float32 | bfloat16 | float16
    chosen: bool = True  # False: the dtype is the device's default, which models that need float32 override

    @cached_property
    def torch_dtype(self) -> torch.dtype:
        """Returns the precision as a torch dtype."""
        import torch

        return getattr(torch, self.dtype)

    def placed(self, module: torch.nn.Module) -> torch.nn.Module:
        """Returns the module on the device and in the precision, for inference only."""
        return module.to(self.device, self.torch_dtype).eval().requires_grad_(False)


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """How one family of models is loaded, and which files of a checkpoint it reads, as file name patterns.

    `load(row, hardware, folder)` gets the folder with the checkpoint's files. `weights`: the first pattern with a match
    is used, and a row's option `file` replaces the patterns. `needs`: one file of each group. With neither, the family
    has no files and `folder` is None, as for a row without weights.
    """

    load: Callable[[Model, Hardware, Path | None], Encoder | Comparer | Judge]
    packages: tuple[str, ...] = ()  # they affect numbers: recorded by major and minor version
    weights: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    also: tuple[str, ...] = ()  # read if they exist
    bounds: tuple[float, float] | None = None  # of the values of its `compare`; None if either side is unbounded
    variable: str = ""  # environment variable with its endpoint's address, without which it cannot run
    published: Callable[[Model], Iterable[Published]] = lambda row: ()  # files that a row needs from URLs, in order
    bundled: Callable[[Model], Iterable[Path]] = lambda row: ()  # files of weights in an installed package
    trainable: Callable[[Model, Hardware, Path], Encoder] | None = None  # `load` with a torch module behind both towers
    joint: bool = False  # embeds an image with its text in one prompt
    version: int = 1  # increase it when the adapter's numbers change


def chosen(row: Model, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `defaults` updated with the row's options. Raises BadInput for an option that the family does not
    know.
    """
    unknown = sorted(set(row.options) - set(defaults))
    if unknown:
        known = ", ".join(sorted(defaults)) or "none"
        raise BadInput(f"{row.key}: adapter {row.adapter!r} has no option {unknown[0]!r}. Its options: {known}")
    return {**defaults, **row.options}


# ---- the encoder that most families return


@dataclass(kw_only=True)
class ImageTower:
    """`ready` prepares an image's tensors, without a batch dimension; `run` maps them, stacked on the device, to (n,
    d).
    """

    ready: Callable[[Image.Image], Mapping[str, torch.Tensor]]
    run: Callable[[Mapping[str, torch.Tensor]], torch.Tensor]


@dataclass(kw_only=True)
class TextTower:
    """`ready` returns a text's tokens; `run` maps ids and mask (n, longest) to (n, d).

    `pad` fills up to the longest text of the batch. For a causal tower, it fills up to the next of `buckets`, so that a
    text's vector never depends on its neighbours. If the checkpoint was trained that way, it fills up to `length`
    tokens. Padding is on the left if the tokenizer pads on the left.
    """

    ready: Callable[[str], Sequence[int]]
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    pad: int
    length: int | None = None
    buckets: tuple[int, ...] = ()
    left: bool = False


def buckets(limit: int) -> tuple[int, ...]:
    """Returns the lengths that texts of at most `limit` tokens are padded to, for a tower that sees no padding."""
    return (*(size for size in BUCKETS if size < limit), limit)


def text_tower(
    ready: Callable[[str], Sequence[int]],
    *,
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    tokenizer: str,
    longest: int,
    prefix: str,
    padding: str,
    pad: int = 0,
    left: bool = False,
) -> tuple[TextTower, dict[str, Any]]:
    """Returns the text tower of `ready`, which yields at most `longest` tokens of `prefix` and a text, and its
    settings.
    """
    tower = TextTower(ready=ready, run=run, pad=pad, left=left)
    if padding == FULL:
        tower.length = longest
    elif padding == BUCKETED:
        tower.pad, tower.left, tower.buckets = 0, False, buckets(longest)
        padding += ", ".join(map(str, tower.buckets))
    return tower, {
        "tokenizer": tokenizer,
        "max_tokens": longest,
        "longer": "cut",
        "prefix": prefix,
        "padding": padding,
        "padding_side": "left" if tower.left else "right",
    }


@dataclass(kw_only=True)
class Towers:
    """Encodes images, texts, or both. With `normalise`, vectors have unit length. Each tower is optional; without it,
    the model lacks that ability.
    """

    name: str
    settings: dict[str, Any]
    hardware: Hardware
    image: ImageTower | None = None
    text: TextTower | None = None
    normalise: bool = False
    module: torch.nn.Module | None = None  # the library's model behind both towers, for training

    def __post_init__(self) -> None:
        self.settings = json.loads(json.dumps(self.settings))  # as they are stored: lists, not tuples

    def prepare(self, modality: str, item: Item) -> Any:
        """Returns an image's tensors or a text's tokens. Raises CannotDo for a modality without a tower."""
        tower = {"image": self.image, "text": self.text}.get(modality)
        if tower is None:
            takes = " and ".join(f"{name}s" for name in ("image", "text") if getattr(self, name) is not None)
            raise CannotDo(f"{self.name} embeds {takes} only, not a {modality}")
        if modality == "text":
            return tower.ready(item)
        # Converted to the model's precision here, in one of many threads, so that half as much is moved to the device.
        made = tower.ready(in_rgb(item)).items()
        return {name: v.to(self.hardware.torch_dtype) if v.is_floating_point() else v for name, v in made}

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray:
        """Returns (n, d) float32."""
        import torch

        with torch.inference_mode():
            vectors = self.run(modality, prepared).float()
            if self.normalise:
                vectors = torch.nn.functional.normalize(vectors, dim=-1)
            return vectors.cpu().numpy()

    def run(self, modality: str, prepared: Sequence[Any]) -> torch.Tensor:
        """Returns (n, d) on the device, as the tower computes them: not normalised, and with gradients."""
        if modality == "text":
            return self._texts(prepared)
        return self.image.run({name: self._batch([item[name] for item in prepared]) for name in prepared[0]})

    def _batch(self, values: list[torch.Tensor]) -> torch.Tensor:
        """Returns the stacked values on the device. For CUDA they pass through pinned memory, which makes copies
        fast.
        """
        import torch

        if not self.hardware.device.startswith("cuda"):
            return torch.stack(values).to(self.hardware.device)
        pinned = torch.empty((len(values), *values[0].shape), dtype=values[0].dtype, pin_memory=True)
        return torch.stack(values, out=pinned).to(self.hardware.device, non_blocking=True)

    def _texts(self, prepared: Sequence[Sequence[int]]) -> torch.Tensor:
        import torch

        groups: dict[int, list[int]] = defaultdict(list)  # length -> rows
        longest = self.text.length or max(len(tokens) for tokens in prepared)
        for row, tokens in enumerate(prepared):
            groups[next((size for size in self.text.buckets if size >= len(tokens)), longest)].append(row)
        vectors = [self._read([prepared[row] for row in rows], length) for length, rows in groups.items()]
        if len(groups) == 1:
            return vectors[0]
        order = torch.tensor([row for rows in groups.values() for row in rows])
        return torch.cat(vectors)[order.argsort().to(vectors[0].device)]

    def _read(self, prepared: Sequence[Sequence[int]], length: int) -> torch.Tensor:
        """Returns (n, d) for texts padded to one length."""
        import torch

        ids = torch.full((len(prepared), length), self.text.pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, tokens in enumerate(prepared):
            columns = slice(length - len(tokens), None) if self.text.left else slice(len(tokens))
            ids[row, columns], mask[row, columns] = torch.as_tensor(tokens), 1
        return self.text.run(ids.to(self.hardware.device), mask.to(self.hardware.device))


def in_rgb(image: Image.Image) -> Image.Image:
    """Converts an image to RGB; returns the image itself if it is RGB already."""
    return image if image.mode == "RGB" else image.convert("RGB")
