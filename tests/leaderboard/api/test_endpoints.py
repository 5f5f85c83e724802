"""The endpoints through real clients: gradio_client over HTTP, and a session of the MCP package."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import anyio
import gradio as gr
import httpx
import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from compute.types import BadInput
from leaderboard.api import endpoints, pairs, records
from leaderboard.data.models.model_facts import PERMISSIVE, facts
from leaderboard.web.visitors import visitor

PNG = base64.b64encode(b"\x89PNG not a picture, and nobody here reads it").decode()
OURS = {
    "choose_model",
    "compare_models",
    "leaderboard",
    "list_models",
    "list_suites",
    "model_scores",
    "query",
    "score_pair",
    "search",
}
QUEUED = {"score_pair": "accelerator", "query": "query"}
TINY = {"key": "tiny", "title": "Tiny", "kind": "encoder", "abilities": ["embed_image"], "state": "ready", "reason": ""}
QWEN = {
    "key": "qwen/qwen2-vl-7b-instruct",
    "title": "Qwen2-VL 7B",
    "kind": "mllm",
    "abilities": ["score_pair"],
    "state": "impossible",
    "reason": "Needs an endpoint",
}


class StandIn:
    """The part that loads models: it keeps what it was given."""

    def __init__(self):
        self.given: list[tuple[list[pairs.LiveInput], list[str]]] = []
        self.refuses, self.roster = False, self
        self.counted: list[str] = []

    def admit(self, request):
        self.counted.append(visitor(request.request))
        if self.refuses:
            raise BadInput("You have asked often in a short time")

    def records(self, mode):
        if mode not in ("", "pair", "choice", "quality", "odd"):
            raise BadInput(f"There is no mode {mode!r}; there are: pair")
        return [TINY, QWEN] if mode in ("", "pair") else [TINY]

    def score(self, inputs, models, request):
        self.given.append((list(inputs), list(models)))
        if ("text", "explode") in inputs:
            raise RuntimeError("the password is 1234")
        kinds = sorted("image" if kind == "example" else kind for kind, _ in inputs)
        return [
            {
                "model": model,
                "pairing": "-".join(kinds),
                "score": np.float64(0.25),
                "seen": np.array([1, 2]),
                "margin": float("nan"),
                "problem": "",
            }
            for model in models or ["tiny"]
        ]


@pytest.fixture(scope="module")
def live():
    return StandIn()


@pytest.fixture(scope="module")
def app(suite_cache, live):
    """A small app with the endpoints, one event of a page's, and the tools."""
    from leaderboard.api.mcp import Tools

    with gr.Blocks(title="Small", analytics_enabled=False) as blocks:
        gr.Button("Draw").click(lambda: None, api_visibility="private")
        endpoints.add(suite_cache, live)
    launch: dict[str, Any] = {"ssr_mode": False}
    Tools(blocks).into(launch)
    blocks.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, **launch)
    yield blocks
    blocks.close()


@pytest.fixture(scope="module")
def client(app):
    return Client(app.local_url, verbose=False)


@pytest.fixture(scope="module")
def tool(app):
    """Calls a tool in a session of its own: (is it an error, the text of the answer)."""

    def call(name, **given):
        found = anyio.run(_session, app, lambda session: session.call_tool(name, given))
        assert [part.type for part in found.content] == ["text"]
        return bool(found.isError), found.content[0].text

    return call


@pytest.mark.parametrize(
    "wrong", [{"suite": "x" * 60_000}, {"suite": "mieb", "limit": "x" * 60_000}, {"x" * 60_000: 1}]
)
def test_a_tool_s_error_repeats_a_few_words_of_what_was_sent(tool, wrong):
    failed, text = tool("leaderboard", **wrong)
    assert failed and len(text) <= 300


