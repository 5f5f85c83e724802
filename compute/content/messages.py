"""What is put to a generative judge: one schema of interleaved texts and images, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compute.types import BadInput, BadItem


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An image within a message: its content key, its name, and a way to its encoded bytes, read only when needed."""

    key: bytes
    name: str = field(default="", compare=False)  # within the data set, for messages
    read: Callable[[], bytes] = field(repr=False, compare=False)

    @property
    def data(self) -> bytes:
        """The encoded bytes."""
        return self.read()


@dataclass(frozen=True, kw_only=True)
class Question:
    """One user message: its parts in reading order, and the options it offers (`(A) Image 2`; empty: free text)."""

    item: str
    parts: tuple[str | Picture, ...]
    choices: tuple[str, ...] = ()

    def prompt(self) -> str:
        """The message as text, an image as `<image KEY>`: what is stored with its answer."""
        return "".join(part if isinstance(part, str) else f"<image {part.key.decode()}>" for part in self.parts)

    def chat(self, show: Callable[[Picture], dict[str, Any]]) -> list[dict[str, Any]]:
        """The message as chat models take it; `show` makes an image's part. Raises BadItem for an unreadable image."""
        content = []
        for part in self.parts:
            try:
                content.append({"type": "text", "text": part} if isinstance(part, str) else show(part))
            except BadInput as error:
                raise BadItem(part.name or self.item, str(error), key=part.key) from error
        return [{"role": "user", "content": content}]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A judge's reply. `error` instead of a text when it could not be reached; tokens where the runner counts them."""

    item: str
    text: str = ""
    error: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
