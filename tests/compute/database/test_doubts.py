"""Doubts about published and imported results that their tables alone do not show, and what people decided."""

import shutil

import duckdb
import pytest

from compute import paths
from compute.database.doubts import FEWER, HARNESS, RIGHT, doubts
from compute.io.tables import read_csv


@pytest.fixture
def changed(database, tmp_path):
    """Doubts of the shipped database after one statement."""

    def ask(sql):
        path = shutil.copy(database, tmp_path / "changed.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(sql)
            rows = doubts(lambda query, values: connection.execute(query, values).df())
        return rows.set_index(["model", "task", "origin"])

    return ask


def test_scores_of_a_version_with_a_known_fault_and_decisions(changed):
    cell = ("openai/clip-vit-base-patch32", "mieb/cub200i2iretrieval", "imported")
    rows = changed(
        'UPDATE runs SET settings = json_merge_patch(settings, \'{"mteb_version": "2.12.0"}\') '
        f"WHERE model = '{cell[0]}' AND task = '{cell[1]}' AND origin = 'imported'"
    )
    assert rows.loc[cell, "kind"] == HARNESS and "2.12.0" in rows.loc[cell, "reason"]
    odd = rows.loc[("lco-embedding/lco-embedding-omni-3b", "mieb/cub200i2iretrieval", "imported")]
    assert odd["decision"] == RIGHT and "results#589" in odd["decided"]


def test_a_score_of_fewer_items_than_the_others_is_doubtful(changed):
    cell = ("google/siglip-large-patch16-384", "mieb/imagenet1k", "imported")
    own = f"SELECT id FROM runs WHERE model = '{cell[0]}' AND task = '{cell[1]}' AND origin = 'imported'"
    rows = changed(f"UPDATE scores SET n = 5000 WHERE run IN ({own})")
    assert rows.loc[cell, "kind"] == FEWER and "5000 items" in rows.loc[cell, "reason"]


def test_of_suites_with_the_same_task_the_largest_judges(changed):
    rows = changed("SELECT 1")
    assert set(rows[rows["kind"] == "one class"]["suite"]) == {"mieb"}
    assert ("salesforce/blip2-opt-2.7b", "mieb/oxfordpets", "imported") not in rows.index
    decided = read_csv(paths.CATALOG / "decisions.csv")
    assert set(decided["model"]) == {model for model, _, _ in rows.index[rows["decision"] != ""]}, "none names nothing"
