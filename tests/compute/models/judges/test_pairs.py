"""Pairs put to a real server process that looks at the pixels: what it makes of them, how its answers end, every fault
by which an endpoint answers something other than a score, and what is sent how often.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
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
from compute.types import BadInput, BadItem, Model, Undefined
from tests.compute.models.pair_server import Running, running

CPU = Hardware(device="cpu", dtype="float32")
QUICK = Limits(concurrency=8, attempts=4, timeout=20.0)
ROW = Model(key="org/judge", title="Judge", kind="mllm", adapter="endpoint", weights="Org/Judge")
ROOT = Path(__file__).resolve().parents[4]
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 10}, "reason": {"type": "string"}},
        "required": ["score", "reason"],
        "additionalProperties": False,
    }
)


@pytest.fixture(scope="module")
def shared():
    with running() as server:
        yield server


@pytest.fixture
def server(shared, tmp_path, monkeypatch):
    shared.control(delay=0.0)
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    monkeypatch.setenv("LIKENESS_ENDPOINT", shared.url)
    monkeypatch.delenv("LIKENESS_ENDPOINT_KEY", raising=False)
    return shared


def judge(server: Running, *faults: str, **options: object) -> Endpoint:
    """The stand-in with these faults, under a name of its own: answers to one are not those of another."""
    named = {**DEFAULTS, "model": "!".join(["judge", *faults]), **options}
    return Endpoint(row=ROW, url=server.url, limits=QUICK, options=named)


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


def question(first: Picture, second: Picture, *, words: str = "Rate how alike they are.", item: str = "") -> Question:
    return Question(item=item, parts=(words, first, second, "What is your score?"), schema=SCHEMA)


def pair(number: int = 0, *, words: str = "Rate how alike they are.") -> Question:
    drawn = Drawn()
    return question(drawn.picture(number), drawn.picture(number, noise=30.0), words=words, item=str(number))


def only(replies: list[Reply]) -> Reply:
    (reply,) = replies
    return reply


def test_it_looks_at_the_pixels(server):
    """An image beside itself, beside itself with noise and beside another; in both orders alike."""
    drawn = Drawn()
    image, noisy, other = drawn.picture(1), drawn.picture(1, noise=90.0), drawn.picture(2)
    pairs = [(image, image), (image, noisy), (image, other), (noisy, image), (other, image)]
    replies = judge(server).reply([question(*sides, item=str(number)) for number, sides in enumerate(pairs)])
    same, near, far, near_back, far_back = [int(reply.text.split()[1]) for reply in replies]
    assert same == 10 and far < near < 10 and (near, far) == (near_back, far_back)
    assert all(reply.text.startswith("Score: ") and reply.finish == "stop" for reply in replies)


@pytest.mark.parametrize(
    ("fault", "text", "finish"),
    [
        ("scale", "Score: 100\nReason: in per cent.", "stop"),
        ("refusal", "I will not rate these images.", "refusal"),
        ("filter", "", "refusal"),
        ("blocked", "the prompt was filtered", "refusal"),  # by a status that otherwise is an error
        ("length", "The first image shows a small red house beside", "length"),
    ],
)
def test_how_an_answer_ended_is_recorded_and_stored(server, fault, text, finish):
    drawn = Drawn()
    same = question(drawn.picture(1), drawn.picture(1))
    reply = only(judge(server, fault).reply([same]))
    assert (reply.text, reply.finish, reply.error) == (text, finish, "")
    assert server.state()["counts"]["requests"] == 1
    stored = only(judge(server, fault).reply([same]))
    assert stored == reply and stored.seconds == reply.seconds
    assert server.state()["counts"]["requests"] == 1  # paid for, so not asked again


def test_an_image_is_not_read_for_each_of_its_questions(server):
    """Forty sources: five pairs each, both orders, two conditions, by two judges' worth of threads."""
    drawn = Drawn()
    questions = []
    for source in range(40):
        image, other = drawn.picture(source), drawn.picture((source + 7) % 40)
        sides = [drawn.picture(source, noise=noise) for noise in (5.0, 10.0, 20.0, 40.0)]
        for second in (*sides, other):
            questions += [question(image, second), question(second, image)]
    asked = judge(server)
    for condition in ("colour matters", "colour does not matter"):
        replies = asked.reply([replace(one, parts=(condition, *one.parts)) for one in questions])
        assert all(reply.text.startswith("Score: ") for reply in replies)
    state = server.state()
    assert (state["counts"]["requests"], state["counts"]["images"], state["images"] >= 200) == (800, 1600, True)
    assert drawn.reads < 800


