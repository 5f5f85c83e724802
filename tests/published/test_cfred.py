"""What cFreD's printed tables allow to check: shape, ranks against scores, summary rows, columns."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

PUBLISHED = Path(__file__).resolve().parents[2] / "assets" / "published"
SUMMARY = ("ρ²", "Rank Acc.")
GENERATORS = {1: 10, 2: 4, 3: 9}
LOWER_IS_BETTER = {"FID": True, "FD_DINOv2": True, "CLIP": False, "CMMD": True, "cFreD": True}
TRAINED = ("Aesthetic", "ImReward", "HPS v2", "MPS")
# Pairs whose listed ranks contradict their listed scores, by table and metric: the misprint of FLUX.1[dev].
CONTRADICTED = {(3, "CMMD"): {"FLUX.1[dev]"}}
# What the summary rows hold, two digits of ρ² and the rank accuracy in percent.
DIGITS = {1: 1, 3: 2}


def table(number: int) -> dict[str, dict[str, str]]:
    with (PUBLISHED / f"cfred-table-{number}.csv").open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert len({row["model"] for row in listed}) == len(listed)
    return {row.pop("model"): row for row in listed}


def generators(number: int) -> dict[str, dict[str, str]]:
    return {model: row for model, row in table(number).items() if model not in SUMMARY}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_ranks_are_permutations(number: int):
    for column in next(iter(generators(number).values())):
        if column.endswith(" rank"):
            ranks = sorted(int(row[column]) for row in generators(number).values())
            assert ranks == list(range(1, GENERATORS[number] + 1)), column


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("metric", sorted(LOWER_IS_BETTER))
def test_statistical_metrics_rank_by_their_scores(number: int, metric: str):
    rows = generators(number)
    wrong = set()
    for first, one in rows.items():
        for second, other in rows.items():
            better = float(one[metric]) - float(other[metric])
            better = -better if LOWER_IS_BETTER[metric] else better
            if better > 0 and int(one[f"{metric} rank"]) > int(other[f"{metric} rank"]):
                wrong.add((first, second))
    listed = CONTRADICTED.get((number, metric), set())
    assert all(listed & set(pair) for pair in wrong)
    assert bool(wrong) == bool(listed)


@pytest.mark.parametrize("number", [1, 3])
def test_rank_accuracies_are_whole_numbers_of_pairs(number: int):
    count = GENERATORS[number] * (GENERATORS[number] - 1) // 2
    for metric in (*LOWER_IS_BETTER, *TRAINED):
        pairs = float(table(number)["Rank Acc."][metric]) * count / 100
        assert abs(pairs - round(pairs)) <= 0.5 * 10 ** -DIGITS[number] * count / 100 + 1e-9


def test_columns_name_every_cell_and_its_judge():
    with (PUBLISHED / "columns.csv").open(encoding="utf-8", newline="") as file:
        named = [row for row in csv.DictReader(file) if row["table"].startswith("cfred-")]
    for number, task in ((1, "cfred/hpdv2"), (2, "cfred/parti"), (3, "cfred/coco")):
        mine = [row for row in named if row["table"] == f"cfred-table-{number}"]
        assert [row["column"] for row in mine] == ["model", *next(iter(generators(number).values()))]
        assert {row["task"] for row in mine[1:]} == {task}
        judged = {row["column"] for row in mine if row["judge"]}
        assert judged == {*LOWER_IS_BETTER, *TRAINED}
        assert all(row["metric"].endswith("_rank") == row["column"].endswith(" rank") for row in mine[1:])
        assert [row["scale"] for row in mine if row["column"] == "Human rate"] == ([] if number == 3 else ["0.01"])
