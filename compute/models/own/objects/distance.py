"""A function `distance(a, b)` of two images, or a similarity: on PIL images, or with `preprocess` on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.own.objects.batches import Batches
from compute.models.own.objects.held import Arguments, Held, as_array, worded
from compute.models.own.objects.placement import modules_of
from compute.models.own.objects.signatures import inputs_of
from compute.types import BadInput, CannotDo, LikenessError

if TYPE_CHECKING:
    from compute.models.adapter import Item

KIND = "a function of two images"


def held(arguments: Arguments) -> Held:
    """The function's values, negated where lower is nearer.

    Raises BadInput for what cannot be called with two images.
    """
    arguments.refuse_unused("tokenizer", "processor", kind=KIND)
    model, preprocess = arguments.model, arguments.preprocess
    if not callable(model) or inputs_of(getattr(model, "forward", model)) not in (2, None):
        raise BadInput(
            f"{arguments.of}: higher_is_better= is for a function distance(a, b) of two images, and this object takes "
            f"{'no call' if not callable(model) else 'another number of inputs'}. Leave it out, or pass the function"
        )
    batches = Batches.on(next(iter(modules_of(model)), None), hardware=arguments.hardware)
    settings = {
        "images": "PIL images" if preprocess is None else "the caller's transform",
        "higher_is_better": bool(arguments.higher_is_better),
    }

    comparer = HeldComparer(
        name=arguments.of,
        function=model,
        ready=preprocess,
        batches=batches,
        sign=1.0 if arguments.higher_is_better else -1.0,
        settings=dict(settings),
    )
    return Held(
        kind=KIND,
        abilities=("compare",),
        modalities=("image",),
        make=lambda row, digest: comparer,  # one for all, for its check settles how the function is called
        settings=settings,
        code={"model": model, "preprocess": preprocess},
        packages=("pillow",) if preprocess is None else ("torch", "pillow"),
        advice="The function gets two RGB PIL images, or two lists of them; where it takes tensors, pass preprocess=",
    )


@dataclass(frozen=True, kw_only=True)
class Form:
    """One way to call the function. `call` gives n values for n pairs of images made ready."""

    title: str
    call: Callable[[Sequence[Any], Sequence[Any]], Any]
    batched: bool


@dataclass(kw_only=True)
class HeldComparer:
    """Pairs of images into scores by somebody else's function. `form` is how it is called, settled in its check."""

    name: str
    function: Callable[[Any, Any], Any]
    ready: Callable[[Any], Any] | None
    batches: Batches
    sign: float
    settings: dict[str, Any] = field(default_factory=dict)
    form: Form | None = None

    def forms(self) -> tuple[Form, ...]:
        """The ways to call it, batches first."""
        function, of = self.function, self.batches.of
        if self.ready is None:
            return (
                Form(title="lists of PIL images", batched=True, call=lambda a, b: function(list(a), list(b))),
                Form(title="single PIL images", batched=False, call=lambda a, b: function(a[0], b[0])),
            )
        return (
            Form(title="batches of tensors", batched=True, call=lambda a, b: function(of(a), of(b))),
            Form(title="single tensors", batched=False, call=lambda a, b: function(of(a)[0], of(b)[0])),
        )

    def settle(self, form: Form) -> None:
        """Has the function called in this way from now on."""
        self.form = form
        self.settings["called_with"] = form.title

    def compare(self, first: Sequence[Item] | None, second: Sequence[Item]) -> np.ndarray:
        """(n,) float64, higher is nearer. Raises CannotDo for single images, and what the function raises."""
        if first is None:
            raise CannotDo(f"{self.name} compares two images, and scores no single one")
        if self.form is None:
            raise LikenessError(f"{self.name} is called before its check has settled how")
        return self.sign * self.values(self.form, self.prepared(first), self.prepared(second))

    def prepared(self, images: Sequence[Any]) -> list[Any]:
        """The images as the function takes them. Raises BadInput where the preparation fails."""
        if self.ready is None:
            return list(images)
        try:
            return [self.ready(image) for image in images]
        except Exception as error:
            raise BadInput(f"the model's preprocessing raised {worded(error)}") from error

    def values(self, form: Form, first: Sequence[Any], second: Sequence[Any]) -> np.ndarray:
        """(n,) float64 as the function gives them. Raises BadInput for another number of values."""
        import torch

        with torch.inference_mode():
            if form.batched:
                return _numbers(form.call(first, second), count=len(first), of=self.name)
            pairs = zip(first, second, strict=True)
            return np.concatenate([_numbers(form.call([a], [b]), count=1, of=self.name) for a, b in pairs])


def _numbers(output: Any, *, count: int, of: str) -> np.ndarray:
    array = as_array(output, of=of)
    if array.size != count:
        raise BadInput(f"{of} gave {array.size} numbers (shape {array.shape}) for {count} pairs; expected one a pair")
    return array.reshape(count).astype(np.float64)
