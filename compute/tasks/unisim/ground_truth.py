"""Reads the revisited ground truth, which is only published as a pickle, without running anything that it names.

Python's own reader asks `find_class` for everything that a pickle could call. It gets the makers below in place of
NumPy's, which build arrays and numbers of plain types alone; any other name is refused.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from compute.types import BadInput, first_line


class _Dtype:
    """A type of plain numbers; its state says the order of bytes."""

    def __init__(self, code: str, *rest: object) -> None:
        self.of = np.dtype(code)
        if self.of.kind not in "iufb":
            raise BadInput(f"arrays of {self.of} are not plain numbers")

    def __setstate__(self, state: tuple) -> None:
        self.of = self.of.newbyteorder(state[1])


class _Array:
    """An array, filled when its state is set."""

    def __init__(self, *rest: object) -> None:
        self.value = None

    def __setstate__(self, state: tuple) -> None:
        _, shape, kind, columns_first, content = state
        flat = np.frombuffer(_bytes(content), dtype=kind.of)
        self.value = flat.reshape(shape, order="F" if columns_first else "C")


def _bytes(content: str | bytes, encoding: str = "") -> bytes:
    return content.encode("latin1") if isinstance(content, str) else content


MAKERS = {
    "_reconstruct": _Array,
    "scalar": lambda kind, content: np.frombuffer(_bytes(content), dtype=kind.of, count=1)[0],
    "dtype": _Dtype,
    "ndarray": object(),  # named, never called
    "encode": _bytes,
}
MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "_codecs")


class _PlainData(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Returns what may be called. Raises BadInput for any other name."""
        if module not in MODULES or name not in MAKERS:
            raise BadInput(f"it refers to '{module} {name}', which is not plain data")
        return MAKERS[name]


def read(data: bytes, *, of: str) -> Any:
    """What the pickle holds, plain. Raises BadInput naming what is not allowed, or what is damaged."""
    try:
        return _plain(_PlainData(io.BytesIO(data), encoding="latin1").load())
    except BadInput as error:
        raise BadInput(f"{of}: {error}. Take the file from the data set's own archive") from error
    except Exception as error:  # whatever Python's reader raises for bytes that are not a pickle
        raise BadInput(
            f"{of} is damaged ({first_line(error)}). Take the file from the data set's own archive"
        ) from error


def _plain(value: Any) -> Any:
    match value:
        case _Array():
            return value.value
        case dict():
            return {_plain(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case bytes():
            return value.decode("latin1")
    return value
