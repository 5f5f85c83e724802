"""What the caller gives of a model, what is read of it, and the encoder around it."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.types import BadInput, CannotDo

if TYPE_CHECKING:
    import torch

    from compute.models.adapter import Comparer, Encoder, Hardware, Item, Judge
    from compute.models.encoders.towers import Towers
    from compute.types import Model

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


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


@dataclass(frozen=True, kw_only=True)
class Wrapped:
    """An object read as a model. `make(row, digest)` gives the model; `settings` and `code` decide its numbers."""

    abilities: tuple[str, ...]
    modalities: tuple[str, ...]
    make: Callable[[Model, str], Encoder | Comparer | Judge]  # by its row and the digest of its identity
    settings: Mapping[str, Any]
    code: Mapping[str, Any]  # what is digested, by its role: the object itself, preprocessing, tokenizer
    packages: tuple[str, ...] = ()
    uncertain: bool = False  # whether only its check tells which of the modalities it takes
    late_interaction: bool = False  # gives many vectors an item
    advice: str = ""  # what to pass where the object does not run, as a sentence


@dataclass(frozen=True, kw_only=True)
class Side:
    """One modality of an encoder: `ready` prepares an item on the CPU, in many threads; `run` takes a batch of them.

    `run` may give anything that `as_vectors` reads, or `as_matrices` for late interaction.
    """

    ready: Callable[[Any], Any]
    run: Callable[[Sequence[Any]], Any]


@dataclass(kw_only=True)
class WrappedEncoder:
    """Images and texts into vectors by somebody else's code: what it raises and what it gives is checked."""

    name: str
    sides: Mapping[str, Side]
    settings: dict[str, Any] = field(default_factory=dict)
    late_interaction: bool = False

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

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray | list[np.ndarray]:
        """(n, d) float32, or (vectors, d) an item. Raises what the model raises, and BadInput for other output."""
        import torch

        with torch.inference_mode():
            output = self.sides[modality].run(prepared)
            return (as_matrices if self.late_interaction else as_vectors)(output, count=len(prepared), of=self.name)


def encoder(
    sides: Mapping[str, Side],
    *,
    settings: Mapping[str, Any],
    code: Mapping[str, Any],
    packages: tuple[str, ...],
    advice: str,
    uncertain: bool = False,
    late_interaction: bool = False,
) -> Wrapped:
    """An encoder of these sides, read of an object. Raises BadInput for late interaction of texts alone: such a model
    encodes a query otherwise than a document, and here each text is encoded once."""
    if late_interaction and "image" not in sides:
        raise BadInput("A late-interaction model of texts alone has no scores here: evaluate it with mteb.evaluate")
    return Wrapped(
        abilities=tuple(f"embed_{modality}" for modality in sides),
        modalities=tuple(sides),
        make=lambda row, digest: WrappedEncoder(
            name=row.key, sides=sides, settings=dict(settings), late_interaction=late_interaction
        ),
        settings=settings,
        code=code,
        packages=packages,
        uncertain=uncertain,
        late_interaction=late_interaction,
        advice=advice,
    )


def sides_of(towers: Towers) -> dict[str, Side]:
    """The sides of a library's own model, whose items go through towers."""
    has = [modality for modality in ("image", "text") if getattr(towers, modality) is not None]
    return {side: Side(ready=partial(towers.prepare, side), run=partial(towers.embed, side)) for side in has}


def as_vectors(output: Any, *, count: int, of: str) -> np.ndarray:
    """(count, d) float32 of whatever a model gives: an array, a tensor on any device and in any precision, or a list
    of vectors. Raises BadInput."""
    array = as_array(output, of=of)
    if array.ndim != 2 or len(array) != count or not array.shape[1]:
        hint = ". It looks like one vector a token: pool them" if array.ndim == 3 and len(array) == count else ""
        raise BadInput(f"{of} gave an array of shape {array.shape} for {count} items; expected ({count}, d){hint}")
    return np.ascontiguousarray(array, dtype=np.float32)


def as_matrices(output: Any, *, count: int, of: str) -> list[np.ndarray]:
    """(vectors, d) float32 an item, at least one, of a list of such or an array (count, longest, d) filled up with
    zeros, which are taken off. Raises BadInput."""
    parts = [as_array(part, of=of).astype(np.float32) for part in output]
    if len(parts) != count or any(part.ndim != 2 or not part.size for part in parts):
        shapes = ", ".join(str(part.shape) for part in parts[:3])
        raise BadInput(f"{of} gave {len(parts)} arrays ({shapes}) for {count} items; expected (vectors, d) each")
    return [part[: np.flatnonzero(part.any(axis=1)).max(initial=0) + 1] for part in parts]


def as_array(output: Any, *, of: str) -> np.ndarray:
    """The output as a numpy array of numbers. Raises BadInput."""
    try:
        array = _array(output)
    except (ValueError, TypeError) as error:
        raise BadInput(f"{of} gave a {type(output).__name__}, not an array ({worded(error)})") from error
    if array.dtype.kind not in "fiub":
        raise BadInput(f"{of} gave a {type(output).__name__}, not an array of real numbers")
    return array


def _array(output: Any) -> np.ndarray:
    if hasattr(output, "detach"):  # a tensor
        output = output.detach().cpu()
        return (output.float() if output.is_floating_point() else output).numpy()
    return np.array([_array(part) for part in output]) if isinstance(output, list | tuple) else np.asarray(output)


def worded(error: BaseException) -> str:
    """An error of the caller's own code in one line: its class and what it says."""
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def weight_of(module: torch.nn.Module) -> torch.Tensor | None:
    """A floating-point weight of the precision that most of a module's numbers have; None where it has none."""
    weights = [weight for weight in module.parameters() if weight.is_floating_point()]
    sizes: Counter[torch.dtype] = Counter()
    for weight in weights:
        sizes[weight.dtype] += weight.numel()
    usual = max(sizes, key=sizes.__getitem__, default=None)
    return next((weight for weight in weights if weight.dtype == usual), None)


def inputs_of(function: Callable[..., Any]) -> int | None:
    """The number of inputs without a default, which tells a metric from a judge; None where the function does not say,
    as with *args."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return sum(parameter.kind in POSITIONAL and parameter.default is parameter.empty for parameter in parameters)
