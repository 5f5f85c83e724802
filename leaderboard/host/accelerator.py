"""Where live models run: on a GPU that a ZeroGPU Space lends per call, else on this machine.

Source: the package `spaces`, which such a Space installs; elsewhere its decorator gives the function back as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import ParamSpec, TypeVar

from compute.live.pool import SMALL, is_lent
from compute.rounding import size
from compute.types import LikenessError, NotHere

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
REFUSED = "ZeroGPU "  # how titles of the package's own errors begin
ABORTED = "GPU task aborted"  # a call that took too long
FAILED = "ZeroGPU worker error"  # the title of whatever else failed within a call


@dataclass(frozen=True, kw_only=True)
class RemoteError:
    """An error passed out of the process that has the GPU: of an exception raised there, only its class's name
    arrives.
    """

    kind: type[LikenessError]
    message: str


def claim() -> ModuleType | None:
    """Returns the package `spaces`, None if it is not installed. Call it before anything imports torch or gradio.

    One that cannot be imported, or is another (any folder of that name can be imported), is skipped, but not on a
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


def on_gpu(function: Callable[Arguments, Result], *, seconds: Callable[Arguments, int]) -> Callable[Arguments, Result]:
    """Returns `function`, which must not be a generator, wrapped to run where a GPU may be borrowed for `seconds` of
    its arguments.

    Raises NotHere if none is lent, with what the Hub says: whose quota is used up, and when to try again.

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
        try:
            result = borrowed(*args, **kwargs)
        except Exception as error:  # a gradio.Error; gradio must not be imported before the package
            title, message = getattr(error, "title", ""), str(getattr(error, "message", "")).rstrip(". ")
            if not title.startswith(REFUSED) or (title == FAILED and message != ABORTED):
                raise
            later = "" if "ry again" in message else ". Try again later"
            raise NotHere(
                f"It needs a GPU, which the Hub lends this Space by quota: {message}{later}. Models with less than "
                f"{size(SMALL)} of weights run without one"
            ) from error
        if isinstance(result, RemoteError):
            raise result.kind(result.message)
        return result

    return call
