"""The endpoint's judge against a real server on loopback: what is sent, every fault, and what answers cost.

What the stand-in answers is checked against the items' own pixels; what it was asked, against its own counts.
"""

import base64
import gzip
import io
import itertools
import time
from dataclasses import replace
from urllib.parse import quote

import pytest
from PIL import Image

from compute.engine import plan
from compute.live.roster import IMPOSSIBLE, READY, availability
from compute.models.judges import endpoint
from compute.models.judges.endpoint import Endpoint, Limits, load
from compute.models.judges.images import data_url
from compute.procedures.shared import conditions
from compute.types import BadInput, BadItem, Model, NoService, NotHere
from tests.compute.content.pictures import picture
from tests.compute.models.chat_server import running, said
from tests.compute.models.judges.asked import BRIGHT, CPU, QUICK, ROW, judge, question, rated
from tests.compute.small_bench import CATALOG, World

ALONE = replace(QUICK, concurrency=1)
ONCE = Limits(attempts=1, concurrency=1, timeout=30.0)
SECOND = "(B) Image 2"  # the right answer to each question
KEY = "sk/not+to=be-told-0123456789"


def only(asked, number=1):
    (reply,) = asked.reply([question(number)])
    return reply


def reply_of(server, *, limits=ONCE, key=KEY, **fault):
    """The answer to a question whose every request has this fault."""
    server.faults = itertools.repeat(fault)
    return only(judge(server, limits=limits, key=key))


def test_what_is_sent(server, monkeypatch):
    """Without a key no other service's is."""
    for name in ("HF_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-of-somebody")
    only(judge(server))
    assert server.last == {
        "model": "Org/Stand-In",
        "temperature": 0,
        "seed": 0,
        "max_tokens": 32,
        "authorization": None,
        "path": "/v1/chat/completions",
        "text": BRIGHT,
    }


def test_options_and_else_the_key_reach_the_server(server, monkeypatch):
    row = replace(ROW, options={"model": "served-name", "max_tokens": 7, "extra": {"top_k": 1}})
    only(load(row, CPU, None))
    assert (server.last["model"], server.last["max_tokens"], server.last["top_k"]) == ("served-name", 7, 1)
    only(load(hosted := replace(ROW, weights=""), CPU, None))
    assert server.last["model"] == ROW.key
    monkeypatch.delenv("LIKENESS_ENDPOINT")
    with pytest.raises(NotHere, match="LIKENESS_ENDPOINT_KEY"):
        load(hosted, CPU, None)


@pytest.mark.parametrize(
    "after, asked",
    [
        ("", "/v1/chat/completions"),
        ("/api/v1?a=b", "/api/v1/chat/completions?a=b"),
        ("/chat/completions", "/chat/completions"),
    ],
)
def test_the_address_that_is_asked(server, after, asked):
    server.url = server.url.removesuffix("/v1") + after
    assert reply_of(server).text and server.last["path"] == asked


def test_at_most_so_many_at_once(server):
    server.faults = [{"slow": 0.05}] * 12
    replies = judge(server, limits=replace(QUICK, concurrency=3)).reply([question(number) for number in range(12)])
    assert [reply.item for reply in replies] == [f"item {number}" for number in range(12)]
    assert server.most_together == 3


CUT = {"headers": {"Content-Length": "900"}, "body": b'{"choi'}
OVERLOADED = {"body": {"error": {"message": "provider overloaded", "code": 502}}}


@pytest.mark.parametrize(
    "fault, problem",
    [
        ({"status": 429}, "status 429"),
        (CUT, "closed connection"),
        ({"body": {"choices": []}}, "no chat completion"),
        ({"body": said("(A)", "error")}, "a reply without text"),
        ({"body": {"choices": [{**said("(A)")["choices"][0], "error": {"message": "rate limited"}}]}}, "rate limited"),
        ({"body": said("(A) is", "abort")}, "a reply without text"),
        ({"body": None}, "no chat completion: null"),
        *(({"body": body}, "no chat completion") for body in (b"[" * 900_000, b"\xff\xfe", b"[1, NaN")),
        (OVERLOADED, "provider overloaded"),
    ],
)
def test_a_passing_fault_is_asked_again_a_lasting_one_is_an_error(server, fault, problem):
    server.faults = [fault] * 2
    reply = only(judge(server))
    assert (reply.text, reply.error, server.requests()) == (SECOND, "", 3)
    server.faults = [fault] * 4
    reply = only(judge(server), 2)
    assert reply.text == "" and problem in reply.error and server.requests() == 3 + 4


