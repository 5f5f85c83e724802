"""The endpoint's judge against a real server on loopback: what is sent, every fault, and no key anywhere."""

from __future__ import annotations

import base64
import io
import traceback
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from compute.content import items
from compute.content.messages import Question
from compute.models.adapter import Hardware
from compute.models.judges.answer_log import Forgetful
from compute.models.judges.endpoint import Endpoint, Limits, load
from compute.models.judges.images import data_url
from compute.procedures.shared import parsing, prompts
from compute.tasks.data import Choices, OddOneOut
from compute.types import BadInput, LikenessError, Model, NoService, NotHere
from tests.compute.content.pictures import picture
from tests.compute.models.chat_server import ChatServer, running

ROW = Model(key="org/stand-in", title="Stand-in", kind="mllm", adapter="endpoint", weights="Org/Stand-In")
CPU = Hardware(device="cpu", dtype="float32")
QUICK = Limits(attempts=4, timeout=5.0)
KEY = "sk-not-to-be-told-0123456789"


@pytest.fixture(scope="module")
def shared() -> Iterator[ChatServer]:
    with running() as server:
        yield server


@pytest.fixture
def server(shared: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    shared.control()
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    monkeypatch.setenv("LIKENESS_ENDPOINT", shared.url)
    for name in ("LIKENESS_ENDPOINT_KEY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return shared


def judge(server: ChatServer, *, limits: Limits = QUICK, key: str = "") -> Endpoint:
    return Endpoint(row=ROW, url=server.url, key=key, limits=limits)


def coloured(*colour: int, size: int = 16, form: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(stream, form)
    return stream.getvalue()


def question(number: int) -> Question:
    """A question of its own a number; the brighter image is the second."""
    shown = [picture(coloured(number % 200, 0, 0)), picture(coloured(250, 250, number % 200))]
    words = prompts.TABLE_7["attribute"].format(attribute="bright").split("<image>")
    return Question(
        item=f"item {number}", parts=(words[0], shown[0], shown[1], words[2]), choices=("(A) Image 1", "(B) Image 2")
    )


def columns(*rows: list[bytes]) -> tuple[items.Column, ...]:
    return tuple(items.images(row, of="pictures") for row in rows)


def test_every_kind_of_question_is_answered_by_its_pixels(server: ChatServer) -> None:
    """Who is right is known from how the images were made: nearer colour, named colour, more of an attribute."""
    red, reddish, blue = coloured(200, 0, 0), coloured(180, 30, 0), coloured(0, 0, 200)
    captions = items.texts(["a red thing", "a blue thing"], of="captions"), items.texts(["blue", "red"], of="others")
    made = partial(Choices, names=("one", "two"), answer=np.array([1, 0]))
    kinds = [
        made(alternatives=columns([blue, reddish], [reddish, blue]), reference=columns([red, red])[0]),
        made(alternatives=columns([blue, blue], [red, red]), reference=captions[0]),
        made(alternatives=captions, reference=columns([blue, blue])[0]),
        made(alternatives=columns([blue, reddish], [reddish, blue]), question="brightness"),
        OddOneOut(names=("one", "two"), members=columns([red, blue], [reddish, red], [blue, reddish]), odd=[2, 0]),
    ]
    asked = load(ROW, CPU, None)
    for data in kinds:
        questions = prompts.questions(data)
        replies = asked.reply(questions)
        read = [parsing.read(reply.text, question.choices) for reply, question in zip(replies, questions, strict=True)]
        assert read == list(data.odd if isinstance(data, OddOneOut) else data.answer), questions[0].prompt()
        assert [reply.item for reply in replies] == ["one", "two"]


@pytest.mark.parametrize(
    ("row", "sent"),
    [
        (ROW, {"model": "Org/Stand-In", "max_tokens": 32}),
        (replace(ROW, weights=""), {"model": ROW.key}),
        (
            replace(ROW, options={"model": "served-name", "max_tokens": 7, "extra": {"top_k": 1}}),
            {"model": "served-name", "max_tokens": 7, "top_k": 1},
        ),
    ],
    ids=["usual", "hosted", "options"],
)
def test_what_is_sent(server: ChatServer, row: Model, sent: dict) -> None:
    (reply,) = load(row, CPU, None).reply([question(1)])
    wanted = {"temperature": 0, "seed": 0, "authorization": None, **sent}
    assert {name: server.last[name] for name in wanted} == wanted
    assert server.last["text"] == prompts.TABLE_7["attribute"].format(attribute="bright")
    assert (reply.input_tokens, reply.output_tokens, server.requests()) == (40, 3, 1)


def test_at_most_so_many_at_once(server: ChatServer) -> None:
    server.control(delay=0.05)
    replies = judge(server, limits=replace(QUICK, concurrency=3)).reply([question(number) for number in range(12)])
    assert [reply.item for reply in replies] == [f"item {number}" for number in range(12)]
    assert server.most_together == 3


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"status": 429}, "status 429"),
        ({"cut": True}, "closed connection"),
        ({"body": {"choices": []}}, "no chat completion"),
        ({"body": {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}}, "a reply without text"),
        ({"body": {"choices": [{"message": {"content": "(A)"}, "finish_reason": "error"}]}}, "a reply without text"),
        ({"body": {"error": {"message": "provider overloaded", "code": 502}}}, "provider overloaded"),
    ],
)
def test_a_passing_fault_is_asked_again_a_lasting_one_is_an_error(
    server: ChatServer, fault: dict, problem: str
) -> None:
    server.control(faults=[fault, fault])
    (reply,) = judge(server).reply([question(1)])
    assert (reply.text, reply.error) == ("(B) Image 2", "")
    assert (reply.input_tokens, reply.output_tokens, server.requests()) == (40, 3, 3)
    server.control(faults=[fault] * 4)
    (reply,) = judge(server).reply([question(2)])
    assert reply.text == ""
    assert problem in reply.error
    assert server.requests() == 4
    # An error is not stored as an answer: the next run asks again.
    assert judge(server).reply([question(2)])[0].text == "(B) Image 2"


