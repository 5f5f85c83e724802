"""Pairs put to a real server: how its answers end, what is no score, what is sent how often, and what it costs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from compute.content.items import Column, content_key
from compute.content.messages import Picture, Question, Reply
from compute.models.adapter import Hardware
from compute.models.judges.endpoint import DEFAULTS, Endpoint, Limits, load
from compute.procedures import judging
from compute.procedures.shared import conditions
from compute.tasks.data import RatedPairs
from compute.types import BadItem, Model, Undefined
from tests.compute.models.chat_server import ChatServer, running

CPU = Hardware(device="cpu", dtype="float32")
ROW = Model(key="org/judge", title="Judge", kind="mllm", adapter="endpoint", weights="Org/Judge")
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 10}, "reason": {"type": "string"}},
        "required": ["score", "reason"],
        "additionalProperties": False,
    }
)


@pytest.fixture(scope="module")
def shared() -> Iterator[ChatServer]:
    with running() as server:
        yield server


@pytest.fixture
def server(shared: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    shared.control()
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    monkeypatch.setenv("LIKENESS_ENDPOINT", shared.url)
    monkeypatch.delenv("LIKENESS_ENDPOINT_KEY", raising=False)
    return shared


def judge(server: ChatServer, *, concurrency: int = 8, **options: object) -> Endpoint:
    limits = Limits(concurrency=concurrency, attempts=4, timeout=20.0)
    return Endpoint(row=ROW, url=server.url, limits=limits, options={**DEFAULTS, **options})


def said(text: str | None, *, finish: str = "stop", **message: str) -> dict:
    """The fault that a reply has these words."""
    return {"body": {"choices": [{"message": {"content": text, **message}, "finish_reason": finish}]}}


class Drawn:
    """Images by number, encoded when they are read; `reads` counts."""

    def __init__(self) -> None:
        self.reads = 0

    def picture(self, number: int, *, noise: float = 0.0) -> Picture:
        draw = np.random.default_rng(number)
        coarse = Image.fromarray(draw.integers(0, 255, (4, 4, 3), dtype=np.uint8)).resize((48, 40))
        pixels = np.asarray(coarse, dtype=float) + noise * draw.standard_normal((40, 48, 3))

        def read() -> bytes:
            self.reads += 1
            stream = io.BytesIO()
            Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(stream, "PNG")
            return stream.getvalue()

        return Picture(key=content_key(f"{number} {noise}"), name=f"drawn {number}", read=read)


def question(first: Picture, second: Picture, *, item: str = "") -> Question:
    return Question(item=item, parts=("Rate how alike they are.", first, second, "What is your score?"), schema=SCHEMA)


def pair(number: int = 0) -> Question:
    drawn = Drawn()
    return question(drawn.picture(number), drawn.picture(number, noise=30.0), item=str(number))


def only(replies: list[Reply]) -> Reply:
    (reply,) = replies
    return reply


@pytest.mark.parametrize(
    ("fault", "text", "finish"),
    [
        (said("Score: 100\nReason: in per cent."), "Score: 100\nReason: in per cent.", "stop"),
        (said(None, refusal="I will not rate these images."), "I will not rate these images.", "refusal"),
        (said(None, finish="content_filter"), "", "refusal"),
        # by a status that otherwise is an error
        ({"status": 400, "message": {"message": "filtered", "code": "content_filter"}}, "filtered", "refusal"),
        (said("A small red house", finish="length"), "A small red house", "length"),
    ],
    ids=["scale", "refusal", "filter", "blocked", "length"],
)
def test_how_an_answer_ended_is_recorded_and_stored(server: ChatServer, fault: dict, text: str, finish: str) -> None:
    server.control(faults=[fault])
    reply = only(judge(server).reply([pair()]))
    assert (reply.text, reply.finish, reply.error) == (text, finish, "")
    stored = only(judge(server).reply([pair()]))
    assert stored == reply and stored.seconds == reply.seconds
    assert server.requests() == 1  # paid for, so not asked again


def test_each_image_is_read_and_encoded_once(server: ChatServer) -> None:
    """Ten sources: three pairs each, both orders, two conditions."""
    drawn = Drawn()
    questions = []
    for source in range(10):
        image, other = drawn.picture(source), drawn.picture((source + 7) % 10)
        for second in (drawn.picture(source, noise=5), drawn.picture(source, noise=10), other):
            questions += [question(image, second), question(second, image)]
    asked = judge(server)
    for condition in ("colour matters", "colour does not matter"):
        replies = asked.reply([replace(one, parts=(condition, *one.parts)) for one in questions])
        assert all(reply.text.startswith("Score: ") for reply in replies)
    assert (server.requests(), asked.images.made, drawn.reads) == (120, 30, 30)


def test_structured_output_is_off_unless_set(server: ChatServer) -> None:
    plain, other = pair(), replace(pair(), schema='{"type": "object"}')
    replies = judge(server).reply([plain, other])
    assert replies[0].text.startswith("Score: ") and "response_format" not in server.last
    assert server.requests() == 1  # where it is not sent a schema makes no difference
    asked = judge(server, structured=True)
    asked.reply([plain])
    sent = server.last["response_format"]
    assert (sent["type"], sent["json_schema"]["strict"]) == ("json_schema", True)
    assert sent["json_schema"]["schema"] == json.loads(SCHEMA)
    assert asked.settings["structured"] is True and "structured" not in judge(server).settings
    asked.reply([plain, other])
    assert server.requests() == 3  # no answer stands for another
    server.control(refuse=["response_format"])
    assert "response_format" in only(asked.reply([pair(1)])).error


def test_tokens_cost_and_seconds(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without both prices the cost is unknown, and not 0."""
    reply = only(load(ROW, CPU, None).reply([pair()]))
    assert (reply.input_tokens, reply.output_tokens, reply.cost) == (40, 8, None)
    assert reply.seconds > 0
    monkeypatch.setenv("LIKENESS_ENDPOINT_INPUT_PRICE", "2.5")
    assert only(load(ROW, CPU, None).reply([pair()])).cost is None
    monkeypatch.setenv("LIKENESS_ENDPOINT_OUTPUT_PRICE", "10")
    priced = load(ROW, CPU, None)
    assert only(priced.reply([pair()])).cost == pytest.approx((40 * 2.5 + 8 * 10) / 1e6)
    assert priced.settings["dollars_per_million_tokens"] == {"input": 2.5, "output": 10.0}
    row = replace(ROW, options={"prices": {"input": 0, "output": 1.0}})
    assert only(load(row, CPU, None).reply([pair()])).cost == pytest.approx(8 / 1e6)
    assert server.requests() == 1  # prices change no answer


