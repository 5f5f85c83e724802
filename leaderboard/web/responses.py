"""Responses as bytes: JSON and files, compressed or not, and how long a browser may reuse them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import brotli
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message

from compute.types import shortened

if TYPE_CHECKING:  # the help of the command needs none of it
    import pandas as pd

JSON = "application/json"
CHECK = "no-cache"  # a browser may store it, and checks with the server before each use
NO_STORE = "no-store"
HOURS = "public, max-age=10800"  # for readers on other sites
FOREVER = "public, max-age=31536000, immutable"  # for addresses that hold a hash of the content
# A spreadsheet runs a cell that starts so, with full-width signs too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NO_FORMULA = re.compile(r"-|[-+]?\d+(\.\d+)?([eE][-+]?\d+)?%?", re.ASCII)  # a blank of the papers, and numbers
UNSAFE = re.compile(r"[^\w .()+-]")  # in the name of a file
LONGEST_NAME = 120  # characters
LONGEST_SENTENCE = 600  # characters of an error


def takes_brotli(request: Request) -> bool:
    """Returns whether the client accepts Brotli."""
    return "br" in request.headers.get("accept-encoding", "")


def compress(content: bytes, *, quality: int = 5) -> bytes:
    """Compresses the content with Brotli; `quality` from 0 (fast) to 11 (small)."""
    return brotli.compress(content, quality=quality)


def respond(
    request: Request,
    content: bytes,
    *,
    media: str = JSON,
    cache: str = CHECK,
    compressed: bool | None = None,
) -> Response:
    """Returns the content, or 304 if the browser has it already. Its ETag is a digest, except for content that lasts
    FOREVER.

    `compressed`: True, the content is Brotli, and is decompressed for those who do not read it; False, it is plain here
    but compressed for others; None, it is plain for everyone.
    """
    etag = "" if cache == FOREVER else f'"{hashlib.blake2b(content, digest_size=8).hexdigest()}"'
    headers = {name: value for name, value in (("etag", etag), ("cache-control", cache)) if value}
    if compressed is not None:
        headers["vary"] = "accept-encoding"
    held = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    if etag in held and etag:
        return Response(status_code=304, headers=headers)
    if compressed and takes_brotli(request):
        headers["content-encoding"] = "br"
    elif compressed:
        content = brotli.decompress(content)
    return Response(content, media_type=media, headers=headers)


def download(content: bytes, *, name: str, media: str) -> Response:
    """Returns the content as a file that the browser saves under this name."""
    return Response(content, media_type=media, headers={"content-disposition": disposition(name)})


def disposition(name: str) -> str:
    """Returns the header that names a file to save; characters that a file name or a header cannot contain become _."""
    plain = UNSAFE.sub("_", name).lstrip(".")[:LONGEST_NAME] or "file"
    ascii_name = plain.encode("ascii", "replace").decode().replace("?", "_")
    extended = "" if ascii_name == plain else f"; filename*=utf-8''{quote(plain, safe='')}"
    return f'attachment; filename="{ascii_name}"{extended}'


def safe_cell(text: str) -> str:
    """Returns the text of a cell for a file, quoted if a spreadsheet would read it as a formula; a number is
    unchanged.
    """
    return f"'{text}" if text.startswith(FORMULA) and not NO_FORMULA.fullmatch(text) else text


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Returns the frame as CSV with safe cells."""
    safe = frame.map(lambda cell: safe_cell(cell) if isinstance(cell, str) else cell)
    return safe.rename(columns=safe_cell).to_csv(index=False, lineterminator="\n").encode()


def safe_csv(content: bytes) -> bytes:
    """Returns a CSV file in UTF-8 with safe cells, unchanged if all are safe."""
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    safe = [list(map(safe_cell, row)) for row in rows]
    if safe == rows:
        return content
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(safe)
    return out.getvalue().encode()


def bounded_sentence(text: str) -> str:
    """Returns the text with at most LONGEST_SENTENCE characters, and with ? for lone surrogates."""
    return shortened(text, LONGEST_SENTENCE).encode("utf-8", "replace").decode()


def sentence_of(body: bytes) -> str:
    """Returns the sentence in a refusal's JSON, truncated; empty for any other body."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    text = content.get("error") if isinstance(content, dict) else None
    return bounded_sentence(text) if isinstance(text, str) else ""


def retry_after_of(start: Message) -> dict[str, str]:
    """Returns the headers of an answer that replaces another, which began with `start`: not stored, and when to try
    again.
    """
    wait = Headers(raw=start["headers"]).get("retry-after")
    return {"cache-control": NO_STORE, **({"retry-after": wait} if wait else {})}


def refusal(sentence: str, status: int, *, cache: str = NO_STORE, retry_after: int | None = None) -> JSONResponse:
    """Returns an error as `{"error": sentence}`; `retry_after`: seconds until another try makes sense."""
    headers = {"cache-control": cache} if cache else {}
    sentence = bounded_sentence(sentence)
    if retry_after is not None:
        headers["retry-after"] = str(retry_after)
    return JSONResponse({"error": sentence}, status_code=status, headers=headers)
