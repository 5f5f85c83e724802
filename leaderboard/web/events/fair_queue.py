"""Gradio's queue with turns and limits. What it reads of Gradio's internals stands in this file alone.

Gradio serves first come, first served, and bounds only how many requests wait in all: a visitor who sends many keeps
everyone else out. Here visitors are served in rotation, and each has a limit.
"""

from __future__ import annotations

import asyncio
import inspect
import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import HTTPException
from gradio.queueing import Event, Queue
from gradio.server_messages import EstimationMessage, EventMessage, ProcessCompletedMessage, ProgressMessage

from leaderboard.web.visitors import visitor

if TYPE_CHECKING:
    import gradio as gr
    from gradio.block_function import BlockFunction
    from gradio.data_classes import PredictBodyInternal
    from starlette.requests import Request

T = TypeVar("T")
UNIT = 1_000_000  # bytes of a body: a request takes a unit of the line for each
RETRY = {"retry-after": "5"}
LONGEST_SESSION = 200  # characters of its name
MOST_MESSAGES, NOTES = 500, 50  # of one session that nobody has read, in all and on waiting and progress
UNREAD = 128  # sessions with messages that nobody has read; a page reads each at once


@dataclass(frozen=True, kw_only=True)
class QueueLimits:
    """How much may wait and run at once: requests of a session, units of an address and of all."""

    session: int = 8  # a page has five at the very most: a comparison, a curve, patches, a table, a download
    address: int = 64  # a class of 30 behind one address has two each
    total: int = 256


def in_turn(waiting: Sequence[T], *, of: Callable[[T], Hashable]) -> list[T]:
    """Everyone's first request, then everyone's second, and so on; otherwise the order stays.

    Applied at each arrival, it serves all in rotation: a newcomer waits for at most one request of each other visitor.
    """
    own: Counter[Hashable] = Counter()
    rounds = []
    for each in waiting:
        rounds.append(own[of(each)])
        own[of(each)] += 1
    return [waiting[index] for index in sorted(range(len(waiting)), key=rounds.__getitem__)]


class FairQueue(Queue):
    """Gradio's queue for `blocks`, with `limits`. Functions that take a batch of requests are not supported."""

    def __init__(self, blocks: gr.Blocks, *, limits: QueueLimits = QueueLimits()) -> None:  # noqa: B008 (frozen)
        super().__init__(
            live_updates=True,
            concurrency_count=blocks.max_threads,
            update_intervals=1,
            max_size=None,
            blocks=blocks,
        )
        self.limits = limits
        self.ANALYTICS_MAX_EVENTS = 1  # statistics that nobody reads, computed from all of them after each event
        self._units: dict[str, int] = {}  # by event, waiting or running

    # ---- arriving

    async def push(self, body: PredictBodyInternal, request: Request, username: str | None) -> tuple[bool, Any, Any]:
        """As Gradio's. Raises HTTPException, with a sentence, for a request that is refused."""
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
        """Raises HTTPException where the session, the address or all together have too many requests."""
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

    # ---- being served

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """The next event, alone in its list, of a queue with a free slot. Nobody has more than half of the slots."""
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
        """As Gradio's, but a cancelled event keeps its slot until what it runs in a thread has ended.

        Gradio would start the next at once, beside a model that still computes.
        """
        work = asyncio.create_task(super().process_events(events, batch, begin_time, fn))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            for event in events:
                event.alive = False  # nothing is sent any more, and a generator ends at its next step
            if inspect.isasyncgenfunction(fn.fn) or inspect.iscoroutinefunction(fn.fn):
                work.cancel()  # it waits for a program of its own, and ends it
            await asyncio.wait({work})

    # ---- answering and leaving

    def send_message(self, event: Event, event_message: EventMessage) -> None:
        """As Gradio's, within bounds where nobody reads the messages."""
        messages = self.pending_messages_per_session.get(event.session_hash)
        if messages is None or messages.qsize() > MOST_MESSAGES:  # the visitor has left, or does not read
            event.alive = False
            return
        if messages.qsize() > NOTES and isinstance(event_message, EstimationMessage | ProgressMessage):
            return
        super().send_message(event, event_message)
        if isinstance(event_message, ProcessCompletedMessage):
            unread = [key for key, waiting in self.pending_messages_per_session.items() if waiting.qsize()]
            for session in unread[:-UNREAD]:
                self._drop_messages(session)

    async def clean_events(self, *, session_hash: str | None = None, event_id: str | None = None) -> None:
        """As Gradio's: called when a visitor leaves. What one of the events runs is ended too, where it can be."""
        events = [
            event
            for event in self.event_ids_to_events.values()
            if event._id == event_id or (session_hash and event.session_hash == session_hash)
        ]
        await super().clean_events(session_hash=session_hash, event_id=event_id)
        names = {f"{event.session_hash}_{event.fn._id}<gradio-sep>{event._id}" for event in events}
        for task in [task for task in self._asyncio_tasks if task.get_name() in names]:
            task.cancel()
        if session_hash:
            self._drop_messages(session_hash)

    def _drop_messages(self, session: str) -> None:
        self.pending_messages_per_session.pop(session, None)
        self.pending_event_ids_session.pop(session, None)

    def compute_analytics_summary(self, _: list[dict]) -> dict[str, Any]:
        """Nothing: Gradio would build a data frame of the last 10,000 events after each one."""
        return self.cached_event_analytics_summary

    # ---- looking up

    def knows_session(self, session: str) -> bool:
        """Whether anything was or will be sent to the session."""
        return session in self.pending_messages_per_session

    def knows_event(self, event: str) -> bool:
        """Whether the event waits, runs, or has an answer to fetch."""
        return event in self.event_ids_to_events or any(
            event in events for events in self.pending_event_ids_session.values()
        )


def _address(event: Event) -> str:
    return visitor(event.request)
