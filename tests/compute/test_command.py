"""A command is its function: what `as_command` makes of parameters and results, and that commands equal their calls."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
import pytest
import typer
from annotated_types import Ge
from typer.main import get_command
from typer.testing import CliRunner, Result

import compute
from compute.__main__ import COMMANDS, app
from compute.cli.command import as_command
from compute.options import taking
from compute.types import ON_COMMAND_LINE, BadInput
from tests.compute.commands import assert_refused, likeness

TABLE = """Model,retrieval a,retrieval b,retrieval c,fid a,fid b,license
clip,0.71,0.66,0.69,12.1,14.0,MIT
dino,0.52,0.55,0.49,20.5,19.0,MIT
siglip,0.78,0.74,0.77,10.0,11.5,Apache
"""
TASKS = ["retrieval a", "retrieval b", "retrieval c"]


def given(
    place: Annotated[pd.DataFrame | Path | str, "Where."],
    *,
    names: Annotated[Sequence[str], "Some names."] = (),
    words: Sequence[str] | str = "usual",
    whole: list[str] | Sequence[str] | Mapping[str, Any] = (),
    folders: tuple[Path, ...] = (),
    skip_bad: bool = False,
    build: bool = True,
    ends: tuple[float, float] | None = None,
    limits: Sequence[float] = (0.5, 0.45),
    weights: Mapping[str, float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    columns: Mapping[str, str] | None = None,
    engine: Literal["local", "ray"] = "local",
    count: Annotated[int | None, "How many.", Ge(1)] = None,
    frame: pd.DataFrame | None = None,
) -> Iterator[str]:
    """Says what it was given.

    And more. Raises nothing.
    """
    yield "given"
    yield repr({name: value for name, value in locals().items() if value != USUAL.get(name, inspect.Parameter.empty)})


USUAL = {name: one.default for name, one in inspect.signature(given).parameters.items()}


def invoke(function: Any, *words: object) -> Result:
    app = typer.Typer()
    app.command()(as_command(function))
    return CliRunner().invoke(app, [str(word) for word in words])


NOTHING = {"place": Path("here"), "words": ("usual",), "ends": (), "weights": {}, "groups": {}, "columns": {}}
WORDS = """here --names 'a, b' --names c, --words a,b --whole x=a,b --whole y=1 --folders a,b --folders c
    --skip-bad-items --no-build --ends '0, 100' --limits 1 --weight a=b=2 --weight 'c = .5' --group a=x,y --group b=z
    --columns a=x=1,b=y --columns c=z --engine else --count 1"""
VALUES = {
    "place": Path("here"),
    "names": ("a", "b", "c"),
    "words": ("a", "b"),
    "whole": ["x=a,b", "y=1"],
    "folders": [Path("a,b"), Path("c")],
    "skip_bad": True,
    "build": False,
    "ends": (0.0, 100.0),
    "limits": (1.0,),
    "weights": {"a=b": 2.0, "c": 0.5},
    "groups": {"a": ("x", "y"), "b": ("z",)},
    "columns": {"a": "x=1", "b": "y", "c": "z"},
    "engine": "else",
    "count": 1,
}


@pytest.mark.parametrize("words, values", [("here", NOTHING), (WORDS, VALUES)])
def test_options_are_the_parameters_and_a_repeated_one_adds(words, values):
    result = invoke(given, *shlex.split(words))
    assert result.exit_code == 0 and result.output == f"given\n{values}\n", result.output


@pytest.mark.parametrize(
    "words, said",
    [
        (["--limits", "much"], "--limits"),
        (["--weight", "a=1,2"], "'1,2'"),
        (["--weight", "a"], "--weight NAME=VALUE"),
        (["--weight", "=1"], "--weight NAME=VALUE"),
        (["--columns", "a="], "--columns NAME=VALUE"),
        (["--group", "a=x", "--group", "a=y"], "'a' is named twice"),
    ],
)
def test_what_is_no_value_is_refused_by_the_options_name(words, said):
    result = invoke(given, "here", *words)
    assert isinstance(result.exception, BadInput) and said in str(result.exception)
    assert invoke(given, "here", "--count", "0").exit_code == invoke(given).exit_code == 2


def test_the_list_of_commands_says_of_each_how_its_own_help_begins():
    group = get_command(app)
    for name, line in COMMANDS.items():
        begins = line.rstrip(".")
        assert " ".join(group.get_command(typer.Context(group), name).help.split()).startswith(begins), name


def test_parameters_are_taken_over_unless_a_function_has_them_itself():
    @taking(given, without=("frame", "place"))
    def other(*, names: int = 3, **rest: Any) -> int: ...

    parameters = inspect.signature(other).parameters
    assert list(parameters) == ["names", *list(USUAL)[2:-1]] and [
        parameters[name].default for name in ("names", "engine")
    ] == [3, "local"]
    assert set(other.__annotations__) == {*parameters, "return"}
    for name in ("frame", "nmaes"):
        with pytest.raises(TypeError, match=name):
            other(**{name: 1})


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    return path


SAME = [  # the words of a command, and the arguments of the call
    ("rank {} --only '{t}' --bounds 0,1", {"only": TASKS, "bounds": (0, 1)}),
    (
        "rank {} --ignore license --ignore 'fid b' --category 'R={t}' --category 'F=fid a' --weight F=0 "
        "--lower-is-better 'fid a'",
        {"ignore": ["license", "fid b"], "categories": {"R": TASKS, "F": ["fid a"]}, "weights": {"F": 0}}
        | {"lower_is_better": ["fid a"]},
    ),
    ("correlate {} --only '{t}' --minimum 3", {"only": TASKS, "minimum": 3}),
    ("compare clip dino --scores {} --only '{t}'", {"a": "clip", "b": "dino", "only": TASKS}),
]


@pytest.mark.parametrize("words, values", SAME)
def test_a_command_prints_what_the_call_gives(words, values, scores):
    name, *rest = shlex.split(words.format(scores, t=",".join(TASKS)))
    result = likeness(name, *rest)
    told = ON_COMMAND_LINE.set(True)
    expected = str(getattr(compute, name)(scores=scores, **values))
    ON_COMMAND_LINE.reset(told)
    assert result.exit_code == 0 and result.stdout == f"{expected}\n", result.output


def test_the_page_of_a_ranking(scores, tmp_path):
    page = tmp_path / "board.html"
    for words, title in (((), "scores"), (("--title", "Mine"), "Mine")):
        result = likeness("rank", scores, "--ignore", "license,fid a,fid b", "--html", page, *words)
        assert result.exit_code == 0 and result.stdout.endswith(f"Wrote {page}\n")
        assert f"<h1>{title}</h1>" in page.read_text(encoding="utf-8")


def test_faults_of_a_table_are_one_line(scores):
    for words, said in (
        (("rank", scores, "--bounds", "1"), "--bounds are"),
        (("rank", scores, "--category", "R=fid a"), "(--ignore)"),
        (("rank", scores, "--ignore", "license", "--lower-is-better", "fid a"), "--only"),
        (("compare", "clip", "dino"), "(--scores)"),
    ):
        assert_refused(likeness(*words), BadInput, said)
