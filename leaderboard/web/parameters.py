"""The state of a page as readable query parameters: parsed without trust, written without defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from compute.types import shortened, unknown, words_of

LONGEST = 4000  # characters of one value; no real choice is longer
MOST_NAMED = 3  # unknown keys in a sentence
MOST_READ = 12  # names in other words than the keys, which are compared with every name


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A parameter with one value of a fixed set; with a default of several, from `least` to `most` values, commas
    between, each perhaps with one of the `suffixes` after a `~`.

    With a `noun` its values are keys of such things, and nothing is shown in place of one that does not exist.
    `spellings` are other texts that an address may have for a value; suggestions name them. A key or another text is
    the same in whichever case; words that only one of them has are read as it, and a sentence says so.
    """

    key: str
    default: str | tuple[str, ...]
    choices: tuple[str, ...]
    noun: str = ""
    spellings: Mapping[str, str] = field(default_factory=dict)
    least: int = 0
    most: int = 200
    suffixes: tuple[str, ...] = ()

    @property
    def several(self) -> bool:
        """Returns whether its value is a list."""
        return isinstance(self.default, tuple)

    @property
    def known(self) -> set[str]:
        """Returns all allowed values."""
        return {*self.choices, *(f"{key}~{suffix}" for key in self.choices for suffix in self.suffixes)}

    def read(self, text: str) -> str | list[str] | None:
        """Returns the value of a text; None if it is not allowed."""
        if not self.several:
            value = text if text in self.choices or not self.spellings else _meant(self, text)
            return value if value in self.choices else None
        keys = list(dict.fromkeys(filter(None, text.split(","))))
        if self.spellings:
            keys = list(dict.fromkeys(_meant(self, key) if key not in self.known else key for key in keys[:MOST_READ]))
        return keys if self.least <= len(keys) <= self.most and self.known.issuperset(keys) else None

    def write(self, value: Any) -> str:
        """Returns the text of a value."""
        return ",".join(value or ()) if self.several else str(value)


@dataclass(frozen=True, kw_only=True)
class Number:
    """A parameter that is a number in [low, high], an integer if `whole`."""

    key: str
    default: float
    low: float
    high: float
    whole: bool = False
    noun = ""  # it names no things

    def read(self, text: str) -> float | int | None:
        """Returns the value of a text; None if it is not allowed."""
        try:
            value = float(text)
        except ValueError:
            return None
        if not self.low <= value <= self.high:  # nor NaN
            return None
        return int(value) if self.whole else value

    def write(self, value: Any) -> str:
        """Returns the text of a value."""
        return f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class Text:
    """A parameter of free text, which the page checks; at most `longest` characters."""

    key: str
    default: str = ""
    longest: int = 400
    noun = ""

    def read(self, text: str) -> str | None:
        """Returns the value of a text; None if it is not allowed."""
        return text if len(text) <= self.longest else None

    def write(self, value: Any) -> str:
        """Returns the text of a value."""
        return str(value or "")


Parameter = Choice | Number | Text


def renewed(parameter: Choice, keys: Sequence[str]) -> Choice:
    """Returns the same parameter with other keys. A default that is not among them becomes the first key, or those that
    exist.
    """
    default = parameter.default
    if parameter.several:
        default = tuple(key for key in default if key in keys) or tuple(keys[: parameter.least])
    elif default not in keys and keys:
        default = keys[0]
    return replace(parameter, choices=tuple(keys), default=default)


def parse(
    parameters: Sequence[Parameter], query: Mapping[str, str], *, instead: str = "; the default is shown instead"
) -> tuple[dict[str, Any], str]:
    """Returns values by key, and a sentence about ignored ones (empty if there are none); `instead` describes what is
    used instead.

    Of a parameter with a noun, unknown keys are skipped and named; the value is None if none is left.
    """
    values: dict[str, Any] = {}
    ignored, empty, sentences = [], [], []
    for parameter in parameters:
        text = query.get(parameter.key)
        # No name at all in a list leaves its default, as does an empty one that is among the choices.
        if text is not None and parameter.noun and (text or not (parameter.several or "" in parameter.choices)):
            values[parameter.key], *said = _existing(parameter, text)
            sentences += said
            continue
        value = None if text is None or len(text) > LONGEST else parameter.read(text)
        if value is None:
            value = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
            if text is not None:
                (ignored if text else empty).append(parameter.key)
        values[parameter.key] = value
    if ignored:
        sentences.append(f"The address has an unknown value for {', '.join(ignored)}{instead}.")
    if empty:
        sentences.append(f"Nothing is chosen under {', '.join(empty)}{instead}.")
    return values, " ".join(filter(None, sentences))


def _existing(parameter: Choice, text: str) -> tuple[str | list[str] | None, str, str]:
    """Returns the existing keys in a text, None if there are none, and sentences about missing keys and about how names
    were resolved.
    """
    several, known = parameter.several, parameter.known
    texts = dict.fromkeys(filter(None, text[:LONGEST].split(",") if several else [text[:LONGEST]]))
    others = [key for key in texts if key not in known]
    meant = {key: _meant(parameter, key) for key in others[:MOST_READ]}
    existing = list(dict.fromkeys(key for each in texts if (key := meant.get(each, each)) in known))
    unclear = [key for key in others if meant.get(key) not in known]
    names = [unknown(parameter.noun, key, (*parameter.choices, *parameter.spellings)) for key in unclear[:MOST_NAMED]]
    if len(unclear) > MOST_NAMED:
        names.append(f"{len(unclear) - MOST_NAMED} more do not exist.")
    if not existing:
        return None, " ".join([*names, f"Choose a {parameter.noun}."]), ""
    if unclear:
        names.append("The others are shown.")
    alike = {name.lower() for name in (*parameter.choices, *parameter.spellings)}
    read = [
        f"{shortened(name)!r} is read as {key!r}."
        for name, key in meant.items()
        if key in known and name.lower() not in alike
    ]
    return existing[: parameter.most] if several else existing[0], " ".join(names), " ".join(read)


def _meant(parameter: Choice, text: str) -> str:
    """Returns the only choice with this name, ignoring case, or with all words of it; the text itself if there is
    none.
    """
    names = [*((key, key) for key in parameter.choices), *parameter.spellings.items()]
    words = set(words_of(text))
    found = {key for name, key in names if name.lower() == text.lower()}
    found = found or {key for name, key in names if words and words <= _words(name)}
    found &= set(parameter.choices)
    return found.pop() if len(found) == 1 else text


@lru_cache(maxsize=4096)
def _words(name: str) -> frozenset[str]:
    return frozenset(words_of(name))


def query(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> str:
    """Returns the shortest query string for these values, empty if all are defaults."""
    texts = {parameter.key: parameter.write(values[parameter.key]) for parameter in parameters}
    changed = {each.key: texts[each.key] for each in parameters if texts[each.key] != each.write(each.default)}
    return urlencode(changed, safe="/,:~-")
