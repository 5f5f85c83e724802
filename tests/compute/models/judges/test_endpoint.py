"""The endpoint's judge against a real server process on loopback: what is sent, every fault, and no key anywhere.

What the stand-in answers is checked against the items' own pixels; what it was asked, against its own counts.
"""

from __future__ import annotations

import base64
import io
import traceback
from dataclasses import replace

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
from tests.compute.models.chat_server import Running, running

ROW = Model(key="org/stand-in", title="Stand-in", kind="mllm", adapter="endpoint", weights="Org/Stand-In")
CPU = Hardware(device="cpu", dtype="float32")
QUICK = Limits(attempts=4, timeout=5.0)
KEY = "sk-not-to-be-told-0123456789"


@pytest.fixture(scope="module")
def shared():
    with running() as server:
        yield server


@pytest.fixture
def server(shared, tmp_path, monkeypatch):
    shared.control(counts={}, asked={}, faults=[], refuse=[], times=[], most_together=0, delay=0.0, key="", model="")
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    monkeypatch.setenv("LIKENESS_ENDPOINT", shared.url)
    for name in ("LIKENESS_ENDPOINT_KEY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return shared


def judge(server: Running, *, limits: Limits = QUICK, key: str = "") -> Endpoint:
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


def columns(*rows: list[bytes]) -> list[items.Column]:
    return [items.images(row, of="pictures") for row in rows]


def test_every_kind_of_question_is_answered_by_its_pixels(server):
    """Who is right is known from how the images were made: nearer colour, named colour, more of an attribute."""
    red, reddish, blue = coloured(200, 0, 0), coloured(180, 30, 0), coloured(0, 0, 200)
    noise = np.random.default_rng(0).integers(0, 255, (16, 16, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "PNG")
    sharp, flat, names = stream.getvalue(), coloured(128, 128, 128), ("one", "two")
    kinds = [
        Choices(
            names=names,
            alternatives=tuple(columns([blue, reddish], [reddish, blue])),
            answer=np.array([1, 0]),
            reference=columns([red, red])[0],
        ),
        Choices(
            names=names,
            alternatives=tuple(columns([blue, blue], [red, red])),
            answer=np.array([1, 0]),
            reference=items.texts(["a red thing", "a blue thing"], of="captions"),
        ),
        Choices(
            names=names,
            answer=np.array([1, 0]),
            reference=columns([red, red])[0],
            alternatives=(items.texts(["a blue cat", "red"], of="a"), items.texts(["red", "blue"], of="b")),
        ),
        Choices(
            names=names,
            alternatives=tuple(columns([sharp, flat], [flat, sharp])),
            answer=np.array([0, 1]),
            question="quality",
        ),
        Choices(
            names=names,
            alternatives=tuple(columns([flat, sharp], [sharp, flat])),
            answer=np.array([1, 0]),
            question="contrast",
        ),
        OddOneOut(
            names=names, members=tuple(columns([red, blue], [reddish, red], [blue, reddish])), odd=np.array([2, 0])
        ),
    ]
    asked = load(ROW, CPU, None)
    for data in kinds:
        questions = prompts.questions(data)
        replies = asked.reply(questions)
        read = [parsing.read(reply.text, question.choices) for reply, question in zip(replies, questions, strict=True)]
        assert read == (data.odd if isinstance(data, OddOneOut) else data.answer).tolist(), questions[0].prompt()
        assert [reply.item for reply in replies] == list(names)


def test_what_is_sent(server):
    judge(server).reply([question(1)])
    sent = server.state()["last"]
    assert {name: sent[name] for name in ("model", "temperature", "seed", "max_tokens", "authorization")} == {
        "model": "Org/Stand-In",
        "temperature": 0,
        "seed": 0,
        "max_tokens": 32,
        "authorization": None,
    }
    assert sent["text"] == prompts.TABLE_7["attribute"].format(attribute="bright")


def test_at_most_so_many_at_once(server):
    server.control(delay=0.05)
    replies = judge(server, limits=replace(QUICK, concurrency=3)).reply([question(number) for number in range(12)])
    assert [reply.item for reply in replies] == [f"item {number}" for number in range(12)]
    assert server.state()["most_together"] == 3


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"status": 429}, "status 429"),
        ({"cut": True}, "closed connection"),
        ({"body": {"choices": []}}, "no chat completion"),
        ({"body": {"choices": [{"message": {"content": "(A)"}, "finish_reason": "error"}]}}, "a reply without text"),
        (
            {"body": {"choices": [{"message": {"content": "(A)"}, "error": {"message": "rate limited"}}]}},
            "rate limited",
        ),
        ({"body": {"choices": [{"message": {"content": "(A) is"}, "finish_reason": "abort"}]}}, "a reply without text"),
        ({"body": "null"}, "no chat completion: null"),
        ({"body": {"error": {"message": "provider overloaded", "code": 502}}}, "provider overloaded"),
    ],
)
def test_a_passing_fault_is_asked_again_a_lasting_one_is_an_error(server, fault, problem):
    server.control(faults=[fault, fault])
    asked = judge(server)
    (reply,) = asked.reply([question(1)])
    assert (reply.text, reply.error) == ("(B) Image 2", "")
    assert (reply.input_tokens, reply.output_tokens, server.requests()) == (40, 3, 3)
    server.control(faults=[fault] * 4)
    asked = judge(server)
    (reply,) = asked.reply([question(2)])
    assert reply.text == ""
    assert problem in reply.error
    assert server.requests() == 3 + 4
    # An error is not stored as an answer: the next run asks again.
    assert judge(server).reply([question(2)])[0].text == "(B) Image 2"