TOOLS = [{"id": "1", "type": "function", "function": {"name": "answer", "arguments": '{"choice": "A"}'}}]
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "(A)"}]}
FILTERED = {"message": "the prompt was filtered", "code": "content_filter"}


@pytest.mark.parametrize(
    "fault, text, finish, problem",
    [
        ({"body": said("")}, "", "", "without text"),
        ({"body": said([THOUGHT])}, "", "", "without text"),
        ({"body": said(None, tool_calls=TOOLS)}, "", "", "tools"),
        ({"status": 429, "headers": {"Retry-After": "86400"}}, "", "", "status 429"),
        ({"status": 400, "error": "image too large"}, "", "", "image too large"),
        ({"body": said([THOUGHT, {"type": "text", "text": "(C)"}])}, "(C)", "stop", ""),
        ({"body": said(None, refusal="I will not.")}, "I will not.", "refusal", ""),
        ({"body": said(None, "content_filter")}, "", "refusal", ""),
        ({"status": 400, "error": FILTERED}, "the prompt was filtered", "refusal", ""),
        ({"body": said("The first image shows", "length")}, "The first image shows", "length", ""),
    ],
)
def test_what_lasts_is_asked_once_and_is_that_questions_alone(server, fault, text, finish, problem):
    """How an answer ended is stored with it; it is paid for, and not asked again."""
    server.faults = [fault]
    first, second = judge(server, limits=ALONE).reply([question(1), question(2)])
    assert (first.text, first.finish, second.text, server.requests()) == (text, finish, SECOND, 2)
    assert problem in first.error
    if not problem:
        assert only(judge(server)) == first and server.requests() == 2


def test_a_slow_answer_is_given_up_and_asked_again(server):
    server.faults = [{"slow": 1.5}]
    assert only(judge(server, limits=replace(QUICK, timeout=0.3))).text == SECOND
    assert server.requests() == 2


@pytest.mark.parametrize(
    "body, headers",
    [(b"x" * (8 << 20), {}), (gzip.compress(b" " * (8 << 20)), {"content-encoding": "gzip"})],
    ids=["plain", "unpacked"],
)
def test_a_reply_that_is_too_large_is_not_asked_for_again(server, body, headers):
    reply = reply_of(server, body=body, headers=headers, limits=replace(ONCE, attempts=8))
    assert "more than 1 MB" in reply.error and server.requests() == 1


def test_a_reply_that_drips_is_given_up(server):
    drips = (time.sleep(0.05) or b" " for _ in itertools.count())  # until nobody listens
    assert "no answer within 0.5 s" in reply_of(server, body=drips, limits=replace(ONCE, timeout=0.5)).error


def test_counts_that_are_none_are_left_out(server):
    usage = {"prompt_tokens": 10**400, "completion_tokens": "3"}
    reply = reply_of(server, body=said("(A) Image 1") | {"usage": usage})
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.error) == ("(A) Image 1", None, None, "")


@pytest.mark.parametrize("options, thinking", [({}, 4096), ({"max_tokens": 900}, 0)])
def test_refused_fields_are_left_out_and_recorded(server, options, thinking):
    """As of OpenAI's reasoning models. The stand-in names the first refused field of a request."""
    server.refuse = ("seed", "temperature", "max_tokens")
    asked = load(replace(ROW, options=options), CPU, None)
    assert all(reply.text for reply in asked.reply([question(number) for number in range(10)]))
    recorded = {name: asked.settings[name] for name in ("seed", "temperature", "thinking_tokens")}
    assert recorded == {"seed": None, "temperature": None, "thinking_tokens": thinking}
    assert not {*server.refuse} & {*server.last}
    assert server.last["max_completion_tokens"] == asked.settings["max_tokens"] + thinking


