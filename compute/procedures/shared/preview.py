"""What a page can show of an item: content keys of its images, and its texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compute.content.items import Column
from compute.tasks.data import Mixed

LONGEST = 300  # characters of a text that are shown


def contents(columns: Sequence[Column]) -> list[dict[str, list[str]]]:
    """One {"images": [...], "texts": [...]} a row, in the order of the columns; a pair gives both."""
    images = [keys(column) for column in columns if column.modality == "image"]
    written = [texts(column) for column in columns if column.modality == "text"]
    rows = len(columns[0])
    return [
        {"images": [column[row] for column in images], "texts": [column[row] for column in written]}
        for row in range(rows)
    ]


def mixed(items: Mixed, positions: NDArray[np.integer]) -> list[tuple[str, str]]:
    """Image key and text of the items at these positions, empty where there is none; each text is read once."""
    image, text = [""] * len(positions), [""] * len(positions)
    if items.image is not None:
        known = items.image.keys
        image = [known[at].decode() if at >= 0 else "" for at in items.image_at[positions].tolist()]
    if items.text is not None:
        at, again = np.unique(items.text_at[positions], return_inverse=True)
        read = [short(str(items.text.read(index))) if index >= 0 else "" for index in at.tolist()]
        text = [read[index] for index in again.tolist()]
    return list(zip(image, text, strict=True))


def listed(things: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """{"images": [...], "texts": [...]}, aligned with the things; a list with nothing in it is empty."""
    images, written = ([thing[side] for thing in things] for side in (0, 1))
    return {"images": images if any(images) else [], "texts": written if any(written) else []}


def keys(column: Column) -> list[str]:
    """The content keys as text."""
    return [key.decode() for key in column.keys.tolist()]


def texts(column: Column) -> list[str]:
    """The texts, cut to a length a page can show."""
    return [short(str(column.read(row))) for row in range(len(column))]


def short(text: str) -> str:
    """A text as it is, or its beginning with an ellipsis."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