TOOLS = [{"id": "1", "type": "function", "function": {"name": "answer", "arguments": '{"choice": "A"}'}}]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"content": ""}, "without text"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "(A)"}]}]}, "without text"),
        ({"content": None, "tool_calls": TOOLS}, "tools"),
    ],
)
def test_a_reply_of_a_shape_that_lasts_is_asked_once(server, message, problem):
    server.control(faults=[{"body": {"choices": [{"message": message, "finish_reason": "stop"}]}}])
    assert problem in judge(server).reply([question(1)])[0].error
    assert server.requests() == 1


def test_the_texts_of_a_reply_in_parts_are_read(server):
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "(B)"}]}, {"type": "text", "text": "(A)"}]
    server.control(faults=[{"body": {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}}])
    assert judge(server).reply([question(1)])[0].text == "(A)"


def test_a_slow_answer_is_given_up_and_asked_again(server):
    server.control(faults=[{"slow": 1.5}])
    asked = judge(server, limits=replace(QUICK, timeout=0.3))
    assert asked.reply([question(1)])[0].text == "(B) Image 2"
    assert server.requests() == 2


def test_a_long_pause_is_not_waited_for(server):
    server.control(faults=[{"status": 429, "headers": {"Retry-After": "86400"}}])
    assert "status 429" in judge(server).reply([question(1)])[0].error
    assert server.requests() == 1


def test_a_refused_question_is_its_own_error_and_not_asked_again(server):
    server.control(faults=[{"status": 400, "message": "image too large"}])
    asked = judge(server, limits=replace(QUICK, concurrency=1))
    replies = asked.reply([question(1), question(2)])
    assert "image too large" in replies[0].error
    assert replies[1].text == "(B) Image 2"
    assert server.requests() == 2


@pytest.mark.parametrize("options", [{}, {"max_tokens": 900}])
def test_refused_fields_are_left_out_and_recorded(server, options):
    """As of OpenAI's reasoning models. The stand-in names the first refused field of a request."""
    server.control(refuse=["seed", "temperature", "max_tokens"])
    asked = load(replace(ROW, options=options), CPU, None)
    assert all(reply.text for reply in asked.reply([question(number) for number in range(10)]))
    thinking = 0 if options else 4096
    recorded = {name: asked.settings[name] for name in ("seed", "temperature", "thinking_tokens")}
    assert recorded == {"seed": None, "temperature": None, "thinking_tokens": thinking}
    sent = server.state()["last"]
    assert not {"seed", "temperature", "max_tokens"} & set(sent)
    assert sent["max_completion_tokens"] == asked.settings["max_tokens"] + thinking
    assert server.state()["counts"]["answered"] == 10