def test_a_slow_answer_is_asked_again_and_a_long_pause_is_not_waited_for(server: ChatServer) -> None:
    server.control(faults=[{"slow": 1.5}])
    asked = judge(server, limits=replace(QUICK, timeout=0.3))
    assert asked.reply([question(1)])[0].text == "(B) Image 2"
    assert server.requests() == 2
    server.control(faults=[{"status": 429, "headers": {"Retry-After": "86400"}}])
    assert "status 429" in judge(server).reply([question(2)])[0].error
    assert server.requests() == 1


def test_a_refused_question_is_its_own_error_and_not_asked_again(server: ChatServer) -> None:
    server.control(faults=[{"status": 400, "message": "image too large"}])
    replies = judge(server, limits=replace(QUICK, concurrency=1)).reply([question(1), question(2)])
    assert "image too large" in replies[0].error
    assert replies[1].text == "(B) Image 2"
    assert server.requests() == 2


def test_a_refused_seed_is_left_out_and_recorded(server: ChatServer) -> None:
    """But not where a failure names a model called seed."""
    server.control(faults=[{"status": 500, "message": "bytedance-seed/vl is overloaded"}] * QUICK.attempts)
    asked = judge(server)
    assert "overloaded" in asked.reply([question(0)])[0].error
    assert asked.settings["seed"] == 0 and server.requests() == QUICK.attempts
    server.control(refuse=["seed"])
    assert all(reply.text for reply in asked.reply([question(number) for number in range(10)]))
    assert asked.settings["seed"] is None and "seed" not in server.last


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (401, NoService, "LIKENESS_ENDPOINT_KEY"),
        (404, NotHere, "LIKENESS_ENDPOINT"),
    ],
)
def test_what_no_question_can_mend_stops_the_run(
    server: ChatServer, status: int, error: type[LikenessError], told: str
) -> None:
    server.control(faults=[{"status": status}] * 50)
    with pytest.raises(error, match=f"status {status}.*{told}"):
        judge(server, limits=replace(QUICK, concurrency=2)).reply([question(number) for number in range(30)])
    assert server.requests() <= 2


def test_many_failures_in_a_row_stop_the_run(server: ChatServer) -> None:
    server.control(faults=[{"status": 400}] * 100)
    with pytest.raises(NotHere, match="in a row"):
        judge(server, limits=replace(QUICK, concurrency=1)).reply([question(number) for number in range(60)])
    assert server.requests() <= 22


def test_nobody_at_the_address_ends_the_run_and_its_password_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path))
    asked = Endpoint(row=ROW, url="http://me:secret@127.0.0.1:9/v1?token=hidden", limits=QUICK)
    with pytest.raises(NoService, match="http://127.0.0.1:9/v1.*Stored answers") as raised:
        asked.reply([question(number) for number in range(30)])
    assert "secret" not in str(raised.value) and "hidden" not in str(raised.value)


