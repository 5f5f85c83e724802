"""An object in memory behind the interfaces of our models: an encoder of callables, a metric of images, a judge."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from compute.content import decoding
from compute.content.messages import STOP, Question, Reply
from compute.models.judges.answer_log import AnswerLog
from compute.models.judges.images import image_part
from compute.types import BadInput, CannotDo, LikenessError

if TYPE_CHECKING:
    import torch

    from compute.models.adapter import Hardware, Item, Towers

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
MESSAGES = {
    "messages": "OpenAI's chat form, one message of the user",
    "images": f"data URLs; PNG where they are not upright RGB in PNG, JPEG or WebP; decoding {decoding.VERSION}",
}


class Given(NamedTuple):
    """The object and the arguments of `wrap`."""

    model: Any
    of: str  # the object's name in messages
    hardware: Hardware
    preprocess: Any = None
    tokenizer: Any = None
    processor: Any = None
    higher_is_better: bool | None = None


# One modality of an encoder: a function from a batch of prepared items to anything that `as_array` reads (for late
# interaction, item by item), and a function that prepares an item on the CPU, in many threads.
Side = tuple[Callable[[Sequence[Any]], Any], Callable[[Any], Any]]


def as_it_is(item: Any) -> Any:
    """Returns the item, which needs no preparation."""
    return item


@dataclass(kw_only=True)
class OwnEncoder:
    """An encoder by somebody else's code: its exceptions and outputs are checked."""

    name: str
    sides: Mapping[str, Side]
    settings: dict[str, Any]
    parts: Mapping[str, Any] = field(default_factory=dict)  # digested in addition to the arguments, by role
    late_interaction: bool = False  # returns many vectors per item
    remark: str = ""

    def prepare(self, modality: str, item: Item) -> Any:
        """Prepares an item. Raises BadInput if the preparation fails."""
        return _prepared(self.sides[modality][1], item)

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray | list[np.ndarray]:
        """Returns (n, d) float32, or (vectors, d) per item. Raises the model's errors, BadInput for other output."""
        import torch

        with torch.inference_mode():
            output, count = self.sides[modality][0](prepared), len(prepared)
            if not self.late_interaction:
                array = as_array(output, of=self.name)
                if array.ndim == 2 and len(array) == count and array.shape[1]:
                    return np.ascontiguousarray(array, dtype=np.float32)
                hint = (
                    ". It looks like one vector a token: pool them" if array.ndim == 3 and len(array) == count else ""
                )
                raise BadInput(
                    f"{self.name} gave an array of shape {array.shape} for {count} items, not ({count}, d){hint}"
                )
            # For a zero-padded array (n, longest, d), the padding is removed.
            parts = [as_array(part, of=self.name).astype(np.float32) for part in output]
        if len(parts) != count or any(part.ndim != 2 or not part.size for part in parts):
            shapes = ", ".join(str(part.shape) for part in parts[:3])
            raise BadInput(f"{self.name} gave {len(parts)} arrays ({shapes}) for {count} items, not (vectors, d) each")
        return [part[: np.flatnonzero(part.any(axis=1)).max(initial=0) + 1] for part in parts]


@dataclass(kw_only=True)
class OwnComparer:
    """A comparer by somebody else's function: of two PIL images or, with `preprocess`, of two batches of tensors."""

    given: Given
    settings: dict[str, Any]

    @property
    def sign(self) -> float:
        """Returns -1 if lower is nearer, otherwise 1."""
        return 1.0 if self.given.higher_is_better else -1.0

    def compare(self, first: Sequence[Item] | None, second: Sequence[Item]) -> np.ndarray:
        """Returns (n,) float64, higher is nearer. Raises CannotDo for single images, BadInput for a wrong number of
        values, and the function's exceptions.
        """
        import torch

        model, of, hardware, preprocess, *_ = self.given
        if first is None:
            raise CannotDo(f"{of} compares two images; it cannot score one alone")
        with torch.inference_mode():
            if preprocess is None:
                output = np.array([as_array(model(*pair), of=of) for pair in zip(first, second, strict=True)])
            else:
                ready = ([_prepared(preprocess, image) for image in side] for side in (first, second))
                output = as_array(model(*(stacked(side, hardware=hardware) for side in ready)), of=of)
        if output.size != len(second):
            raise BadInput(f"{of} gave {output.size} numbers for {len(second)} pairs, not one a pair")
        return self.sign * output.reshape(-1).astype(np.float64)


