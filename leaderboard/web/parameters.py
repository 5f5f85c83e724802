"""What a page shows, as readable query parameters: parsed without trust, written without defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

LONGEST = 4000  # characters of one value; more is not a choice anybody made


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A parameter with one value of a fixed set."""

    key: str
    default: str
    choices: tuple[str, ...]

    def read(self, text: str) -> str | None:
        return text if text in self.choices else None

    def write(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """A parameter with several values of a set, comma-separated; from `least` to `most` of them."""

    key: str
    default: tuple[str, ...]
    choices: tuple[str, ...]
    most: int = 200
    least: int = 0

    def read(self, text: str) -> list[str] | None:
        known = set(self.choices)
        wanted = list(dict.fromkeys(part for part in text.split(",") if part))
        found = [part for part in wanted if part in known][: self.most]
        return found if self.least <= len(found) == len(wanted) else None

    def write(self, value: Any) -> str:
        return ",".join(value or ())


@dataclass(frozen=True, kw_only=True)
class Number:
    """A parameter that is a number in [low, high]; whole when `whole`."""

    key: str
    default: float
    low: float
    high: float
    whole: bool = False

    def read(self, text: str) -> float | int | None:
        try:
            value = float(text)
        except ValueError:
            return None
        if not math.isfinite(value) or not self.low <= value <= self.high:
            return None
        return int(value) if self.whole else value

    def write(self, value: Any) -> str:
        return f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class Text:
    """A parameter of free text, for a page to check itself; at most `longest` characters."""

    key: str
    default: str = ""
    longest: int = 400

    def read(self, text: str) -> str | None:
        return text if len(text) <= self.longest else None

    def write(self, value: Any) -> str:
        return str(value or "")


Parameter = Choice | Choices | Number | Text


def renewed(parameter: Choice | Choices, keys: Sequence[str]) -> Choice | Choices:
    """The same parameter over other keys; a default that is not among them gives way to the first, or to what is."""
    default = parameter.default
    if isinstance(parameter, Choices):
        default = tuple(key for key in default if key in keys) or tuple(keys[: parameter.least])
    elif default not in keys and keys:
        default = keys[0]
    return replace(parameter, choices=tuple(keys), default=default)


def parse(parameters: tuple[Parameter, ...], query: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """Values by key, and one plain sentence on what was ignored (empty when nothing was)."""
    values: dict[str, Any] = {}
    ignored, empty = [], []
    for parameter in parameters:
        default = list(parameter.default) if isinstance(parameter, Choices) else parameter.default
        text = query.get(parameter.key)
        read = parameter.read(text) if text is not None and len(text) <= LONGEST else None
        if text is not None and read is None:
            (ignored if text else empty).append(parameter.key)
        values[parameter.key] = default if read is None else read
    said = []
    if ignored:
        said.append(
            f"The address names something this page does not have under {', '.join(ignored)}; "
            "the default is shown instead."
        )
    if empty:
        said.append(f"Nothing is chosen under {', '.join(empty)}; the default is shown instead.")
    return values, " ".join(said)


def query(parameters: tuple[Parameter, ...], values: Mapping[str, Any]) -> str:
    """The shortest query string that gives these values, empty when all are defaults."""
    pairs = []
    for parameter in parameters:
        text = parameter.write(values[parameter.key])
        if text != parameter.write(parameter.default):
            pairs.append((parameter.key, text))
    return urlencode(pairs, safe="/,:~-")
