"""The commands `lite` and `project`, run as a user would."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from typer.testing import CliRunner

from compute.__main__ import app
from compute.analysis.maps.suites import COLUMNS

run = CliRunner()


def test_lite_lists_the_chosen_tasks(database: Path) -> None:
    result = run.invoke(app, ["lite", "--suite", "unisim-core", "--size", "5", "--database", str(database)])
    assert result.exit_code == 0, result.output
    assert "unisim-core: 5 of 16 tasks" in result.output
    assert sum("unisim/" in line for line in result.output.splitlines()) == 5


def test_project_writes_one_map(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "maps" / "map.csv"
    result = run.invoke(
        app,
        [
            "project",
            "--suites",
            "pairbench",
            "--noun",
            "models",
            "--seed",
            "2",
            "--database",
            str(database),
            "--to",
            str(target),
        ],
    )
    assert result.exit_code == 0, result.output
    frame = pd.read_csv(target)
    assert tuple(frame.columns) == COLUMNS
    assert set(frame["kind"]) == {"models:pairbench"} and len(frame) == 23
    assert "trustworthiness" in result.output and '"seed": 2' in frame["settings"].iloc[0]
