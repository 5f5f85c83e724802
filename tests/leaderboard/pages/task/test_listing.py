"""The table of all scores on one task: best first, with their marks and links."""

from __future__ import annotations

import pytest

from compute.types import UnknownKey
from leaderboard.pages.task.routes import task_scores
from tests.leaderboard.served import rows_of


def test_scores_come_best_first_and_suspect_ones_are_marked_alone(suite_cache):
    shown = [
        row["value"]
        for row in rows_of(task_scores(suite_cache.db, task="unisim/nights"))
        if "not the one" not in row["source"]
    ]
    assert shown == sorted(shown, reverse=True)
    rows = rows_of(task_scores(suite_cache.db, task="cfred/coco"))
    suspect = {(row["link"], row["metric"]) for row in rows if "? suspect" in row["marks"]}
    assert ("stabilityai/stable-diffusion-3-medium", "MPS") in suspect
    assert ("stabilityai/stable-diffusion-3-medium", "FID") not in suspect


def test_an_unknown_task(suite_cache):
    with pytest.raises(UnknownKey, match="Did you mean 'unisim/nights'"):
        task_scores(suite_cache.db, task="unisim/night")
