"""The endpoints as tools of language models (MCP), served at gradio_api/mcp and loaded on the first request.

Gradio's own `mcp_server=True` loads the `mcp` package at every start, and so does the package alone once it is
installed: gradio.mcp imports it where it can. Here both wait until they are needed.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from compute.types import shortened
from compute.versions import install_command
from leaderboard.web.errors import explain
from leaderboard.web.visitors import address

if TYPE_CHECKING:
    import gradio as gr

INSTRUCTIONS = """\
Likeness ranks models that compare images and texts: encoders, perceptual metrics, vision-language models as judges.
To pick a model, call choose_model: it names the runner-up and says whether that is significantly worse.
list_suites and leaderboard give whole rankings; search finds keys; model_scores and compare_models look closer.
Published, imported and computed scores are never mixed, and a rank says little without its interval: quote both.
query answers the rest, in SQL; score_pair runs models on the images and texts that you send.
"""
FACTS = """\
    parameters (integer): how many; null: not stated
    dimension (integer): of its vectors
    open_weights (boolean): whether its weights can be downloaded
    license (string): empty: not stated
    released (string): date; empty: not stated"""  # of a model, where a docstring has `facts`
FIELD = re.compile(r"^    (\w+) \((\w+)\): (.+(?:\n      .+)*)", re.MULTILINE)  # of a record, under Returns
PACKAGE = "mcp"
PATH = "/gradio_api/mcp"  # where clients of Gradio's servers look
LONGEST_ERROR = 300  # characters
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
        self._requested, self._resolved = asyncio.Event(), asyncio.Event()
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
        await self._resolved.wait()
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
                self._resolved.set()
                await asyncio.Event().wait()
        except ImportError:
            self._problem = ABSENT
        except Exception as error:
            self._problem = explain(error, action="Starting the tools for MCP")
        finally:  # whatever happened, no request waits forever
            self._resolved.set()


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
        """Answers are JSON, which Gradio's are not, with a schema; the tools say that they only read."""

        def create_mcp_server(self) -> Any:
            types, server = self.types, super().create_mcp_server()
            server.instructions = INSTRUCTIONS
            gradio_lists, gradio_calls = (
                server.request_handlers[kind] for kind in (types.ListToolsRequest, types.CallToolRequest)
            )

            async def lists(request: Any) -> Any:
                result = await gradio_lists(request)
                for tool in result.root.tools:
                    endpoint = self.get_block_fn_from_endpoint_name(self.tool_to_endpoint[tool.name]).fn
                    tool.description, tool.outputSchema = described(endpoint)
                    tool.annotations = types.ToolAnnotations(
                        readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
                    )
                return result

            async def calls(request: Any) -> Any:
                result = await gradio_calls(request)
                if result.root.isError:
                    for part in result.root.content:  # it repeats what was sent
                        part.text = shortened(part.text, LONGEST_ERROR)
                else:
                    content = orjson.loads(result.root.content[0].text)
                    result.root.structuredContent = content if isinstance(content, dict) else {"result": content}
                return result

            server.request_handlers |= {types.ListToolsRequest: lists, types.CallToolRequest: calls}
            return server

        def postprocess_output_data(self, data: Any, root_url: str) -> list[Any]:
            return [self.types.TextContent(type="text", text=orjson.dumps(value).decode()) for value in data]

    server = Server(blocks)
    server._local_url = blocks.local_url  # else it would trust the host that a request names
    return server


def described(endpoint: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """What an endpoint does, with the fields of its records, and the JSON schema of its answer: an object, or a list of
    them under `result`. From its docstring; any field may be null."""
    text = (inspect.getdoc(endpoint) or "").replace("    facts: of the model", FACTS)
    fields = FIELD.findall(text.partition("\nReturns:\n")[2])
    record: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {"type": [kind, "null"], "description": " ".join(words.split())} for name, kind, words in fields
        },
    }
    about = " ".join(text.partition("\nArgs:\n")[0].partition("\nReturns:\n")[0].split())
    listed = "; ".join(f"{name}: {facts['description']}" for name, facts in record["properties"].items())
    about = f"{about} Returns {listed}." if listed else about
    if inspect.signature(endpoint).return_annotation == dict[str, Any]:
        return about, record
    rows = {"type": "array", "items": record}
    return about, {"type": "object", "properties": {"result": rows}, "required": ["result"]}
