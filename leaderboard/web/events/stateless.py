"""Gradio without a memory of its visitors: no session is stored, and what a page sends is read without trust.

Gradio copies the settings of every component for each session, 0.4 MB here, and keeps 10,000 of them. It needs them for
components whose state lives on the server, of which this app has none: a page sends all that an event needs. So a
session lasts for one step of one event, there is nothing to evict, and a page stays whole however many others open.
"""

from __future__ import annotations

import logging
from collections import ChainMap
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from copy import copy
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.routes import App
from gradio.state_holder import SessionState, StateHolder

from leaderboard.web.events.fair_queue import FairQueue

UNREADABLE = "The page sent values that this app cannot read. Reload the page and try again"
IN_THE_PAGE = "This event runs in the page alone"
LONGEST = 300  # characters of a sentence: Gradio's quotes the value and lists all choices
Lifespan = Callable[[App], AbstractAsyncContextManager[Any]]
log = logging.getLogger(__name__)


class EventStep(SessionState):
    """What one step of an event sees: the app's components, and over them those that the step itself changes."""

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
        """Nothing: only links to a saved state read it, and there are none."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing, as `_update_config`."""


class NoSessions(StateHolder):
    """Gradio's store of sessions, which stores none."""

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__()
        self.set_blocks(blocks)

    def __getitem__(self, session_id: str) -> EventStep:
        return EventStep(self.blocks)


@contextmanager
def no_server() -> Iterator[None]:
    """Makes no server while it lasts: Gradio makes one at the end of each page, and serves only the one of `launch`.
    Of twenty pages that is half of the time that they take to build."""
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
        """As Gradio's, but nothing until `serve`: it lists every page's components anew at the end of each page."""
        return super().get_config_file() if self._is_served else {}

    def serve(self, lifespan: Lifespan) -> Lifespan:
        """Adds the queue, and returns `lifespan`, of the server, with what keeps it from storing sessions.

        Raises ValueError for what needs a session, or a batch of requests.
        """
        stateful = [block for block in self.blocks.values() if getattr(block, "stateful", False)]
        batched = [fn.name for fn in self.fns.values() if fn.batch]
        if stateful or batched:
            raise ValueError(f"Without sessions there is no gr.State, and no batch=True: {[*stateful, *batched]}")
        self._is_served = True
        with no_server():
            self.queue(api_open=False)  # else /run starts anything beside the queue
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
        """As Gradio's. Raises gr.Error, without a traceback in the log, for values that are not the components'."""
        if block_fn.fn is None:
            raise gr.Error(IN_THE_PAGE, print_exception=False)
        try:
            return await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except gr.Error as error:
            raise gr.Error(str(error.message)[:LONGEST], print_exception=False) from error
        except Exception as error:
            log.warning("%s was sent values that cannot be read: %s", block_fn.name, type(error).__name__)
            raise gr.Error(UNREADABLE, print_exception=False) from error
