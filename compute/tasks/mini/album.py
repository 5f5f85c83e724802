"""Drawn images and texts as columns of a task, identified by their content."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np
from PIL import Image

from compute.arrays import Ints
from compute.content import items
from compute.content.items import Column
from compute.tasks.data import Mixed
from compute.tasks.drawing import compose
from compute.tasks.drawing.compose import Scene
from compute.tasks.drawing.render import Pixels, Shown


def lots(task: str, number: int) -> Random:
    """Returns the random generator of one item of a task."""
    return Random(f"mini {task} {number}")


def draws(task: str, count: int) -> Iterator[tuple[int, Random]]:
    """Yields the number and the random generator of each item of a task."""
    return ((number, lots(task, number)) for number in range(count))


def scene(rng: Random, kind: Callable[..., Scene] | None = None) -> Scene:
    """Returns a held-out scene of the given or a random kind."""
    return compose.scene(rng, part="test", kind=kind)


def png(pixels: Pixels) -> bytes:
    """Returns the image as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return file.getvalue()


def files(shown: Sequence[Shown | Scene]) -> list[bytes]:
    """Returns one image file per scene."""
    return [png((image if isinstance(image, Shown) else Shown(image)).pixels()) for image in shown]


def column(shown: Sequence[Shown | Scene], *, of: str) -> Column:
    """Returns a column with one image per scene."""
    return items.images(files(shown), of=of)


def unlike(draw: Callable[[Random], tuple[Shown, ...]], rng: Random) -> tuple[Shown, ...]:
    """Returns the result of `draw`, repeated until no two images are equal: a grey photograph does not change when
    desaturated.
    """
    while True:
        shown = draw(rng)
        if len({image.pixels().tobytes() for image in shown}) == len(shown):
            return shown


def names(count: int, prefix: str = "") -> tuple[str, ...]:
    """Returns names of items: the prefix and four digits."""
    return tuple(f"{prefix}{number:04d}" for number in range(count))


def mixed(
    *, of: str, images: Sequence[Shown | Scene] | None = None, texts: Sequence[str] | None = None, prefix: str = ""
) -> Mixed:
    """Returns queries or documents that are images, texts, or images with a text each."""
    count = len(texts if images is None else images)
    row = np.arange(count)
    return Mixed(
        names=names(count, prefix),
        image=None if images is None else column(images, of=of),
        image_at=None if images is None else row,
        text=None if texts is None else items.texts(texts, of=of),
        text_at=None if texts is None else row,
    )


def graded(pairs: tuple[Ints, Ints]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns matching (query, document) pairs, each with grade 1."""
    query, document = pairs
    return query, document, np.ones(len(query))


def at_random(task: str, count: int, options: int) -> Ints:
    """Returns (count,) the random position of each correct answer."""
    rng = lots(task, -1)
    return np.array([rng.randrange(options) for _ in range(count)], dtype=np.int64)


def placed(right: Sequence, others: Sequence[Sequence], answer: Ints) -> list[tuple]:
    """Returns alternatives as columns: item i has right[i] at position answer[i], and others[j][i] at the other
    positions, in order.
    """
    rows = [list(row) for row in zip(*others, strict=True)]
    for row, good, position in zip(rows, right, answer.tolist(), strict=True):
        row.insert(position, good)
    return list(zip(*rows, strict=True))
