"""Reads the revisited ground truth, which is only published as a pickle, without running what one may hold.

A pickle is a little program that may call any function by name. This looks up only what NumPy writes for arrays and
numbers, so that only lists, dictionaries, texts, numbers and arrays of these are built.
"""

from __future__ import annotations

import codecs
import io
import pickle
from typing import Any

import numpy as np

from compute.types import BadInput

# What a ground truth may call: NumPy's arrays and numbers under their old and new names, and Python 2's bytes.
ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): codecs.encode,
    **{
        (f"numpy.{core}.multiarray", name): getattr(np._core.multiarray, name)
        for core in ("core", "_core")
        for name in ("_reconstruct", "scalar")
    },
}


class PlainUnpickler(pickle.Unpickler):
    """Looks up no names but those of ALLOWED."""

    def find_class(self, module: str, name: str) -> Any:
        """What a name stands for. Raises BadInput for one that is not plain data."""
        if (module, name) not in ALLOWED:
            raise BadInput(f"it mentions {module} {name}, which is not plain data")
        return ALLOWED[module, name]


def read(data: bytes, *, of: str) -> Any:
    """What the pickle holds, plain. Raises BadInput naming what is not allowed, or for a damaged file."""
    try:
        return _plain(PlainUnpickler(io.BytesIO(data), encoding="latin1").load())
    except Exception as error:  # a damaged pickle raises nearly any
        raise BadInput(
            f"{of} is damaged or not plain data: {error}. Take it from the data set's own archive"
        ) from error


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {_plain(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case bytes():
            return value.decode("latin1")
        case np.ndarray() if value.dtype.kind not in "iufb":
            raise BadInput(f"arrays of {value.dtype} are not plain numbers")
    return value