def test_an_image_that_cannot_be_read_is_named_and_the_rest_is_stored(server: ChatServer) -> None:
    whole = pair(1)
    broken = replace(pair(2), parts=("Rate", Picture(key=b"0" * 32, name="photo 7.png", read=lambda: b"no image")))
    with pytest.raises(BadItem, match="photo 7.png"):
        judge(server, concurrency=1).reply([whole, broken])
    assert only(judge(server).reply([whole])).text.startswith("Score: ")
    assert server.requests() == 1


# ---- as a run asks them


@dataclass(kw_only=True)
class Subject:
    """The judge as a procedure asks it."""

    judge: Endpoint
    row: Model = replace(ROW, abilities=("choose",))

    def can(self, ability: str) -> bool:
        return ability in self.row.abilities

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        return self.judge.reply(questions)


def rated(count: int, *, drawn: Drawn, condition: str = "sensitive") -> RatedPairs:
    """Pairs of a drawn image and itself with noise."""
    first = [drawn.picture(number) for number in range(count)]
    second = [drawn.picture(number, noise=40.0) for number in range(count)]
    return RatedPairs(
        names=tuple(f"{number}/transformed" for number in range(count)),
        first=column(first),
        second=column(second),
        expected=np.full(count, 8),
        types=np.full(count, "transformed"),
        sources=np.arange(count).astype(str),
        templates=np.arange(count) % 5,
        condition=condition,
        transformations=("rotate",),
    )