def test_the_key_is_sent_and_told_nowhere(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LIKENESS_ENDPOINT_KEY", KEY)
    server.control(key=KEY)
    caplog.set_level("DEBUG")
    asked = load(ROW, CPU, None)
    assert asked.reply([question(1)])[0].text == "(B) Image 2"
    assert server.last["authorization"] == f"Bearer {KEY}"
    server.control(faults=[{"status": 400, "message": f"bad key {KEY}"}])
    refused = asked.reply([question(2)])[0]
    server.control(key="another")  # the server's 401 repeats the header it got
    with pytest.raises(LikenessError) as raised:
        asked.reply([question(3)])
    kept = "".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file())
    told = (
        kept,
        caplog.text,
        repr(asked),
        repr(asked.settings),
        refused.error,
        "".join(traceback.format_exception(raised.value)),
    )
    assert "LIKENESS_ENDPOINT_KEY is not accepted" in told[-1]
    assert not any(KEY in text for text in told)


def test_without_a_key_no_other_services_is_sent(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_somebody")
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-of-somebody")
    judge(server).reply([question(1)])
    assert server.last["authorization"] is None


@pytest.mark.parametrize(
    ("form", "sent"), [("PNG", "png"), ("JPEG", "jpeg"), ("BMP", "png")], ids=["png", "jpeg", "bmp"]
)
def test_images_are_sent_as_they_are_or_as_png(form: str, sent: str) -> None:
    data = coloured(10, 20, 30, form=form)
    got = unpacked(data, sent)
    assert (got == data) == (form != "BMP")
    first, second = (Image.open(io.BytesIO(one)).convert("RGB") for one in (got, data))
    assert first.tobytes() == second.tobytes()


def test_a_turned_image_is_sent_upright() -> None:
    """Servers differ in whether they follow EXIF; encoders here do (compute/content/decoding.py)."""
    stream, exif = io.BytesIO(), Image.Exif()
    exif[274] = 6  # a quarter turn
    Image.new("RGB", (30, 10), (9, 9, 9)).save(stream, "JPEG", exif=exif)
    assert Image.open(io.BytesIO(unpacked(stream.getvalue(), "png"))).size == (10, 30)


def unpacked(data: bytes, kind: str) -> bytes:
    head, _, sent = data_url(data).partition(",")
    assert head == f"data:image/{kind};base64"
    return base64.b64decode(sent)


@pytest.mark.parametrize(
    ("options", "environment", "error", "named"),
    [
        ({}, {"": ""}, NotHere, "LIKENESS_ENDPOINT"),
        ({}, {"": "localhost:8000"}, BadInput, "address"),
        ({}, {"": "http://host:port/v1"}, BadInput, "address"),
        ({}, {"_KEY": "sk-one\nsk-two"}, BadInput, "LIKENESS_ENDPOINT_KEY"),
        ({}, {"_KEY": "“sk-one”"}, BadInput, "LIKENESS_ENDPOINT_KEY"),
        ({}, {"_CONCURRENCY": "many"}, BadInput, "LIKENESS_ENDPOINT_CONCURRENCY"),
        ({}, {"_OUTPUT_PRICE": "free"}, BadInput, "OUTPUT_PRICE"),
        ({}, {"_OUTPUT_PRICE": "-1"}, BadInput, "OUTPUT_PRICE"),
        ({"max_token": 3}, {}, BadInput, "max_token'"),
        ({"max_tokens": 0}, {}, BadInput, "max_tokens"),
        ({"max_tokens": "64"}, {}, BadInput, "max_tokens"),
    ],
    ids=range(11),
)
def test_loading_says_what_is_wrong(
    options: dict, environment: dict[str, str], error: type[LikenessError], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"": "http://localhost:1/v1", **environment}.items():
        monkeypatch.setenv(f"LIKENESS_ENDPOINT{name}", value)
    with pytest.raises(error, match=named) as raised:
        load(replace(ROW, options=options), CPU, None)
    assert "sk-" not in str(raised.value)


def test_a_log_that_is_given_is_used_though_it_is_empty(server: ChatServer, tmp_path: Path) -> None:
    forgetful = Forgetful(ROW)
    asked = Endpoint(row=ROW, url=server.url, limits=QUICK, answers=forgetful)
    assert asked.answers is forgetful and asked.reply([question(1)])[0].text == "(B) Image 2"
    assert not (tmp_path / "answers").exists()


def test_answers_of_earlier_versions_are_found() -> None:
    """As the first version named them. Where what is sent changes (decoding.VERSION), so must the names."""
    answers = Endpoint(row=ROW, url="http://127.0.0.1:9/v1").answers
    assert answers.folder.name == "9eb17fac8a4153e3786412a5244d7806"
    assert answers.key(question(1)) == "80b50afde7ebff1de4950a89febc3dc4"
