"""A function as a judge: what it is asked, that it is asked once, and what becomes of its failures."""

from __future__ import annotations

import base64
import io
from functools import partial

import pytest
from PIL import Image

from compute.content.items import content_key
from compute.content.messages import Picture, Question
from compute.models.judges import answer_log
from compute.models.own.objects import judge
from compute.types import BadInput, NotHere
from tests.compute.models.own.small_objects import CPU, identity, wrapped


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    monkeypatch.setenv(answer_log.VARIABLE, str(tmp_path / "answers"))
    return tmp_path / "answers"


def png(colour: int = 90) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (9, 7), (colour, 20, 30)).save(stream, "PNG")
    return stream.getvalue()


def question(text: str = "Which is nearer?", *, colour: int = 90) -> Question:
    data = png(colour)
    return Question(item=text, parts=("Look: ", Picture(key=content_key(data), read=lambda: data), text))


class Ask:
    """Counts its questions; `trouble` is what becomes of one."""

    def __init__(self, *, trouble=None) -> None:
        self.trouble = trouble

    def __call__(self, messages):
        SEEN.append(messages)
        return self.trouble(messages) if self.trouble else f"answer {len(messages[0]['content'])}"


SEEN: list[list[dict]] = []


@pytest.fixture(autouse=True)
def seen():
    SEEN.clear()
    return SEEN


def answering(messages) -> str:
    return "B" if "nearer" in messages[0]["content"][-1]["text"] else "yes"


def test_messages_have_the_chat_apis_form():
    own = wrapped(Ask(), version="1")
    SEEN.clear()
    reply = own.load(own.row, hardware=CPU).reply([question()])[0]
    assert (reply.text, reply.item, reply.error) == ("answer 3", "Which is nearer?", "")
    [[message]] = SEEN
    assert message["role"] == "user"
    first, image, last = message["content"]
    assert (first, last) == ({"type": "text", "text": "Look: "}, {"type": "text", "text": "Which is nearer?"})
    assert image["type"] == "image_url"
    head, _, data = image["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data) == png()


def test_each_question_is_asked_once_whatever_number_of_sessions():
    for _ in range(2):
        own = wrapped(Ask(), version="1", name="mine")
        replies = own.load(own.row, hardware=CPU).reply([question(), question("Which is redder?"), question()])
        assert [reply.text for reply in replies] == ["answer 3"] * 3
    assert len(SEEN) == 3  # two, and that of its check
    other = wrapped(Ask(), version="2", name="mine")
    other.load(other.row, hardware=CPU).reply([question()])
    assert len(SEEN) == 5


def test_a_failure_is_that_questions_alone():
    def trouble(messages):
        if "bad" in messages[0]["content"][-1]["text"]:
            raise TimeoutError("no answer")
        return "A"

    own = wrapped(Ask(trouble=trouble))
    loaded = own.load(own.row, hardware=CPU)
    replies = loaded.reply([question("good"), question("bad"), question("better")])
    assert [(reply.text, reply.error) for reply in replies] == [
        ("A", ""),
        ("", "the judge raised TimeoutError: no answer"),
        ("A", ""),
    ]


def test_many_failures_in_a_row_stop_the_run():
    def trouble(messages):
        if "photograph" in messages[0]["content"][-1]["text"]:
            return "yes"
        raise ConnectionError("refused")

    own = wrapped(Ask(trouble=trouble))
    with pytest.raises(NotHere, match=f"{judge.IN_A_ROW} questions in a row.*ConnectionError: refused"):
        own.load(own.row, hardware=CPU).reply([question(str(at)) for at in range(100)])


async def later(messages):
    return "A"


@pytest.mark.parametrize(
    "ask, problem",
    [
        (lambda messages: None, "gave a NoneType, not a text"),
        (lambda messages: 3, "gave a int, not a text"),
        (lambda messages: messages["image"], "TypeError"),
        (later, "asynchronous"),
    ],
    ids=["none", "number", "raises", "async"],
)
def test_its_check_is_one_question(ask, problem):
    with pytest.raises(BadInput, match=problem):
        wrapped(ask)


def test_arguments_of_encoders_are_refused():
    with pytest.raises(BadInput, match="taken for a judge"):
        wrapped(answering, preprocess=lambda image: image)
    with pytest.raises(BadInput, match="takes 3 inputs"):
        wrapped(lambda a, b, c: "A")


def test_its_row():
    own = wrapped(answering, name="My judge 2")
    assert (own.row.key, own.row.title, own.row.kind) == ("own/my-judge-2", "My judge 2", "mllm")
    assert (own.row.abilities, own.row.modalities) == (("choose",), ("image", "text"))
    assert (identity(own)["device"], identity(own)["dtype"]) == ("", "")


def test_what_nothing_identifies_needs_a_version():
    client = iter([])  # stands for a connection to a service: its content says nothing of what answers

    def ask(messages):
        return f"A {client is None}"

    with pytest.raises(BadInput, match=r"`client`, which model uses.*version="):
        wrapped(ask)
    digests = [identity(wrapped(ask, version=version))["digest"] for version in ("1", "1", "2")]
    assert digests[0] == digests[1] != digests[2]


def test_bound_arguments_count():
    def ask(messages, style):
        return style

    digests = [identity(wrapped(partial(ask, style=style)))["digest"] for style in ("A", "A", "B")]
    assert digests[0] == digests[1] != digests[2]
