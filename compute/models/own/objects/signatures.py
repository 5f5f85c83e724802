"""How many inputs a function takes, which tells a metric from a judge or an encoder."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def inputs_of(function: Callable[..., Any]) -> int | None:
    """The number of inputs without a default; None where the function does not say, as with *args."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return sum(parameter.kind in POSITIONAL and parameter.default is parameter.empty for parameter in parameters)
