"""A function as a judge: what it is asked, that it is asked once, and what becomes of its failures."""

import base64

import pytest

from compute.content.messages import Question
from compute.models.judges import answer_log
from tests.compute.content.pictures import picture
from tests.compute.features.standin import file
from tests.compute.models.own.small_objects import CPU, versioned, wrapped


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    monkeypatch.setenv(answer_log.VARIABLE, str(tmp_path / "answers"))


PNG = file(90)


def question(text):
    return Question(item=text, parts=("Look: ", picture(PNG), text))


def asked(messages):
    return messages[0]["content"][-1]["text"]


def test_messages_have_the_chat_apis_form_and_each_is_asked_once_a_version():
    seen = []

    def ask(messages):
        seen.append(messages)
        return f"answer {len(asked(messages))}"

    for version, count in (("1", 3), ("1", 3), ("2", 6)):  # two questions, and that of its check
        own = wrapped(ask, version=version, name="My judge 2")
        replies = own.load(own.row, hardware=CPU).reply([question(text) for text in ("near", "nearest", "near")])
        assert [reply.text for reply in replies] == ["answer 4", "answer 7", "answer 4"] and len(seen) == count
    [message] = next(messages for messages in seen if asked(messages) == "near")
    first, image, last = message["content"]
    assert message["role"] == "user"
    assert (first, last) == ({"type": "text", "text": "Look: "}, {"type": "text", "text": "near"})
    head, _, data = image["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64" and base64.b64decode(data) == PNG
    assert (own.row.key, own.row.kind, own.row.abilities) == ("own/my-judge-2", "mllm", ("choose",))
    known = own.identity(own.row, hardware=CPU)
    assert (known["device"], known["dtype"]) == ("", "")


def test_a_failure_is_that_questions_alone_and_an_empty_answer_is_an_answer():
    seen = []

    def ask(messages):
        seen.append(asked(messages))
        if "bad" in seen[-1]:
            raise TimeoutError("no answer")
        return ""

    own = versioned(ask)
    replies = own.load(own.row, hardware=CPU).reply([question(text) for text in ("good", "bad", "better")])
    assert [reply.text for reply in replies] == ["", "", ""] and "TimeoutError" in replies[1].error
    assert replies[0].error == replies[2].error == ""
    own.load(own.row, hardware=CPU).reply([question("good")])
    assert seen.count("good") == 1
