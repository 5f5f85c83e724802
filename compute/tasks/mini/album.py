"""Drawn images as columns of a task: encoded once, known by their content."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from PIL import Image

from compute.arrays import Ints
from compute.content.items import Column, images
from compute.tasks.data import Mixed
from compute.tasks.drawing.render import Pixels
from compute.tasks.drawing.scenes import Scene
from compute.tasks.drawing.variants import Shown

PART = "test"  # scenes that training never draws


def lots(task: str, number: int) -> Random:
    """The random numbers of one item of a task."""
    return Random(f"mini {task} {number}")


def png(pixels: Pixels) -> bytes:
    """The image as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return file.getvalue()


def column(shown: Sequence[Shown | Scene], *, of: str) -> Column:
    """A column of images, one a scene."""
    return images([png((one if isinstance(one, Shown) else Shown(scene=one)).pixels()) for one in shown], of=of)


def unlike(draw: Callable[[], tuple[Shown, ...]]) -> tuple[Shown, ...]:
    """What `draw` gives, drawn again until no two images are the same: a grey photograph made duller is itself."""
    while True:
        shown = draw()
        drawn = [one.pixels() for one in shown]
        if not any(np.array_equal(one, other) for at, one in enumerate(drawn) for other in drawn[:at]):
            return shown


def names(count: int, prefix: str = "") -> tuple[str, ...]:
    return tuple(f"{prefix}{number:04d}" for number in range(count))


def of_images(shown: Sequence[Shown | Scene], *, of: str, prefix: str = "") -> Mixed:
    """Queries or documents that are images."""
    return Mixed(names=names(len(shown), prefix), image=column(shown, of=of), image_at=np.arange(len(shown)))


def at_random(task: str, count: int, places: int) -> Ints:
    """(count,) which place holds the right answer."""
    rng = lots(task, -1)
    return np.array([rng.randrange(places) for _ in range(count)], dtype=np.int64)


def placed(right: Sequence, others: Sequence[Sequence], answer: Ints) -> list[list]:
    """Alternatives column by column: item i has right[i] at answer[i], others[j][i] in the other places, in order."""
    rows = []
    for number, place in enumerate(answer.tolist()):
        row = [other[number] for other in others]
        rows.append([*row[:place], right[number], *row[place:]])
    return [list(part) for part in zip(*rows, strict=True)]
