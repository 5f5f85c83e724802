"""A function `distance(a, b)` of two images, or a similarity: on PIL images, or with `preprocess` on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.own.objects.batches import Batches
from compute.models.own.objects.placement import modules_of
from compute.models.own.objects.wrapped import Arguments, Wrapped, as_array, inputs_of, worded
from compute.types import BadInput, CannotDo

if TYPE_CHECKING:
    from compute.models.adapter import Item

KIND, TAKES = "a function of two images", ("preprocess", "higher_is_better")


def wrap(arguments: Arguments) -> Wrapped:
    """The function's values, negated where lower is nearer. Raises BadInput for what takes no two images."""
    model, preprocess = arguments.model, arguments.preprocess
    if not callable(model) or inputs_of(getattr(model, "forward", model)) not in (2, None):
        raise BadInput(f"{arguments.of}: higher_is_better= is for a function distance(a, b) of two images")
    settings = {
        "images": "PIL images" if preprocess is None else "the caller's transform",
        "higher_is_better": bool(arguments.higher_is_better),
    }
    comparer = WrappedComparer(
        name=arguments.of,
        function=model,
        preprocess=preprocess,
        batches=Batches.on(next(iter(modules_of(model)), None), hardware=arguments.hardware),
        sign=1.0 if arguments.higher_is_better else -1.0,
        settings=dict(settings),
    )
    return Wrapped(
        abilities=("compare",),
        modalities=("image",),
        make=lambda row, digest: comparer,  # one for all, for its check settles how the function is called
        settings=settings,
        code={"model": model, "preprocess": preprocess},
        packages=("pillow",) if preprocess is None else ("torch", "pillow"),
        advice="The function gets two RGB PIL images, or two lists of them; where it takes tensors, pass preprocess=",
    )


@dataclass(kw_only=True)
class WrappedComparer:
    """Pairs of images into scores by somebody else's function. `batched`, whether it takes several pairs at once, is
    settled in its check."""

    name: str
    function: Callable[[Any, Any], Any]
    preprocess: Callable[[Any], Any] | None
    batches: Batches
    sign: float
    settings: dict[str, Any] = field(default_factory=dict)
    batched: bool = True

    def way(self, batched: bool) -> str:
        """In words how the function is called."""
        if self.preprocess is None:
            return "lists of PIL images" if batched else "single PIL images"
        return "batches of tensors" if batched else "single tensors"

    def compare(self, first: Sequence[Item] | None, second: Sequence[Item]) -> np.ndarray:
        """(n,) float64, higher is nearer. Raises CannotDo for single images, and what the function raises."""
        if first is None:
            raise CannotDo(f"{self.name} compares two images; it cannot score one alone")
        return self.sign * self.values(self.batched, self.prepared(first), self.prepared(second))

    def prepared(self, images: Sequence[Any]) -> list[Any]:
        """The images as the function takes them. Raises BadInput where the preparation fails."""
        if self.preprocess is None:
            return list(images)
        try:
            return [self.preprocess(image) for image in images]
        except Exception as error:
            raise BadInput(f"the model's preprocessing raised {worded(error)}") from error

    def values(self, batched: bool, first: Sequence[Any], second: Sequence[Any]) -> np.ndarray:
        """(n,) float64 as the function gives them. Raises BadInput for another number of values."""
        import torch

        stacked = list if self.preprocess is None else self.batches.of
        with torch.inference_mode():
            if batched:
                return self._numbers(self.function(stacked(first), stacked(second)), count=len(first))
            pairs = ((stacked([one])[0], stacked([other])[0]) for one, other in zip(first, second, strict=True))
            return np.concatenate([self._numbers(self.function(*pair), count=1) for pair in pairs])

    def _numbers(self, output: Any, *, count: int) -> np.ndarray:
        array = as_array(output, of=self.name)
        if array.size != count:
            raise BadInput(f"{self.name} gave {array.size} numbers for {count} pairs; expected one a pair")
        return array.reshape(count).astype(np.float64)
