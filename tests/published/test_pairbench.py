"""What PairBench's printed tables allow to check: shape, names, ranges, and Table 1 against Tables 3 to 7."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

PUBLISHED = Path(__file__).resolve().parents[2] / "assets" / "published"
ROWS = {1: 10, 2: 8, 3: 23, 4: 23, 5: 23, 6: 23, 7: 23}
WIDTHS = {1: 4, 2: 4, 3: 10, 4: 10, 5: 12, 6: 12, 7: 4}
DASHES = {("InternVL2-1B", "WU-II-B SP-CJ"), ("InternVL2-1B", "WU-II-B SP-ET")}
# Printed means that do not follow from the printed splits, even within their rounding.
OFF_MEANS = {"Gemini-1.5-Flash": 56.529, "Gemini-1.5-Pro": 52.631}
OFF_CONTROLLABILITY = {"Gemini-1.5-Flash": 74.602}


def rows(number: int) -> dict[str, dict[str, str]]:
    with (PUBLISHED / f"pairbench-table-{number}.csv").open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert len({row["model"] for row in listed}) == len(listed)
    return {row.pop("model"): row for row in listed}


def cells(number: int) -> dict[tuple[str, str], float]:
    return {
        (model, column): float(text)
        for model, row in rows(number).items()
        for column, text in row.items()
        if text != "-"
    }


def pairs(model: str) -> list[tuple[float, float]]:
    """(sensitive, invariant) of the 24 splits of one model, in percent."""
    image = [(rows(a)[model], rows(b)[model]) for a, b in ((3, 4), (5, 6))]
    found = [(float(a[column]), float(b[column])) for a, b in image for column in a]
    text = {column: float(value) for column, value in rows(7)[model].items()}
    return found + [(text[f"WU-IT-{part} Sens."], text[f"WU-IT-{part} Invar."]) for part in "AB"]


def test_shapes():
    for number, count in ROWS.items():
        table = rows(number)
        assert len(table) == count
        assert {len(row) for row in table.values()} == {WIDTHS[number]}


def test_the_same_models_in_the_tables_of_splits():
    expected = list(rows(3))
    for number in (4, 5, 6, 7):
        assert list(rows(number)) == expected
    assert set(rows(1)) < set(expected)


def test_conditions_share_their_columns():
    assert list(rows(3)["Qwen2-VL-7B"]) == list(rows(4)["Qwen2-VL-7B"])
    assert list(rows(5)["Qwen2-VL-7B"]) == list(rows(6)["Qwen2-VL-7B"])


def test_names_carry_no_zero_for_an_o():
    for number in ROWS:
        assert not [name for name in rows(number) if "GPT-40" in name or name.endswith("7B-0")]


def test_only_the_known_cells_are_dashes_and_none_is_lost():
    blank = {(m, c) for number in ROWS for m, row in rows(number).items() for c, text in row.items() if text == "-"}
    assert blank == DASHES
    assert not [1 for number in ROWS for row in rows(number).values() for text in row.values() if not text.strip()]


@pytest.mark.parametrize("number", [3, 4, 5, 6, 7])
def test_mmscores_are_percentages_with_two_decimals(number: int):
    for (model, column), value in cells(number).items():
        assert 0 <= value <= 100
        assert len(rows(number)[model][column].split(".")[1]) == 2


def test_table_1_ranges():
    for row in rows(1).values():
        assert all(0 <= float(row[column]) <= 100 for column in ("MMScore", "1-RS", "Cont"))
        assert 0 <= float(row["SM"]) <= np.log(10)  # entropy of ten scores, in nats


def test_table_2_is_whole_percentages():
    for row in rows(2).values():
        assert all(0 <= int(text.removesuffix("%")) <= 100 and text.endswith("%") for text in row.values())


@pytest.mark.parametrize("model", sorted(rows(1)))
def test_mmscore_of_table_1_is_the_plain_mean(model: str):
    mean = float(np.mean(pairs(model)))
    if model in OFF_MEANS:
        assert mean == pytest.approx(OFF_MEANS[model], abs=1e-3)
        assert abs(mean - float(rows(1)[model]["MMScore"])) > 0.01
        return
    assert abs(mean - float(rows(1)[model]["MMScore"])) <= 0.01  # half a unit printed, half a unit of the inputs


@pytest.mark.parametrize("model", sorted(rows(1)))
def test_controllability_of_table_1_is_one_minus_the_formula(model: str):
    value = 100 * float(np.mean([1 - abs(a - b) / np.sqrt(a * b) for a, b in pairs(model)]))
    if model in OFF_CONTROLLABILITY:
        assert value == pytest.approx(OFF_CONTROLLABILITY[model], abs=1e-3)
        return
    assert abs(value - float(rows(1)[model]["Cont"])) <= 0.02


def test_columns_name_every_cell_once():
    with (PUBLISHED / "columns.csv").open(encoding="utf-8", newline="") as file:
        named = [row for row in csv.DictReader(file) if row["table"].startswith("pairbench-")]
    for number in ROWS:
        header = ["model", *next(iter(rows(number).values()))]
        assert [row["column"] for row in named if row["table"] == f"pairbench-table-{number}"] == header
    scores = [row for row in named if row["role"] == "score" and row["task"] != "pairbench/aggregate"]
    targets = [(row["task"], row["subset"]) for row in scores]
    assert len(targets) == len(set(targets)) == 48
    assert {row["metric"] for row in scores} == {"mmscore"} and {row["scale"] for row in scores} == {"0.01"}
    assert len({task for task, _ in targets}) == 24
