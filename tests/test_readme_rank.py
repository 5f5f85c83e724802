"""The README's recipe that ranks any table, run as it is written on the table that it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from compute.__main__ import app

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("**Rank any table of scores.**")[2].partition("**Add a model.**")[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The README's table, and a larger one."""
    [table] = re.findall(r"```csv\n(.*?)```", SECTION, re.DOTALL)
    (tmp_path / "scores.csv").write_text(table)
    more = pd.DataFrame(np.random.default_rng(0).random((9, 8)), index=[f"model {at}" for at in range(9)])
    more.to_csv(tmp_path / "more_scores.csv", index_label="model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands(folder: Path) -> None:
    commands = re.findall(r"^python -m compute (rank .*)$", SECTION, re.MULTILINE)
    printed = []
    for line in commands:
        result = CliRunner().invoke(app, shlex.split(line, comments=True))
        assert result.exit_code == 0, result.output
        printed.append(result.stdout)
    plain, categories, _ = printed
    assert "Ranked by the mean of 5 tasks." in plain and "needs all 5 tasks; 3 have a figure: model-c" in plain
    assert "the mean of 2 category means, 5 tasks in all" in categories
    page = (folder / "board.html").read_text(encoding="utf-8")
    assert "model-b" in page and "https://" not in page


def test_the_python_calls(folder: Path, capsys: pytest.CaptureFixture) -> None:
    [code] = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "model-c" in printed and "model-a minus model-b: -10.06 over 5 tasks" in printed
    assert re.search(r"^search-en +1\.0", printed, re.MULTILINE) and "spearman" in printed
