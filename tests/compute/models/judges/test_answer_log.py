"""Kept answers: what is kept and what is not, half-written lines, and a real process killed as it asks a server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from compute.content.messages import Question, Reply
from compute.models.judges.answer_log import AnswerLog
from compute.types import BadInput, Model
from tests.compute.content.pictures import picture

ROW = Model(key="org/judge", title="Judge", kind="mllm", weights="Org/Judge")


def question(text: str, *, item: str = "item", image: bytes = b"") -> Question:
    return Question(item=item, parts=(text, picture(image)) if image else (text,))


class Judge:
    """Answers every text with itself, and counts; `broken` are answered with an error."""

    def __init__(self, *broken: str) -> None:
        self.broken = broken
        self.asked: list[str] = []

    def __call__(self, questions: Sequence[Question]) -> Iterable[tuple[int, Reply]]:
        for place in reversed(range(len(questions))):  # replies may come in any order
            text = str(questions[place].parts[0])
            self.asked.append(text)
            reply = {"error": "broken"} if text in self.broken else {"text": f"re {text}"}
            yield place, Reply(item=questions[place].item, input_tokens=len(text), **reply)


def log(root: Path, **settings: object) -> AnswerLog:
    return AnswerLog(ROW, settings=settings, root=root)


def test_replies_are_in_order_and_a_question_is_asked_once(tmp_path: Path) -> None:
    """Within a run, whatever its item, and over runs; but errors are not kept."""
    questions = [question(text, item=f"{text} {place}") for place, text in enumerate(["q1", "bad", "q2", "q1"])]
    first, second = Judge("bad"), Judge()
    replies = log(tmp_path).answered(questions, first)
    assert replies == [
        Reply(item="q1 0", text="re q1", input_tokens=2),
        Reply(item="bad 1", error="broken"),
        Reply(item="q2 2", text="re q2", input_tokens=2),
        Reply(item="q1 3", text="re q1", input_tokens=2),
    ]
    again = log(tmp_path).answered(questions, second)
    assert again == [replies[0], Reply(item="bad 1", text="re bad", input_tokens=3), *replies[2:]]
    assert (sorted(first.asked), second.asked) == (["bad", "q1", "q2"], ["bad"])


def test_texts_images_and_settings_make_another_question(tmp_path: Path) -> None:
    kept = log(tmp_path, temperature=0)
    keys = {
        kept.key(question("q")),
        kept.key(question("q", image=b"1")),
        kept.key(question("q", image=b"2")),
        kept.key(question("q ")),
        log(tmp_path, temperature=1).key(question("q")),
        kept.key(Question(item="item", parts=(f"q<image {picture(b'1').key.decode()}>",))),
    }
    assert len(keys) == 6
    assert kept.key(question("q")) == kept.key(question("q", item="of another task"))
    assert log(tmp_path, temperature=0).folder != log(tmp_path, temperature=1).folder
    assert kept.folder.parent == tmp_path / "org__judge"
    assert AnswerLog(replace(ROW, key="org/other"), settings={}, root=tmp_path).folder.parent.name == "org__other"


def test_the_room_for_an_answer_makes_another_question_only_where_it_is_said(tmp_path: Path) -> None:
    kept = log(tmp_path, max_tokens=32)
    usual, short, long = (replace(question("q"), longest=longest) for longest in (None, 32, 256))
    assert len({kept.key(usual), kept.key(short), kept.key(long)}) == 3
    judge = Judge()
    kept.answered([usual, long, replace(long, item="again")], judge)
    assert judge.asked == ["q", "q"]


def test_what_is_stored_of_an_answer_and_older_logs_are_read_without_how_it_ended(tmp_path: Path) -> None:
    full = Reply(item="", text="5", finish="length", input_tokens=9, output_tokens=1, seconds=0.25, cost=0.001)
    asked, image = log(tmp_path, max_tokens=3), question("Which? ", image=b"pixels")
    assert asked.answered([image], lambda _: [(0, full)]) == [replace(full, item="item")]
    assert json.loads((asked.folder / "settings.json").read_text()) == {"max_tokens": 3}
    (file,) = asked.folder.glob("*.jsonl")
    line = json.loads(file.read_text())
    assert line["prompt"] == image.prompt() == f"Which? <image {picture(b'pixels').key.decode()}>"
    assert (line["text"], line["input_tokens"], line["output_tokens"]) == ("5", 9, 1)
    assert [line.pop(name) for name in ("finish", "seconds", "cost")] == ["length", 0.25, 0.001]
    file.write_text(json.dumps(line) + "\n")
    (old,) = log(tmp_path, max_tokens=3).answered([image], Judge())
    assert old == Reply(item="item", text="5", input_tokens=9, output_tokens=1)
    assert (old.seconds, old.cost) == (None, None)


def test_empty_answers_that_did_not_end_are_asked_again(tmp_path: Path) -> None:
    """What a provider's failure left in the logs of earlier versions; a filter's or a cut-off empty answer stays."""
    for finish, asked in (("", ["q"]), ("refusal", []), ("length", [])):
        folder = tmp_path / finish
        log(folder).answered([question("q")], lambda _, finish=finish: [(0, Reply(item="", finish=finish))])
        again = Judge()
        log(folder).answered([question("q")], again)
        assert again.asked == asked


@pytest.mark.parametrize("rest", ['{"key": "k", "te', "\n\n[]\n"])
def test_a_damaged_end_is_passed_over(tmp_path: Path, rest: str) -> None:
    kept = log(tmp_path)
    kept.answered([question("one"), question("two")], Judge())
    (file,) = kept.folder.glob("*.jsonl")
    with file.open("a") as stream:
        stream.write(rest)
    again = Judge()
    replies = log(tmp_path).answered([question("one"), question("two"), question("three")], again)
    assert (again.asked, [reply.text for reply in replies]) == (["three"], ["re one", "re two", "re three"])


def test_what_came_before_a_failure_is_kept(tmp_path: Path) -> None:
    def fails(questions: Sequence[Question]) -> Iterable[tuple[int, Reply]]:
        yield 0, Reply(item="item", text="kept")
        raise BadInput("the endpoint is gone")

    with pytest.raises(BadInput, match="gone"):
        log(tmp_path).answered([question("one"), question("two")], fails)
    again = Judge()
    assert [reply.text for reply in log(tmp_path).answered([question("one"), question("two")], again)] == [
        "kept",
        "re two",
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    kept = log(tmp_path)
    kept.answered([question("one")], Judge())
    kept._file = open("/dev/full", "w")  # noqa: SIM115
    with pytest.raises(BadInput, match="Make room"):
        kept.answered([question("two")], Judge())
    assert log(tmp_path).answered([question("two")], Judge())[0].text == "re two"
