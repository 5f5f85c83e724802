"""What an object is checked for before anything long begins, on a few small images and texts.

Each item is run in one batch with all, half of them in another order and prepared again, and the first by itself: a
sound model gives the same vectors each time, and costs 13 items. Only where they differ is it run again to say why.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.content.messages import Picture, Question
from compute.models.own.objects.distance import Form, HeldComparer
from compute.models.own.objects.held import Held, HeldEncoder, weight_of, worded
from compute.models.own.objects.judge import HeldJudge
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

COUNT = 8  # images, and as many texts
# Largest difference between two vectors of the same item, as a share of the vector's length. Batches of another size
# are summed in another order: 1e-6 in float32, 1e-3 with TensorFloat-32; a wrong vector differs by tenths.
TOLERANCE = {"float32": 5e-3, "float64": 5e-3, "float16": 2e-2, "bfloat16": 5e-2}
CONSTANT = 1e-6  # the largest difference between vectors of different items that are taken for one and the same
COMPARED = 1e-2  # the same of a metric's values, as a share of the largest
WORDS = ("a", "red", "small", "photo", "of", "two", "dogs", "under", "the", "old", "table", "near", "water")


def images(count: int = COUNT) -> list[Image.Image]:
    """Coloured slopes with noise, RGB, of 40 to 95 pixels a side and different shapes: the same ones every time."""
    from PIL import Image

    made = []
    for at in range(count):
        rng = np.random.default_rng(at)
        width, height = 40 + 5 * at, 95 - 5 * at
        slope = np.linspace(0, 150, width)[None, :, None] * np.linspace(0.3, 1, height)[:, None, None]
        pixels = slope * rng.uniform(0.4, 1, 3) + rng.integers(0, 100, (height, width, 3))
        made.append(Image.fromarray(pixels.astype(np.uint8)))
    return made


def texts(count: int = COUNT) -> list[str]:
    """English phrases of 2 to 9 words, all different."""
    return [" ".join(WORDS[(at + word) % len(WORDS)] for word in range(2 + at)) for at in range(count)]


ITEMS: dict[str, Callable[[], Sequence[Any]]] = {"image": images, "text": texts}


class Raised(BadInput):
    """The object itself raised an error in its check."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What the check tells of an object."""

    modalities: tuple[str, ...]  # those that it takes
    length: int | None = None  # of its vectors
    remark: str = ""  # what is odd about its vectors, and no reason to refuse it


def check(
    held: Held, *, row: Model, digest: str, of: str, modules: Sequence[torch.nn.Module], batch_size: int | None
) -> Checked:
    """Runs the object on the probe; `of` is its name in messages.

    Raises BadInput that says which check fails, by how much, and what to do.
    """
    refuse_batch_statistics(modules, of=of)
    with unchanged(modules):
        model = held.make(row, digest)
        if isinstance(model, HeldEncoder):
            return _check_encoder(model, held, of=of, modules=modules, most=batch_size or COUNT)
        if isinstance(model, HeldComparer):
            _check_comparer(model, held, of=of, modules=modules, most=batch_size or COUNT)
        if isinstance(model, HeldJudge):
            _check_judge(model, of=of)
    return Checked(modalities=held.modalities)


def refuse_batch_statistics(modules: Sequence[torch.nn.Module], *, of: str) -> None:
    """Raises BadInput where a layer in training mode would normalise by its batch, and change as it runs."""
    if not modules:
        return
    from torch.nn.modules.batchnorm import _BatchNorm

    for module in modules:
        for name, part in module.named_modules():
            if part.training and isinstance(part, _BatchNorm):
                raise BadInput(
                    f"{of} is in training mode: its layer {name} normalises each batch by itself and changes as it "
                    "runs. Call .eval() on the model first"
                )


@contextlib.contextmanager
def unchanged(modules: Sequence[torch.nn.Module]) -> Iterator[None]:
    """Puts back the training flags and devices that the caller's own code changes while it runs."""
    flags = [(part, part.training) for module in modules for part in module.modules()]
    devices = [(module, next((weight.device for weight in module.parameters()), None)) for module in modules]
    try:
        yield
    finally:
        for part, training in flags:
            part.training = training
        for module, device in devices:
            if device is not None and next(module.parameters()).device != device:
                module.to(device)


