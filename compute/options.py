"""Arguments that several functions share: each is written once, and its annotation holds the text that describes it.

`Annotated[str, "cpu or cuda"]`: `likeness COMMAND --help` prints the text for the option.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any, TypeVar

Taker = TypeVar("Taker", bound=Callable[..., Any])


def parameters(source: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Returns the parameters of a function or class by name, with evaluated annotations."""
    return dict(inspect.signature(source, eval_str=True).parameters)


def names(given: Sequence[str] | str | None) -> tuple[str, ...]:
    """Returns the names in a comma-separated text or in several texts."""
    texts = [given] if isinstance(given, str) else given or ()
    return tuple(name for text in texts for part in text.split(",") if (name := part.strip()))


def taking(source: Callable[..., Any], *, without: Collection[str] = ()) -> Callable[[Taker], Taker]:
    """Gives a function the parameters of `source`, a function or class, as keywords in place of its last one, `**rest`.

    Parameters that the function already has, and those in `without`, are not added. Any other keyword raises a
    TypeError.
    """

    def extended(function: Taker) -> Taker:
        signature = inspect.signature(function, eval_str=True)
        *own, _ = signature.parameters.values()
        left = parameters(source).keys() - {*without, *(one.name for one in own)}
        added = [one.replace(kind=one.KEYWORD_ONLY) for name, one in parameters(source).items() if name in left]
        signature = signature.replace(parameters=[*own, *added])

        @wraps(function)
        def call(*values: Any, **named: Any) -> Any:
            signature.bind(*values, **named)
            return function(*values, **named)

        call.__signature__ = signature
        call.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()} | {
            "return": signature.return_annotation
        }
        return call

    return extended
