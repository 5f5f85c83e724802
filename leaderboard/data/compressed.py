"""Tables for the browser, each made and compressed once a database file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from leaderboard.data import payload
from leaderboard.data.database import Database
from leaderboard.data.memo import memoised
from leaderboard.web.errors import Handler
from leaderboard.web.responses import compress, respond


def compressed(db: Database, make: Callable[..., dict[str, Any]], *, key: str = "") -> Handler:
    """A route's answer from `make`, called with the query parameter `key` if there is one; raises what it raises."""
    packed = memoised(lambda *keys: compress(payload.encode(make(*keys))), most=256, of=db)

    def answer(request: Request) -> Response:
        content = packed(*([request.query_params.get(key, "")[:200]] if key else []))
        return respond(request, content, etag=f'"{db.version}-{len(content):x}"', compressed=True)

    return answer
