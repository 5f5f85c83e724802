"""Gradio's queue with turns and limits. What it reads of Gradio's internals stands in this file alone.

Gradio serves first come, first served, and bounds only how many requests wait in all: a visitor who sends many keeps
everyone else out. Here visitors are served in rotation, each has a limit, and when all is full the visitor with the
most waiting makes room.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import re
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

from fastapi import HTTPException
from gradio.queueing import Event, Queue
from gradio.server_messages import EstimationMessage, EventMessage, ProcessCompletedMessage, ProgressMessage

from leaderboard.web.events.turns import QueueLimits, Visit, fair_order, largest, refusal_of
from leaderboard.web.visitors import visitor

if TYPE_CHECKING:
    import gradio as gr
    from gradio.block_function import BlockFunction
    from gradio.data_classes import PredictBodyInternal
    from starlette.requests import Request

UNIT = 1_000_000  # bytes of a body
SESSION = re.compile(r"[\w.:-]{1,200}", re.ASCII)  # Gradio builds names of tasks from it
RETRY = {"retry-after": "5"}
MOST_MESSAGES = 500  # of one session that nobody has read; a page reads each at once
NOTES = 50  # unread messages beyond which those on waiting and progress are left out
FULL = "Too many requests are waiting on this server. Try again in a minute"
REMOVED = (
    "Your request was waiting and has been removed: too many are waiting, and most of them come from your network. "
    "Try again in a minute"
)
log = logging.getLogger(__name__)


class FairQueue(Queue):
    """Gradio's queue for `blocks`, with `limits`. Functions that take a batch of requests are not supported."""

    def __init__(self, blocks: gr.Blocks, *, limits: QueueLimits = QueueLimits()) -> None:  # noqa: B008 (frozen)
        super().__init__(
            live_updates=True,
            concurrency_count=blocks.max_threads,
            update_intervals=1,
            max_size=None,  # see _make_room
            blocks=blocks,
        )
        self.limits = limits
        self.ANALYTICS_MAX_EVENTS = 1  # statistics that nobody reads, computed from all of them after each event
        self._visits: dict[str, Visit] = {}  # by event, waiting or running
        self._unread: OrderedDict[str, Visit] = OrderedDict()  # by event, answered but not fetched; oldest first

    # ---- arriving

    async def push(self, body: PredictBodyInternal, request: Request, username: str | None) -> tuple[bool, Any, Any]:
        """As Gradio's. Raises HTTPException, with a sentence, for a request that is refused."""
        fn = self.blocks.fns.get(body.fn_index)
        if fn is None:
            raise HTTPException(404, detail="There is no such event. Reload the page")
        if body.session_hash is not None and not SESSION.fullmatch(body.session_hash):
            raise HTTPException(400, detail="A session is named by at most 200 letters, digits and dashes")
        body.batched = False  # only Gradio itself sets it
        sent = len(getattr(request, "_body", b""))
        visit = Visit(address=visitor(request), session=body.session_hash or "", units=max(1, -(-sent // UNIT)))
        self._forget()
        if sentence := refusal_of(visit, [*self._visits.values(), *self._unread.values()], limits=self.limits):
            raise HTTPException(429, detail=sentence, headers=RETRY)
        self._make_room(visit)
        success, event_id, state = await super().push(body=body, request=request, username=username)
        if success and event_id in self.event_ids_to_events:
            request._body = b""  # a second copy of what `body` holds
            self._visits[event_id] = visit
        return success, event_id, state

    def broadcast_estimations(self, concurrency_id: str, after: int | None = None) -> None:
        """As Gradio's, in the order of the turns; `after`: the index of a newcomer, told with those behind it."""
        line = self._line(concurrency_id)
        newcomer = None if after is None else line[after]
        line[:] = fair_order(line, visit=self._visit)
        super().broadcast_estimations(concurrency_id, None if newcomer is None else line.index(newcomer))

    def _forget(self) -> None:
        """Drops the records of events that are over, and of answers that were fetched."""
        self._visits = {key: visit for key, visit in self._visits.items() if key in self.event_ids_to_events}
        for key, visit in list(self._unread.items()):
            if key not in self.pending_event_ids_session.get(visit.session or key, ()):
                del self._unread[key]
        if len(self.pending_event_ids_session) > self.limits.total:  # Gradio never drops a session's
            for session in [session for session, events in self.pending_event_ids_session.items() if not events]:
                self._drop_messages(session)

    def _make_room(self, visit: Visit) -> None:
        """Drops waiting events of the address with the most units until there is room. Raises HTTPException."""
        while sum(other.units for other in self._visits.values()) + visit.units > self.limits.total:
            waiting = [event for queue in self.event_queue_per_concurrency_id.values() for event in queue.queue]
            address = largest([visit, *map(self._visit, waiting)])
            if address == visit.address:
                raise HTTPException(503, detail=FULL, headers=RETRY)
            self._remove(next(event for event in reversed(waiting) if self._visit(event).address == address))

    def _remove(self, event: Event) -> None:
        self._line(event.concurrency_id).remove(event)
        self.event_ids_to_events.pop(event._id, None)
        self._visits.pop(event._id, None)
        output = {"error": REMOVED, "visible": True, "title": "Error", "duration": 10}
        self.send_message(event, ProcessCompletedMessage(output=output, title="Error", success=False))

    # ---- being served

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """The next event, alone in its list, of a queue with a free slot. Nobody has more than half of the slots."""
        running = Counter(
            (event.concurrency_id, self._visit(event).address) for job in self.active_jobs if job for event in job
        )
        queues = list(self.event_queue_per_concurrency_id.values())
        random.shuffle(queues)
        for queue in queues:
            limit = queue.concurrency_limit
            if not queue.queue or (limit is not None and queue.current_concurrency >= limit):
                continue
            queue.queue[:] = fair_order(queue.queue, visit=self._visit)
            for event in queue.queue:
                own = running[queue.concurrency_id, self._visit(event).address]
                if limit is None or own < max(1, limit // 2):
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
        if messages is None:  # the visitor has left
            event.alive = False
            return
        if messages.qsize() > NOTES and isinstance(event_message, EstimationMessage | ProgressMessage):
            return
        if messages.qsize() > MOST_MESSAGES:
            event.alive = False
            return
        super().send_message(event, event_message)
        if isinstance(event_message, ProcessCompletedMessage) and event.alive and event._id in self._visits:
            self._unread[event._id] = self._visits[event._id]
            self._bound_unread(self._visits[event._id].address)

    def _bound_unread(self, address: str) -> None:
        """Drops the oldest answers that nobody fetched where an address, or all together, have too many."""
        self._forget()
        own = [key for key, visit in self._unread.items() if visit.address == address]
        most, most_of_all = self.limits.unread_of_address, self.limits.unread
        for key in [*own[: max(0, len(own) - most)], *list(self._unread)[: max(0, len(self._unread) - most_of_all)]]:
            visit = self._unread.pop(key, None)
            session = visit and (visit.session or key)
            if session and not any(event.session_hash == session for event in self.event_ids_to_events.values()):
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

    def _line(self, concurrency_id: str) -> list[Event]:
        return self.event_queue_per_concurrency_id[concurrency_id].queue

    def _visit(self, event: Event) -> Visit:
        """Whose event it is; a session of its own where none was named."""
        visit = self._visits.get(event._id) or Visit(address=visitor(event.request), session=event.session_hash)
        return visit if visit.session else Visit(address=visit.address, session=event._id, units=visit.units)
