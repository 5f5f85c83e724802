"""What an object is checked for before anything long begins, on a few small images and texts.

Each item is run in one batch with all, half of them in another order and prepared again, and the first by itself: a
sound model gives the same vectors each time, and costs 13 items. Only where they differ is it run again to say why.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.content.items import content_key
from compute.content.messages import Picture, Question
from compute.models.own.objects.distance import WrappedComparer
from compute.models.own.objects.judge import WrappedJudge
from compute.models.own.objects.wrapped import Wrapped, WrappedEncoder, weight_of, worded
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

COUNT = 8  # images, and as many texts
HALF = np.random.default_rng(0).permutation(COUNT)[: COUNT // 2]  # of them, in another order
# Largest difference between two vectors of the same item, as a share of the vector's length. Batches of another size
# are summed in another order: 1e-6 in float32, 1e-3 with TensorFloat-32; a wrong vector differs by tenths.
TOLERANCE = {"float32": 5e-3, "float64": 5e-3, "float16": 2e-2, "bfloat16": 5e-2}
CONSTANT = 1e-6  # the largest difference between vectors of different items that are taken for one and the same
COMPARED = 1e-2  # the same of a metric's values, as a share of the largest
WORDS = ("a", "red", "small", "photo", "of", "two", "dogs", "under", "the", "old", "table", "near", "water")
EVAL = "It is in training mode: call .eval() on the model first"


def images() -> list[Image.Image]:
    """Coloured slopes with noise, RGB, of 40 to 95 pixels a side and different shapes: the same ones every time."""
    from PIL import Image

    made = []
    for at in range(COUNT):
        rng = np.random.default_rng(at)
        width, height = 40 + 5 * at, 95 - 5 * at
        slope = np.linspace(0, 150, width)[None, :, None] * np.linspace(0.3, 1, height)[:, None, None]
        pixels = slope * rng.uniform(0.4, 1, 3) + rng.integers(0, 100, (height, width, 3))
        made.append(Image.fromarray(pixels.astype(np.uint8)))
    return made


def texts() -> list[str]:
    """English phrases of 2 to 9 words, all different."""
    return [" ".join(WORDS[(at + word) % len(WORDS)] for word in range(2 + at)) for at in range(COUNT)]


class Raised(BadInput):
    """The object itself raised an error in its check."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What the check finds out about an object."""

    modalities: tuple[str, ...]  # those that it takes
    length: int | None = None  # of its vectors
    remark: str = ""  # what is odd about its vectors, and no reason to refuse it


def check(
    wrapped: Wrapped, *, row: Model, digest: str, of: str, modules: Sequence[torch.nn.Module], batch_size: int | None
) -> Checked:
    """Runs the object on the probe; `of` is its name in messages.

    Raises BadInput that says which check fails, by how much, and what to do.
    """
    parts = [part for module in modules for part in module.modules()]
    if any(part.training and hasattr(part, "running_mean") for part in parts):
        raise BadInput(f"{of} would normalise each batch by itself and change as it runs. {EVAL}")
    training = any(part.training for part in parts)
    model, most = wrapped.make(row, digest), min(batch_size or COUNT, COUNT)
    if isinstance(model, WrappedEncoder):
        return _check_encoder(model, wrapped, of=of, modules=modules, training=training, most=most)
    if isinstance(model, WrappedComparer):
        _check_comparer(model, wrapped, of=of, training=training, most=most)
    elif isinstance(model, WrappedJudge):
        _check_judge(model, of=of)
    return Checked(modalities=wrapped.modalities)


def _check_encoder(
    encoder: WrappedEncoder, wrapped: Wrapped, *, of: str, modules: Sequence[torch.nn.Module], training: bool, most: int
) -> Checked:
    weights = [weight for module in modules if (weight := weight_of(module)) is not None]
    tolerance = TOLERANCE.get(str(weights[0].dtype).removeprefix("torch.") if weights else "float32", 5e-2)
    vectors: dict[str, np.ndarray] = {}
    raised: list[Raised] = []
    for modality in encoder.sides:
        try:
            vectors[modality] = _checked_vectors(
                encoder, modality, wrapped, of=of, tolerance=tolerance, training=training, most=most
            )
        except Raised as error:
            if not wrapped.uncertain:
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
    constant = [
        f"{modality}s"
        for modality, found in vectors.items()
        if _distance(np.broadcast_to(found[:1], found.shape), found) <= CONSTANT
    ]
    remark = (
        f"{of} gives the same vector for all {COUNT} {' and for all '.join(constant)} of the probe, so that every "
        "comparison of them is a tie. Check that its weights are loaded, its preprocessing and its pooling"
    )
    return Checked(modalities=tuple(lengths), length=next(iter(lengths.values())), remark=remark if constant else "")


