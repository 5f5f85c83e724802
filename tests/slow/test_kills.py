"""Killed at any moment, the next start makes it good: whole files, the same scores, no drafts or child, a free port."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.slow import killing


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("built")
    return folder, killing.undisturbed_build(folder)


def test_a_killed_run_is_made_good(tmp_path: Path) -> None:
    expected = killing.undisturbed_run(tmp_path / "whole")
    for moment in killing.RUN_MOMENTS:
        (tmp_path / "killed").mkdir(exist_ok=True)
        kill = killing.kill_run(tmp_path / "killed", moment, expected=expected)
        assert kill.killed and not kill.problems, kill


@pytest.mark.parametrize("moment", killing.BUILD_MOMENTS, ids=lambda moment: f"{moment[0]}-{moment[1]}")
def test_a_killed_build_is_made_good(built: tuple[Path, pd.DataFrame], moment: tuple[str, int]) -> None:
    folder, expected = built
    kill = killing.kill_build(folder, moment, expected=expected)
    assert kill.killed and not kill.problems, kill


@pytest.mark.parametrize("moment", killing.APP_MOMENTS, ids=lambda moment: f"{moment[0]}-{moment[1]}")
def test_a_killed_app_is_made_good(built: tuple[Path, pd.DataFrame], moment: tuple[str, int]) -> None:
    folder, expected = built
    kill = killing.kill_app(folder, moment, expected=expected)
    assert kill.killed and not kill.problems, kill