def test_structured_output_is_off_unless_set(server):
    reply = only(judge(server).reply([pair()]))
    assert reply.text.startswith("Score: ") and "response_format" not in server.state()["last"]
    asked = judge(server, structured=True)
    reply = only(asked.reply([pair()]))
    assert set(json.loads(reply.text)) == {"score", "reason"}
    sent = server.state()["last"]["response_format"]
    assert sent["type"] == "json_schema" and sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"] == json.loads(SCHEMA)
    assert asked.settings["structured"] is True and "structured" not in judge(server).settings
    assert server.state()["counts"]["requests"] == 2  # neither answer stands for the other


def test_another_schema_is_another_question(server):
    asked = judge(server, structured=True)
    asked.reply([pair(), replace(pair(), schema='{"type": "object"}')])
    assert server.state()["counts"]["requests"] == 2
    judge(server).reply([pair(), replace(pair(), schema='{"type": "object"}')])
    assert server.state()["counts"]["requests"] == 3  # where it is not sent it makes no difference


def test_a_server_without_structured_output_is_quoted(server):
    assert "response_format" in only(judge(server, "format", structured=True).reply([pair()])).error
    assert only(judge(server, "format").reply([pair()])).text.startswith("Score: ")


def test_tokens_cost_and_seconds(server, monkeypatch):
    """The stand-in counts 100 and 10 tokens. Without both prices the cost is unknown, and not 0."""
    reply = only(load(ROW, CPU, None).reply([pair()]))
    assert (reply.input_tokens, reply.output_tokens, reply.cost) == (100, 10, None)
    assert reply.seconds > 0
    monkeypatch.setenv("LIKENESS_ENDPOINT_INPUT_PRICE", "2.5")
    assert only(load(ROW, CPU, None).reply([pair()])).cost is None
    monkeypatch.setenv("LIKENESS_ENDPOINT_OUTPUT_PRICE", "10")
    priced = load(ROW, CPU, None)
    assert only(priced.reply([pair()])).cost == pytest.approx((100 * 2.5 + 10 * 10) / 1e6)
    assert priced.settings["dollars_per_million_tokens"] == {"input": 2.5, "output": 10.0}
    row = replace(ROW, options={"prices": {"input": 0, "output": 1.0}})
    assert only(load(row, CPU, None).reply([pair()])).cost == pytest.approx(10 / 1e6)
    assert server.state()["counts"]["requests"] == 1  # prices change no answer


@pytest.mark.parametrize("price", ["free", "-1"])
def test_a_price_from_the_environment_is_checked(server, monkeypatch, price):
    monkeypatch.setenv("LIKENESS_ENDPOINT_OUTPUT_PRICE", price)
    with pytest.raises(BadInput, match="OUTPUT_PRICE"):
        load(ROW, CPU, None)


def test_an_image_that_cannot_be_read_is_named_and_the_rest_is_stored(server):
    whole = pair(1)
    broken = replace(pair(2), parts=("Rate", Picture(key=b"0" * 32, name="photo 7.png", read=lambda: b"no image")))
    with pytest.raises(BadItem, match="photo 7.png") as raised:
        replaced = judge(server)
        replaced.limits = replace(QUICK, concurrency=1)
        replaced.reply([whole, broken])
    assert raised.value.key == b"0" * 32
    assert server.state()["counts"]["requests"] == 1
    assert only(judge(server).reply([whole])).text.startswith("Score: ")
    assert server.state()["counts"]["requests"] == 1


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


