"""What the caller gives of a model, what is read of it, and the encoder around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.types import BadInput, CannotDo

if TYPE_CHECKING:
    import torch

    from compute.models.adapter import Comparer, Encoder, Hardware, Item, Judge
    from compute.models.encoders.towers import Towers
    from compute.types import Model

    Make = Callable[[Model, str], Encoder | Comparer | Judge]  # by its row and the digest of its identity


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The object and what `wrap` was called with."""

    model: Any
    of: str  # how messages name the object
    preprocess: Any = None
    tokenizer: Any = None
    processor: Any = None
    higher_is_better: bool | None = None
    hardware: Hardware
    batch_size: int | None = None

    def refuse_unused(self, *names: str, kind: str) -> None:
        """Raises BadInput for arguments that this kind of object has no use for: they would change nothing."""
        for name in names:
            if getattr(self, name) is not None:
                raise BadInput(f"{self.of} is {kind}, which takes no {name}=. Leave it out")


@dataclass(frozen=True, kw_only=True)
class Held:
    """An object read as a model. `make(row, digest)` gives the model; `settings` and `code` decide its numbers."""

    kind: str  # in words: "an open_clip model"
    abilities: tuple[str, ...]
    modalities: tuple[str, ...]
    make: Make
    settings: Mapping[str, Any]
    code: Mapping[str, Any]  # what is digested, by its role: the object itself, preprocessing, tokenizer
    packages: tuple[str, ...] = ()
    uncertain: bool = False  # whether only its check tells which of the modalities it takes
    advice: str = ""  # what to pass where the object does not run, as a sentence


@dataclass(frozen=True, kw_only=True)
class Side:
    """One modality of an encoder: `ready` prepares an item on the CPU, in many threads; `run` takes a batch of them.

    `run` may give anything that `as_vectors` reads.
    """

    ready: Callable[[Any], Any]
    run: Callable[[Sequence[Any]], Any]


@dataclass(kw_only=True)
class HeldEncoder:
    """Images and texts into vectors by somebody else's code: what it raises and what it gives is checked."""

    name: str
    sides: Mapping[str, Side]
    settings: dict[str, Any] = field(default_factory=dict)
    multi_vector: bool = False

    def prepare(self, modality: str, item: Item) -> Any:
        """An item made ready. Raises CannotDo for a modality without a side, BadInput where the preparation fails."""
        if modality not in self.sides:
            takes = " and ".join(f"{name}s" for name in self.sides)
            raise CannotDo(f"{self.name} embeds {takes} only, not a {modality}")
        try:
            return self.sides[modality].ready(item)
        except (BadInput, MemoryError):
            raise
        except Exception as error:
            raise BadInput(f"the model's preprocessing raised {worded(error)}") from error

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray:
        """(n, d) float32. Raises what the model raises, and BadInput for output that is no vector an item."""
        import torch

        with torch.inference_mode():
            output = self.sides[modality].run(prepared)
            return as_vectors(output, count=len(prepared), of=self.name)


def sides_of(towers: Towers, modalities: Sequence[str], settings: Mapping[str, Any]) -> Make:
    """`make` of a Held whose items go through the towers of a library's own model."""

    def side(modality: str) -> Side:
        return Side(
            ready=lambda item: towers.prepare(modality, item), run=lambda prepared: towers.embed(modality, prepared)
        )

    return lambda row, digest: HeldEncoder(
        name=row.key, sides={modality: side(modality) for modality in modalities}, settings=dict(settings)
    )


def as_vectors(output: Any, *, count: int, of: str) -> np.ndarray:
    """(count, d) float32 of whatever a model gives: an array, a tensor on any device and in any precision, or a list
    of vectors. Raises BadInput."""
    array = as_array(output, of=of)
    if array.ndim != 2 or len(array) != count or not array.shape[1]:
        hint = ""
        if array.ndim == 3 and len(array) == count:
            hint = ". It looks like one vector a token: pool them"
        elif array.ndim == 1 and count == 1 or array.ndim == 1 and array.size % count == 0 and array.size != count:
            hint = ". Keep the dimension of the batch"
        raise BadInput(f"{of} gave an array of shape {array.shape} for {count} items; expected ({count}, d){hint}")
    return np.ascontiguousarray(array, dtype=np.float32)


def as_array(output: Any, *, of: str) -> np.ndarray:
    """The output as a numpy array of numbers. Raises BadInput."""
    try:
        array = _array(output)
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{of} gave {_named(output)}, which is no array of numbers ({worded(error)})") from error
    if array.dtype.kind not in "fiub":
        raise BadInput(f"{of} gave {_named(output)}, which is no array of real numbers")
    return array


def _array(output: Any) -> np.ndarray:
    if isinstance(output, np.ndarray):
        return output
    if hasattr(output, "detach"):  # a tensor
        output = output.detach()
        if output.is_sparse:
            output = output.to_dense()
        return (output.float() if output.is_floating_point() else output).cpu().numpy()
    if isinstance(output, list | tuple):
        parts = [_array(part) for part in output]
        if len({part.shape for part in parts}) > 1:
            shapes = ", ".join(dict.fromkeys(str(part.shape) for part in parts))
            raise ValueError(f"its parts have the shapes {shapes}")
        return np.array(parts)
    return np.asarray(output)


def _named(output: Any) -> str:
    return "None" if output is None else f"a {type(output).__name__}"


def worded(error: BaseException) -> str:
    """An error of the caller's own code in one line: its class and what it says."""
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def weight_of(module: torch.nn.Module) -> torch.Tensor | None:
    """A floating-point weight of the precision that most of a module's numbers have; None where it has none."""
    sizes: dict[Any, int] = {}
    first: dict[Any, Any] = {}
    for weight in module.parameters():
        if weight.is_floating_point():
            sizes[weight.dtype] = sizes.get(weight.dtype, 0) + weight.numel()
            first.setdefault(weight.dtype, weight)
    return first[max(sizes, key=sizes.__getitem__)] if sizes else None
