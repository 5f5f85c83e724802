"""One boundary for errors: whatever goes wrong becomes one plain sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from compute.types import LikenessError
from leaderboard.data.database import Database

log = logging.getLogger(__name__)


def guarded(answer: Callable[[Request], Response], *, db: Database) -> Callable[[Request], Response]:
    """One plain line instead of a traceback, whatever goes wrong; all of an answer is of one file."""

    def told(request: Request) -> Response:
        try:
            with db.snapshot():
                return answer(request)
        except LikenessError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        except Exception:
            log.exception("Request to %s failed", request.url.path)
            return JSONResponse(
                {"error": "Something failed on the server. Reload the page, or try again later"}, status_code=500
            )

    return told
