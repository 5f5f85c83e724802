"""Reader for the revisited ground truth, which is published only as a pickle, without executing it.

A pickle is a small program. This module reads its instructions with the standard library's disassembler and builds only
lists, dictionaries, texts, numbers, and NumPy arrays of plain numbers. Any other instruction is refused.
"""

from __future__ import annotations

import pickletools
from typing import Any

import numpy as np

from compute.types import BadInput

# The only names that a ground truth may contain: those that NumPy writes for arrays and numbers, and Python 2's bytes.
ARRAYS = {"numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct"}
DTYPES = {"numpy dtype"}
SCALARS = {"numpy.core.multiarray scalar", "numpy._core.multiarray scalar"}
BYTES = {"_codecs encode"}
PLAIN = {"numpy ndarray"}
ALLOWED = ARRAYS | DTYPES | SCALARS | BYTES | PLAIN
# Instructions that push their argument onto the stack.
VALUES = {
    "INT",
    "LONG",
    "LONG1",
    "LONG4",
    "BININT",
    "BININT1",
    "BININT2",
    "FLOAT",
    "BINFLOAT",
    "STRING",
    "BINSTRING",
    "SHORT_BINSTRING",
    "UNICODE",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "BINBYTES",
    "SHORT_BINBYTES",
    "BINBYTES8",
}
MARK = object()


class _Name(str):
    """A name in the pickle, which is never looked up."""


class _Array:
    """An array under construction, filled when its state is set."""

    value: np.ndarray | None = None


class _Dtype:
    """A dtype under construction."""

    def __init__(self, code: str) -> None:
        self.code, self.order = code, "<"

    def dtype(self) -> np.dtype:
        kind = np.dtype(f"{self.order if self.order in '<>=|' else '<'}{self.code}")
        if kind.kind not in "iufb":
            raise BadInput(f"arrays of {kind} are not plain numbers")
        return kind


def read(data: bytes, *, of: str) -> Any:
    """Returns the pickle's content as plain data. Raises BadInput with the forbidden instruction or the damage."""
    try:
        return _plain(_build(data))
    except BadInput as error:
        raise BadInput(f"{of}: {error}. Take the file from the data set's own archive") from error
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise BadInput(f"{of} is damaged ({error}). Take the file from the data set's own archive") from error


def _build(data: bytes) -> Any:
    stack: list[Any] = []
    memo: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        at = len(stack) - 1 - next(depth for depth, item in enumerate(reversed(stack)) if item is MARK)
        items = stack[at + 1 :]
        del stack[at:]
        return items

    for code, argument, _ in pickletools.genops(data):
        match code.name:
            case "PROTO" | "FRAME" | "STOP":
                pass
            case "MARK":
                stack.append(MARK)
            case "EMPTY_LIST":
                stack.append([])
            case "EMPTY_DICT":
                stack.append({})
            case "EMPTY_TUPLE":
                stack.append(())
            case "LIST" | "TUPLE":
                items = since_mark()
                stack.append(items if code.name == "LIST" else tuple(items))
            case "DICT":
                items = since_mark()
                stack.append(dict(zip(items[::2], items[1::2], strict=True)))
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                count = int(code.name[-1])
                stack[-count:] = [tuple(stack[-count:])]
            case "APPEND":
                last = stack.pop()
                stack[-1].append(last)
            case "APPENDS":
                items = since_mark()
                stack[-1].extend(items)
            case "SETITEM":
                value, key = stack.pop(), stack.pop()
                stack[-1][key] = value
            case "SETITEMS":
                items = since_mark()
                stack[-1].update(zip(items[::2], items[1::2], strict=True))
            case "NONE" | "NEWTRUE" | "NEWFALSE":
                stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[code.name])
            case name if name in VALUES:
                stack.append(argument)
            case "PUT" | "BINPUT" | "LONG_BINPUT":
                memo[argument] = stack[-1]
            case "MEMOIZE":
                memo[len(memo)] = stack[-1]
            case "GET" | "BINGET" | "LONG_BINGET":
                stack.append(memo[argument])
            case "POP":
                stack.pop()
            case "POP_MARK":
                since_mark()
            case "GLOBAL":
                stack.append(_name(argument))
            case "STACK_GLOBAL":
                attribute, module = stack.pop(), stack.pop()
                stack.append(_name(f"{module} {attribute}"))
            case "REDUCE":
                arguments, name = stack.pop(), stack.pop()
                stack.append(_made(name, arguments))
            case "BUILD":
                state = stack.pop()
                _fill(stack[-1], state)
            case other:
                raise BadInput(f"the instruction {other} is not allowed in plain data")
    if len(stack) != 1:
        raise BadInput("the file ends before its data does")
    return stack[0]


def _name(text: str) -> _Name:
    if text not in ALLOWED:
        raise BadInput(f"it refers to {text!r}, which is not plain data")
    return _Name(text)


def _made(name: Any, arguments: tuple) -> Any:
    if not isinstance(name, _Name):
        raise BadInput("it calls something that is not a name")
    if name in ARRAYS:
        return _Array()
    if name in DTYPES:
        return _Dtype(arguments[0])
    if name in SCALARS:
        return np.frombuffer(_raw(arguments[1]), dtype=arguments[0].dtype(), count=1)[0]
    if name in BYTES:
        return arguments[0].encode("latin1")
    raise BadInput(f"it calls {name!s}")


def _fill(made: Any, state: Any) -> None:
    if isinstance(made, _Dtype):
        made.order = state[1]
    elif isinstance(made, _Array):
        _, shape, kind, columns_first, content = state
        flat = np.frombuffer(_raw(content), dtype=kind.dtype())
        made.value = flat.reshape(shape, order="F" if columns_first else "C")
    else:
        raise BadInput("it sets the state of something that is not an array")


def _raw(content: bytes | str) -> bytes:
    return content.encode("latin1") if isinstance(content, str) else content


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
