"""Checks of an object before anything long begins: three images or texts in a batch, then the last of them again,
prepared again and in a batch of one. A correct model returns the same vector for it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.content.items import content_key
from compute.content.messages import Picture, Question
from compute.models.own.objects import OwnComparer, OwnEncoder, OwnJudge, worded
from compute.types import BadInput

if TYPE_CHECKING:
    from PIL import Image

    from compute.models.adapter import Hardware

# Largest relative difference between two vectors of the same item, in full precision and in half. Batches of another
# size are summed in another order, which changes 1e-6 in float32 and 1e-3 with TensorFloat-32; a wrong vector differs
# by tenths.
EXACT, HALF = 5e-3, 5e-2
CONSTANT = 1e-6  # vectors of different items that differ by less are considered equal
COMPARED = 1e-2  # the same for a metric's values, relative to the largest
TEXTS = ("two small dogs under the old red table near the water", "a red photo of a dog", "near water")  # longest first


def images() -> list[Image.Image]:
    """Returns RGB images with colour gradients in different shapes, the largest first."""
    from PIL import Image, ImageOps

    ends = {(90, 70): ("navy", "orange"), (40, 65): ("white", "green"), (55, 50): ("black", "pink")}
    return [ImageOps.colorize(Image.linear_gradient("L").resize(size), *colours) for size, colours in ends.items()]


def vectors(
    encoder: OwnEncoder, *, advice: str, hardware: Hardware, most: int | None
) -> tuple[dict[str, np.ndarray], str]:
    """Returns vectors (n, d) for each modality of the encoder, and anomalies that are not a reason to refuse it.

    Raises BadInput for vectors that are not finite, for different dimensions of images and texts, and if the second
    vector of an item differs from the first.
    """
    of, found = encoder.name, {}
    if encoder.late_interaction and "image" not in encoder.sides:  # queries and documents are encoded differently
        raise BadInput("A late-interaction model of texts alone has no scores here: evaluate it with mteb.evaluate")
    for modality in encoder.sides:
        items: Sequence[Any] = images() if modality == "image" else TEXTS
        try:
            first, again = (_embedded(encoder, modality, some, most=most or len(items)) for some in (items, items[-1:]))
        except BadInput as error:
            raise BadInput(f"{of}, checked on {modality}s: {error}. {advice}") from error
        except Exception as error:
            raise BadInput(f"{of} raised {worded(error)}, checked on {modality}s. {advice}") from error
        if not np.isfinite(first).all():
            raise BadInput(
                f"{of} gives values that are not finite, checked on {modality}s. Check its weights, its precision and "
                "its preprocessing"
            )
        tolerance = HALF if hardware.dtype in ("float16", "bfloat16") else EXACT
        if (largest := _distance(first[-1:], again)) > tolerance:
            raise BadInput(
                f"{of} is not deterministic, or depends on what else is in a batch: vectors of one {modality}, run "
                f"twice, differ by {largest:.2g} of their length (allowed: {tolerance:g}). Call .eval() on it, fix its "
                "seed, pass the transform of its evaluation, mask the padding, or set batch_size=1"
            )
        found[modality] = first
    if len({rows.shape[1] for rows in found.values()}) > 1:
        lengths = " and ".join(f"{rows.shape[1]} numbers for {modality}s" for modality, rows in found.items())
        raise BadInput(
            f"{of} gives vectors of {lengths}, which cannot be compared. Project both to one length, or pass an object "
            "that embeds one of the two"
        )
    same = [f"{modality}s" for modality, rows in found.items() if _distance(rows[:1], rows) <= CONSTANT]
    remark = (
        f"{of} gives the same vector for all {' and for all '.join(same)} of its check, so that every comparison of "
        "them is a tie. Check that its weights are loaded, its preprocessing and its pooling"
    )
    return found, remark if same else encoder.remark


def values(comparer: OwnComparer, *, advice: str) -> None:
    """Compares a few images. Raises BadInput if that fails, for NaN, for values that depend on other pairs, and if an
    image is nearer to another image than to itself.
    """
    of, pictures = comparer.given.of, images()
    others = [*pictures[1:], pictures[0]]
    try:
        found, again = comparer.compare(pictures, others), comparer.compare(pictures[-1:], others[-1:])
        same = comparer.compare(pictures, pictures)
    except Exception as error:
        problem = str(error) if isinstance(error, BadInput) else worded(error)
        raise BadInput(f"{of} cannot be used as a metric: {problem}. {advice}") from error
    if np.isnan(found).any():
        raise BadInput(f"{of} cannot be used as a metric: values are NaN. {advice}")
    if not np.allclose(found[-1:], again, rtol=0, atol=COMPARED * np.abs(found).max()):
        raise BadInput(
            f"{of} cannot be used as a metric: it is not deterministic, or values depend on what else is in the batch"
        )
    if (same < found).all():
        raise BadInput(
            f"{of} gives {comparer.sign * same[0]:.4g} for an image with itself and {comparer.sign * found[0]:.4g} for "
            f"two different ones. Pass higher_is_better={not comparer.given.higher_is_better}"
        )


def ask(judge: OwnJudge, *, of: str) -> None:
    """Asks one question with an image, through the answer log, so that a later check does not ask it again."""
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


def _embedded(encoder: OwnEncoder, modality: str, items: Sequence[Any], *, most: int) -> np.ndarray:
    ready = [encoder.prepare(modality, item) for item in items]
    parts = [encoder.embed(modality, ready[at : at + most]) for at in range(0, len(ready), most)]
    return np.stack([row.mean(axis=0) if encoder.late_interaction else row for part in parts for row in part])


def _distance(expected: np.ndarray, other: np.ndarray) -> float:
    """Returns the largest difference between two vectors of the same item, relative to the expected vector's length."""
    if expected.shape[1] != other.shape[1]:
        return float("inf")
    lengths = np.linalg.norm(expected, axis=1)
    return float((np.linalg.norm(other - expected, axis=1) / np.where(lengths > 0, lengths, 1)).max())
