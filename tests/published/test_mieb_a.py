"""MIEB Tables 2-5, 9, 10, 12-16 and 22: row counts, averages, and the numbers that two tables share."""

from __future__ import annotations

import pandas as pd
import pytest

from compute.claims.mieb import half, long_names
from compute.tables import DASH, numbers, read_table

ROWS = {2: 40, 3: 6, 4: 2, 5: 2, 9: 46, 10: 40, 12: 46, 13: 46, 14: 44, 15: 38, 16: 46, 22: 38}
CELLS = {9: 5, 10: 6, 12: 7, 13: 10, 14: 9, 15: 10, 16: 9}
# Averages more than half a printed unit from the mean of the printed cells: the cells are rounded as well.
ROUNDED = {
    9: {"facebook/dinov2-base", "google/siglip-base-patch16-256", "jinaai/jina-clip-v1"},
    12: {"Salesforce/blip-itm-large-flickr"},
    13: {"EVA02-CLIP-bigE-14-plus"},
    15: {"google/siglip-base-patch16-512", "voyage-multimodal-3"},
    16: {
        "EVA02-CLIP-bigE-14-plus",
        "EVA02-CLIP-L-14",
        "Salesforce/blip-itm-large-coco",
        "nyu-visionx/moco-v3-vit-l",
    },
}
SHARED = {  # Table 22's column -> the table whose last column it repeats
    "Clus. (5)": 9,
    "Vis. STS (en) (7)": 12,
    "Doc. (10)": 15,
    "Vision Centric (6)": 10,
}
SHORTENED = {  # Table 2's column -> the column of Table 22 that it rounds
    "Clus.": "Clus. (5)",
    "Cmp.": "Compo. (7)",
    "VC.": "Vision Centric (6)",
    "Doc.": "Doc. (10)",
    "vSTS (en)": "Vis. STS (en) (7)",
    "Rtrv. (m)": "Multiling. Retrieval (3 (55))",
    "vSTS (x&m)": "Vis. STS (cross&multi) (2 (19))",
}


def table(number: int) -> pd.DataFrame:
    """Numeric columns of a table, indexed by model."""
    frame = read_table(f"mieb-table-{number}")
    columns = [name for name in frame.columns if name not in ("model", "group", "Model Type")]
    return numbers(frame, columns=columns).set_index(frame["model"])


@pytest.mark.parametrize(("number", "rows"), ROWS.items())
def test_rows_are_complete_and_distinct(number: int, rows: int):
    frame = read_table(f"mieb-table-{number}")
    assert len(frame) == rows
    keys = frame[["model", "group"]] if "group" in frame else frame[["model"]]
    assert not keys.duplicated().any()
    assert not frame.isin(["", DASH]).any().any()


@pytest.mark.parametrize(("number", "cells"), CELLS.items())
def test_averages_follow_from_the_cells(number: int, cells: int):
    frame = table(number)
    assert frame.shape[1] == cells + 1
    gap = (frame.iloc[:, :-1].mean(axis=1) - frame.iloc[:, -1]).abs()
    assert set(gap.index[gap > 0.005 + 1e-6]) == ROUNDED.get(number, set())
    assert (gap <= 0.01 + 1e-6).all()


@pytest.mark.parametrize(("column", "number"), SHARED.items())
def test_table_22_repeats_the_averages(column: str, number: int):
    overall = table(22)[column]
    source = table(number).iloc[:, -1]
    assert overall.index.isin(source.index).all()
    assert (overall == source[overall.index]).all()


def test_table_22_averages_the_two_multilingual_tables():
    overall = table(22)["Vis. STS (cross&multi) (2 (19))"]
    pair = (table(13)["mean"] + table(14)["mean"])[overall.index] / 2
    assert ((overall - pair).abs() <= 0.01 + 1e-6).all()


def test_means_of_table_22():
    frame = table(22)
    assert frame.shape == (38, 14)
    for column, members in (("Mean (Eng.) (125)", 10), ("Mean (Multiling.) (130)", 12)):
        assert ((frame.iloc[:, :members].mean(axis=1) - frame[column]).abs() <= 0.01 + 1e-6).all()


@pytest.mark.parametrize("group", ["MIEB Full", "MIEB-lite"])
def test_means_of_table_2(group: str):
    frame = half(group)
    assert len(frame) == 20
    values = numbers(frame, columns=list(frame.columns[2:]))
    for column, members in (("Mean (en)", 8), ("Mean (m)", 10)):
        assert ((values.iloc[:, :members].mean(axis=1) - values[column]).abs() <= 0.1 + 1e-6).all()
    assert values["Mean (m)"].is_monotonic_decreasing


@pytest.mark.parametrize(("short", "long"), SHORTENED.items())
def test_table_2_rounds_table_22(short: str, long: str):
    frame = half("MIEB Full")
    values = numbers(frame, columns=[short])[short]
    source = table(22)[long][[long_names()[model] for model in frame.index]]
    assert (abs(values.to_numpy() - source.to_numpy()) <= 0.05 + 1e-6).all()
