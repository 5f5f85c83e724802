"""One sentence a line: what is known, what is not, and why."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from leaderboard.data.comparison import ComparedLine, ComparedValue, PairedTest
from leaderboard.data.verdicts import ahead, verdict

NAN = math.nan
TEST = PairedTest(
    name="B",
    difference=3.205,
    low=1.2,
    high=5.215,
    p=0.0021,
    tasks=12,
    about="tasks",
    only=(),
    why="",
    reading="better",
)
NO_INTERVAL = {"low": NAN, "high": NAN, "p": NAN}


def line(*tests: PairedTest, **more: object) -> ComparedLine:
    value = ComparedValue(value=50.0, low=NAN, high=NAN, few=False, marks=0)
    facts = {
        "names": tuple("ABCDEF"[: len(tests) + 1]),
        "key": "x",
        "group": "",
        "title": "Retrieval",
        "kind": "category",
        "about": "Mean of its tasks",
        "higher": True,
        "percent": True,
        "digits": 1,
        "values": (value,) * (len(tests) + 1),
        "tests": tests,
    }
    return ComparedLine(**facts | more)


@pytest.mark.parametrize(
    ("change", "words", "certainty"),
    [
        (
            {"p": 0.0004},
            "B is significantly better than A in Retrieval: 3.20 points higher",
            "95% interval +1.20 to +5.22, p < 0.001, 12 shared tasks",
        ),
        (
            {"difference": -0.4, "low": -2.0, "high": 1.2, "p": 0.61, "reading": "same", "about": "items"},
            "B is 0.40 points lower than A in Retrieval, not a significant difference",
            "95% interval −2.00 to +1.20, p = 0.610, 12 shared tasks, on these items; other tasks were not tried",
        ),
        (
            {"reading": "unknown", "why": "one task stands for it", "difference": -8.1, **NO_INTERVAL},
            "B is 8.10 points lower than A in Retrieval; whether by chance is unknown, because one task stands for it",
            "",
        ),
        (
            {"reading": "none", "why": "no shared task", "difference": NAN, **NO_INTERVAL},
            "B and A cannot be compared in Retrieval: no shared task",
            "",
        ),
        (
            {"reading": "same", "difference": 0.0, "low": -1.0, "high": 1.0, "p": 1.0, "tasks": 1},
            "B and A are equal in Retrieval",
            "95% interval −1.00 to +1.00, p = 1.000, 1 task",
        ),
    ],
    ids=["better", "same", "unknown", "none", "equal"],
)
def test_two_rows(change, words, certainty):
    expected = f"{words} ({certainty})." if certainty else f"{words}."
    assert verdict(line(replace(TEST, **change))) == expected


def test_several_rows_in_one_sentence():
    tests = [
        TEST,
        replace(TEST, name="C"),
        replace(TEST, name="D", reading="worse"),
        replace(TEST, name="E", reading="unknown", why="printed means stand for it", only=("IQA",)),
        replace(TEST, name="F", reading="none", why="no shared task"),
    ]
    found = verdict(line(*tests, kind="mean", title="Your mean"))
    assert found == (
        "Compared with A in your mean, B and C are significantly better; D is significantly worse; "
        "it is unknown whether E differs (E over fewer categories), because printed means stand for it; "
        "F cannot be compared (no shared task)."
    )


def rows(**readings: tuple[str, ...]) -> ComparedLine:
    """A comparison by the mean, whose categories have these readings of the second row and those after it."""
    parts = []
    for title, each in readings.items():
        task = line(*(replace(TEST, reading=reading) for reading in each), title=title, kind="task")
        parts.append(replace(task, kind="category", parts=(task,)))
    return line(*[TEST] * len(each), kind="mean", title="Mean", parts=tuple(parts))


@pytest.mark.parametrize(
    ("readings", "sentence"),
    [
        (
            {"R": ("worse",), "D": ("worse",), "C": ("better",), "P": ("same",), "Q": ("same",), "Z": ("none",)},
            "A is ahead in R and D, B in C; the difference is not significant in 2 categories, of unknown "
            "significance in 1.",
        ),
        ({"R": ("better",), "D": ("better",)}, "B is ahead in R and D."),
        (
            {"R": ("same",), "D": ("same",)},
            "Neither is significantly ahead in a category; the difference is not significant in 2 categories.",
        ),
        ({"R": ("same",)}, "Neither is significantly ahead in a task; the difference is not significant in 1 task."),
        (dict.fromkeys("RDCPQZX", ("better",)), "B is ahead in 7 categories."),
    ],
    ids=["both", "one", "neither", "tasks", "many"],
)
def test_who_is_ahead_of_two(readings, sentence):
    assert ahead(rows(**readings)) == sentence


def test_who_is_ahead_of_several():
    found = rows(R=("better", "same"), D=("worse", "unknown"))
    assert ahead(found) == ("Compared with A, B is ahead in R and behind in D; C is not significantly ahead or behind.")
    assert ahead(line(TEST, kind="task")) == ""
    assert ahead(rows(R=("unknown",), D=("none",))) == "", "the verdict has the reason"