def test_a_failure_that_names_a_model_called_seed_refuses_none(server):
    server.faults = [{"status": 500, "error": "bytedance-seed/vl is overloaded"}] * QUICK.attempts
    asked = judge(server, limits=ALONE)
    assert "overloaded" in only(asked).error
    assert asked.settings["seed"] == 0 and server.requests() == QUICK.attempts


@pytest.mark.parametrize(
    "fault, error, told, most",
    [
        ({"status": 401}, NoService, "LIKENESS_ENDPOINT_KEY", 2),
        ({"status": 404}, NotHere, "status 404.*LIKENESS_ENDPOINT", 2),
        ({"status": 307, "headers": {"Location": "http://127.0.0.1:9/elsewhere"}}, NotHere, "status 307", 2),
        ({"status": 429, "error": {"message": "You exceeded", "code": "insufficient_quota"}}, NoService, "exceeded", 2),
        ({"status": 400}, NotHere, "in a row", 30),
    ],
)
def test_what_no_question_can_mend_stops_the_run(server, fault, error, told, most):
    server.faults = itertools.repeat(fault)
    with pytest.raises(error, match=told):
        judge(server, limits=replace(QUICK, concurrency=2)).reply([question(number) for number in range(60)])
    assert server.requests() <= most


def test_a_server_that_went_away_is_waited_for_and_then_ends_the_run():
    with running() as server:
        asked = judge(server)
        assert only(asked).text == SECOND
    with pytest.raises(NoService, match="Stored answers"):
        only(asked, 2)


TURNED = Image.Exif()
TURNED[274] = 6  # a quarter turn


@pytest.mark.parametrize(
    "form, more, sent",
    [("PNG", {}, "png"), ("JPEG", {}, "jpeg"), ("BMP", {}, "png"), ("JPEG", {"exif": TURNED}, "png")],
)
def test_images_are_sent_upright_as_they_are_or_as_png(form, more, sent):
    """Servers differ in whether they follow EXIF; encoders here do (compute/content/decoding.py)."""
    stream = io.BytesIO()
    Image.new("RGB", (30, 10), (10, 20, 30)).save(stream, form, **more)
    head, _, url = data_url(stream.getvalue()).partition(",")
    got = base64.b64decode(url)
    assert head == f"data:image/{sent};base64" and (got == stream.getvalue()) == (form.lower() == sent)
    assert Image.open(io.BytesIO(got)).size == ((10, 30) if more else (30, 10))


def test_an_image_that_cannot_be_read_is_named_and_the_rest_is_stored(server):
    damaged = replace(picture(b"no image"), name="photo 7.png")
    with pytest.raises(BadItem, match=r"photo 7.png") as raised:
        judge(server, limits=ALONE).reply([question(1), replace(question(2), parts=("Rate", damaged))])
    assert raised.value.key == damaged.key
    assert only(judge(server)).text == SECOND and server.requests() == 1


def test_tokens_seconds_and_by_both_prices_the_cost(server, monkeypatch):
    """The stand-in counts 100 and 10 tokens. An unknown cost is not 0, and a price changes no answer."""
    monkeypatch.setenv("LIKENESS_ENDPOINT_INPUT_PRICE", "2.5")
    reply = only(load(ROW, CPU, None))
    assert (reply.input_tokens, reply.output_tokens, reply.cost) == (100, 10, None) and reply.seconds > 0
    monkeypatch.setenv("LIKENESS_ENDPOINT_OUTPUT_PRICE", "10")
    assert only(load(ROW, CPU, None)).cost == pytest.approx((100 * 2.5 + 10 * 10) / 1e6)
    assert server.requests() == 1


@pytest.mark.parametrize("options, limit", [({}, 256), ({"max_tokens": 16}, 16)])
def test_there_is_room_for_a_reason_unless_the_row_says_otherwise(server, options, limit):
    """What a row sets holds for every answer."""
    asked = judge(server, **options)
    asked.reply(conditions.questions(rated()))
    assert server.last["max_tokens"] == limit and asked.settings["max_tokens"] == options.get("max_tokens", 32)


