"""Messages to a generative judge, as interleaved texts and images, and its replies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from compute.types import BadInput, BadItem

STOP, LENGTH, REFUSAL = "stop", "length", "refusal"  # why an answer ended: complete, truncated, or refused

Part = TypeVar("Part")

_TAG = r"<{0}(?:\w+:)?(?:think|thinking|thoughts?|reasoning)>|\[{0}THINK\]|◁{0}think▷"
_CHANNEL = r"|<\|channel\|>\s*(?:{0})\b"  # in OpenAI's harmony format
_OPENED = re.compile(_TAG.format("") + _CHANNEL.format("analysis|commentary"), re.IGNORECASE)
_CLOSED = re.compile(_TAG.format("/") + _CHANNEL.format("final"), re.IGNORECASE)
_SPECIAL = re.compile(r"<\|[^<>]*\|>")  # a token that a server did not strip


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An image within a message: its content key, its name, and a function that reads its encoded bytes when needed."""

    key: bytes
    name: str = field(default="", compare=False)  # within the data set, for messages
    read: Callable[[], bytes] = field(repr=False, compare=False)

    @property
    def data(self) -> bytes:
        """The encoded bytes."""
        return self.read()


@dataclass(frozen=True, kw_only=True)
class Question:
    """One user message: its parts in reading order, and the options it offers (`(A) Image 2`; empty: free text).

    `longest`: maximum number of answer tokens; None: the judge's default.
    """

    item: str
    parts: tuple[str | Picture, ...]
    choices: tuple[str, ...] = ()
    longest: int | None = None

    def prompt(self) -> str:
        """Returns the message as text, with images as `<image KEY>`; this is stored with the answer."""
        return "".join(part if isinstance(part, str) else f"<image {part.key.decode()}>" for part in self.parts)

    def each(self, *, text: Callable[[str], Part], image: Callable[[Picture], Part]) -> list[Part]:
        """Returns the results of `text` and `image` for the parts, in order. Raises BadItem for an unreadable image."""
        made = []
        for part in self.parts:
            if isinstance(part, str):
                made.append(text(part))
                continue
            try:
                made.append(image(part))
            except BadInput as error:
                raise BadItem(part.name or self.item, str(error), key=part.key) from error
        return made

    def chat(self, show: Callable[[Picture], dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the message in chat format; `show` makes an image's part. Raises BadItem for an unreadable image."""
        return [{"role": "user", "content": self.each(text=lambda text: {"type": "text", "text": text}, image=show)}]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A judge's reply, with `error` instead of a text if the judge could not be reached."""

    item: str
    text: str = ""
    error: str = ""
    finish: str = ""  # STOP, LENGTH or REFUSAL; empty if the runner does not report it
    input_tokens: int | None = None  # this and the next three are set if the runner counts them
    output_tokens: int | None = None
    seconds: float | None = field(default=None, compare=False)  # of its request or share of a batch, without waiting
    cost: float | None = None  # US dollars


def is_answer(text: str, finish: str) -> bool:
    """Returns whether a reply is an answer rather than a provider's failure: an empty text is one only if all tokens
    went to reasoning or a filter removed it.
    """
    return bool(text.strip()) or finish in (LENGTH, REFUSAL)


def final(text: str, *, finish: str) -> str | None:
    """Returns the reply without its thinking, in the tags that models use; None if the thinking does not end."""
    closed = [match.end() for match in _CLOSED.finditer(text)]
    after = text[closed[-1] :] if closed else text
    if _OPENED.search(after):
        return None
    opened = _OPENED.search(text)
    said = text[: opened.start()] if opened and finish != LENGTH and not after.strip() else after
    return _SPECIAL.sub(" ", said)
