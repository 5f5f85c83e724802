"""What is said of a line: who is significantly ahead of the first row, and where."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from leaderboard.data.comparison import ComparedLine
from tests.compute.analysis.test_comparison import FOUND


def line(*tests, kind="category", title="Retrieval", parts=()):
    """A line of a first row, A, and of those with these changes of FOUND."""
    return ComparedLine(
        names=tuple("ABCDEF"[: len(tests) + 1]),
        column=SimpleNamespace(title=title, unit="%", digits=1),
        kind=kind,
        about="Mean of its tasks",
        values=(),
        tests=tuple(replace(FOUND, **change) for change in tests),
        parts=parts,
    )


def test_several_rows_in_one_sentence():
    tests = (
        {},
        {"a": "C"},
        {"a": "D", "decided": "worse"},
        {"a": "E", "decided": "unknown", "reason": "printed means stand for it", "only": ("IQA",)},
        {"a": "F", "difference": float("nan"), "reason": "no shared task"},
    )
    assert line(*tests, kind="mean", title="Your mean").sentence() == (
        "Compared with A in your mean, B and C are significantly better; D is significantly worse; "
        "the difference is of unknown significance for E (E over fewer categories), because printed means stand for "
        "it; "
        "F cannot be compared (no shared task)."
    )


@pytest.mark.parametrize(
    "readings, sentence",
    [
        (
            ("worse", "worse", "better", "same", "unknown"),
            "Compared with A, B is ahead in C and behind in R and D; the difference is not significant in 1 category; "
            "the difference is of unknown significance in 1 category.",
        ),
        (("better", "same"), "Compared with A, B is ahead in R; the difference is not significant in 1 category."),
        (("same", "same"), "Compared with A, the difference is not significant in 2 categories."),
        (("better",) * 7, "Compared with A, B is ahead in 7 categories."),
        (
            (("better", "same"), ("worse", "unknown")),
            "Compared with A, B is ahead in R and behind in D; C is not significantly ahead or behind.",
        ),
        (("unknown", "unknown"), ""),  # the sentence has the reason
    ],
)
def test_who_is_ahead_where(readings, sentence):
    """A comparison by the mean, whose categories have these readings of the second row and those after it."""
    parts = []
    for title, each in zip("RDCPQZX", readings, strict=False):
        tests = [{"decided": one} for one in ([each] if isinstance(each, str) else each)]
        task = line(*tests, title=title, kind="task")
        parts.append(line(*tests, title=title, parts=(task,)))
    names = [{}, {"a": "C"}][: len(parts[0].tests)]
    assert line(*names, kind="mean", title="Mean", parts=tuple(parts)).ahead() == sentence
