"""The Python interface says what it takes and gives: annotations and a docstring on all that is public."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import compute
import leaderboard
from compute.analysis.comparison import Comparison
from compute.analysis.ranked_model import RankedModel
from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from compute.engine.generators.table import GeneratorTable
from compute.interface.comparability import Comparability
from compute.interface.evaluated import Evaluation
from compute.interface.metric import TensorMetric
from leaderboard.serving import ServedBoard

CLASSES = (
    Comparability,
    Comparison,
    Evaluation,
    GeneratorTable,
    RankedModel,
    Ranking,
    ScoreTable,
    ServedBoard,
    TensorMetric,
)


def functions() -> Iterator[tuple[str, Any]]:
    for package in (compute, leaderboard):
        for name in package.__all__:
            if inspect.isfunction(function := getattr(package, name)):
                yield f"{package.__name__}.{name}", function
    for made in CLASSES:
        for name, member in vars(made).items():
            function = getattr(member, "fget", None) or getattr(member, "func", None) or member
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"{made.__name__}.{name}", function


@pytest.mark.parametrize(("name", "function"), list(functions()), ids=[name for name, _ in functions()])
def test_a_public_function_is_annotated_and_described(name, function):
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    assert set(function.__annotations__) == {*parameters, "return"}, name
    assert inspect.getdoc(function), name
    kinds = [inspect.signature(function).parameters[parameter].kind for parameter in parameters]
    assert inspect.Parameter.VAR_KEYWORD not in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds, name
