"""Models that a function in a file makes: what is returned, each fault in one line, and who may run such a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compute.models.own import factories
from compute.types import BadInput
from tests import test_layers

ROOM = "compute.models.own.factories"


def written(folder: Path, text: str) -> str:
    path = folder / "my file.py"
    path.write_text(text)
    return f"{path}:make_model"


def test_the_object_and_the_keywords_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    for returned, expected in (
        ("beside.VALUE", (7, {})),
        ("7, {'higher_is_better': False}", (7, {"higher_is_better": False})),
        ("7, 8", ((7, 8), {})),
    ):
        text = written(tmp_path, f"import beside\ndef make_model():\n    return {returned}\n")
        assert factories.made(text) == expected
    assert factories.title(text) == "my file" and factories.source(text).name == "my file.py:make_model"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def make_model(:", "SyntaxError"),
        ("def make_model():\n    raise RuntimeError('out of\\nluck')", "RuntimeError.*line 2"),
        ("def make_model():\n    return 1, {'preproces': 2}", "preproces"),
    ],
)
def test_a_file_that_makes_no_model_is_said_in_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        factories.made(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def importers(module: str) -> set[str]:
    """The files that import a module, at any place."""
    last = module.rpartition(".")[2]
    return {
        test_layers.module_name(path)
        for path in test_layers.FILES
        if last in path.read_text() and module in (target for target, _ in test_layers.edges(path))
    }


def test_only_the_command_line_reaches_it() -> None:
    """Neither the app, nor an engine or a record: so no route, endpoint or visitor can name a file to run."""
    assert importers(ROOM) == {"compute.cli.models", "compute.cli.run"}
    assert importers("compute.cli.models") <= {
        f"compute.cli.{name}" for name in ("calibrate", "fetch", "project", "run")
    }
    reached = {"compute.cli.models"} | importers("compute.cli.models")
    above = {importer for module in reached for importer in importers(module)}
    assert above - reached <= {"compute.__main__"}
    assert importers("compute.__main__") <= {"likeness.__main__"}  # the installed command: it, too, is typed
    assert not importers("likeness.__main__")


def test_no_other_file_runs_a_file_that_is_named() -> None:
    """`exec_module`, `exec` and `runpy` stand nowhere else in what the app is made of."""
    runs = {"exec_module", "exec", "run_path", "run_module"}
    users = {
        test_layers.module_name(path)
        for path in test_layers.FILES
        for node in ast.walk(test_layers.tree(path))
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) in runs
    }
    assert users == {ROOM}
