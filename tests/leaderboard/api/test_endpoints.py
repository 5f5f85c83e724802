"""The functions for programs as their clients get them: by API v1, the Python client, and a session of MCP."""

from __future__ import annotations

import base64
import io
import json
import sys
from typing import Any

import anyio
import gradio as gr
import httpx
import numpy as np
import pandas as pd
import pytest

from compute import remote
from compute.types import BadInput
from leaderboard.api import endpoints, mcp, pairs, records, routes, schemas
from leaderboard.data.models.model_facts import PERMISSIVE, facts
from leaderboard.web.visitors import visitor

PNG = base64.b64encode(b"\x89PNG not a picture, and nobody here reads it").decode()
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
        self.counted.append(visitor(request))
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
    """A small app with the routes and the tools."""
    functions = endpoints.functions(suite_cache, live)
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Markdown("here")
    launch: dict[str, Any] = {"ssr_mode": False, "app_kwargs": {"routes": routes.routes(suite_cache.db, functions)}}
    mcp.Tools(functions).into(launch)
    blocks.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, **launch)
    yield blocks.local_url
    blocks.close()


@pytest.fixture(scope="module")
def client(app):
    with httpx.Client(base_url=f"{app}api/v1/", timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def get(client):
    """The result at an address."""

    def ask(path, **query):
        answer = client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    return ask


@pytest.fixture(scope="module")
def tool(app):
    """Calls a tool in a session of its own: (is it an error, the text of the answer)."""

    def call(name, **given):
        found = anyio.run(_session, app, lambda session: session.call_tool(name, given))
        assert [part.type for part in found.content] == ["text"]
        return bool(found.isError), found.content[0].text

    return call


async def _session(app, ask, http=None):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with (
        streamable_http_client(f"{app}gradio_api/mcp/", http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        return await ask(session)


# ---- what there is


def test_a_route_a_tool_and_a_method_of_the_client_for_every_function(app, client):
    tools = anyio.run(_session, app, lambda session: session.list_tools()).tools
    paths = client.get("openapi.json").json()["paths"]
    operations = {about["operationId"]: about for methods in paths.values() for about in methods.values()}
    assert {tool.name for tool in tools} == set(operations) == set(vars(remote(app))) == set(routes.PATHS)
    for tool in tools:
        assert tool.annotations.readOnlyHint and tool.annotations.idempotentHint
        schema = tool.outputSchema["properties"]
        fields = schema["result"]["items"]["properties"] if "result" in schema else schema
        assert fields and all(f"{name}: {facts['description']}" in tool.description for name, facts in fields.items())
        arguments = tool.inputSchema["properties"]
        assert all(facts.get("description") for facts in arguments.values()), tool.name
        if tool.name != "score_pair":
            assert {each["name"] for each in operations[tool.name]["parameters"]} == {*arguments, *routes.COMMON}


CALLS = {  # what answers quickly, with its fields of a record
    "suites": "list_suites",
    "suites/unisim-core/ranking": "leaderboard",
    "suites/pairbench/scores?metric=relax_sym": "suite_scores",
    "models?max_parameters=1e8": "model_facts",
    "models/openai/clip-vit-base-patch32?suite=mieb-lite": "model_scores",
    "pair?all=true": "list_models",
}


@pytest.mark.parametrize("path", CALLS)
def test_records_have_the_fields_that_are_described_and_are_tables_too(client, suite_cache, path):
    rows = client.get(path).json()["result"]
    function = endpoints.functions(suite_cache, StandIn())[CALLS[path]]
    described = set(schemas.described(function).fields)
    assert all(set(row) == described for row in rows) and rows
    joint = "&" if "?" in path else "?"
    table = pd.read_csv(io.BytesIO(client.get(f"{path}{joint}format=csv").content))
    packed = pd.read_parquet(io.BytesIO(client.get(path, headers={"accept": routes.FORMS["parquet"]}).content))
    assert len(table) == len(packed) == len(rows) and list(table) == list(packed) == list(rows[0])


def test_an_answer_says_its_version_and_is_sent_once(client):
    first = client.get("suites")
    version = first.json()["data"]
    assert version and first.headers[routes.VERSION] == version
    again = client.get("suites", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("suites", params={"data": version}).json() == first.json()
    assert client.get("suites", params={"data": "0.0"}).status_code == 400


def test_the_rows_of_an_object_and_of_a_query_as_csv(client):
    csv = {"accept": "text/csv"}
    asked = {"models": "openai/clip-vit-base-patch32,openai/clip-vit-large-patch14", "suite": "mieb-lite"}
    lines = pd.read_csv(io.BytesIO(client.get("compare", params=asked, headers=csv).content))
    assert lines["kind"][0] == "mean" and len(json.loads(lines["values"][0])) == 2
    formula = client.get("query", params={"sql": "SELECT '=1+1' AS cell, 2 AS n"}, headers=csv)
    assert formula.text == "cell,n\n'=1+1,2\n"


HOSTILE = {
    "suites/mieb-light/ranking": (404, "No suite 'mieb-light'. Did you mean 'mieb-lite'?"),
    "models/clip": (404, "No model 'clip'. Did you mean 'openai/clip-"),
    "tasks/%2e%2e/%2e%2e/etc/passwd": (404, "No "),
    "ranking": (404, "No route"),
    "models/": (400, "model is missing"),
    "suites?data=1&data=2": (400, "twice"),
    "suites/mieb/ranking?suite=mieb-lite": (400, "twice"),
    "suites?format=xml": (400, "No format 'xml'"),
    "suites/mieb/ranking?limt=3": (400, "No parameter 'limt'. Did you mean 'limit'?"),
    "suites/mieb/ranking?request=3": (400, "No parameter 'request'"),
    "suites/mieb/ranking?limit=0": (400, "limit is 0; it is a number of rows from 1 to 1000"),
    "suites/mieb/ranking?max_parameters=nan": (400, "max_parameters is nan"),
    "suites/mieb/ranking?limit=" + "9" * 5000: (400, "limit is"),
    "suites/mieb/ranking?max_parameters=7": (400, "max_parameters is 7.0; it is a number of parameters"),
    "suites/mieb/ranking?open_weights=perhaps": (400, "open_weights is 'perhaps'"),
    "suites/mieb/ranking?license=apache": (400, "No license 'apache'. Did you mean 'apache-2.0'?"),
    "suites/pairbench/ranking?trained=zero-shot": (400, "has no row with trained 'zero-shot'; it has: unknown"),
    "suites/pairbench/scores?metric=relaxsym": (400, "No metric 'relaxsym'. Did you mean 'relax_sym'?"),
    "choose?need=retrieve": (400, "No need 'retrieve'. There are: search"),
    "compare?models=tiny": (400, "A comparison takes two to 6 rows, not 1"),
    "replication?model=nobody/nothing": (400, "No model"),
    "search?query=" + "x" * 6001: (400, "more than 6000 characters"),
    "query?sql=SELECT * FROM model": (400, "No table 'model'. Did you mean"),
    "pair?mode=pairs": (400, "There is no mode 'pairs'; there are: pair"),
}


@pytest.mark.parametrize("path", HOSTILE, ids=[path[:60] for path in HOSTILE])
def test_what_is_refused_is_a_sentence(client, path):
    status, said = HOSTILE[path]
    answer = client.get(path)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert said in answer.json()["error"] and len(answer.json()["error"]) <= 600


@pytest.mark.parametrize(
    "wrong", [{"suite": "x" * 60_000}, {"suite": "mieb", "limit": "x" * 60_000}, {"x" * 60_000: 1}]
)
def test_a_tool_s_error_repeats_a_few_words_of_what_was_sent(tool, wrong):
    failed, text = tool("leaderboard", **wrong)
    assert failed and len(text) <= 300


# ---- scores


def test_models_with_their_state_and_facts(get, tool, suite_cache):
    tiny, qwen = (row | facts(suite_cache)[row["key"]] for row in (TINY, QWEN))
    assert get("pair") == [tiny], "those that are ready"
    assert get("pair", all=True) == [tiny, qwen]
    assert get("pair", all=True, max_parameters=1e9) == [tiny]
    assert get("pair", mode="odd", all=True, license="unknown") == [tiny]
    assert json.loads(tool("list_models", mode="odd")[1]) == [tiny]
    assert {row["key"] for row in get("models")} >= {"tiny", "google/siglip-so400m-patch14-384"}


def test_how_many_rows_and_of_which_origin(app, get, suite_cache, tool):
    assert len(get("suites/mieb/ranking")) == 20
    top = get("suites/unisim-core/ranking", limit=2)
    assert json.loads(tool("leaderboard", suite="unisim-core", limit=2)[1]) == top and len(top) == 2
    assert remote(app).leaderboard(suite="unisim-core", limit=2)["model"].tolist() == [row["model"] for row in top]
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
def test_the_leaderboard_filters_and_changes_no_rank(get, given, keeps):
    every, found = (get("suites/unisim-core/ranking", limit=1000, **more) for more in ({}, given))
    assert found == [row for row in every if keeps(row)] and 0 < len(found) < len(every)


def test_the_scores_of_a_task_are_those_of_its_models_with_its_faults(get, suite_cache):
    task, clip = "mieb/cifar10", "openai/clip-vit-base-patch32"
    found = get(f"tasks/{task}")
    own = [row for row in found["scores"] if row["model"] == clip]
    whole = get(f"models/{clip}")
    assert own and all(any(row.items() <= other.items() for other in whole) for row in own)
    assert found["doubt"] and {fault["certainty"] for fault in found["faults"]} and found["scores"][0]["low"]
    values = [row["value"] for row in found["scores"]]
    assert values == sorted(values, reverse=True)


def test_two_laboratories_of_one_model(get):
    clip = "openai/clip-vit-base-patch32"
    found = get("replication", model=clip, task="mieb/caltech101zeroshot")
    assert found and {row["model"] for row in found} == {clip}
    assert all(row["difference"] == pytest.approx(row["value_b"] - row["value_a"], abs=2e-4) for row in found)
    assert any(cause["aspect"] == "metric" for row in found for cause in row["causes"])


def test_a_task_without_a_metric_names_what_has_it(get):
    """What the documentation says to ask for the most symmetric judge: the nearest, over all splits."""
    rotation = get("search", query="rotation", kind="tasks")[0]["key"]
    unknown = get(f"tasks/{rotation}", metric="relax_sym")
    assert unknown["scores"] == [] and "suites/pairbench/scores?metric=relax_sym" in unknown["unknown"]
    assert get(f"tasks/{rotation}")["unknown"] == ""


# ---- the Python client


def test_the_client_raises_the_board_s_own_sentence(app):
    board = remote(app)
    with pytest.raises(BadInput, match="Did you mean 'openai/clip-"):
        board.model_scores(model="clip")
    with pytest.raises(BadInput, match="model is missing"):
        board.model_scores()
    with pytest.raises(AttributeError):
        _ = board.nothing
    scored = board.score_pair(first="a cat", second="a dog", models=["tiny"])
    assert scored["score"].tolist() == [0.25] and scored.attrs["data"]
    for url in ("http://127.0.0.1:1", "example.org", f"{app}docs"):
        with pytest.raises(BadInput):
            remote(url)


# ---- pairs


def test_what_is_sent_arrives_and_published_figures_come_back(client, tool, live):
    sent = {"first": "a cat", "second": f"data:image/png;base64,{PNG}", "models": "tiny, qwen/qwen2-vl-7b-instruct"}
    answer = client.post("pair", json=sent)
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()["result"]
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
        (None, "first is empty. Give a text"),
        ("https://example.org/cat.png", "first is an address, and addresses are not fetched"),
        ("file:///etc/passwd", "first is an address"),
        ("cat.JPG", "first is 'cat.JPG', the name of a file, and files are not read"),
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


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"first": 5, "second": "b"}', b'{"first": "a"}', b"[" * 100_000])
def test_a_pair_that_cannot_be_read_is_refused(client, body):
    answer = client.post("pair", content=body)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])