def test_a_failure_that_names_a_model_called_seed_refuses_none(server):
    server.control(faults=[{"status": 500, "message": "bytedance-seed/vl is overloaded"}] * QUICK.attempts)
    asked = judge(server, limits=replace(QUICK, concurrency=1))
    assert "overloaded" in asked.reply([question(1)])[0].error
    assert asked.settings["seed"] == 0 and server.requests() == QUICK.attempts


@pytest.mark.parametrize(
    ("fault", "error", "told"),
    [
        ({"status": 401}, NoService, "LIKENESS_ENDPOINT_KEY"),
        ({"status": 404}, NotHere, "status 404.*LIKENESS_ENDPOINT"),
        (
            {"status": 429, "message": {"message": "You exceeded it", "code": "insufficient_quota"}},
            NoService,
            "exceeded",
        ),
        *(
            (fault, NotHere, "images?")
            for fault in (
                {"status": 400, "message": "Invalid content type. image_url is only supported by certain models."},
                {"status": 500, "message": "image input is not supported - hint: provide the mmproj"},
                {"status": 400, "message": "At most 0 image(s) may be provided in one prompt."},
                {"body": {"error": {"message": "No endpoints found that support image input", "code": 404}}},
            )
        ),
    ],
)
def test_what_no_question_can_mend_stops_the_run(server, fault, error, told):
    server.control(faults=[fault] * 50)
    with pytest.raises(error, match=told):
        judge(server, limits=replace(QUICK, concurrency=2)).reply([question(number) for number in range(30)])
    assert server.requests() <= 2


@pytest.mark.parametrize("message", ["does not support images larger than 20 MB", "unsupported image format"])
def test_an_image_that_is_refused_stops_nothing(server, message):
    server.control(faults=[{"status": 400, "message": message}])
    first, second = judge(server, limits=replace(QUICK, concurrency=1)).reply([question(1), question(2)])
    assert message in first.error and second.text


def test_many_failures_in_a_row_stop_the_run(server):
    server.control(faults=[{"status": 400}] * 100)
    with pytest.raises(NotHere, match="in a row"):
        judge(server, limits=replace(QUICK, concurrency=1)).reply([question(number) for number in range(60)])
    assert server.requests() <= 22


def test_a_server_that_went_away_is_waited_for_and_then_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path))
    with running() as server:
        asked = judge(server)
        assert asked.reply([question(1)])[0].text == "(B) Image 2"
    with pytest.raises(NoService, match="Stored answers"):
        asked.reply([question(2)])