def _checked_vectors(
    encoder: WrappedEncoder, modality: str, wrapped: Wrapped, *, of: str, tolerance: float, training: bool, most: int
) -> np.ndarray:
    """The vectors of one modality's items, (n, d). Raises BadInput where an item has another one each time."""

    def prepared(items: Sequence[Any]) -> list[Any]:
        try:
            return [encoder.prepare(modality, item) for item in items]
        except BadInput as error:
            raise BadInput(f"{of}, on a {modality} of the probe: {error}. {wrapped.advice}") from error

    def embedded(ready: list[Any]) -> np.ndarray:
        parts = [ready[start : start + most] for start in range(0, len(ready), most)]
        try:
            found = [vectors for part in parts for vectors in encoder.embed(modality, part)]
            return np.stack([vectors.mean(axis=0) if encoder.late_interaction else vectors for vectors in found])
        except BadInput as error:
            raise BadInput(f"{error}. {wrapped.advice}") from error
        except Exception as error:
            what = f"{len(parts[0])} {modality}s of the probe"
            raise Raised(f"{of} raised {worded(error)}, for {what}. {wrapped.advice}") from error

    items = images() if modality == "image" else texts()
    ready = prepared(items)
    first = embedded(ready)
    finite = np.isfinite(first).all(axis=1)
    if not finite.all():
        raise BadInput(
            f"{of} gives values that are not finite for {(~finite).sum()} of {len(items)} items of the probe. Check "
            "its weights, its precision and its preprocessing"
        )
    mixed, alone = embedded(prepared([items[at] for at in HALF])), embedded(ready[:1])
    found = max(_distance(first[HALF], mixed), _distance(first[:1], alone))
    if found <= tolerance:
        return first
    if _distance(first, embedded(prepared(items))) > tolerance:
        problem = "is not deterministic"
        remedy = "It, or its preprocessing, draws at random: fix the seed, and pass the transform of its evaluation"
    else:
        problem = "depends on what else is in a batch, or on the call before"
        remedy = "Mask the padding, and normalise by stored statistics" + ("; or batch_size=1" if most > 1 else "")
    raise BadInput(
        f"{of} {problem}: vectors of the same items differ by up to {found:.2g} of their length (allowed: "
        f"{tolerance:g}). {EVAL if training else remedy}"
    )


def _distance(expected: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two vectors of the same item, as a share of the expected vector's length."""
    if expected.shape != other.shape:
        return float("inf")
    lengths = np.linalg.norm(expected, axis=1)
    return float((np.linalg.norm(other - expected, axis=1) / np.where(lengths > 0, lengths, 1)).max())


def _check_comparer(comparer: WrappedComparer, wrapped: Wrapped, *, of: str, training: bool, most: int) -> None:
    """Settles how the function is called: the first way that runs, and whose values depend on their own pair alone."""
    first = comparer.prepared(images())
    second = [*first[1:], first[0]]
    problems: list[str] = []
    for batched in (True, False) if most > 1 else (False,):
        problem = ""
        try:
            values = comparer.values(batched, first, second)
            mixed = comparer.values(batched, [first[at] for at in HALF], [second[at] for at in HALF])
            largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
            if np.isnan(values).any():
                problem = f"{np.isnan(values).sum()} of {len(values)} values are NaN"
            elif not np.allclose(values[HALF], mixed, rtol=0, atol=COMPARED * largest):
                problem = "not deterministic, or values depend on what else is in the batch"
        except BadInput as error:
            problem = str(error)
        except Exception as error:
            problem = worded(error)
        if problem:
            problems.append(f"with {comparer.way(batched)}: {problem}")
            continue
        same = comparer.values(batched, first, first)
        if (comparer.sign * same < comparer.sign * values).all():
            raise BadInput(
                f"{of} gives {np.median(same):.4g} for an image with itself and {np.median(values):.4g} for two "
                f"different images (medians of {len(same)}). Pass higher_is_better={comparer.sign < 0}"
            )
        comparer.batched, comparer.settings["called_with"] = batched, comparer.way(batched)
        return
    raise BadInput(
        f"{of} cannot be used as a metric. {'. '.join(problems)}.{f' {EVAL}.' if training else ''} {wrapped.advice}"
    )


def _check_judge(judge: WrappedJudge, *, of: str) -> None:
    """Asks one question with an image, through the log of answers: it is not asked again by a later check."""
    stream = io.BytesIO()
    images()[0].save(stream, "PNG")
    data = stream.getvalue()
    picture = Picture(key=content_key(data), name="an image of the probe", read=lambda: data)
    question = Question(item="probe", parts=(picture, "Is this a photograph? Answer with yes or no."))
    reply = judge.reply([question])[0]
    if reply.error:
        raise BadInput(
            f"{of}, asked one question about an image: {reply.error}. It gets a list of messages in the form of "
            "OpenAI's chat API, with images as data URLs, and returns the answer as a text"
        )
