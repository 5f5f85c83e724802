"""YAML that anyone may have written, read as plain values: within limits, without tags, aliases or repeated names."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import yaml

from compute.types import BadInput

MAX_DEPTH = 12  # of lists and objects within one another
MAX_VALUES = 50_000
MAX_NUMBER = 400  # characters: the smallest float has 330 without an exponent
INTEGER, DECIMAL = re.compile(r"[-+]?\d+"), re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d{1,3})?")
WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
STANDARD = "tag:yaml.org,2002:"


def load(text: str) -> Any:
    """The value of a YAML text: objects, lists, texts, truths, None, and numbers as `Decimal` with all their digits.

    What is neither a plain number nor a truth is text, dates among it. Raises BadInput with the reason alone.
    """
    try:
        _check(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        return None if node is None else _value(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise BadInput(f"is not YAML ({getattr(error, 'problem', None) or 'it cannot be read'}{line})") from error
    except ValueError as error:  # a date or number beyond what Python has
        raise BadInput(f"is not YAML ({str(error)[:80]})") from error


def _check(text: str) -> None:
    """Raises BadInput before anything is built: the parser takes no memory for what it passes over."""
    depth = values = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BadInput("uses anchors or aliases, which such a file does not need")
        tag = getattr(event, "tag", None)
        if tag is not None and not (tag == "!" or tag.startswith(STANDARD)):
            raise BadInput(f"uses the tag {ascii(tag)[:60]}")
        values += isinstance(event, yaml.ScalarEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise BadInput(f"has lists within lists beyond {MAX_DEPTH} levels")
        if values > MAX_VALUES:
            raise BadInput(f"has more than the {MAX_VALUES:,} values that are read")


def _value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_value(child) for child in node.value]
    if isinstance(node, yaml.MappingNode):
        content: dict[str, Any] = {}
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise BadInput("has a name that is no text")
            if key.value in content:
                raise BadInput(f"has {ascii(key.value)[:60]} twice in one entry")
            content[key.value] = _value(child)
        return content
    if node.style in ("'", '"', "|", ">"):
        return node.value
    if node.value.lower() in WORDS:
        return WORDS[node.value.lower()]
    if len(node.value) <= MAX_NUMBER and (INTEGER.fullmatch(node.value) or DECIMAL.fullmatch(node.value)):
        return Decimal(node.value)
    return node.value