@pytest.mark.parametrize(
    "name, value, problem",
    [
        *(("", url, "address") for url in ("localhost:8000", "http://host:port/v1")),
        *(("", url, "password") for url in ("http://me:secret@host/v1", "http://secret@host/v1")),
        *(("_KEY", key, "LIKENESS_ENDPOINT_KEY") for key in ("sk-secret\nsk-two", "“sk-secret”")),
        ("_CONCURRENCY", "many", "LIKENESS_ENDPOINT_CONCURRENCY"),
        ("_TIMEOUT", "0", "TIMEOUT"),
        *((name, value, name) for name, value in (("max_token", 3), ("max_tokens", 0), ("max_tokens", "64"))),
    ],
)
def test_a_setting_that_is_none_is_refused_and_no_secret_told(server, monkeypatch, name, value, problem):
    options = {name: value} if name.startswith("max") else {}
    if not options:
        monkeypatch.setenv(f"LIKENESS_ENDPOINT{name}", value)
    with pytest.raises(BadInput, match=problem) as raised:
        load(replace(ROW, options=options), CPU, None)
    assert "secret" not in str(raised.value)


def test_answers_of_earlier_versions_are_found():
    """As the first version named them. Where what is sent changes (decoding.VERSION), so must the names."""
    answers = Endpoint(row=ROW, url="http://127.0.0.1:9/v1").answers
    assert answers.folder.name == "9eb17fac8a4153e3786412a5244d7806"
    assert answers.key(question(1)) == "80b50afde7ebff1de4950a89febc3dc4"


def test_what_an_address_hides_is_not_told():
    asked = Endpoint(row=ROW, url="http://127.0.0.1:9/v1?token=hidden", limits=QUICK)
    with pytest.raises(NoService, match="http://127.0.0.1:9/v1") as raised:
        only(asked)
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize(
    "key, echo",
    [
        (KEY, KEY),
        (KEY, quote(KEY, safe="")),
        (KEY, KEY.replace("+", "%252B").replace("=", "%3d")),
        ("sk-1234", "sk-1234"),
    ],
)
def test_no_echo_of_the_key_is_told(server, key, echo, tmp_path, caplog):
    caplog.set_level("DEBUG")
    part = echo[5:15] if key == KEY else echo
    written = echo.replace("/", r"\/")  # as JSON allows
    failure = {"error": {"message": f"a={echo} " * 50}}
    bodies = ((400, failure), (500, failure), (200, f"{'x' * 180} {written}".encode()), (200, said(f"(A) {echo}")))
    for status, body in bodies:
        reply = reply_of(server, key=key, status=status, body=body, headers={"echoed": echo})
        assert server.last["authorization"] == f"Bearer {key}"
        assert "..." in reply.error + reply.text and len(reply.error) < 400
        assert part not in reply.error + reply.text + caplog.text
    assert not any(part in file.read_text() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    "url, local",
    [
        ("http://localhost:1/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.0.0.4/v1", False),
        ("http://localhost.example/v1", False),
    ],
)
def test_offline_no_judge_on_another_machine_is_asked(url, local, monkeypatch):
    monkeypatch.setenv("LIKENESS_ENDPOINT", url)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    state = availability(ROW, network=lambda: False, room=1 << 40)
    assert (state.state, state.reason) == ((READY, "") if local else (IMPOSSIBLE, "offline"))
    if local:
        assert load(ROW, CPU, None)
    else:
        with pytest.raises(NotHere, match="--offline"):
            load(ROW, CPU, None)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert availability(ROW, network=lambda: False, room=1 << 40).state == READY


def test_offline_a_local_judge_answers_without_a_proxy(server, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert reply_of(server).text


def test_the_plan_says_that_a_judge_is_not_asked_offline(tmp_path, monkeypatch):
    judge = Model(key="org/judge", title="Judge", kind="mllm", adapter="endpoint", abilities=("choose",))
    known = replace(CATALOG, models=(*CATALOG.models, judge))
    monkeypatch.setenv(endpoint.URL, "https://judge.example/v1")
    online, offline = (
        plan.make(known, suite="small", models=["org/judge"], bench=World(folder=tmp_path).bench(offline=offline))
        for offline in (False, True)
    )
    assert online.jobs and not offline.jobs
    refused = {skipped.task.key for skipped in offline.skipped if "another machine" in skipped.reason}
    assert refused == {job.task.key for job in online.jobs}
