"""The endpoints as tools of language models (MCP), served at gradio_api/mcp and loaded on the first request.

Gradio's own `mcp_server=True` loads the `mcp` package at every start, and so does the package alone once it is
installed: gradio.mcp imports it where it can. Here both wait until they are needed.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from compute.versions import install_command
from leaderboard.web.errors import explain
from leaderboard.web.visitors import address

if TYPE_CHECKING:
    import gradio as gr

PACKAGE = "mcp"
PATH = "/gradio_api/mcp"  # where clients of Gradio's servers look
ABSENT = f"MCP is not installed on this server. Its host can install it: {install_command(PACKAGE)}"


@contextmanager
def defer_import() -> Iterator[None]:
    """Code imported within, Gradio above all, behaves as if the package were not installed; it is loaded later."""
    if PACKAGE in sys.modules:
        yield
        return
    sys.modules[PACKAGE] = None  # type: ignore[assignment]  # Python's own way to refuse an import
    try:
        yield
    finally:
        sys.modules.pop(PACKAGE, None)


class Tools:
    """The app's public endpoints as tools: `into` hands it to `launch`. The first request starts it, in about 1 s."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self._blocks = blocks
        self._problem = ABSENT
        self._app: Starlette | None = None

    def into(self, launch: dict[str, Any]) -> None:
        """Adds the route and what starts and ends with the server to `launch`'s arguments."""
        serve = launch.setdefault("app_kwargs", {})
        serve["routes"] = [Mount(PATH, app=self), *serve.get("routes", ())]
        serve["lifespan"] = self.lifespan
        launch["mcp_server"] = False  # regardless of GRADIO_MCP_SERVER: it is served here

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """Waits for the first request while the server runs, and ends with it."""
        self._requested, self._settled = asyncio.Event(), asyncio.Event()
        # Gradio's page of endpoints (?view=api) then says how to connect.
        self._blocks.config["mcp_server"] = importlib.util.find_spec(PACKAGE) is not None
        waiting = asyncio.create_task(self._serve())
        try:
            yield
        finally:
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._requested.set()
        await self._settled.wait()
        app = self._app or JSONResponse({"error": self._problem}, status_code=503)
        await app(_with_address(scope) if scope["type"] == "http" else scope, receive, send)

    async def _serve(self) -> None:
        await self._requested.wait()
        try:
            server = await run_in_threadpool(_server, self._blocks)
            async with server.manager.run():  # its tasks belong to the one that entered it, so no request may
                app = Starlette()
                server.launch_mcp_on_sse(app, "", self._blocks.root_path)
                self._app = app
                self._settled.set()
                await asyncio.Event().wait()
        except ImportError:
            self._problem = ABSENT
        except Exception as error:
            self._problem = explain(error, action="Starting the tools for MCP")
        finally:  # whatever happened, no request waits forever
            self._settled.set()


def _with_address(scope: Scope) -> Scope:
    """The request with its visitor's address as the one x-forwarded-for.

    A tool that loads models sends a request to this server, with the visitor's headers. That request comes from this
    machine, whose header is trusted: a visitor's own could name anyone, and without one all visitors would be the same.
    """
    client = address(Request(scope))
    headers = [(name, value) for name, value in scope["headers"] if name.lower() != b"x-forwarded-for"]
    return {**scope, "headers": [*headers, *([(b"x-forwarded-for", str(client).encode())] if client else [])]}


def _server(blocks: gr.Blocks) -> Any:
    """Gradio's server of tools for these blocks. Raises ImportError where the package is not installed."""
    importlib.import_module(PACKAGE)
    import gradio.mcp
    import orjson

    if not hasattr(gradio.mcp.GradioMCPServer, "Server"):  # it was imported while the package was deferred
        importlib.reload(gradio.mcp)

    class Server(gradio.mcp.GradioMCPServer):
        """Answers are JSON; Gradio's are Python's own notation."""

        def postprocess_output_data(self, data: Any, root_url: str) -> list[Any]:
            return [self.types.TextContent(type="text", text=orjson.dumps(value).decode()) for value in data]

    server = Server(blocks)
    server._local_url = blocks.local_url  # else it would trust the host that a request names
    return server