@dataclass(kw_only=True)
class OwnJudge:
    """A judge by a function `ask(messages) -> text`: it gets questions one by one, and its answers are logged like
    those of other judges.

    `messages` is a list in the format of OpenAI's chat API, with one user message; images are data URLs.
    """

    ask: Callable[[list[dict[str, Any]]], str]
    settings: dict[str, Any]
    answers: AnswerLog | None = None  # its settings include the digest, which distinguishes functions of the same name

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Returns one reply per question, in order; answered questions are not asked again.

        If an answer is not a text, or the function raises an exception, the reply has an `error`. Raises NotHere after
        many consecutive errors, and BadItem for an unreadable image.
        """
        return self.answers.answered(questions, lambda asked: enumerate(map(self._reply, asked)))

    def _reply(self, question: Question) -> Reply:
        messages = question.chat(image_part)
        began = time.perf_counter()
        try:
            text = self.ask(messages)
        except LikenessError:
            raise
        except Exception as error:
            return Reply(item=question.item, error=f"the judge raised {worded(error)}")
        if not isinstance(text, str):
            return Reply(item=question.item, error=f"the judge gave a {type(text).__name__}, not a text")
        return Reply(item=question.item, text=text, finish=STOP, seconds=round(time.perf_counter() - began, 4))


def encoder_of(given: Given, *, image: Callable[..., Any] | None, text: Callable[..., Any] | None) -> OwnEncoder:
    """Returns the encoder of two functions. `image` gets a list of PIL images or, with `preprocess`, a stacked batch of
    its outputs. `text` gets a list of texts or, with `tokenizer`, a batch of their tokens.
    """
    read = None if given.tokenizer is None else tokens_of(given.tokenizer)
    settings, sides = {}, {}
    for modality, function, ready, items, made in (
        ("image", image, given.preprocess, "PIL images", "the caller's transform, stacked"),
        ("text", text, read, "texts", "the caller's tokens, stacked"),
    ):
        if function is not None:
            settings[modality] = items if ready is None else made
            run = partial(_run, function, None if ready is None else given.hardware)
            sides[modality] = run, ready or as_it_is
    return OwnEncoder(name=given.of, sides=sides, settings=settings)


def of_towers(towers: Towers, **parts: Any) -> OwnEncoder:
    """Returns the encoder of a library's model through towers."""
    has = [modality for modality in ("image", "text") if getattr(towers, modality) is not None]
    sides = {side: (partial(towers.embed, side), partial(towers.prepare, side)) for side in has}
    return OwnEncoder(name=towers.name, sides=sides, settings=towers.settings, parts=parts)


def tokens_of(tokenizer: Callable[..., Any]) -> Callable[[str], Any]:
    """Returns a function for a text's tokens, padded to one length: a mapping for a transformers tokenizer, otherwise a
    tensor.

    A transformers tokenizer pads to its `model_max_length`; any other gets a list of one text and returns (1, length).
    """
    longest = getattr(tokenizer, "model_max_length", None)
    if longest is None:
        return lambda text: tokenizer([text])[0]
    if longest > 100_000:
        raise BadInput("tokenizer= has no length that texts are padded to: set tokenizer.model_max_length")

    def ready(text: str) -> Mapping[str, Any]:
        tokens = tokenizer(text, padding="max_length", truncation=True, max_length=longest, return_tensors="np")
        return {name: value[0] for name, value in tokens.items()}

    ready("")  # sets truncation and padding, which are not safe to change in threads
    return ready


def stacked(items: Sequence[Any], *, hardware: Hardware) -> Any:
    """Stacks n tensors or arrays of one shape into (n, ...) on the device; n mappings become a mapping of stacks."""
    if isinstance(items[0], Mapping):
        return {name: stacked([item[name] for item in items], hardware=hardware) for name in items[0]}
    import torch

    batch = torch.stack([torch.as_tensor(item) for item in items])
    return batch.to(hardware.device, hardware.torch_dtype if batch.is_floating_point() else None)


def as_array(output: Any, *, of: str) -> np.ndarray:
    """Returns a model's output as an array: from an array, a tensor on any device and in any precision, or a list of
    these. Raises BadInput.
    """

    def plain(part: Any) -> Any:
        if hasattr(part, "detach"):  # a tensor
            part = part.detach().cpu()
            return (part.float() if part.is_floating_point() else part).numpy()
        return [plain(each) for each in part] if isinstance(part, list | tuple) else part

    try:
        array = np.asarray(plain(output))
    except (ValueError, TypeError):  # lists of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "fiub":
        raise BadInput(f"{of} gave a {type(output).__name__}, not an array of real numbers")
    return array


def worded(error: BaseException) -> str:
    """Returns an error of the caller's code in one line: its class and message."""
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def modules_of(model: Any) -> list[Any]:
    """Returns the torch modules that an object is or has as attributes."""
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    parts = [model] if isinstance(model, torch.nn.Module) else getattr(model, "__dict__", {}).values()
    return [part for part in parts if isinstance(part, torch.nn.Module)]


def weight_of(model: Any) -> torch.Tensor | None:
    """Returns the largest floating-point weight, whose device and precision stand for the model's; None if there is
    none.
    """
    weights = (weight for module in modules_of(model) for weight in module.parameters() if weight.is_floating_point())
    return max(weights, key=lambda weight: weight.numel(), default=None)


def inputs_of(function: Callable[..., Any]) -> int | None:
    """Returns the number of inputs without a default, which distinguishes a metric from a judge; None if it is unknown,
    as with *args.
    """
    try:
        parameters = inspect.signature(getattr(function, "forward", function)).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return sum(parameter.kind in POSITIONAL and parameter.default is parameter.empty for parameter in parameters)


def _run(function: Callable[..., Any], hardware: Hardware | None, items: Sequence[Any]) -> Any:
    """Calls the function with a list of items, or with the batch of stacked items on the hardware."""
    batch = list(items) if hardware is None else stacked(items, hardware=hardware)
    return function(**batch) if isinstance(batch, Mapping) else function(batch)


def _prepared(preprocess: Callable[[Any], Any], item: Any) -> Any:
    try:
        return preprocess(item)
    except (BadInput, MemoryError):
        raise
    except Exception as error:
        raise BadInput(f"the model's preprocessing raised {worded(error)}") from error
