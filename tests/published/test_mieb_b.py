"""MIEB Tables 11 and 17-21: the cells against the tables' own means and the authors' result files."""

from __future__ import annotations

import pandas as pd
import pytest

from compute.catalog import shipped
from compute.paths import PUBLISHED
from compute.tables import number, numbers, read_csv, read_table

ROWS = {
    "mieb-table-11": 36,
    "mieb-table-17": 46,
    "mieb-table-18": 20,
    "mieb-table-19": 38,
    "mieb-table-20": 38,
    "mieb-table-21": 31,
}
TASKS = {
    "mieb-table-11": 2,
    "mieb-table-17": 13,
    "mieb-table-18": 11,
    "mieb-table-19": 12,
    "mieb-table-20": 7,
    "mieb-table-21": 43,
}
MEANS = {"mieb-table-17": "mean", "mieb-table-18": "mean", "mieb-table-19": "Avg.", "mieb-table-20": "Avg."}
# Rows whose mean cannot be taken, because a cell of theirs cannot be read.
UNREADABLE = {"mieb-table-17": {"kakaobrain/align-base", "royokong/e5-v", "jinaai/jina-clip-v1"}}
IMAGE_ONLY = {
    "facebook/dinov2-small",
    "facebook/dinov2-base",
    "facebook/dinov2-large",
    "facebook/dinov2-giant",
    "nyu-visionx/moco-v3-vit-b",
    "nyu-visionx/moco-v3-vit-l",
}
CAPTIONERS = {"Salesforce/blip-image-captioning-base", "Salesforce/blip-image-captioning-large"}
ROUNDING = 0.0101  # the mean's own last digit, and the cells' (each off by half a hundredth at most)


def score_columns(table: str) -> pd.DataFrame:
    columns = read_csv(PUBLISHED / "columns.csv")
    return columns[(columns.table == table) & (columns.role == "score")]


@pytest.mark.parametrize("table", ROWS)
def test_every_table_has_its_rows_and_columns(table: str) -> None:
    frame = read_table(table)
    described = score_columns(table)
    assert len(frame) == ROWS[table]
    assert not frame.model.duplicated().any()
    assert described.task.nunique() == TASKS[table]
    assert set(described.column) == set(frame.columns) - {"model", MEANS.get(table)}
    known = {task.key: task for task in shipped().tasks}
    for row in described.to_dict("records"):
        assert row["metric"] == known[row["task"]].metrics[0]
        assert row["subset"] in (*known[row["task"]].subsets, "default")


@pytest.mark.parametrize(("table", "mean"), MEANS.items())
def test_means_are_the_means_of_their_cells(table: str, mean: str) -> None:
    frame = read_table(table)
    cells = numbers(frame, columns=list(score_columns(table).column))
    apart = (cells.mean(axis=1, skipna=False) - frame[mean].map(number)).abs()
    unreadable = set(frame.model[apart.isna()])
    assert unreadable == UNREADABLE.get(table, set())
    assert frame.model[apart > ROUNDING].tolist() == []


def test_tables_rank_the_same_models() -> None:
    whole = set(read_table("mieb-table-20").model)
    assert set(read_table("mieb-table-19").model) == whole
    assert set(read_table("mieb-table-17").model) == whole | IMAGE_ONLY | CAPTIONERS
    for table in ("mieb-table-11", "mieb-table-18", "mieb-table-21"):  # rows of these are lost
        assert set(read_table(table).model) <= whole, table
    assert whole - set(read_table("mieb-table-11").model) == {
        "Salesforce/blip-itm-base-coco",
        "laion/CLIP-ViT-B-32-DataComp.XL-s13B-b90K",
    }


def test_category_means_of_table_22_are_those_printed_here() -> None:
    overall = read_table("mieb-table-22").set_index("model")
    column = {"mieb-table-17": 6, "mieb-table-18": 7, "mieb-table-19": 8, "mieb-table-20": 2}
    for table, place in column.items():
        here = read_table(table).set_index("model")[MEANS[table]].map(number)
        there = overall.iloc[:, place - 1].map(number)
        both = pd.concat([here, there], axis=1, keys=["here", "there"]).dropna()
        assert len(both) >= 18
        assert (both.here - both.there).abs().max() <= ROUNDING, table
