"""Stored answers: what is stored and what is not, half-written lines, and what can be dropped."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compute.content.messages import Question, Reply
from compute.models.judges.answer_log import AnswerLog
from compute.procedures.shared import conditions, prompts
from compute.types import BadInput
from tests.compute.commands import likeness
from tests.compute.content.pictures import picture
from tests.compute.models.judges.asked import ROW


def question(text, *, item="item", image=b""):
    return Question(item=item, parts=(text, picture(image)) if image else (text,))


class Judge:
    """Answers every text with itself, in any order, and counts."""

    def __init__(self):
        self.asked = []

    def __call__(self, questions):
        for place, question in reversed([*enumerate(questions)]):
            text = question.parts[0]
            self.asked.append(text)
            yield place, Reply(item=question.item, text=f"re {text}", input_tokens=len(text))


def log(root, **settings):
    return AnswerLog(ROW, settings=settings, root=root)


def answered(root, *texts, judge):
    return [reply.text for reply in log(root).answered([question(text) for text in texts], judge)]


def test_texts_images_settings_and_room_make_another_question(tmp_path):
    kept, asked = log(tmp_path, temperature=0), question("q")
    keys = {
        kept.key(asked),
        kept.key(question("q", image=b"1")),
        kept.key(question("q", image=b"2")),
        kept.key(question("q ")),
        log(tmp_path, temperature=1).key(asked),
        kept.key(question(f"q<image {picture(b'1').key.decode()}>")),
        *(kept.key(replace(asked, longest=longest)) for longest in (32, 256)),
    }
    assert len(keys) == 8 and kept.key(asked) == kept.key(question("q", item="of another task"))
    assert log(tmp_path, temperature=0).folder != log(tmp_path, temperature=1).folder
    assert kept.folder.parent == tmp_path / "org__stand-in"
    assert AnswerLog(replace(ROW, key="org/other"), settings={}, root=tmp_path).folder.parent.name == "org__other"


def test_all_of_an_answer_is_stored_and_older_logs_are_read_without_how_it_ended(tmp_path):
    full = Reply(item="", text="5", finish="length", input_tokens=9, output_tokens=1, seconds=0.25, cost=0.001)
    kept, asked = log(tmp_path, max_tokens=3), question("Which? ", image=b"pixels")
    assert kept.answered([asked], lambda _: [(0, full)]) == [replace(full, item="item")]
    assert json.loads((kept.folder / "settings.json").read_text()) == {"max_tokens": 3}
    (file,) = kept.folder.glob("*.jsonl")
    line = json.loads(file.read_text())
    assert line["prompt"] == asked.prompt() == f"Which? <image {picture(b'pixels').key.decode()}>"
    assert (line["text"], line["input_tokens"], line["output_tokens"]) == ("5", 9, 1)
    assert [line.pop(name) for name in ("finish", "seconds", "cost")] == ["length", 0.25, 0.001]
    file.write_text(json.dumps(line) + "\n")
    (old,) = log(tmp_path, max_tokens=3).answered([asked], Judge())
    assert old == Reply(item="item", text="5", input_tokens=9, output_tokens=1)


def test_empty_answers_that_did_not_end_are_asked_again(tmp_path):
    """What a provider's failure left in the logs of earlier versions; a filter's or a cut-off empty answer stays."""
    for finish, asked in (("", ["q"]), ("stop", ["q"]), ("refusal", []), ("length", [])):
        folder = tmp_path / finish
        stored, again = log(folder, adapter="endpoint"), Judge()
        stored.answered([question("q")], lambda _, finish=finish: [(0, Reply(item="", finish=finish))])
        log(folder, adapter="endpoint").answered([question("q")], again)
        assert again.asked == asked


def test_answers_that_no_reader_reads_can_be_dropped(tmp_path, monkeypatch):
    def said(*words):
        return likeness("answers", *words).output

    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path))
    rated, chosen = f"How alike?\n{conditions.FORMAT}", prompts.TABLE_7["quality"]
    given = [
        *(
            (rated, text, finish)
            for text, finish in (("Score: 7", "stop"), ("7", ""), ("Alike.", ""), ("Score: 7, so", "length"))
        ),
        *((chosen, text, finish) for text, finish in (("(A)", "stop"), ("both", ""), ("", "refusal"), ("", ""))),
        ("Describe it.", "A cat.", "stop"),
    ]
    questions = [question(f"{number} {prompt}") for number, (prompt, *_) in enumerate(given)]
    replies = [Reply(item="", text=text, finish=finish) for _, text, finish in given]
    log(tmp_path).answered(questions, lambda _: enumerate(replies))
    (file,) = tmp_path.rglob("*.jsonl")
    file.write_text(file.read_text() + '{"key": "k", "te')

    reasons = "(1 missing, 1 truncated, 1 unread, 1 refused, 1 empty, 1 damaged)"
    assert said() == f"org/stand-in: 10 answers, 6 invalid {reasons}\n"
    assert said("--drop-invalid").startswith(f"org/stand-in: 10 answers, 6 dropped {reasons}\nThey are asked again")
    assert said() == "org/stand-in: 4 answers, 0 invalid\n"
    again = Judge()
    log(tmp_path).answered(questions, again)
    assert sorted(text[0] for text in again.asked) == ["2", "3", "5", "6", "7"]


@pytest.mark.parametrize("rest", ['{"key": "k", "te', "\n\n[]\n"])
def test_a_damaged_end_is_passed_over(tmp_path, rest):
    answered(tmp_path, "one", "two", judge=Judge())
    (file,) = tmp_path.rglob("*.jsonl")
    file.write_text(file.read_text() + rest)
    again = Judge()
    assert answered(tmp_path, "one", "two", "three", judge=again) == ["re one", "re two", "re three"]
    assert again.asked == ["three"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said(tmp_path):
    kept = log(tmp_path)
    kept.answered([question("one")], Judge())
    kept._file = open("/dev/full", "w")  # noqa: SIM115
    with pytest.raises(BadInput, match="Make room"):
        kept.answered([question("two")], Judge())
    assert answered(tmp_path, "two", judge=Judge()) == ["re two"]
