"""A file on disk as an answer: in small parts, with its length, ranges, and 304 for those who have it."""

from __future__ import annotations

import os
import re
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from leaderboard.web.responses import CHECK, disposition
from leaderboard.web.sending.pacing import PART, disconnection

RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


class FileAnswer(Response):
    """An open file to download under a name; it is closed at the end. Deleting it meanwhile does not hurt.

    One range is honoured; for several the whole file is sent, as the standard allows.
    """

    def __init__(self, file: BinaryIO, *, name: str, media: str, etag: str) -> None:
        self.file, self.size, self.etag = file, os.fstat(file.fileno()).st_size, etag
        super().__init__(
            media_type=media,
            headers={
                "content-disposition": disposition(name),
                "cache-control": CHECK,
                "etag": etag,
                "accept-ranges": "bytes",
                "content-length": str(self.size),
            },
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the file, its range, or that the visitor has it already."""
        try:
            begin, end = self._choose(Headers(scope=scope))
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] != "HEAD" and begin < end:
                await self._send_content(begin, end, receive, send)
            else:
                await send({"type": "http.response.body", "body": b""})
        finally:
            self.file.close()

    def _choose(self, headers: Headers) -> tuple[int, int]:
        """The first byte and the one after the last; sets the status and its headers."""
        if self.etag in map(str.strip, headers.get("if-none-match", "").split(",")):
            self.status_code = 304
            del self.headers["content-length"]
            return 0, 0
        range_ = RANGE.fullmatch(headers.get("range", "").replace(" ", ""))
        if range_ is None or range_.group(0) == "bytes=-" or headers.get("if-range", self.etag) != self.etag:
            return 0, self.size
        first, last = range_.groups()
        begin = int(first) if first else max(0, self.size - int(last))
        end = min(self.size, int(last) + 1) if first and last else self.size
        if first and last and int(last) < begin:
            return 0, self.size  # no range at all
        if begin >= self.size:
            self.status_code = 416
            self.headers["content-range"] = f"bytes */{self.size}"
            self.headers["content-length"] = "0"
            return 0, 0
        self.status_code = 206
        self.headers["content-range"] = f"bytes {begin}-{end - 1}/{self.size}"
        self.headers["content-length"] = str(end - begin)
        return begin, end

    async def _send_content(self, begin: int, end: int, receive: Receive, send: Send) -> None:
        self.file.seek(begin)
        async with disconnection(receive) as left:
            while begin < end and not left.done():
                part = await run_in_threadpool(self.file.read, min(PART, end - begin))
                if not part:
                    raise OSError("The file is shorter than it was")
                begin += len(part)
                await send({"type": "http.response.body", "body": part, "more_body": True})
            if not left.done():
                await send({"type": "http.response.body", "body": b"", "more_body": True})
                await send({"type": "http.response.body", "body": b""})
