"""Scores from evidence: which metrics, which subsets, and what has none."""

from __future__ import annotations

import pandas as pd
import pytest

from compute.engine import scoring
from compute.types import Task, Undefined


def task(*metrics: str, subsets: tuple[str, ...] = ("default",)) -> Task:
    return Task(key="b/t", title="t", benchmark="b", category="c", dataset="d", metrics=metrics, subsets=subsets)


def frame(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"item": range(len(values)), "accuracy": values, "map": values, "value": 1.0, "human": 1.0})


def test_every_metric_of_the_task_is_computed_on_every_subset() -> None:
    found = scoring.figures(task("accuracy", "map", subsets=("en", "de")), {"en": frame(1, 0), "de": frame(1, 1, 0, 0)})
    assert [(metric, subset, figure.value, figure.n) for metric, subset, figure in found] == [
        ("accuracy", "en", 0.5, 2), ("accuracy", "de", 0.5, 4), ("map", "en", 0.5, 2), ("map", "de", 0.5, 4)]


def test_protocols_of_one_task_are_averaged() -> None:
    """Revisited Oxford: the score is the mean of the medium and the hard protocol."""
    found = {subset: figure for _, subset, figure in scoring.figures(
        task("map"), {"medium": frame(0.8, 0.4), "hard": frame(0.2, 0.0)})}
    assert found["default"].value == pytest.approx((0.6 + 0.1) / 2) and found["default"].stderr is None
    assert set(found) == {"medium", "hard", "default"}


def test_a_headline_without_a_value_is_no_score() -> None:
    nothing = frame(float("nan"))
    with pytest.raises(Undefined):
        scoring.figures(task("accuracy", "map"), {"default": nothing})
    kept = scoring.figures(task("accuracy", "cosine_spearman"), {"default": frame(1, 0, 1)})
    assert [metric for metric, _, _ in kept] == ["accuracy"]


def test_the_share_answered_is_that_with_a_value() -> None:
    parts = {"a": frame(1, float("nan")), "b": frame(0, 1)}
    assert scoring.answered(parts, "accuracy") == 0.75 and scoring.answered(parts, "nmi") == 1
