"""What an item shows, from details in the form that each procedure keeps (compute/procedures)."""

from __future__ import annotations

import pytest

from leaderboard.pages.task.item_parts import answered, choices, drawn

A, B, C, D = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
ALL = frozenset({A, B, C, D})


def brief(parts: list[dict]) -> list[tuple]:
    return [(part["role"], part["label"], part["image"][:1] or part["text"], part["right"]) for part in parts]


@pytest.mark.parametrize(
    ("detail", "category", "reference", "options"),
    [
        ({"images": [A, B, C], "texts": [], "scores": [0.1, 0.2]}, "Img-2AFC", (A, ""), 2),
        ({"images": [A, B], "texts": [], "scores": [0.1, 0.2]}, "IQA", None, 2),
        ({"images": [A, B], "texts": ["prompt"], "scores": [0.1, 0.2]}, "IT-2AFC", ("", "prompt"), 2),
        ({"images": [A], "texts": ["one", "two"], "scores": [0.1, 0.2]}, "Text-2AFC", (A, ""), 2),
        ({"images": [A, B, C], "texts": [], "reply": "A"}, "Img-2AFC", (A, ""), 2),
        ({"images": [A, B, C], "texts": [], "reply": "A"}, "IQA", None, 3),
    ],
    ids=range(6),
)
def test_reference_and_alternatives_are_told_apart(detail, category, reference, options):
    found, others = choices(detail, category=category)
    assert found == reference and len(others) == options


@pytest.mark.parametrize(
    ("images", "captions", "right"),
    [
        ([A], ["yes", "no"], [None, True, False]),
        ([A, B], ["yes"], [True, False, None]),
        ([A, B], ["one", "two"], [None, None, None, None]),
    ],
)
def test_of_several_beside_one_the_first_is_right(images, captions, right):
    parts = drawn("matching", {"images": images, "texts": captions}, expected="", category="", pictured=ALL)
    assert [part["right"] for part in parts] == right


def test_a_query_comes_before_its_candidates_and_hits_before_nothing():
    detail = {
        "images": ["", A, B],
        "texts": ["what", "", ""],
        "hits": ["x", "y"],
        "scores": [0.5, None],
        "relevant": [False, True],
    }
    parts = drawn("multiple_choice", detail, expected="y", category="", pictured=ALL)
    assert brief(parts) == [("Query", "", "what", None), ("Candidate", "1", "a", False), ("Candidate", "2", "b", True)]
    assert brief(drawn("retrieval", detail, expected="y", category="", pictured=ALL)) == [("Query", "", "what", None)]
    hits = answered("retrieval", detail, answer="x", category="", pictured=ALL)["hits"]
    assert [(hit["role"], hit["name"], hit["score"], hit["right"]) for hit in hits] == [
        ("Hit", "x", "0.500", False),
        ("Hit", "y", "—", True),
    ]


@pytest.mark.parametrize(
    ("procedure", "detail", "answer", "scores", "picked"),
    [
        ("choice", {"scores": [0.25, -1.5]}, "A", [("A", "0.250"), ("B", "−1.500")], ["A"]),
        ("odd_one_out", {"scores": [1, 1, 0]}, "A/B", [("A", "1.000"), ("B", "1.000"), ("C", "0.000")], ["A", "B"]),
        (
            "zero_shot",
            {"hits": ["cat", "dog"], "scores": [0.3, 0.2]},
            "cat",
            [("cat", "0.300"), ("dog", "0.200")],
            None,
        ),
        (
            "matching",
            {"images": [A, B], "texts": ["s", "t"], "scores": [1, 2, 3, 4]},
            "caption 1, 1",
            [(f"image {i} with caption {j}", f"{2 * i + j - 2}.000") for i in (1, 2) for j in (1, 2)],
            [],
        ),
    ],
)
def test_scores_stand_beside_what_they_are_of(procedure, detail, answer, scores, picked):
    said = answered(procedure, detail, answer=answer, category="", pictured=ALL)
    assert said["scores"] == scores and (picked is None or said["picked"] == picked)


def test_a_rated_pair_shows_both_sides_and_both_replies():
    detail = {
        "images": ["one", "two"],
        "texts": [],
        "replies": ["Score: 8\nReason: alike", "No."],
        "problems": ["", "missing"],
    }
    parts = drawn("judging", detail, expected="8", category="COCO", pictured={"one"})
    assert [(part["role"], part["image"], part["missing"]) for part in parts] == [
        ("First", "one", False),
        ("Second", "", True),
    ]
    out = answered("judging", detail, answer="8 | no score", category="COCO", pictured=set())
    assert out["replies"] == [("In this order", "Score: 8\nReason: alike", ""), ("The two swapped", "No.", "missing")]
    assert out["scores"] == []
