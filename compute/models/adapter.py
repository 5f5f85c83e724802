"""What an adapter gives: a loaded model behind one of three small interfaces; and the options of its family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from compute.content.messages import Question, Reply
from compute.types import BadInput, Model

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from PIL import Image

    from compute.models.files.downloads import Published

    Item = Image.Image | str | tuple[Image.Image, str]


class Encoder(Protocol):
    """Turns images, texts or pairs of both into vectors.

    `settings` is everything that decides the numbers and is only known once loaded: preprocessing, pooling, prompt,
    the commit that a branch stood for.
    """

    settings: dict[str, Any]

    def prepare(self, modality: str, item: Item) -> Any:
        """One decoded RGB image, text or pair, made ready on the CPU. Thread-safe."""

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray | list[np.ndarray]:
        """(n, d) float32 of a batch, not normalised unless the checkpoint itself does; of a late-interaction model
        (vectors, d) per item."""


class Comparer(Protocol):
    """Scores pairs of images."""

    settings: dict[str, Any]

    def compare(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64; higher is nearer, so distances come negated."""


class Judge(Protocol):
    """Answers questions in words."""

    settings: dict[str, Any]

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """One reply a question, in order."""


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Where a model runs and in what precision."""

    device: str  # cpu | cuda | cuda:1 | mps
    dtype: str  # float32 | bfloat16 | float16
    chosen: bool = True  # False: the dtype is the device's usual one, which models that need float32 do not take

    @cached_property
    def torch_dtype(self) -> torch.dtype:
        """The precision as torch's own."""
        import torch

        return getattr(torch, self.dtype)

    def placed(self, module: torch.nn.Module) -> torch.nn.Module:
        """Returns the module on the device and in the precision, for inference only."""
        return module.to(self.device, self.torch_dtype).eval().requires_grad_(False)


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """How one family of models is loaded, and which files of a checkpoint it reads, as patterns of file names.

    `load(row, hardware, folder)` gets the folder of the checkpoint's files. `weights`: the first pattern with a match
    counts, and a row's option `file` replaces them; `needs`: one file of each group. With neither, the family has no
    files and `folder` is None, as for a row without weights.
    """

    load: Callable[[Model, Hardware, Path | None], Encoder | Comparer | Judge]
    packages: tuple[str, ...] = ()  # they decide numbers: by major and minor version
    weights: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    also: tuple[str, ...] = ()  # read where they exist
    bounds: tuple[float, float] | None = None  # of what its `compare` gives; None: it has none on one side or both
    variable: str = ""  # the environment variable with the address of its endpoint, without which it cannot run
    published: Callable[[Model], Iterable[Published]] = lambda row: ()  # files a row needs from URLs, in order
    bundled: Callable[[Model], Iterable[Path]] = lambda row: ()  # files with weights that an installed package brings
    trainable: Callable[[Model, Hardware, Path], Encoder] | None = None  # `load` with a torch module behind both towers
    joint: bool = False  # embeds an image with its text in one prompt
    version: int = 1  # raise it when the adapter's numbers change


def chosen(row: Model, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """`defaults` with the row's options in them. Raises BadInput on an option that the family does not know."""
    unknown = sorted(set(row.options) - set(defaults))
    if unknown:
        known = ", ".join(sorted(defaults)) or "none"
        raise BadInput(f"{row.key}: adapter {row.adapter!r} has no option {unknown[0]!r}. Its options: {known}")
    return {**defaults, **row.options}
