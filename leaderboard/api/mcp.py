"""The endpoints as tools for language models (MCP), served at gradio_api/mcp and loaded on the first request.

Once the `mcp` package is installed, Gradio loads it at every start: gradio.mcp imports it where it can. Here that waits
until it is needed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from compute.types import BadInput, shortened, unknown
from compute.versions import VERSION, install_command
from leaderboard.api import schemas
from leaderboard.api.schemas import Functions
from leaderboard.web.errors import explain
from leaderboard.web.limits import LARGEST_EVENT
from leaderboard.web.responses import refusal

INSTRUCTIONS = """\
Likeness ranks models that compare images and texts: encoders, perceptual metrics, vision-language models as judges.
To pick a model, call choose_model: it names the runner-up and says whether that is significantly worse.
list_suites and leaderboard give whole rankings; search finds keys; compare_models, model_scores, task_scores
and suite_scores look closer; replication says what other laboratories measured.
Published, imported and computed scores are never mixed, and a rank says little without its interval: quote both.
query answers the rest, in SQL; score_pair runs models on the images and texts that you send.
"""
PACKAGE = "mcp"
PATH = "/gradio_api/mcp/"  # where clients of Gradio's servers look
LONGEST_ERROR = 300  # characters
ABSENT = f"MCP is not installed on this server. Its host can install it: {install_command(PACKAGE)}"


@contextmanager
def defer_import() -> Iterator[None]:
    """Makes the package look uninstalled to code imported in this block, Gradio above all; it is loaded later."""
    if PACKAGE in sys.modules:
        yield
        return
    sys.modules[PACKAGE] = None  # type: ignore[assignment]  # Python's own way to refuse an import
    try:
        yield
    finally:
        sys.modules.pop(PACKAGE, None)


class Tools:
    """The functions as tools: `into` adds them to the arguments of `launch`. The first request starts the server, in
    about 1 s.
    """

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._problem = ABSENT
        self._app: ASGIApp | None = None

    def into(self, launch: dict[str, Any]) -> None:
        """Adds the route, and what starts and ends with the server, to `launch`'s arguments."""
        serve = launch.setdefault("app_kwargs", {})
        serve["routes"] = [Route(PATH, self), *serve.get("routes", ())]
        serve["lifespan"] = self.lifespan
        launch["mcp_server"] = False  # regardless of GRADIO_MCP_SERVER: it is served here

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """Waits for the first request while the server runs, and ends with it."""
        self._requested, self._resolved = asyncio.Event(), asyncio.Event()
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
        await (self._app or refusal(self._problem, 503))(scope, receive, send)

    async def _serve(self) -> None:
        await self._requested.wait()
        try:
            manager = await run_in_threadpool(_manager, self._functions)
            async with manager.run():  # its tasks belong to the one that entered it, so no request may
                self._app = manager.handle_request
                self._resolved.set()
                await asyncio.Event().wait()
        except ImportError:
            self._problem = ABSENT
        except Exception as error:
            self._problem = explain(error, action="Starting the tools for MCP")
        finally:  # whatever happened, no request waits forever
            self._resolved.set()


def _manager(functions: Functions) -> Any:
    """Returns the package's server of the tools. Raises ImportError if the package is not installed."""
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    server: Any = Server("Likeness", version=VERSION, instructions=INSTRUCTIONS)
    reads = types.ToolAnnotations(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)

    @server.list_tools()
    async def listed() -> list[types.Tool]:
        return [types.Tool(name=name, annotations=reads, **described(function)) for name, function in functions.items()]

    @server.call_tool(validate_input=False)  # its sentence would repeat what was sent
    async def called(name: str, given: dict[str, Any]) -> types.CallToolResult:
        request = server.request_context.request
        text, content = await run_in_threadpool(answered, functions, name, given, request)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structuredContent=content, isError=content is None
        )

    return StreamableHTTPSessionManager(app=server, stateless=True, max_request_body_size=LARGEST_EVENT)


def answered(
    functions: Functions, name: str, given: dict[str, Any], request: Request
) -> tuple[str, dict[str, Any] | None]:
    """Returns a tool's answer as JSON text and as an object; for an error, the sentence and None."""
    try:
        if name not in functions:
            raise BadInput(unknown("tool", name, functions))
        content = schemas.call(functions[name], given, request=request)
    except Exception as error:
        return shortened(explain(error, action=name), LONGEST_ERROR), None
    text = json.dumps(content, ensure_ascii=False)
    return text, content if isinstance(content, dict) else {"result": content}


def described(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns what a tool does, with the fields of its records, and the schemas of its arguments and its answer: an
    object, or a list of objects under `result`.
    """
    about = schemas.described(function)
    listed = "; ".join(f"{name}: {facts['description']}" for name, facts in about.fields.items())
    answers = about.answers
    if answers["type"] == "array":
        answers = {"type": "object", "properties": {"result": answers}, "required": ["result"]}
    return {
        "description": f"{about.words} Returns {listed}.",
        "inputSchema": about.takes.model_json_schema(),
        "outputSchema": answers,
    }