def column(pictures: list[Picture]) -> Column:
    return Column(
        modality="image",
        keys=np.array([picture.key for picture in pictures], dtype="S32"),
        read=lambda row: pictures[row].data,
        name=lambda row: pictures[row].name,
    )


@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        ({}, {}),
        (said("Score: 100"), {"invalid": 6}),
        (said("I am sorry, but I cannot rate these images."), {"refused": 6}),
        (said("A small red house", finish="length"), {"truncated": 6}),
    ],
    ids=["none", "scale", "words", "length"],
)
def test_what_is_no_score_is_counted_by_its_reason(server: ChatServer, fault: dict, counted: dict[str, int]) -> None:
    server.control(faults=[fault] * 6)
    made = judging.run(Subject(judge=judge(server)), rated(3, drawn=Drawn()), {})
    for name in ("invalid", "refused", "truncated", "errors"):
        assert made.settings[name] == counted.get(name, 0), name
    assert made.settings["asked"] == 6
    scores = np.array([made.items["forward"], made.items["reverse"]])
    assert np.isnan(scores).all() if fault else (scores[0] == scores[1]).all()  # the stand-in is symmetric


def test_there_is_room_for_a_reason_unless_the_row_says_otherwise(server: ChatServer) -> None:
    """The stand-in's reason has over 60 words, a token each; what a row sets holds for every answer."""
    server.control(faults=[{"more": " and" * 60}] * 50)
    data = rated(3, drawn=Drawn())
    whole = judging.run(Subject(judge=judge(server)), data, {})
    assert server.last["max_tokens"] == whole.settings["answer_tokens"] == 256
    assert all(reply.endswith(" and") for detail in whole.items["detail"] for reply in detail["replies"])
    for limit in (16, 500):
        asked = judge(server, max_tokens=limit)
        assert asked.settings["max_tokens"] == limit and asked.settings["max_tokens_holds"] == "of every answer"
        cut = judging.run(Subject(judge=asked), data, {})
        assert server.last["max_tokens"] == limit
        ends = {reply.finish for reply in asked.reply(conditions.questions(data))}
        assert ends == {"length" if limit == 16 else "stop"}
        assert cut.items["forward"].tolist() == whole.items["forward"].tolist()


def test_a_pair_that_could_not_be_asked_is_left_out_whole(server: ChatServer) -> None:
    """Every fourth question gets no answer: 3 of 12, in whichever orders. The others' scores stand."""
    asked = judge(server, concurrency=1)
    server.control(faults=[{}, {}, {}, {"status": 400}] * 3)
    data = rated(6, drawn=Drawn())
    made = judging.run(Subject(judge=asked), data, {})
    assert (made.settings["asked"], made.settings["errors"], made.settings["invalid"]) == (12, 3, 0)
    assert 2 <= made.unasked <= 3 and len(made.items) == 6 - made.unasked
    assert made.items[["forward", "reverse"]].notna().all(axis=None)
    assert made.settings["input_tokens"] == 9 * 40
    assert "in_part" not in made.settings

    server.control()
    again = judging.run(Subject(judge=asked), data, {})
    assert server.requests() == 3  # those alone
    assert (again.unasked, again.settings["errors"], len(again.items)) == (0, 0, 6)
    both = again.items.set_index("item").loc[made.items["item"]]
    assert both["forward"].tolist() == made.items["forward"].tolist()

    server.control(faults=[{}, {"status": 400}])
    with pytest.raises(Undefined, match="no pair"):
        judging.run(Subject(judge=asked), rated(1, drawn=Drawn(), condition="invariant"), {})


def test_structured_answers_are_read_as_the_same_scores(server: ChatServer) -> None:
    plain, structured = (
        judging.run(Subject(judge=judge(server, structured=on)), rated(4, drawn=Drawn()), {}) for on in (False, True)
    )
    assert plain.items["forward"].tolist() == structured.items["forward"].tolist()
    assert plain.settings["invalid"] == structured.settings["invalid"] == 0