async def _session(app, ask, http=None):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with (
        streamable_http_client(f"{app.local_url}gradio_api/mcp/", http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        return await ask(session)


def refusal(client, *given, api_name):
    with pytest.raises(AppError) as caught:
        client.predict(*given, api_name=api_name)
    return str(caught.value)


# ---- what there is


def test_programs_see_the_endpoints_and_no_event_of_a_page(app, client):
    info = client.view_api(return_format="dict", print_info=False)
    assert set(info["named_endpoints"]) == {f"/{name}" for name in OURS}
    assert info["unnamed_endpoints"] == {}
    ours = [one for one in app.fns.values() if one.api_name in OURS]
    assert {one.api_name: one.concurrency_id for one in ours if one.queue} == QUEUED


def test_tools_only_read_and_describe_every_field_of_their_answers(app):
    found = anyio.run(_session, app, lambda session: session.list_tools()).tools
    assert {tool.name for tool in found} == OURS
    for tool in found:
        assert tool.annotations.readOnlyHint and tool.annotations.idempotentHint
        schema = tool.outputSchema["properties"]
        fields = schema["result"]["items"]["properties"] if "result" in schema else schema
        assert fields and all(f"{name}: {facts['description']}" in tool.description for name, facts in fields.items())
        arguments = tool.inputSchema["properties"]
        assert all(facts.get("description") for facts in arguments.values()), tool.name


# ---- scores


def test_models_with_their_state_and_facts(client, tool, suite_cache):
    tiny, qwen = (row | facts(suite_cache)[row["key"]] for row in (TINY, QWEN))
    assert client.predict(api_name="/list_models") == [tiny], "those that are ready"
    assert client.predict(all=True, api_name="/list_models") == [tiny, qwen]
    assert client.predict(all=True, max_parameters=1e9, api_name="/list_models") == [tiny]
    assert client.predict("odd", all=True, license="unknown", api_name="/list_models") == [tiny]
    assert json.loads(tool("list_models", mode="odd")[1]) == [tiny]
    assert refusal(client, "pairs", api_name="/list_models") == "There is no mode 'pairs'; there are: pair"


def test_how_many_rows_and_of_which_origin(client, suite_cache, tool):
    assert len(client.predict("mieb", api_name="/leaderboard")) == 20
    top = client.predict("unisim-core", 2, api_name="/leaderboard")
    assert json.loads(tool("leaderboard", suite="unisim-core", limit=2)[1]) == top and len(top) == 2
    for origin in ("published", "imported"):
        assert {row["origin"] for row in records.leaderboard(suite_cache, "mieb", origin=origin)} == {origin}
    with pytest.raises(BadInput, match="pairbench has no rows of origin 'computed'; it has: published"):
        records.leaderboard(suite_cache, "pairbench", origin="computed")


def fits_and_is_free(row):
    free = row["open_weights"] and row["license"] in PERMISSIVE
    return free and 0 < (row["parameters"] or 0) <= 4e8


@pytest.mark.parametrize(
    ("given", "keeps"),
    [
        ({"license": "mit,unknown"}, lambda row: (row["license"] or "") in ("mit", "")),
        ({"released": "2024, unknown"}, lambda row: row["released"][:4] in ("2024", "")),
        ({"trained": "unknown"}, lambda row: row["trained"] == "unknown"),
        ({"max_parameters": 4e8, "open_weights": True, "license": "permissive"}, fits_and_is_free),
    ],
)
def test_the_leaderboard_filters_and_changes_no_rank(client, given, keeps):
    every, found = (client.predict("unisim-core", 1000, **more, api_name="/leaderboard") for more in ({}, given))
    assert found == [row for row in every if keeps(row)] and 0 < len(found) < len(every)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("leaderboard", ["mieb-light"], "No suite 'mieb-light'. Did you mean 'mieb-lite'? list_suites names them all"),
        ("leaderboard", [None], "No suite ''. list_suites names them all"),
        ("leaderboard", ["mieb", 0], "limit is 0; it is a number of rows from 1 to 1000"),
        (
            "leaderboard",
            ["pairbench", 5, "", "", "", "zero-shot"],
            "pairbench has no row with trained 'zero-shot'; it has: unknown",
        ),
        ("leaderboard", ["mieb", 5, "", "apache"], "No license 'apache'. Did you mean 'apache-2.0'?"),
        ("choose_model", ["search", "", 7], "max_parameters is 7; it is a number of parameters, such as 1000000000"),
        ("choose_model", ["retrieve"], "No need 'retrieve'. There are: search"),
        ("model_scores", ["clip"], "No model 'clip'. Did you mean 'openai/clip-"),
        ("compare_models", ["tiny,siglip"], "No model 'siglip'. Did you mean 'google/siglip-"),
        ("compare_models", ["tiny"], "A comparison takes two to 6 rows, not 1"),
        ("search", ["clip", "model"], "No kind 'model'. Did you mean 'models'?"),
        ("query", ["SELECT * FROM model"], "No table 'model'. Did you mean"),
    ],
)
def test_what_an_endpoint_refuses_is_a_sentence(client, name, given, said):
    assert refusal(client, *given, api_name=f"/{name}").startswith(said)