@dataclass(frozen=True, kw_only=True)
class _EncoderCheck:
    """One modality of an encoder under its check."""

    encoder: HeldEncoder
    held: Held
    of: str
    modality: str
    training: bool
    most: int  # items in one batch
    tolerance: float

    def run(self) -> np.ndarray:
        """The vectors of the items, (n, d)."""
        items = ITEMS[self.modality]()
        prepared = self._prepared(items)
        first = self._embedded(prepared)
        if not np.isfinite(first).all():
            count = int((~np.isfinite(first).all(axis=1)).sum())
            raise BadInput(
                f"{self.of} gives values that are not finite (NaN or infinite) for {count} of {len(items)} "
                f"{self.modality}s of the probe. Check its weights, its precision and its preprocessing"
            )
        order = np.random.default_rng(0).permutation(len(items))
        half = order[: len(order) // 2]
        mixed = self._embedded(self._prepared([items[at] for at in half]))
        alone = self._embedded(prepared[:1])
        if not (self._same(first[half], mixed) and self._same(first[:1], alone)):
            self._explain(items, prepared, first, order)
        return first

    def _explain(self, items: Sequence[Any], prepared: Sequence[Any], first: np.ndarray, order: np.ndarray) -> None:
        """Raises BadInput with what it is that changes the vectors."""
        self._compare(first, self._embedded(prepared), "is not deterministic", self._randomness())
        again = self._prepared(items)
        self._compare(
            first,
            self._embedded(again),
            "is not deterministic",
            "Its preprocessing gives another result each time. Pass the transform of its evaluation, without random "
            "crops, flips or colours",
        )
        permuted = self._embedded([prepared[at] for at in order])
        self._compare(first[order], permuted, "depends on the order of a batch", self._dependence())
        alone = np.concatenate([self._embedded([item]) for item in prepared])
        self._compare(first, alone, "depends on what else is in a batch", self._dependence())
        raise BadInput(f"{self.of} is not deterministic: some of its vectors differed once. {self._randomness()}")

    def _prepared(self, items: Sequence[Any]) -> list[Any]:
        try:
            return [self.encoder.prepare(self.modality, item) for item in items]
        except BadInput as error:
            raise BadInput(f"{self.of}, on a {self.modality} of the probe: {error}. {self.held.advice}") from error

    def _embedded(self, prepared: Sequence[Any]) -> np.ndarray:
        parts = [prepared[start : start + self.most] for start in range(0, len(prepared), self.most)]
        try:
            return np.concatenate([self.encoder.embed(self.modality, part) for part in parts])
        except BadInput as error:
            raise BadInput(f"{error}. {self.held.advice}".replace("..", ".")) from error
        except Exception as error:
            raise Raised(
                f"{self.of} raised {worded(error)}, for {len(parts[0])} {self.modality}s of the probe. "
                f"{self.held.advice}"
            ) from error

    def _same(self, expected: np.ndarray, other: np.ndarray) -> bool:
        return distance(expected, other) <= self.tolerance

    def _compare(self, expected: np.ndarray, other: np.ndarray, fault: str, remedy: str) -> None:
        if not self._same(expected, other):
            raise BadInput(
                f"{self.of} {fault}: vectors of the same {self.modality}s differ by up to "
                f"{distance(expected, other):.2g} of their length (allowed: {self.tolerance:g}). {remedy}"
            )

    def _randomness(self) -> str:
        if self.training:
            return "It is in training mode, where dropout draws at random: call .eval() on the model first"
        return "It draws at random: fix its seed within the call, or turn the sampling off"

    def _dependence(self) -> str:
        if self.training:
            return "It is in training mode: call .eval() on the model first"
        if self.most > 1:
            return "Mask the padding, and normalise by stored statistics; or run every item by itself: batch_size=1"
        return "It carries a state from one call to the next: reset it at each call"


def distance(expected: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two vectors of the same item, as a share of the expected vector's length."""
    if expected.shape != other.shape:
        return float("inf")
    lengths = np.linalg.norm(expected, axis=1)
    return float((np.linalg.norm(other - expected, axis=1) / np.where(lengths > 0, lengths, 1)).max())


def _check_encoder(
    encoder: HeldEncoder, held: Held, *, of: str, modules: Sequence[torch.nn.Module], most: int
) -> Checked:
    weights = [weight for module in modules if (weight := weight_of(module)) is not None]
    dtype = str(weights[0].dtype).removeprefix("torch.") if weights else "float32"
    vectors: dict[str, np.ndarray] = {}
    raised: list[Raised] = []
    for modality in encoder.sides:
        probe = _EncoderCheck(
            encoder=encoder,
            held=held,
            of=of,
            modality=modality,
            training=_is_training(modules),
            most=min(most, COUNT),
            tolerance=TOLERANCE.get(dtype, max(TOLERANCE.values())),
        )
        try:
            vectors[modality] = probe.run()
        except Raised as error:
            if not held.uncertain:
                raise
            raised.append(error)
    if not vectors:
        raise raised[0]
    lengths = {modality: found.shape[1] for modality, found in vectors.items()}
    if len(set(lengths.values())) > 1:
        raise BadInput(
            f"{of} gives vectors of {lengths['image']} numbers for images and {lengths['text']} for texts, which "
            "cannot be compared. Project both to one length, or pass an object that embeds one of the two"
        )
    constant = [f"{modality}s" for modality, found in vectors.items() if _all_the_same(found)]
    remark = (
        f"{of} gives the same vector for all {COUNT} {' and for all '.join(constant)} of the probe, so that nothing "
        "tells one from another and every comparison of them is a tie. Check that its weights are loaded and that its "
        "preprocessing and pooling pass on what differs"
    )
    return Checked(modalities=tuple(lengths), length=next(iter(lengths.values())), remark=remark if constant else "")


def _all_the_same(vectors: np.ndarray) -> bool:
    """Whether the vectors (n, d) differ by no more than rounding."""
    return distance(np.broadcast_to(vectors[:1], vectors.shape), vectors) <= CONSTANT


def _check_comparer(
    comparer: HeldComparer, held: Held, *, of: str, modules: Sequence[torch.nn.Module], most: int
) -> None:
    """Settles how the function is called: the first way that runs, and whose values depend on their own pair alone."""
    first = comparer.prepared(images())
    second = [*first[1:], first[0]]
    problems: list[str] = []
    for form in comparer.forms():
        if form.batched and most == 1:
            continue
        try:
            values = comparer.values(form, first, second)
            problem = _comparison_problem(comparer, form, first, second, values)
        except Exception as error:
            problem = worded(error) if not isinstance(error, BadInput) else str(error)
        if problem:
            problems.append(f"with {form.title}: {problem}")
            continue
        _check_direction(comparer, form, first, values, of=of)
        comparer.settle(form)
        return
    training = " It is in training mode: call .eval() on the model first." if _is_training(modules) else ""
    raise BadInput(f"{of} cannot be used as a metric. {'. '.join(problems)}.{training} {held.advice}")


def _comparison_problem(
    comparer: HeldComparer, form: Form, first: Sequence[Any], second: Sequence[Any], values: np.ndarray
) -> str:
    """What is wrong with a function's values; empty where nothing is."""
    if np.isnan(values).any():
        return f"{int(np.isnan(values).sum())} of {len(values)} values are NaN"
    order = np.random.default_rng(0).permutation(len(values))[: len(values) // 2]
    mixed = comparer.values(form, [first[at] for at in order], [second[at] for at in order])
    if _spread(values[order], mixed) <= COMPARED:
        return ""
    again = comparer.values(form, first, second)
    if _spread(values, again) > COMPARED:
        return f"not deterministic: values of the same pairs differ by up to {_spread(values, again):.2g} of their size"
    return f"values depend on what else is in the batch, by up to {_spread(values[order], mixed):.2g} of their size"


def _check_direction(comparer: HeldComparer, form: Form, first: Sequence[Any], values: np.ndarray, *, of: str) -> None:
    """Raises BadInput where every image is further from itself than from the next."""
    same = comparer.values(form, first, first)
    if (comparer.sign * same < comparer.sign * values).all():
        stated = comparer.sign > 0
        raise BadInput(
            f"{of} gives {np.median(same):.4g} for an image with itself and {np.median(values):.4g} for two different "
            f"images (medians of {len(same)}), so higher_is_better={stated} makes every image unlike itself. Pass "
            f"higher_is_better={not stated}"
        )


def _spread(expected: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, as a share of the largest value."""
    finite = np.isfinite(expected) & np.isfinite(other)
    if (expected[~finite] != other[~finite]).any():
        return float("inf")
    largest = np.abs(expected[finite]).max(initial=0.0)
    return float(np.abs(expected - other)[finite].max(initial=0.0) / (largest or 1.0))


def _check_judge(judge: HeldJudge, *, of: str) -> None:
    """Asks one question with an image, through the log of answers: it is not asked again by a later check."""
    from compute.content.items import content_key

    stream = io.BytesIO()
    images(1)[0].save(stream, "PNG")
    data = stream.getvalue()
    picture = Picture(key=content_key(data), name="an image of the probe", read=lambda: data)
    question = Question(item="probe", parts=(picture, "Is this a photograph? Answer with yes or no."))
    reply = judge.reply([question])[0]
    if reply.error:
        raise BadInput(
            f"{of}, asked one question about an image: {reply.error}. It gets a list of messages in the form of "
            "OpenAI's chat API, with images as data URLs, and returns the answer as a text"
        )


def _is_training(modules: Sequence[torch.nn.Module]) -> bool:
    return any(part.training for module in modules for part in module.modules())
