"""Columns of images and texts that a model sees, identified by their content and read only when needed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.arrays import cumulative
from compute.types import LikenessError

if TYPE_CHECKING:
    from PIL import Image


def content_key(content: bytes | str) -> bytes:
    """Returns 32 hex digits of BLAKE2b over an image file's bytes or a text's UTF-8: equal content has an equal key."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=16).hexdigest().encode()


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a task's items: n images (encoded file bytes), texts (str), or pairs of both.

    `keys` (n,) of dtype S32 are content keys; `read(i)` returns the i-th content; `name(i)` its name for messages.
    `image(i)` is for generated images: it returns the i-th from any thread, and must not be modified.
    """

    modality: str  # image, text, or pair: an image with a text, for models that take both at once
    keys: np.ndarray
    read: Callable[[int], bytes | str | tuple[bytes, str]]
    name: Callable[[int], str]
    image: Callable[[int], Image.Image] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def content(self, row: int) -> Any:
        """Returns what a model sees of a row: its content, or a function that makes its image without encoded bytes."""
        return self.read(row) if self.image is None else partial(self.image, row)

    def take(self, positions: np.ndarray) -> Column:
        """Returns the rows at `positions` (m,) int, in that order."""
        at = np.asarray(positions, dtype=np.int64)
        return Column(
            modality=self.modality,
            keys=self.keys[at],
            read=lambda row: self.read(int(at[row])),
            name=lambda row: self.name(int(at[row])),
            image=None if self.image is None else lambda row: self.image(int(at[row])),
        )


def unreadable(name: str, error: OSError) -> LikenessError:
    """Returns the error to raise if the file of a content cannot be read."""
    return LikenessError(f"{name}: cannot be read ({error.strerror or error}). Check the data's folder, then run again")


def texts(contents: Sequence[str], *, of: str) -> Column:
    """Returns a column of texts in memory; `of` names them in messages."""
    contents = list(contents)
    return Column(
        modality="text", keys=_keys(contents), read=contents.__getitem__, name=lambda row: f"{of}, text {row}"
    )


def images(files: Sequence[bytes], *, of: str) -> Column:
    """Returns a column of encoded image files in memory."""
    files = list(files)
    return Column(modality="image", keys=_keys(files), read=files.__getitem__, name=lambda row: f"{of}, image {row}")


def joined(parts: Sequence[Column]) -> Column:
    """Returns the rows of columns of one modality, concatenated."""
    starts = cumulative([len(part) for part in parts])

    def of(field: str, row: int) -> Any:
        index = int(np.searchsorted(starts, row, side="right")) - 1
        return getattr(parts[index], field)(row - int(starts[index]))

    return Column(
        modality=parts[0].modality,
        keys=np.concatenate([part.keys for part in parts]),
        read=partial(of, "read"),
        name=partial(of, "name"),
        image=partial(of, "image") if all(part.image for part in parts) else None,
    )


def paired(image: Column, text: Column) -> Column:
    """Pairs image i with text i as one item, for models that embed both at once."""
    keys = [content_key(a + b"+" + b) for a, b in zip(image.keys.tolist(), text.keys.tolist(), strict=True)]
    return Column(
        modality="pair",
        keys=np.array(keys, dtype="S32"),
        read=lambda row: (image.read(row), text.read(row)),
        name=lambda row: f"{image.name(row)} with {text.name(row)}",
    )


def _keys(contents: Sequence[bytes | str]) -> np.ndarray:
    return np.array([content_key(content) for content in contents], dtype="S32")