# ---- pairs


def test_what_is_sent_arrives_and_published_figures_come_back(client, tool, live):
    found = client.predict(
        "a cat", f"data:image/png;base64,{PNG}", "tiny, qwen/qwen2-vl-7b-instruct", api_name="/score_pair"
    )
    assert live.given[-1] == (
        [("text", "a cat"), ("image", base64.b64decode(PNG))],
        ["tiny", "qwen/qwen2-vl-7b-instruct"],
    )
    assert [(row["model"], row["score"], row["seen"], row["margin"]) for row in found] == [
        ("tiny", 0.25, [1, 2], None),
        ("qwen/qwen2-vl-7b-instruct", 0.25, [1, 2], None),
    ]
    judged = found[1]["published"][0]
    assert (judged["metric"], judged["origin"], judged["unit"]) == ("MMScore", "published", "%")
    assert judged["rank"] <= judged["of"] == 23
    failed, said = tool("score_pair", first="example:astronaut", second=f"data:image/png;base64,{PNG}", models=["tiny"])
    assert not failed and [row["pairing"] for row in json.loads(said)] == ["image-image"]
    assert live.given[-1] == ([("example", "astronaut"), ("image", base64.b64decode(PNG))], ["tiny"])


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("", "first is empty. Give a text"),
        (None, "first is empty. Give a text"),
        ("https://example.org/cat.png", "first is an address, and addresses are not fetched"),
        ("file:///etc/passwd", "first is an address"),
        ("cat.JPG", "first is 'cat.JPG', the name of a file, and files are not read"),
        ("data:text/plain;base64,aGVsbG8=", "first is a data URI of another kind"),
        ("data:image/svg+xml,<svg/>", "first is a data URI of another kind"),
        ("data:image/png;base64,@@@@", "first is not valid base64 after 'data:image/png;base64,'"),
        ("data:image/png;base64," + "A" * 10_700_000, "first is larger than 8 MB"),
    ],
)
def test_what_a_pair_refuses_is_a_sentence(first, said, live, suite_cache):
    with pytest.raises(BadInput) as caught:
        pairs.score_pair(suite_cache, live, first, "a cat", "")
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "words", ["see https://example.org for more", "a file named cat.png", "data is plural", "example of a cat", "12:30"]
)
def test_ordinary_words_stay_words(words, live, suite_cache):
    pairs.score_pair(suite_cache, live, words, "a cat", "")
    assert live.given[-1][0] == [("text", words), ("text", "a cat")]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no second address of their own")
@pytest.mark.parametrize(
    ("system", "forwarded", "counted"),
    [
        ("", "", "127.0.0.2"),
        ("", "9.9.9.9", "127.0.0.2"),
        ("", "9.9.9.9, 127.0.0.1", "127.0.0.2"),
        ("spaces", "9.9.9.9, 8.8.8.8, 10.1.2.3", "8.8.8.8"),
    ],
    ids=["no header", "forged", "forged as a proxy's", "behind a Space's proxy"],
)
def test_who_asks_by_a_tool_is_counted_as_itself(app, live, monkeypatch, system, forwarded, counted):
    monkeypatch.setenv("SYSTEM", system)

    async def ask():
        headers = {"x-forwarded-for": forwarded} if forwarded else {}
        transport = httpx.AsyncHTTPTransport(local_address="127.0.0.2")  # no proxy that the server trusts
        async with httpx.AsyncClient(headers=headers, transport=transport, timeout=30) as http:
            await _session(app, lambda session: session.call_tool("score_pair", {"first": "a", "second": "b"}), http)

    live.counted.clear()
    anyio.run(ask)
    assert live.counted == [counted]
