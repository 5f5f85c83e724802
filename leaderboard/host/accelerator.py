"""Where the live models run: on a GPU that a ZeroGPU Space lends for a call, else on what this machine has.

Source: the package `spaces`, which such a Space installs; elsewhere its decorator gives the function back as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import ParamSpec, TypeVar

from compute.types import LikenessError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
SECONDS = 60  # a call may take, unless it says so itself


@dataclass(frozen=True, kw_only=True)
class RemoteError:
    """An error on its way out of the process that has the GPU: of one raised there its class's name alone arrives."""

    kind: type[LikenessError]
    message: str


def is_lent() -> bool:
    """Whether this is a ZeroGPU Space, which lends its GPU for a call."""
    return bool(os.environ.get("SPACES_ZERO_GPU"))


def claim() -> ModuleType | None:
    """The package `spaces`, None where it is not installed. To be called before anything imports torch or gradio.

    One that cannot be imported, or is another (any folder of that name can be imported), is left out, but not on a
    ZeroGPU Space, which must not run without its GPU.
    """
    needed = is_lent()
    try:
        spaces = import_module("spaces")
    except ImportError:
        if needed:
            raise
        return None
    return spaces if needed or hasattr(spaces, "GPU") else None


def on_gpu(
    function: Callable[Arguments, Result], *, seconds: int | Callable[Arguments, int] = SECONDS
) -> Callable[Arguments, Result]:
    """`function`, no generator, as it is called where a GPU may be borrowed; `seconds`, of its arguments if callable.

    To be called once a function, before the app is launched: a ZeroGPU Space that finds no such function by then does
    not start. There the function runs in a process that is forked for it, so what it takes and returns is pickled, and
    what it keeps is gone when that process ends. CUDA must be touched nowhere else.
    """
    spaces = claim()
    if spaces is None:
        return function

    @wraps(function)
    def on_lent_gpu(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result | RemoteError:
        try:
            return function(*args, **kwargs)
        except LikenessError as error:
            plain = type(error).__init__ is LikenessError.__init__  # can be made of its message alone
            return RemoteError(kind=type(error) if plain else LikenessError, message=str(error))

    borrowed = spaces.GPU(duration=seconds)(on_lent_gpu)

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        result = borrowed(*args, **kwargs)
        if isinstance(result, RemoteError):
            raise result.kind(result.message)
        return result

    return call
