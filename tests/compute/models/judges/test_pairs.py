"""Pairs put to a real server that looks at the pixels: what is sent and how often, and what answers cost."""

from dataclasses import replace

import pytest

from compute.models.judges.endpoint import load
from compute.procedures.shared import conditions
from compute.types import BadItem
from tests.compute.content.pictures import picture
from tests.compute.models.judges.asked import CPU, QUICK, ROW, drawn, judge, pair, rated

ALONE = replace(QUICK, concurrency=1)
PAIR = pair(drawn(1), drawn(1, noise=30.0))


def only(judge, question=PAIR):
    (reply,) = judge.reply([question])
    return reply


def test_an_image_is_not_read_for_each_of_its_questions(server):
    reads, shown = [], picture(drawn(1))
    shown = replace(shown, read=lambda data=shown.data: reads.append(shown.key) or data)
    asked = [replace(PAIR, parts=(f"Rate {number}", shown, shown)) for number in range(8)]
    assert len(judge(server, limits=ALONE).reply(asked)) == server.requests() == 8 and len(reads) < 8


def test_tokens_and_seconds(server):
    """The stand-in counts 100 and 10 tokens, and states no cost: it is unknown, and not 0."""
    reply = only(load(ROW, CPU, None))
    assert (reply.input_tokens, reply.output_tokens, reply.cost) == (100, 10, None) and reply.seconds > 0


def test_prices_of_the_environment_make_the_cost_and_change_no_answer(server, monkeypatch):
    """The stand-in counts 100 and 10 tokens. Without both prices the cost is unknown, and not 0."""
    monkeypatch.setenv("LIKENESS_ENDPOINT_INPUT_PRICE", "2.5")
    assert only(load(ROW, CPU, None)).cost is None
    monkeypatch.setenv("LIKENESS_ENDPOINT_OUTPUT_PRICE", "10")
    assert only(load(ROW, CPU, None)).cost == pytest.approx((100 * 2.5 + 10 * 10) / 1e6)
    assert server.requests() == 1


def test_an_image_that_cannot_be_read_is_named_and_the_rest_is_stored(server):
    damaged = replace(picture(b"no image"), name="photo 7.png")
    with pytest.raises(BadItem, match=r"photo 7.png") as raised:
        judge(server, limits=ALONE).reply([PAIR, replace(PAIR, parts=("Rate", damaged))])
    assert raised.value.key == damaged.key
    assert only(judge(server)).text.startswith("Score: ") and server.requests() == 1


@pytest.mark.parametrize("options, limit", [({}, 256), ({"max_tokens": 16}, 16)])
def test_there_is_room_for_a_reason_unless_the_row_says_otherwise(server, options, limit):
    """What a row sets holds for every answer."""
    asked = judge(server, **options)
    asked.reply(conditions.questions(rated(2)))
    assert server.last["max_tokens"] == limit and asked.settings["max_tokens"] == options.get("max_tokens", 32)