def test_the_key_is_sent_and_told_nowhere(server, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("LIKENESS_ENDPOINT_KEY", KEY)
    server.control(key=KEY)
    caplog.set_level("DEBUG")
    asked = load(ROW, CPU, None)
    assert asked.reply([question(1)])[0].text == "(B) Image 2"
    assert server.state()["last"]["authorization"] == f"Bearer {KEY}"
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


def test_without_a_key_no_other_services_is_sent(server, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_of_somebody")
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-of-somebody")
    judge(server).reply([question(1)])
    assert server.state()["last"]["authorization"] is None


@pytest.mark.parametrize(("form", "sent"), [("PNG", "png"), ("JPEG", "jpeg"), ("BMP", "png")])
def test_images_are_sent_as_they_are_or_as_png(form, sent):
    data = coloured(10, 20, 30, form=form)
    url = data_url(data)
    assert url.startswith(f"data:image/{sent};base64,")
    got = base64.b64decode(url.partition(",")[2])
    assert (got == data) == (form != "BMP")
    assert np.array_equal(
        np.asarray(Image.open(io.BytesIO(got)).convert("RGB")), np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    )


def test_a_turned_image_is_sent_upright():
    """Servers differ in whether they follow EXIF; encoders here do (compute/content/decoding.py)."""
    stream, exif = io.BytesIO(), Image.Exif()
    exif[274] = 6  # a quarter turn
    Image.new("RGB", (30, 10), (9, 9, 9)).save(stream, "JPEG", exif=exif)
    url = data_url(stream.getvalue())
    assert url.startswith("data:image/png;base64,")
    assert Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size == (10, 30)


def test_loading_says_what_is_missing(monkeypatch):
    monkeypatch.delenv("LIKENESS_ENDPOINT", raising=False)
    with pytest.raises(NotHere, match="LIKENESS_ENDPOINT"):
        load(ROW, CPU, None)
    refused = {"localhost:8000": "address", "http://host:port/v1": "address", "http://me:secret@host/v1": "password"}
    for wrong, why in {**refused, "http://secret@host/v1": "password"}.items():
        monkeypatch.setenv("LIKENESS_ENDPOINT", wrong)
        with pytest.raises(BadInput, match=why) as raised:
            load(ROW, CPU, None)
        assert "secret" not in str(raised.value)
    monkeypatch.setenv("LIKENESS_ENDPOINT", "http://localhost:1/v1")
    for pasted in ("sk-one\nsk-two", "“sk-one”"):
        monkeypatch.setenv("LIKENESS_ENDPOINT_KEY", pasted)
        with pytest.raises(BadInput, match="LIKENESS_ENDPOINT_KEY") as raised:
            load(ROW, CPU, None)
        assert "sk-" not in str(raised.value)
    monkeypatch.delenv("LIKENESS_ENDPOINT_KEY")
    monkeypatch.setenv("LIKENESS_ENDPOINT_CONCURRENCY", "many")
    with pytest.raises(BadInput, match="LIKENESS_ENDPOINT_CONCURRENCY"):
        load(ROW, CPU, None)
    monkeypatch.delenv("LIKENESS_ENDPOINT_CONCURRENCY")
    with pytest.raises(BadInput, match="max_token'"):
        load(replace(ROW, options={"max_token": 3}), CPU, None)


def test_a_log_that_is_given_is_used_though_it_is_empty(server, tmp_path):
    forgetful = Forgetful(ROW)
    asked = Endpoint(row=ROW, url=server.url, limits=QUICK, answers=forgetful)
    assert asked.answers is forgetful and asked.reply([question(1)])[0].text == "(B) Image 2"
    assert not (tmp_path / "answers").exists()


def test_answers_of_earlier_versions_are_found():
    """As the first version named them. Where what is sent changes (decoding.VERSION), so must the names."""
    answers = Endpoint(row=ROW, url="http://127.0.0.1:9/v1").answers
    assert answers.folder.name == "9eb17fac8a4153e3786412a5244d7806"
    assert answers.key(question(1)) == "80b50afde7ebff1de4950a89febc3dc4"


def test_options_and_else_the_key_reach_the_server(server, monkeypatch):
    row = replace(ROW, options={"model": "served-name", "max_tokens": 7, "extra": {"top_k": 1}})
    load(row, CPU, None).reply([question(1)])
    sent = server.state()["last"]
    assert (sent["model"], sent["max_tokens"], sent["top_k"]) == ("served-name", 7, 1)
    load(hosted := replace(ROW, weights=""), CPU, None).reply([question(1)])
    assert server.state()["last"]["model"] == ROW.key
    monkeypatch.delenv("LIKENESS_ENDPOINT")
    with pytest.raises(NotHere, match="LIKENESS_ENDPOINT_KEY"):
        load(hosted, CPU, None)


def test_what_an_address_hides_is_not_told():
    asked = Endpoint(row=ROW, url="http://127.0.0.1:9/v1?token=hidden", limits=QUICK)
    with pytest.raises(NoService, match="http://127.0.0.1:9/v1") as raised:
        asked.reply([question(1)])
    assert "hidden" not in str(raised.value)
