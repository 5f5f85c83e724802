"""A program that knows the tools by their descriptions alone answers what people come for, over MCP.

    python -m tests.leaderboard.api.test_agent http://127.0.0.1:7860/

prints its transcript with a server.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any

import anyio
import pytest

QUESTION = "best open retrieval model under 1 B parameters, and is the runner-up significantly worse"
AGAIN = "compare two models: differences by category and whether they are significant"


class Agent:
    """Picks tools and arguments by the words of their descriptions; `say` gets the transcript."""

    def __init__(self, session: Any, tools: list[Any], *, say: Callable[[str], None]) -> None:
        self.session, self.tools, self.say = session, tools, say

    def tool(self, wish: str) -> Any:
        """The tool whose description has most of the wish's words, rare words first."""
        texts = {tool.name: words(f"{tool.name} {tool.description}") for tool in self.tools}

        def merit(tool: Any) -> float:
            own = words(wish) & texts[tool.name]
            return sum(math.log(len(texts) / sum(word in text for text in texts.values())) for word in own)

        return max(self.tools, key=merit)

    def argument(self, tool: Any, *wanted: str) -> str:
        """The parameter that is described by most of these words."""
        parameters = tool.inputSchema["properties"]
        return max(
            parameters, key=lambda name: len({*wanted} & words(f"{name} {parameters[name].get('description', '')}"))
        )

    async def call(self, tool: Any, **given: Any) -> Any:
        self.say(f"> {tool.name}({', '.join(f'{name}={value!r}' for name, value in given.items())})")
        result = await self.session.call_tool(tool.name, given)
        assert not result.isError, result.content[0].text
        return result.structuredContent

    async def answer(self) -> dict[str, Any]:
        """The answer to QUESTION, and the same two models compared by another tool."""
        tool = self.tool(QUESTION)
        needs = dict(re.findall(r"([\w-]+) \(([^)]*)\)", tool.description))
        (need,) = [word for word, about in needs.items() if "retrieval" in about]
        size = self.argument(tool, "parameters", "most")
        billion = re.search(r"(\d+) for 1 B", tool.inputSchema["properties"][size]["description"])[1]
        found = await self.call(
            tool,
            **{
                self.argument(tool, "need", "words"): need,
                size: int(billion),
                self.argument(tool, "open", "weights"): True,
            },
        )
        self.say(f"< {found['answer']}")
        other, pair = self.tool(AGAIN), [found["best"]["model"], found["runner_up"]["model"]]
        compared = await self.call(
            other,
            **{
                self.argument(other, "keys", "models"): pair,
                self.argument(other, "suite"): found["suite"],
                self.argument(other, "origin"): found["origin"],
            },
        )
        line = next(line for line in compared["lines"] if line["title"] == "Retrieval")
        self.say(f"< {compared['answer']}\n  {line['title']}: {json.dumps(line['differences'][0])}")
        return {"choice": found, "line": line}


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


def asked(url: str, *, say: Callable[[str], None]) -> dict[str, Any]:
    """What the agent finds out from a server."""

    async def ask() -> dict[str, Any]:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        async with (
            streamable_http_client(f"{url}gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            hello = await session.initialize()
            say(hello.instructions)
            tools = (await session.list_tools()).tools
            say(f"? {QUESTION}")
            return await Agent(session, tools, say=say).answer()

    return anyio.run(ask)


def test_an_agent_finds_the_best_model_and_whether_the_next_is_significantly_worse(app):
    pytest.importorskip("mcp")
    found = asked(app.url, say=print)
    best, second = found["choice"]["best"], found["choice"]["runner_up"]
    assert best["open_weights"] and second["open_weights"] and second["parameters"] <= 1e9
    (test,) = found["line"]["differences"]
    assert test["difference"] == pytest.approx(second["difference"], abs=0.051)
    assert second["significantly_worse"] is (test["significant"] and test["difference"] < 0)


if __name__ == "__main__":
    asked(f"{sys.argv[1].rstrip('/')}/", say=print)
