"""The only error boundary: for any failure, a visitor or a program gets one plain sentence.

Routes are wrapped in `guarded`, event handlers in `caught`; code that has more to do with the sentence calls `explain`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from compute.types import LikenessError
from compute.versions import without_package
from leaderboard.web.responses import bounded_sentence, refusal

FAILED = "Something failed on the server. Try again; if it keeps failing, the server's log says why"
Handler = Callable[[Request], Response]
log = logging.getLogger(__name__)


def explain(error: Exception, *, action: str) -> str:
    """Returns the sentence for an error: a LikenessError's own, bounded; for a package that is not installed, its name
    and the remedy; for any other FAILED, with the traceback in the log.

    `action` names in the log what failed.
    """
    if isinstance(error, LikenessError):
        return bounded_sentence(str(error))
    if isinstance(error, ModuleNotFoundError) and (problem := without_package(error)):
        return problem
    log.error("%s failed", action, exc_info=error)
    return FAILED


def caught(show: Callable[[str], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates an event handler: on failure, it returns `show(sentence)`, or yields it last if it is a generator.

    Gradio reads the handler's parameters as before.

        @caught(lambda sentence: [message(sentence), gr.skip()])
        def compare(event: gr.EventData, request: gr.Request) -> Iterator[list]: ...
    """

    def decorate(handler: Callable[..., Any]) -> Callable[..., Any]:
        def failed(error: Exception) -> Any:
            return show(explain(error, action=handler.__qualname__))

        @wraps(handler)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return handler(*args, **kwargs)
            except Exception as error:
                return failed(error)

        @wraps(handler)
        def generate(*args: Any, **kwargs: Any) -> Iterator[Any]:
            try:
                yield from handler(*args, **kwargs)
            except Exception as error:
                yield failed(error)

        return generate if inspect.isgeneratorfunction(handler) else call

    return decorate


def guarded(answer: Handler, *, snapshot: Callable[[], AbstractContextManager[Any]]) -> Handler:
    """Wraps a route's handler so that its errors are sentences: status 400 for a LikenessError, 500 for any other.

    The whole answer is made within `snapshot`, so it comes from one file of the database. Pages use `Site.guard`.
    """

    @wraps(answer)
    def respond(request: Request) -> Response:
        try:
            with snapshot():
                return answer(request)
        except Exception as error:
            status = 400 if isinstance(error, LikenessError) else 500
            return refusal(explain(error, action=f"Request to {request.url.path}"), status, cache="")

    return respond
