"""Gradio without sessions, with a fair queue, and with sentences for what it cannot read. What is read of Gradio's
internals is in this file alone.

Gradio copies the settings of every component for each session, 0.4 MB here, and keeps 10,000 of them. It needs them for
components whose state lives on the server. This app has none: a page sends all that an event needs. So a
session lasts for one step of one event, there is nothing to evict, and a page stays whole however many others open.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import re
from collections import ChainMap, Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr
from fastapi import HTTPException
from fastapi.exceptions import RequestValidationError
from gradio.block_function import BlockFunction
from gradio.queueing import Event, Queue
from gradio.route_utils import FnIndexInferError
from gradio.routes import App
from gradio.server_messages import ProcessCompletedMessage
from gradio.state_holder import SessionState, StateHolder
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from leaderboard.web.errors import FAILED
from leaderboard.web.responses import refusal
from leaderboard.web.visitors import in_turn, visitor

if TYPE_CHECKING:
    from gradio.data_classes import PredictBodyInternal
    from gradio.server_messages import EventMessage

Lifespan = Callable[[App], AbstractAsyncContextManager[Any]]
UNIT = 1_000_000  # bytes of a body: a request takes a unit of the queue for each
RETRY = {"retry-after": "5"}
LONGEST_SESSION = 200  # characters of its name
MOST_MESSAGES, UNREAD = 500, 128  # that nobody has read of one session, and sessions with such messages
UNREADABLE = "The page sent values that this app cannot read. Reload the page and try again"
IN_THE_PAGE = "This event runs in the page alone"
LONGEST = 300  # characters of a sentence: Gradio's quotes the value and lists all choices
READ = re.compile(r"/gradio_api/+queue/data/?\Z")
UNKNOWN = "There is no such event here. It is over, or the server was restarted: send the request again"
log = logging.getLogger(__name__)


# ---- the queue


@dataclass(frozen=True, kw_only=True)
class QueueLimits:
    """Limits on waiting and running requests: requests of a session, units of an address and of all."""

    session: int = 8  # a page has five at the very most: a comparison, a curve, parts, a table, a download
    address: int = 64  # a class of 30 behind one address has two each
    total: int = 256


class FairQueue(Queue):
    """Gradio's first-come, first-served queue made fair: visitors are served in rotation, and each has a limit."""

    def __init__(self, blocks: gr.Blocks, *, limits: QueueLimits = QueueLimits()) -> None:  # noqa: B008 (frozen)
        super().__init__(True, blocks.max_threads, 1, None, blocks)
        self.limits = limits
        self.ANALYTICS_MAX_EVENTS, self.ANAYLTICS_CACHE_FREQUENCY = 1, 2**62  # statistics that nobody reads
        self._units: dict[str, int] = {}  # by event, waiting or running

    async def push(self, body: PredictBodyInternal, request: Request, username: str | None) -> tuple[bool, Any, Any]:
        """Queues an event as Gradio does. Raises HTTPException, with a sentence, for a refused request."""
        if body.fn_index not in self.blocks.fns:
            raise HTTPException(404, detail="There is no such event. Reload the page")
        if len(body.session_hash or "") > LONGEST_SESSION:
            raise HTTPException(400, detail=f"A session is named by at most {LONGEST_SESSION} characters")
        body.batched = False  # only Gradio itself sets it
        units = max(1, -(-len(getattr(request, "_body", b"")) // UNIT))
        self._admit(visitor(request), body.session_hash, units)
        success, event_id, state = await super().push(body=body, request=request, username=username)
        if success and event_id in self.event_ids_to_events:
            request._body = b""  # a second copy of what `body` holds
            self._units[event_id] = units
        return success, event_id, state

    def _admit(self, address: str, session: str | None, units: int) -> None:
        """Raises HTTPException if the session, the address or all together have too many requests."""
        self._units = {key: size for key, size in self._units.items() if key in self.event_ids_to_events}
        own = [event for key in self._units if _address(event := self.event_ids_to_events[key]) == address]
        if session and sum(event.session_hash == session for event in own) >= self.limits.session:
            sentence = f"This page already has {self.limits.session} requests waiting or running, which is the most. "
            raise HTTPException(429, detail=sentence + "Wait until one of them is answered", headers=RETRY)
        if own and sum(self._units[event._id] for event in own) + units > self.limits.address:
            sentence = f"Your network already has {len(own)} requests waiting or running, which is the most. "
            raise HTTPException(429, detail=sentence + "Try again in a few seconds", headers=RETRY)
        if sum(self._units.values()) + units > self.limits.total:
            sentence = "Too many requests are waiting on this server. Try again in a minute"
            raise HTTPException(503, detail=sentence, headers=RETRY)

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """Returns a list with the next event of a queue that has a free slot. Nobody gets more than half of the
        slots.
        """
        running = Counter((event.concurrency_id, _address(event)) for job in self.active_jobs if job for event in job)
        queues = list(self.event_queue_per_concurrency_id.values())
        random.shuffle(queues)
        for queue in queues:
            limit = queue.concurrency_limit
            if limit is not None and queue.current_concurrency >= limit:
                continue
            queue.queue[:] = in_turn(in_turn(queue.queue, of=lambda event: event.session_hash), of=_address)
            for event in queue.queue:
                if limit is None or running[queue.concurrency_id, _address(event)] < max(1, limit // 2):
                    queue.queue.remove(event)
                    return [event], False, queue.concurrency_id
        return None

    async def process_events(self, events: list[Event], batch: bool, begin_time: float, fn: BlockFunction) -> None:
        """Processes events as Gradio does, but a cancelled event holds its slot until its thread has ended.

        Gradio would start the next at once, while a model still computes.
        """
        work = asyncio.create_task(super().process_events(events, batch, begin_time, fn))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            for event in events:
                event.alive = False  # nothing is sent any more, and a generator ends at its next step
            if inspect.isasyncgenfunction(fn.fn):
                work.cancel()  # it waits for its own program, and ends it
            await asyncio.wait({work})

    def send_message(self, event: Event, event_message: EventMessage) -> None:
        """Sends messages as Gradio does, with a limit if nobody reads them."""
        messages = self.pending_messages_per_session.get(event.session_hash)
        if messages is None or messages.qsize() > MOST_MESSAGES:  # the visitor has left, or does not read
            event.alive = False
        else:
            super().send_message(event, event_message)
        if isinstance(event_message, ProcessCompletedMessage):  # who reads has no message left: the others make room
            others = ((key, own) for key, own in self.pending_messages_per_session.items() if key != event.session_hash)
            for session in [key for key, own in others if own.qsize()][:-UNREAD]:
                self._drop_messages(session)

    async def clean_events(self, *, session_hash: str | None = None, event_id: str | None = None) -> None:
        """Cleans up as Gradio does when a visitor leaves, and also ends what an event runs, if possible."""
        leaving = [
            f"{event.session_hash}_{event.fn._id}<gradio-sep>{event._id}"
            for event in self.event_ids_to_events.values()
            if event._id == event_id or (session_hash and event.session_hash == session_hash)
        ]
        await super().clean_events(session_hash=session_hash, event_id=event_id)
        for task in [task for task in self._asyncio_tasks if task.get_name() in leaving]:
            task.cancel()
        if session_hash:
            self._drop_messages(session_hash)

    def _drop_messages(self, session: str) -> None:
        self.pending_messages_per_session.pop(session, None)
        self.pending_event_ids_session.pop(session, None)

    def knows(self, session: str) -> bool:
        """Returns whether anything was or will be sent to the session."""
        return session in self.pending_messages_per_session


def _address(event: Event) -> str:
    return visitor(event.request)


# ---- no sessions


class EventStep(SessionState):
    """The state seen by one step of an event: the app's components, overridden by those that the step itself
    changes.
    """

    def __init__(self, blocks: gr.Blocks) -> None:  # without Gradio's own, which copies every component's settings
        self.blocks_config = copy(blocks.default_config)
        self.blocks_config.blocks = ChainMap({}, blocks.default_config.blocks)
        self.blocks_config.fns = blocks.default_config.fns
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl: dict[int, Any] = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 0

    def __setitem__(self, key: int, value: Any) -> None:
        self.blocks_config.blocks[key] = value

    def _update_config(self, key: int) -> None:
        """Does nothing: only links to a saved state would read it, and there are none."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Does nothing, as `_update_config`."""


class NoSessions(StateHolder):
    """Gradio's store of sessions, without storage."""

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__()
        self.set_blocks(blocks)

    def __getitem__(self, session_id: str) -> EventStep:
        return EventStep(self.blocks)


@contextmanager
def no_server() -> Iterator[None]:
    """Prevents Gradio from making a server at the end of each page in this block, because only that of `launch` is
    served. For twenty pages, this halves the time to build them.
    """
    create = App.create_app
    App.create_app = staticmethod(lambda *_, **__: None)
    try:
        yield
    finally:
        App.create_app = create


class StatelessBlocks(gr.Blocks):
    """Gradio's app with a FairQueue and without sessions. `serve` completes it once all pages are built."""

    _is_served = False

    def __exit__(self, *error: Any) -> None:
        with no_server():
            super().__exit__(*error)

    def get_config_file(self) -> Any:
        """Returns Gradio's configuration, or nothing until `serve`: it lists every page's components again at the end
        of each page. The components' schemas are omitted: they are for programs, which have routes of their own, and
        half of a page with long lists."""
        config: Any = super().get_config_file() if self._is_served else {}
        for component in config.get("components", ()):
            for name in ("api_info", "api_info_as_input", "api_info_as_output", "example_inputs"):
                component.pop(name, None)
        return config

    def get_api_info(self, all_endpoints: bool = False, page: str | None = None) -> Any:
        """Returns Gradio's list of endpoints, empty: it would read the schemas."""
        return {"named_endpoints": {}, "unnamed_endpoints": {}}

    def serve(self, lifespan: Lifespan) -> Lifespan:
        """Adds the queue, and returns a `lifespan` of the server that also prevents storage of sessions.

        Raises ValueError for what needs a session, or a batch of requests.
        """
        stateful = [block for block in self.blocks.values() if getattr(block, "stateful", False)]
        batched = [fn.name for fn in self.fns.values() if fn.batch]
        if stateful or batched:
            raise ValueError(f"Without sessions there is no gr.State, and no batch=True: {[*stateful, *batched]}")
        self._is_served = True
        with no_server():
            self.queue(api_open=False)  # else /run starts anything outside the queue
        self.config = self.get_config_file()
        self._queue = FairQueue(self)

        @asynccontextmanager
        async def without_sessions(app: App) -> AsyncIterator[Any]:
            app.state_holder = NoSessions(self)
            async with lifespan(app) as state:
                yield state

        return without_sessions

    async def preprocess_data(
        self, block_fn: BlockFunction, inputs: list[Any], state: SessionState | None, explicit_call: bool = False
    ) -> list[Any]:
        """Validates as Gradio does. Raises gr.Error, without a traceback in the log, for values that do not fit the
        components.
        """
        if block_fn.fn is None:
            raise gr.Error(IN_THE_PAGE, print_exception=False)
        try:
            return await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except gr.Error as error:
            raise gr.Error(str(error.message)[:LONGEST], print_exception=False) from error
        except Exception as error:
            log.warning("%s was sent values that cannot be read: %s", block_fn.name, type(error).__name__)
            raise gr.Error(UNREADABLE, print_exception=False) from error


# ---- what cannot be read


class UnknownEvents:
    """Answers 404 to requests for events of a session unknown to `blocks`: Gradio notices this only after it has begun
    to answer.
    """

    def __init__(self, app: ASGIApp, blocks: StatelessBlocks) -> None:
        self.app, self.blocks = app, blocks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on all other requests."""
        known, read = True, READ.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if read and (session := Request(scope).query_params.get("session_hash")) is not None:
            known = self.blocks._queue.knows(session)
        try:
            await (self.app if known else refusal(UNKNOWN, 404))(scope, receive, send)
        except RuntimeError as error:  # Starlette's, where Gradio fails after it has begun to answer
            if not isinstance(error.__cause__, LOOKUPS):
                raise


async def _invalid(request: Request, error: Exception) -> Response:
    """Answers values of the wrong form, which Gradio's own answer would repeat."""
    return refusal("This address takes other values than it was sent. Reload the page and try again", 422)


async def _unreadable(request: Request, error: Exception) -> Response:
    """Answers names that do not exist. Handlers catch their own errors, so errors that arrive here are Gradio's."""
    log.warning("%s %r cannot be read: %s", request.method, request.url.path[-60:], type(error).__name__)
    return refusal("The server cannot read this request. Reload the page", 400)


async def _failed(request: Request, error: Exception) -> Response:
    """Answers any other error, whose traceback the server logs."""
    return refusal(FAILED, 500)


LOOKUPS = (KeyError, TypeError, ValueError, FnIndexInferError)  # Gradio's, of names that lead nowhere
ERRORS = {RequestValidationError: _invalid, **dict.fromkeys(LOOKUPS, _unreadable), Exception: _failed}
