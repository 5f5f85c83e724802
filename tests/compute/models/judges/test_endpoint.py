"""The endpoint's judge against a real server on loopback: what is sent, and every fault.

What the stand-in answers is checked against the items' own pixels; what it was asked, against its own counts.
"""

import base64
import io
import itertools
from dataclasses import replace

import pytest
from PIL import Image

from compute.models.judges.endpoint import Endpoint, load
from compute.models.judges.images import data_url
from compute.types import BadInput, NoService, NotHere
from tests.compute.models.chat_server import running, said
from tests.compute.models.judges.asked import BRIGHT, CPU, QUICK, ROW, judge, question

ALONE = replace(QUICK, concurrency=1)
SECOND = "(B) Image 2"  # the right answer to each question


def test_what_is_sent(server, monkeypatch):
    """Without a key no other service's is."""
    for name in ("HF_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-of-somebody")
    judge(server).reply([question(1)])
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
    load(row, CPU, None).reply([question(1)])
    assert (server.last["model"], server.last["max_tokens"], server.last["top_k"]) == ("served-name", 7, 1)
    load(hosted := replace(ROW, weights=""), CPU, None).reply([question(1)])
    assert server.last["model"] == ROW.key
    monkeypatch.delenv("LIKENESS_ENDPOINT")
    with pytest.raises(NotHere, match="LIKENESS_ENDPOINT_KEY"):
        load(hosted, CPU, None)


def test_at_most_so_many_at_once(server):
    server.delay = 0.05
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
        (OVERLOADED, "provider overloaded"),
    ],
)
def test_a_passing_fault_is_asked_again_a_lasting_one_is_an_error(server, fault, problem):
    server.faults = [fault] * 2
    (reply,) = judge(server).reply([question(1)])
    assert (reply.text, reply.error, server.requests()) == (SECOND, "", 3)
    server.faults = [fault] * 4
    (reply,) = judge(server).reply([question(2)])
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
        ({"body": said("Score: 100")}, "Score: 100", "stop", ""),
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
        assert judge(server).reply([question(1)]) == [first] and server.requests() == 2


def test_a_slow_answer_is_given_up_and_asked_again(server):
    server.faults = [{"slow": 1.5}]
    assert judge(server, limits=replace(QUICK, timeout=0.3)).reply([question(1)])[0].text == SECOND
    assert server.requests() == 2


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
    assert "overloaded" in asked.reply([question(1)])[0].error
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
        assert asked.reply([question(1)])[0].text == SECOND
    with pytest.raises(NoService, match="Stored answers"):
        asked.reply([question(2)])


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
        asked.reply([question(1)])
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize(
    "key, repeated",
    [
        ("ab/cd+ef=gh12", "ab/cd+ef=gh12 ab%2fcd%2Bef%3dgh12 ab/cd%252Bef=gh12 ab\\/cd+ef=gh12"),
        ("sk-1234", "the key sk-1234, and sk-1234."),
    ],
)
def test_a_key_that_an_endpoint_repeats_is_not_stored(server, key, repeated):
    server.faults = [{"status": 400, "error": repeated}]
    stored = str(judge(server, key=key).reply([question(1)]))
    assert key not in stored and "gh12" not in stored and "1234" not in stored
