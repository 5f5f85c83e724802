"""Doubts about published and imported results that their tables alone do not show, and what people decided."""

import shutil

import duckdb
import pytest

from compute import paths
from compute.database.doubts import FEWER, HARNESS, doubts
from compute.io.tables import read_csv

FAULTY = ("openai/clip-vit-base-patch32", "mieb/cub200i2iretrieval", "imported")
SHORT = ("google/siglip-large-patch16-384", "mieb/imagenet1k", "imported")
OWN = "model = '{}' AND task = '{}' AND origin = '{}'"


@pytest.fixture(scope="module")
def rows(database, tmp_path_factory):
    """Doubts of the shipped database, where one run is of a faulty version and one score of few items."""
    path = shutil.copy(database, tmp_path_factory.mktemp("doubts") / "changed.duckdb")
    with duckdb.connect(str(path)) as connection:
        version = """json_merge_patch(settings, '{"mteb_version": "2.12.0"}')"""
        connection.execute(f"UPDATE runs SET settings = {version} WHERE {OWN.format(*FAULTY)}")
        own = f"SELECT id FROM runs WHERE {OWN.format(*SHORT)}"
        connection.execute(f"UPDATE scores SET n = 5000 WHERE run IN ({own})")
        found = doubts(lambda query, values: connection.execute(query, values).df())
    return found.set_index(["model", "task", "origin"])


def test_scores_of_a_version_with_a_known_fault_and_of_fewer_items_are_doubtful(rows):
    assert rows.loc[FAULTY, "kind"] == HARNESS and "2.12.0" in rows.loc[FAULTY, "reason"]
    assert rows.loc[SHORT, "kind"] == FEWER and "5000 items" in rows.loc[SHORT, "reason"]


def test_every_decision_names_a_doubt(rows):
    decided = read_csv(paths.CATALOG / "decisions.csv")
    assert set(decided["model"]) == {model for model, _, _ in rows.index[rows["decision"] != ""]}
