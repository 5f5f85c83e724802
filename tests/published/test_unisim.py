"""UniSim-Bench's tables hold together: averages, intervals, repeated numbers, shapes, columns."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

PUBLISHED = Path(__file__).resolve().parents[2] / "assets" / "published"
CORE = {
    "Img-2AFC average": ["NIGHTS", "BAPPS", "PIEAPP (2AFC)"],
    "IT-2AFC average": ["IMAGEREWARD", "HPDV2", "AGIQA-3K (alignment)", "MAGICBRUSH", "HQ-EDIT (IT)"],
    "Text-2AFC average": ["CD-COCO", "POLARIS", "HQ-EDIT (text)"],
    "IQA average": ["KADID-10K", "KONIQ-10K", "PIEAPP (IQA)", "AGIQA-3K (quality)", "PIPAL"],
}
CORE["Avg"] = list(CORE)
OOD = {
    "PAA average": [
        "SICE (brightness)",
        "KONIQ-10K (brightness)",
        "KONIQ-10K (colorfulness)",
        "KONIQ-10K (contrast)",
        "KONIQ-10K (sharpness)",
    ],
    "OOO average": ["IMAGENET-OOO", "CIFAR-100-OOO"],
    "IR average": ["ROXFORD", "RPARIS"],
}
OOD["Avg"] = list(OOD)
TRAINED_ON_FEWER = {
    "unseen average": ["IMAGEREWARD", "AGIQA-3K (alignment)"],
    "IT-2AFC average": ["HQ-EDIT (IT)", "HPDV2", "MAGICBRUSH", "IMAGEREWARD", "AGIQA-3K (alignment)"],
}
AVERAGES = {2: CORE, 3: {"Avg": ["PAA", "OOO", "IR"]}, 4: TRAINED_ON_FEWER, 6: CORE, 8: OOD}
SAMPLES = {
    "NIGHTS": 1824,
    "PIEAPP (2AFC)": 3314,
    "IMAGEREWARD": 412,
    "MAGICBRUSH": 693,
    "HQ-EDIT (IT)": 2000,
    "CD-COCO": 780,
    "HQ-EDIT (text)": 2000,
    "PIPAL": 3025,
}
NAMES_2_6 = {"DeQA-Score": "DeQA mOwl-2"}
NAMES_3_8 = {
    "SigLIP SoViT/14": "SigLIP 400m",
    "Mantis Idefics-8B": "Mantis Idefics-8b",
    "DreamSim ViT-B/32": "DS ViT-B/32",
    "ImageReward BLIP": "IR ViT-L/14",
}
# The paper's own misprints; each is kept as printed. (table, row, column): reason
WRONG_AVERAGES = {
    (
        6,
        "LLaVA-NeXT-7B",
        "Img-2AFC average",
    ): "the NIGHTS cell repeats the 57.1 of the row above; Table 2 has 91.3",
    (6, "LIQE ViT-B/32", "Img-2AFC average"): "PIEAPP reads 76.1; Table 2 has 76.6, which the average needs",
    (6, "LIQE ViT-B/32", "IQA average"): "reads 78.2; the cells give 88.2, as Table 2 has it",
    (6, "LIQE ViT-B/32", "Avg"): "rests on an IQA average of 88.2, not on the 78.2 of the row",
    (6, "DeQA mOwl-2", "IQA average"): "KADID-10K reads 93.0; Table 2 has 93.9, which the average needs",
    (6, "UniSim LL-N-0.5B", "IQA average"): "AGIQA-3K reads 80.0; Table 2 has 80.6, which the average needs",
    (
        6,
        "UniSim v1 LL-N-7B",
        "Img-2AFC average",
    ): "reads 82.3; the cells, which fit their intervals, give 82.1",
}
WRONG_INTERVALS = {
    ("SigLIP SoViT/14", "NIGHTS"): "1.8 for 1.73",
    ("Mantis Idefics-8B", "HQ-EDIT (text)"): "1.8 for 1.65",
    ("InternVL2.5-8B", "PIPAL"): "1.5 for 1.64",
    ("InternVL2.5-38B", "PIEAPP (2AFC)"): "1.5 for 1.41",
    ("LIQE ViT-B/32", "PIEAPP (2AFC)"): "1.4 fits the 76.6 of Table 2, not the 76.1 printed here",
    ("UniSim v1 LL-N-7B", "HPDV2"): "1.1 for 1.24; the row's average confirms the 72.6",
}
LOST_INTERVALS = {("Qwen2-VL-7B", "IMAGEREWARD"), ("IR BLIP", "AGIQA-3K (alignment)")}
DIFFERS_2_6 = {
    ("LLaVA-NeXT-7B", "NIGHTS"): ("91.3", "57.1"),
    ("LIQE ViT-B/32", "PIEAPP (2AFC)"): ("76.6", "76.1"),
    ("LIQE ViT-B/32", "CD-COCO"): ("63.5", "63.3"),
    ("LIQE ViT-B/32", "IQA average"): ("88.2", "78.2"),
    ("DeQA-Score", "KADID-10K"): ("93.9", "93.0"),
    ("UniSim LL-N-0.5B", "AGIQA-3K (alignment)"): ("66.7", "66.1"),
    ("UniSim LL-N-0.5B", "AGIQA-3K (quality)"): ("80.6", "80.0"),
}
DIFFERS_3_8 = {
    ("SigLIP SoViT/14", "PAA"): ("68.3", "68.6"),
    ("SigLIP SoViT/14", "OOO"): ("67.1", "69.8"),
    ("SigLIP SoViT/14", "Avg"): ("62.8", "63.7"),
    ("DreamSim ViT-B/32", "Avg"): ("56.6", "56.7"),
    ("DS Ensemble", "OOO"): ("65.0", "67.0"),
    ("DS Ensemble", "IR"): ("43.1", "42.2"),
}


def table(number: int) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / f"unisim-table-{number}.csv", dtype=str, keep_default_na=False)


def half_width(percent: float, n: int) -> float:
    return 196 * math.sqrt(percent / 100 * (1 - percent / 100) / n)


@pytest.mark.parametrize("number", AVERAGES)
def test_averages_follow_from_their_cells(number: int) -> None:
    wrong = set()
    for _, row in table(number).iterrows():
        for column, members in AVERAGES[number].items():
            if row[column] == "-":
                assert "-" in list(row[members]), (row["model"], column)
                continue
            mean = sum(float(row[member]) for member in members) / len(members)
            # Half a digit for the average itself and at most half a digit for its rounded cells.
            if abs(mean - float(row[column])) > 0.1 + 1e-9:
                wrong.add((number, row["model"], column))
    assert wrong == {key for key in WRONG_AVERAGES if key[0] == number}


def test_intervals_follow_from_accuracy_and_samples() -> None:
    frame, wrong, lost, seen = table(6), set(), set(), 0
    for column in (name for members in list(CORE.values())[:-1] for name in members):
        n = SAMPLES.get(column, 5000)
        for model, value, printed in zip(frame["model"], frame[column], frame[f"{column} ±"], strict=True):
            if value == "-":
                assert printed == "-", (model, column)
            elif not printed:
                lost.add((model, column))
            else:
                seen += 1
                digit = 10.0 ** -len(printed.partition(".")[2])
                rounding = abs(half_width(float(value) - 0.05, n) - half_width(float(value) + 0.05, n)) / 2
                if abs(half_width(float(value), n) - float(printed)) > digit / 2 + rounding + 1e-9:
                    wrong.add((model, column))
    assert wrong == set(WRONG_INTERVALS)
    assert lost == LOST_INTERVALS
    assert seen == 363


@pytest.mark.parametrize(
    ("first", "second", "names", "columns", "differs"),
    [
        (2, 6, NAMES_2_6, {name: name for name in table(2).columns[2:]}, DIFFERS_2_6),
        (
            3,
            8,
            NAMES_3_8,
            {"PAA": "PAA average", "OOO": "OOO average", "IR": "IR average", "Avg": "Avg"},
            DIFFERS_3_8,
        ),
    ],
    ids=["2-6", "3-8"],
)
def test_repeated_numbers(
    first: int,
    second: int,
    names: dict[str, str],
    columns: dict[str, str],
    differs: dict[tuple[str, str], tuple],
) -> None:
    ours, theirs = table(first).set_index("model"), table(second).set_index("model")
    found = {}
    for model, row in ours.iterrows():
        other = theirs.loc[names.get(model, model)]
        assert other["group"] == row["group"]
        for column, twin in columns.items():
            pair = (row[column], other[twin])
            if pair[0] != pair[1] and ("-" in pair or float(pair[0]) != float(pair[1])):
                found[model, column] = pair
    assert found == differs
