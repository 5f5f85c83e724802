"""One sentence a line: what is known, what is not, and why."""

from __future__ import annotations

import math

import pytest

from leaderboard.data.comparison import ComparedLine, PairedTest
from leaderboard.data.verdicts import ahead, verdict

TEST = {"name": "B", "difference": 3.205, "low": 1.2, "high": 5.215, "p": 0.0021, "tasks": 12, "about": "tasks"}
TEST |= {"only": (), "why": "", "reading": "better"}
UNKNOWN = dict.fromkeys(("low", "high", "p"), math.nan)


def line(*tests: dict, kind: str = "category", title: str = "Retrieval", parts: tuple[ComparedLine, ...] = ()):
    """A line of a first row and of those with these changes of TEST."""
    return ComparedLine(
        names=tuple("ABCDEF"[: len(tests) + 1]),
        key="x",
        group="",
        title=title,
        kind=kind,
        about="Mean of its tasks",
        higher=True,
        percent=True,
        digits=1,
        values=(),
        tests=tuple(PairedTest(**TEST | change) for change in tests),
        parts=parts,
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"p": 0.0004},
            "B is significantly better than A in Retrieval: 3.20 points higher (95% interval +1.20 to +5.22, p < 0.001"
            ", 12 shared tasks).",
        ),
        (
            {"difference": -0.4, "low": -2.0, "high": 1.2, "p": 0.61, "reading": "same", "about": "items"},
            "B is 0.40 points lower than A in Retrieval, not a significant difference (95% interval −2.00 to +1.20, "
            "p = 0.610, 12 shared tasks, on these items; other tasks were not tried).",
        ),
        (
            {"reading": "unknown", "why": "one task stands for it", "difference": -8.1} | UNKNOWN,
            "B is 8.10 points lower than A in Retrieval; whether by chance is unknown, because one task stands for it.",
        ),
        (
            {"reading": "none", "why": "no shared task", "difference": math.nan} | UNKNOWN,
            "B and A cannot be compared in Retrieval: no shared task.",
        ),
        (
            {"reading": "same", "difference": 0.0, "low": -1.0, "high": 1.0, "p": 1.0, "tasks": 1},
            "B and A are equal in Retrieval (95% interval −1.00 to +1.00, p = 1.000, 1 task).",
        ),
    ],
    ids=["better", "same", "unknown", "none", "equal"],
)
def test_two_rows(change, sentence):
    assert verdict(line(change)) == sentence


def test_several_rows_in_one_sentence():
    tests = (
        {},
        {"name": "C"},
        {"name": "D", "reading": "worse"},
        {"name": "E", "reading": "unknown", "why": "printed means stand for it", "only": ("IQA",)},
        {"name": "F", "reading": "none", "why": "no shared task"},
    )
    assert verdict(line(*tests, kind="mean", title="Your mean")) == (
        "Compared with A in your mean, B and C are significantly better; D is significantly worse; "
        "it is unknown whether E differs (E over fewer categories), because printed means stand for it; "
        "F cannot be compared (no shared task)."
    )


@pytest.mark.parametrize(
    ("readings", "sentence"),
    [
        (
            ("worse", "worse", "better", "same", "same", "none"),
            "A is ahead in R and D, B in C; the difference is not significant in 2 categories, of unknown "
            "significance in 1.",
        ),
        (("better", "better"), "B is ahead in R and D."),
        (
            ("same", "same"),
            "Neither is significantly ahead in a category; the difference is not significant in 2 categories.",
        ),
        (("same",), "Neither is significantly ahead in a task; the difference is not significant in 1 task."),
        (("better",) * 7, "B is ahead in 7 categories."),
        (
            (("better", "same"), ("worse", "unknown")),
            "Compared with A, B is ahead in R and behind in D; C is not significantly ahead or behind.",
        ),
        (("unknown", "none"), ""),  # the verdict has the reason
    ],
)
def test_who_is_ahead_where(readings, sentence):
    """A comparison by the mean, whose categories have these readings of the second row and those after it."""
    parts = []
    for title, each in zip("RDCPQZX", readings, strict=False):
        tests = [{"reading": one} for one in ([each] if isinstance(each, str) else each)]
        task = line(*tests, title=title, kind="task")
        parts.append(line(*tests, title=title, parts=(task,)))
    names = [{}, {"name": "C"}][: len(parts[0].tests)]
    assert ahead(line(*names, kind="mean", title="Mean", parts=tuple(parts))) == sentence
