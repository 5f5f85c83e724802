"""Reads the revisited ground truth, which is only published as a pickle, without calling anything that it names.

A pickle is a little program. Here the only names it can reach are the stand-ins of this file (Python's documentation of
`pickle`, "Restricting Globals"), so it can build nothing but lists, dictionaries, texts, and arrays of plain numbers.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from compute.types import BadInput


class _Dtype:
    """In place of numpy's dtype, whose own state a pickle could set to anything."""

    def __init__(self, code: str, *flags: Any) -> None:
        self._code, self._order = code, "<"

    def __setstate__(self, state: tuple) -> None:
        self._order = state[1]

    def numbers(self, content: bytes | str) -> np.ndarray:
        """(n,) the numbers whose bytes `content` is; Python 2 wrote them as text."""
        dtype = np.dtype(f"{self._order if self._order in '<>=|' else '<'}{self._code}")
        if dtype.kind not in "iufb":
            raise BadInput(f"arrays of {dtype} are not plain numbers")
        return np.frombuffer(_encoded(content), dtype=dtype)


class _Array:
    """In place of numpy's array: filled when its state is set."""

    value: np.ndarray | None = None

    def __init__(self, *arguments: Any) -> None:
        pass

    def __setstate__(self, state: tuple) -> None:
        _, shape, dtype, columns_first, content = state
        self.value = dtype.numbers(content).reshape(shape, order="F" if columns_first else "C")


def _encoded(content: bytes | str, encoding: str = "latin1") -> bytes:
    return content.encode("latin1") if isinstance(content, str) else content


def _scalar(dtype: _Dtype, content: bytes | str) -> np.number:
    return dtype.numbers(content)[0]


# What NumPy writes for arrays and numbers, and Python 2's bytes.
STAND_INS = {
    "numpy ndarray": _Array,
    "numpy dtype": _Dtype,
    "_codecs encode": _encoded,
    "numpy.core.multiarray _reconstruct": _Array,
    "numpy._core.multiarray _reconstruct": _Array,
    "numpy.core.multiarray scalar": _scalar,
    "numpy._core.multiarray scalar": _scalar,
}


class _Reader(pickle._Unpickler):  # the one written in Python: a damaged index cannot make it reserve memory
    def find_class(self, module: str, name: str) -> Any:
        mention = f"{module} {name}"
        if mention not in STAND_INS:
            raise BadInput(f"it mentions {mention!r}, which is not plain data")
        return STAND_INS[mention]


def read(data: bytes, *, of: str) -> Any:
    """What the pickle holds, plain. Raises BadInput naming what it mentions and must not, or what is damaged."""
    try:
        return _plain(_Reader(io.BytesIO(data), encoding="latin1").load())
    except BadInput as error:
        raise BadInput(f"{of}: {error}. Take the file from the data set's own archive") from error
    except Exception as error:  # whatever bytes that are no pickle make Python's reader raise
        raise BadInput(f"{of} is damaged ({error}). Take the file from the data set's own archive") from error


def _plain(value: Any) -> Any:
    match value:
        case _Array():
            return value.value
        case dict():
            return {_plain(key): _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case bytes():
            return value.decode("latin1")
    return value
