"""What an item shows, from details in the form that each procedure keeps (compute/procedures)."""

import pytest

from leaderboard.pages.task.item_parts import answered, choices, drawn

FOUND = {
    "images": ["", "a", "b"],
    "texts": ["what", "", ""],
    "hits": ["x", "y"],
    "scores": [0.5, None],
    "relevant": [False, True],
}
PAIR = {"images": ["one"], "texts": ["two"], "replies": ["Score: 8\nalike", "No."], "problems": ["", "missing"]}
FOUR = {"images": ["a", "b"], "texts": ["s", "t"], "scores": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    "images, texts, more, category, reference",
    [
        ("ab", (), {"scores": [0.1, 0.2]}, "IQA", None),
        ("ab", ["prompt"], {"scores": [0.1, 0.2]}, "IT-2AFC", ("", "prompt")),
        ("a", ["one", "two"], {"scores": [0.1, 0.2]}, "Text-2AFC", ("a", "")),
        ("abc", (), {"reply": "A"}, "Img-2AFC", ("a", "")),
        ("abc", (), {"reply": "A"}, "IQA", None),
    ],
)
def test_reference_and_alternatives_are_told_apart(images, texts, more, category, reference):
    found, others = choices({"images": list(images), "texts": list(texts)} | more, category=category)
    assert found == reference and len(others) == len(images) + len(texts) - (reference is not None)


@pytest.mark.parametrize(
    "procedure, detail, shown",
    [
        (
            "matching",
            {"images": ["a"], "texts": ["s", "t"]},
            ["Image  a None", "Caption 1 s True", "Caption 2 t False"],
        ),
        ("matching", {"images": ["a", "b"], "texts": ["s"]}, ["Image 1 a True", "Image 2 b False", "Caption  s None"]),
        ("matching", FOUR, [f"{one} None" for one in ("Image 1 a", "Image 2 b", "Caption 1 s", "Caption 2 t")]),
        ("multiple_choice", FOUND, ["Query  what None", "Candidate 1 a False", "Candidate 2 b True"]),
        ("retrieval", FOUND, ["Query  what None"]),
        ("odd_one_out", {"images": ["a", "b"]}, ["Image A a False", "Image B b True"]),
        ("judging", PAIR, ["First  one None", "Second  two None"]),
    ],
)
def test_the_question_in_reading_order(procedure, detail, shown):
    parts = drawn(procedure, detail, expected="B", category="")
    assert [f"{one['role']} {one['label']} {one['image'] or one['text']} {one['right']}" for one in parts] == shown


@pytest.mark.parametrize(
    "procedure, detail, answer, said",
    [
        ("choice", {"scores": [0.25, -1.5]}, "A", {"scores": [("A", "0.250"), ("B", "−1.500")], "picked": ["A"]}),
        ("odd_one_out", {"scores": [1, None]}, "A/B", {"scores": [("A", "1.000"), ("B", "—")], "picked": ["A", "B"]}),
        ("zero_shot", {"hits": ["cat"], "scores": [0.3]}, "cat", {"scores": [("cat", "0.300")]}),
        ("multiple_choice", {"scores": [1, 1]}, "", {"scores": [("1", "1.000"), ("2", "1.000")], "picked": ["1", "2"]}),
        (
            "matching",
            FOUR,
            "caption 1, 1",
            {
                "scores": [(f"image {i} with caption {j}", f"{2 * i + j - 2}.000") for i in (1, 2) for j in (1, 2)],
                "picked": [],
            },
        ),
        (
            "judging",
            PAIR,
            "8 | no score",
            {
                "replies": [("In this order", "Score: 8\nalike", ""), ("The two swapped", "No.", "missing")],
                "scores": [],
            },
        ),
    ],
)
def test_what_a_model_answered(procedure, detail, answer, said):
    assert answered(procedure, detail, answer=answer) == said


def test_hits_have_their_scores_and_marks_where_there_are_some():
    hits = answered("retrieval", FOUND | {"hits": ["x", "y", "z"]}, answer="x")["hits"]
    assert [(hit["name"], hit["image"], hit["score"], hit["right"]) for hit in hits] == [
        ("x", "a", "0.500", False),
        ("y", "b", "—", True),
        ("z", "", "", None),
    ]
