"""A small app with the queue of ours, served, with slow events whose order is recorded."""

import asyncio
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import gradio as gr
import httpx
from starlette.middleware import Middleware

from leaderboard.web.gradio_app import ERRORS, QueueLimits, StatelessBlocks, UnknownEvents


@asynccontextmanager
async def nothing(_):
    yield


@dataclass
class Work:
    """What the app's events did: who began, how many ran at once, and a gate that holds them."""

    begun: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    most_at_once: int = 0
    gate: threading.Event = field(default_factory=threading.Event)

    def run(self, name):
        self.begun.append(name)
        self.most_at_once = max(self.most_at_once, len(self.begun) - len(self.ended))
        self.gate.wait(60)
        time.sleep(0.01)
        self.ended.append(name)
        return name

    async def wait_for_a_program(self, name):
        """As an event that runs a program of its own, whose end it waits for."""
        self.begun.append(name)
        try:
            yield "started"
            while not self.gate.is_set():
                await asyncio.sleep(0.02)
        finally:
            self.ended.append(name)


@dataclass
class GradioServer:
    """The served app; `visitor` is an address of a visitor."""

    url: str
    blocks: StatelessBlocks
    work: Work

    @property
    def queue(self):
        return self.blocks._queue

    def function(self, name):
        return next(key for key, fn in self.blocks.fns.items() if fn.api_name == name)

    def join(self, name, *, visitor, session, event="slow"):
        body = {"data": [name], "fn_index": self.function(event), "session_hash": session}
        headers = {"x-forwarded-for": visitor}
        return httpx.post(f"{self.url}gradio_api/queue/join", json=body, headers=headers, timeout=60)

    def messages(self, session):
        return httpx.get(f"{self.url}gradio_api/queue/data", params={"session_hash": session}, timeout=60).text

    @contextmanager
    def reading(self, session):
        """The stream of a session, whose first message has come."""
        address = f"{self.url}gradio_api/queue/data?session_hash={session}"
        with httpx.stream("GET", address, timeout=20) as stream:
            chunks = stream.iter_raw()  # a name of its own: the connection ends with the iterator
            next(chunks)
            yield stream

    def begins(self, *names):
        """Waits until these events, and no others, have begun."""
        self.wait(lambda: self.work.begun == [*names])

    def wait(self, holds, *, seconds=30):
        until = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < until, (self.work.begun, self.work.ended)
            time.sleep(0.02)


@contextmanager
def gradio_server(limits=QueueLimits()):  # noqa: B008 (frozen)
    work = Work()
    with StatelessBlocks(analytics_enabled=False) as blocks:
        shown, choice = gr.Textbox(), gr.Dropdown(["a"], value="a")
        gr.Button().click(work.run, shown, shown, api_name="slow", concurrency_id="one", concurrency_limit=1)
        program = work.wait_for_a_program
        gr.Button().click(program, shown, shown, api_name="program", concurrency_id="two", concurrency_limit=1)
        gr.Button().click(work.run, shown, shown, api_name="several", concurrency_id="four", concurrency_limit=4)
        gr.Button().click(lambda name: name, shown, shown, api_name="quick")
        gr.Button().click(lambda: gr.update(choices=["a", "b"], value="b"), None, choice, api_name="more", queue=False)
        choice.change(lambda value: value, choice, shown, api_name="strict", queue=False)
        choice.input(lambda value: value, choice, shown, api_name="free", queue=False, preprocess=False)
    middleware = [Middleware(UnknownEvents, blocks=blocks)]
    serve = {"middleware": middleware, "exception_handlers": ERRORS, "lifespan": blocks.serve(nothing)}
    blocks._queue.limits = limits
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", app_kwargs=serve)
    try:
        yield GradioServer(url, blocks, work)
    finally:
        work.gate.set()
        blocks.close(verbose=False)
