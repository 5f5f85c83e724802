"""Bounds on what a request names and holds, in one place: its address, its headers, and the values of its JSON.

No key of the app has 200 characters and no number of it 16 digits, so what is larger was not written by a page or a
program of good will, and is refused before any code compares, stores or repeats it.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from compute.live.inputs import LARGEST_IMAGE, LONGEST
from compute.types import LONGEST_KEY, BadInput, shortened
from leaderboard.web.responses import refusal

LONGEST_PATH = 1_000  # characters
LONGEST_QUERY = 16_000  # bytes as sent: a board's weights and 200 tasks take 6,000
MOST_PARAMETERS = 200
LONGEST_HEADER = 32_000  # bytes of one header: on localhost a browser sends the cookies of all other programs too
OWN_HEADERS = (b"x-likeness-", b"mcp-")  # these hold a key each
LONGEST_VALUE = 8_000  # characters of a text that may list keys, commas between
LONGEST_IMAGE = LARGEST_IMAGE * 4 // 3 + 200  # characters of a data URI
DEEPEST = 20  # levels of JSON; the pages send five
LARGEST_NUMBER = 2**53  # JSON's whole numbers are exact below it
IMAGE = "data:image/"
FILE = "gradio.FileData"
# Names of values: of those that hold a key, and those that hold a visitor's text. Any other is at most LONGEST_VALUE.
KEYS = frozenset(
    ("session", "session_hash", "event_id", "trigger_id", "component_id", "fn_name", "fn_index", "jsonrpc", "method")
    + ("id", "key", "name", "kind", "mode", "file", "suite", "task", "model", "origin", "by", "turn", "format")
    + ("show", "order", "part", "row", "column", "version", "preset")
)
TEXTS = frozenset(("text", "first", "second", "data"))


class Bounds:
    """Refuses requests with an address or a header beyond the bounds; bodies are bounded where they are read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is within the bounds."""
        sentence, status = _of_request(scope) if scope["type"] == "http" else ("", 200)
        await (refusal(sentence, status) if sentence else self.app)(scope, receive, send)


def _of_request(scope: Scope) -> tuple[str, int]:
    """Why a request is refused, with the answer's status; an empty sentence where it is not."""
    for name, value in scope["headers"]:
        most = LONGEST_KEY if name.startswith(OWN_HEADERS) else LONGEST_HEADER
        if len(name) > LONGEST_KEY or len(value) > most:
            named = shortened(name.decode("latin-1"))
            return f"The header {named} has more than {most:,} bytes. Send a shorter one", 431
    if len(scope["path"]) > LONGEST_PATH:
        return f"The address has more than {LONGEST_PATH:,} characters. Check it", 414
    query = scope["query_string"]
    if len(query) > LONGEST_QUERY:
        return f"The address has more than {LONGEST_QUERY:,} characters of parameters. Choose fewer keys", 414
    if query.count(b"&") >= MOST_PARAMETERS:
        return f"The address has more than {MOST_PARAMETERS} parameters. Check it", 414
    if len(query) > LONGEST_KEY:
        for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
            if sentence := _of_text(name, LONGEST_KEY) or _of_text(value, _most(name)):
                return f"A parameter of the address has {sentence}", 414
    return "", 200


def check(value: Any, *, images: bool = False) -> None:
    """Raises BadInput where parsed JSON, whatever it is, holds anything beyond the bounds.

    A text may have LONGEST characters under a name of TEXTS, an item of a list LONGEST_KEY, and with `images` a data
    URI where a text may stand LONGEST_IMAGE. Objects that Gradio takes for files are refused too.
    """
    pending: list[tuple[Any, int, int]] = [(value, LONGEST_VALUE, 0)]  # a value, the most characters, its depth
    while pending:
        each, most, depth = pending.pop()
        if depth > DEEPEST:
            raise BadInput(f"The values are nested more than {DEEPEST} levels deep. Send them flat")
        if isinstance(each, str):
            if images and most == LONGEST and each[: len(IMAGE)].lower() == IMAGE:
                most = LONGEST_IMAGE
            if sentence := _of_text(each, most):
                raise BadInput(f"A {'text' if most == LONGEST else 'value'} has {sentence}")
        elif isinstance(each, dict):
            if isinstance(each.get("meta"), dict) and each["meta"].get("_type") == FILE:
                raise BadInput("An event names no files. They are sent to live/input")
            for name in each:
                if sentence := _of_text(name, LONGEST_KEY):
                    raise BadInput(f"A value's name has {sentence}")
            pending += [(inner, _most(name), depth + 1) for name, inner in each.items()]
        elif isinstance(each, list):
            # The values of an event stand in a list; the items of any other are keys.
            own = most if most == LONGEST else LONGEST_KEY
            pending += [(item, LONGEST_KEY if isinstance(item, list) else own, depth + 1) for item in each]
        elif depth and isinstance(each, int | float) and not abs(each) <= LARGEST_NUMBER:
            raise BadInput("A number is not finite, or has more than 15 digits. Send another one")


def _most(name: str) -> int:
    """The most characters of a text under this name."""
    return LONGEST if name in TEXTS else LONGEST_KEY if name in KEYS else LONGEST_VALUE


def _of_text(text: str, most: int) -> str:
    return f"{len(text):,} characters, more than {most:,}. Send a shorter one" if len(text) > most else ""
