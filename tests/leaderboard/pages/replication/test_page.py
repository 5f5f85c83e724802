"""What pages say of several laboratories' scores: the comparison is with the score that is shown."""

import numpy as np
import pytest

from compute.analysis.replication import SAME_RUNS
from leaderboard.data import replication
from leaderboard.pages.replication.page import laboratories, one


@pytest.fixture(scope="module")
def db(suite_cache):
    return suite_cache.db


@pytest.mark.parametrize("suite", ["datacomp", "mieb", "clip-retrieval", "mmeb"])
def test_a_value_less_its_difference_is_the_score_that_the_board_shows(suite_cache, db, suite):
    table, seen = suite_cache.table(suite), 0
    step = -(-len(table.columns) // 8)  # of every ninth row some eight columns, others each time
    for at in range(0, len(table.rows), 9):
        for index in range(at % step, len(table.columns), step):
            column = table.columns[index]
            shown = table.scores.values[at, index] * column.scale
            cell = {"model": table.rows[at].model, "origin": table.rows[at].origin}
            for other in replication.others(db, **cell, task=column.task, metric=column.metric):
                if not other.subsets:
                    assert other.value - other.difference == pytest.approx(shown) and other.who != cell["origin"]
                    seen += 1
    assert seen > 20


def test_data_with_languages_alone_have_their_mean(db):
    rows = replication.agreement(db).set_index(["a", "b", "data", "subset"])
    whole = rows.loc[("imported", "imported:open_clip", "xm3600-t2i", "default")]
    assert whole["models"] == 23 and np.isfinite(whole["tau"])
    assert len(one(db, "google/siglip-base-patch16-224", "xm3600-t2i")["values"]) == 2


def test_prints_of_the_same_runs_are_not_a_replication(db):
    rows = replication.agreement(db)
    of_paper = rows[(rows["a"] == "published") & (rows["b"] == "imported")]
    assert set(of_paper["verdict"]) == {SAME_RUNS} and not any(
        {"published", "imported"} == {*unlike.origins} for unlike in replication.failing(db).values()
    )
    assert ("Public results and open_clip", "imported,imported:open_clip") in laboratories(db)
