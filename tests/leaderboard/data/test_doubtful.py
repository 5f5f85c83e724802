"""A board without doubtful scores; their marks and reasons are frozen in tests/golden."""

import json

import numpy as np
import pytest

from leaderboard.data.mean_rule import choice
from leaderboard.html.labels import SUSPECT
from leaderboard.pages.board import export
from leaderboard.pages.compare.page import shown

ROW, TASK = "quansun/eva02-clip-l-14~imported", "mieb/imagenet1k"
WITHOUT = choice("doubtful=hide")


@pytest.fixture
def table(suite_cache):
    return suite_cache.table("mieb")


def test_without_doubtful_scores_they_are_missing_and_the_rest_is_as_before(suite_cache, table):
    sound, row = suite_cache.chosen_table("mieb", WITHOUT), table.row(ROW)
    gone = table.marks & SUSPECT > 0
    assert gone.any() and np.isnan(sound.scores.values[gone]).all()
    np.testing.assert_array_equal(sound.scores.values[~gone], table.scores.values[~gone])
    before, after = suite_cache.ranked("mieb"), suite_cache.ranked("mieb", WITHOUT)
    assert before.rank[row] > 0 > after.rank[row] and "128 have a score" in after.why[row]
    view = export.BoardView(table=sound, ranked=after, rows=[ROW], columns=[TASK], suite_ranked=before)
    assert np.isnan(view.frame[TASK].item()) and "without doubtful scores" in view.frame["ranked_by"].item()
    sent = json.loads(suite_cache.ranking("mieb", WITHOUT))
    assert sent["changed"] == "without doubtful scores" and sent["families"][row]
    assert "EVA02-CLIP L/14 36 → 26 in Linear Probing" in sent["effect"] and "no rank among" in sent["effect"]
    assert "No score" in json.loads(suite_cache.ranking("vidore-v2", WITHOUT))["effect"]
    models = ["quansun/eva02-clip-l-14", "openai/clip-vit-large-patch14"]
    assert "without doubtful scores" in shown(suite_cache, models=models, suite="mieb", rule={"doubtful": "hide"})