@pytest.mark.parametrize("fault", ["scale", "words", "blocked", "length"])
def test_replies_without_any_score_are_an_error_that_counts_the_reasons(server, fault):
    reason = {"scale": "out of range", "length": "truncated"}.get(fault, "refused")
    with pytest.raises(Undefined, match=rf"6 replies states a score from 1 to 10 \(6 {reason}\)"):
        judging.run(Subject(judge=judge(server, fault)), rated(3, drawn=Drawn()), {})


def test_there_is_room_for_a_reason_unless_the_row_says_otherwise(server):
    """The stand-in's reason has over 60 words, a token each; what a row sets holds for every answer."""
    data = rated(3, drawn=Drawn())
    whole = judging.run(Subject(judge=judge(server, "wordy")), data, {})
    assert server.state()["last"]["max_tokens"] == whole.settings["answer_tokens"] == 256
    assert all(reply.endswith(" and") for detail in whole.items["detail"] for reply in detail["replies"])
    for limit in (16, 500):
        asked = judge(server, "wordy", max_tokens=limit)
        assert asked.settings["max_tokens"] == limit and asked.settings["max_tokens_holds"] == "of every answer"
        cut = judging.run(Subject(judge=asked), data, {})
        assert server.state()["last"]["max_tokens"] == limit
        ends = {reply.finish for reply in asked.reply(conditions.questions(data))}
        assert ends == {"length" if limit == 16 else "stop"}
        assert cut.items["forward"].tolist() == whole.items["forward"].tolist()


@pytest.mark.parametrize("limit", [0, "64"], ids=str)
def test_a_limit_that_is_none_is_refused(server, limit):
    with pytest.raises(BadInput, match="max_tokens"):
        load(replace(ROW, options={"max_tokens": limit}), CPU, None)


def test_a_pair_that_could_not_be_asked_is_left_out_whole(server):
    """Every fourth message never gets through: 3 of 12 questions, in whichever orders. The others' scores stand."""
    asked = judge(server)
    asked.limits = replace(QUICK, concurrency=1)
    server.control(lost=4)
    data = rated(6, drawn=Drawn())
    made = judging.run(Subject(judge=asked), data, {})
    assert (made.settings["asked"], made.settings["errors"], made.settings["invalid"]) == (12, 3, 0)
    assert 2 <= made.unasked <= 3 and len(made.items) == 6 - made.unasked
    assert made.items[["forward", "reverse"]].notna().all(axis=None)
    assert made.settings["input_tokens"] == 900 and "in_part" not in made.settings

    server.control()
    again = judging.run(Subject(judge=asked), data, {})
    assert server.state()["counts"]["requests"] == 3  # those alone
    assert (again.unasked, again.settings["errors"], len(again.items)) == (0, 0, 6)
    both = again.items.set_index("item").loc[made.items["item"]]
    assert both["forward"].tolist() == made.items["forward"].tolist()


def test_a_judge_that_gets_no_pair_whole_is_undefined(server):
    asked = judge(server)
    asked.limits = replace(QUICK, concurrency=1)
    server.control(lost=2)
    with pytest.raises(Undefined, match="no pair"):
        judging.run(Subject(judge=asked), rated(1, drawn=Drawn()), {})


def test_structured_answers_are_read_as_the_same_scores(server):
    plain, structured = (
        judging.run(Subject(judge=judge(server, structured=on)), rated(4, drawn=Drawn()), {}) for on in (False, True)
    )
    assert plain.items["forward"].tolist() == structured.items["forward"].tolist()
    assert plain.settings["invalid"] == structured.settings["invalid"] == 0
