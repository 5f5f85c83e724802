"""What all shapes of items share: their columns, their size, and what is left when some contents are bad."""

import numpy as np
import pytest

from compute import tasks
from compute.content import items
from compute.tasks.data import Choices, Labelled, Mixed, Retrieval, ZeroShot
from compute.types import BadInput
from tests.compute.tasks.files import lists


def rows(*places):
    return np.array(places)


def text(*contents):
    return items.texts(contents, of="test")


def without_bad(data):
    """What is left where the text `bad` cannot be used."""
    return tasks.without(data, {items.content_key("bad"), items.content_key("elsewhere")})


def mixed(*contents):
    return Mixed(names=contents, text=text(*contents), text_at=np.arange(len(contents)))


def test_bad_contents_take_every_item_that_needs_them():
    data = Choices(
        names=("0", "1", "2"),
        reference=text("r", "s", "t"),
        answer=rows(0, 1, 0),
        alternatives=(text("a", "b", "c"), text("d", "bad", "f")),
    )
    kept = without_bad(data)
    assert (kept.names, kept.answer.tolist(), tasks.size(kept)) == (("0", "2"), [0, 0], 2)
    assert [kept.alternatives[1].read(row) for row in range(2)] == ["d", "f"]


def test_a_class_cannot_lose_its_prompt():
    part = Labelled(names=("0",), items=text("a"), labels=rows(0), classes=("x",))
    with pytest.raises(BadInput, match="prompt"):
        without_bad(ZeroShot(test=part, prompts=text("bad")))


def test_a_lost_document_is_no_longer_a_right_answer_and_positions_move_up():
    data = Retrieval(
        queries=mixed("q0", "q1"),
        documents=Mixed(
            names=("d0", "d1", "d2"),
            text=text("bad", "d1"),
            text_at=rows(0, 1, -1),
            image=items.images([b"x"], of="test"),
            image_at=rows(-1, -1, 0),
        ),
        relevant=(rows(0, 0, 1), rows(0, 1, 2), rows(1, 2, 3)),
        ignored=(rows(1), rows(0)),
        candidates=(rows(0, 1), rows(1, 2)),
    )
    kept = without_bad(data)
    assert (kept.documents.names, kept.documents.text_at.tolist()) == (("d1", "d2"), [1, -1])
    assert lists((*kept.relevant, *kept.ignored, *kept.candidates)) == [[0, 1], [0, 1], [2, 3], [], [], [0, 1], [0, 1]]


def test_a_query_that_loses_its_only_right_answer_is_unjudged_not_wrong():
    """Query 0 keeps grade 0 only, query 1 had no other from the start, query 2 has a right answer elsewhere."""
    data = Retrieval(
        queries=mixed("q0", "q1", "q2"),
        documents=mixed("bad", "d1"),
        relevant=(rows(0, 0, 1, 2, 2), rows(0, 1, 1, 0, 1), rows(1, 0, 0, 1, 0)),
        missing=(rows(2), rows(1)),
    )
    kept = without_bad(data)
    assert lists((*kept.relevant, *kept.missing)) == [[1, 2], [0, 0], [0, 0], [2], [1]]
