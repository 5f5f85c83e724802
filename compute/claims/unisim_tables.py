"""UniSim-Bench's tables: every average, interval and repeated number, held against its cells."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from compute.catalog.published import numbers, read_table
from compute.claims.verdict import judge, shown, stated
from compute.types import Claim

PAPER = "UniSim-Bench"
statement = partial(stated, PAPER)
CORE = {
    "Img-2AFC average": ("NIGHTS", "BAPPS", "PIEAPP (2AFC)"),
    "IT-2AFC average": ("IMAGEREWARD", "HPDV2", "AGIQA-3K (alignment)", "MAGICBRUSH", "HQ-EDIT (IT)"),
    "Text-2AFC average": ("CD-COCO", "POLARIS", "HQ-EDIT (text)"),
    "IQA average": ("KADID-10K", "KONIQ-10K", "PIEAPP (IQA)", "AGIQA-3K (quality)", "PIPAL"),
}
OOD = {
    "PAA average": (
        "SICE (brightness)",
        "KONIQ-10K (brightness)",
        "KONIQ-10K (colorfulness)",
        "KONIQ-10K (contrast)",
        "KONIQ-10K (sharpness)",
    ),
    "OOO average": ("IMAGENET-OOO", "CIFAR-100-OOO"),
    "IR average": ("ROXFORD", "RPARIS"),
}
ABLATION = {
    "unseen average": ("IMAGEREWARD", "AGIQA-3K (alignment)"),
    "IT-2AFC average": ("HQ-EDIT (IT)", "HPDV2", "MAGICBRUSH", "IMAGEREWARD", "AGIQA-3K (alignment)"),
}
AVERAGES = {
    "2": {**CORE, "Avg": tuple(CORE)},
    "3": {"Avg": ("PAA", "OOO", "IR")},
    "4": ABLATION,
    "6": {**CORE, "Avg": tuple(CORE)},
    "8": {**OOD, "Avg": tuple(OOD)},
}
# Test samples of Table 1, its 5K and 2K read as 5000 and 2000: the intervals of Table 6 bear that out.
SAMPLES = {
    "NIGHTS": 1824,
    "BAPPS": 5000,
    "PIEAPP (2AFC)": 3314,
    "IMAGEREWARD": 412,
    "HPDV2": 5000,
    "AGIQA-3K (alignment)": 5000,
    "MAGICBRUSH": 693,
    "HQ-EDIT (IT)": 2000,
    "CD-COCO": 780,
    "POLARIS": 5000,
    "HQ-EDIT (text)": 2000,
    "KADID-10K": 5000,
    "KONIQ-10K": 5000,
    "PIEAPP (IQA)": 5000,
    "AGIQA-3K (quality)": 5000,
    "PIPAL": 3025,
    "SICE (brightness)": 2151,
    "KONIQ-10K (brightness)": 5000,
    "KONIQ-10K (colorfulness)": 5000,
    "KONIQ-10K (contrast)": 5000,
    "KONIQ-10K (sharpness)": 5000,
    "IMAGENET-OOO": 5000,
    "CIFAR-100-OOO": 5000,
    "ROXFORD": 70,
    "RPARIS": 70,
}
# Core data sets that UniSim is not trained on (section 3.3).
LEFT_OUT = ("BAPPS", "IMAGEREWARD", "AGIQA-3K (alignment)", "CD-COCO", "KONIQ-10K", "AGIQA-3K (quality)")
HALF_DIGIT = 0.05  # all cells but a few intervals are printed to one decimal
# Rows that two tables name differently.
NAMES_2_6 = {"DeQA-Score": "DeQA mOwl-2"}
NAMES_3_8 = {
    "SigLIP SoViT/14": "SigLIP 400m",
    "Mantis Idefics-8B": "Mantis Idefics-8b",
    "DreamSim ViT-B/32": "DS ViT-B/32",
    "ImageReward BLIP": "IR ViT-L/14",
}
NOTES = {
    (
        "6",
        "LLaVA-NeXT-7B",
        "Img-2AFC average",
    ): "The NIGHTS cell repeats the row above; Table 2 prints 91.3 there.",
    ("6", "LIQE ViT-B/32", "Img-2AFC average"): "Table 2 prints 76.6, not 76.1, for PIEAPP.",
    ("6", "LIQE ViT-B/32", "IQA average"): "Table 2 prints 88.2.",
    ("6", "LIQE ViT-B/32", "Avg"): "Follows from the 88.2 that Table 2 prints as IQA average, not from 78.2.",
    ("6", "DeQA mOwl-2", "IQA average"): "Table 2 prints 93.9, not 93.0, for KADID-10K.",
    ("6", "UniSim LL-N-0.5B", "IQA average"): "Table 2 prints 80.6, not 80.0, for AGIQA-3K.",
    (
        "6",
        "UniSim v1 LL-N-7B",
        "Img-2AFC average",
    ): "No other table prints this row; its three intervals fit its cells.",
    ("6", "LIQE ViT-B/32", "PIEAPP (2AFC) ±"): "Fits the 76.6 that Table 2 prints, not 76.1.",
    ("6", "UniSim v1 LL-N-7B", "HPDV2 ±"): "The average of the row fits the printed 72.6.",
}
LOST = "The printed interval could not be recovered from the text the table was taken from."


def claims() -> list[Claim]:
    """One claim a printed average, interval or number printed twice."""
    return [
        *(claim for table, rule in AVERAGES.items() for claim in average_claims(table, rule)),
        *interval_claims(),
        *disagreements(),
    ]


def average_claims(table: str, rule: dict[str, tuple[str, ...]]) -> list[Claim]:
    """Each printed average against the mean of its cells, which their own rounding moves by 0.05 at most."""
    frame = read_table(f"unisim-table-{table}")
    values = numbers(frame, columns=sorted({name for members in rule.values() for name in members} | set(rule)))
    found = []
    for row, cells in frame.iterrows():
        label = f"{cells['model']} ({cells['IT-2AFC train set']})" if table == "4" else cells["model"]
        for column, members in rule.items():
            printed = cells[column]
            if printed in ("", "-"):
                continue
            mean = values.loc[row, list(members)].mean(skipna=False)
            kind = "task averages" if column == "Avg" else "cells"
            found.append(
                Claim(
                    paper=PAPER,
                    claim=f"{label}, {column}",
                    where=f"Table {table}",
                    printed=printed,
                    recomputed=shown(mean, like=printed),
                    verdict=judge(printed, mean, slack=HALF_DIGIT),
                    note=NOTES.get((table, cells["model"], column), ""),
                    formula=f"mean of the {len(members)} {kind} of the row",
                )
            )
    return found


def half_width(percent: float, *, n: int) -> float:
    """Half-width of the normal 95% interval of a proportion, in percentage points (caption of Table 6)."""
    share = percent / 100
    return 196 * math.sqrt(share * (1 - share) / n)


def interval_claims() -> list[Claim]:
    """Each printed 95% interval of Table 6 against that of its cell, with the samples of Table 1."""
    frame = read_table("unisim-table-6")
    found = []
    for column in (name for members in CORE.values() for name in members):
        values, n = numbers(frame, columns=[column])[column], SAMPLES[column]
        for row, value in values.items():
            printed = frame.loc[row, f"{column} ±"]
            if math.isnan(value) or printed == "-":
                continue
            width = half_width(value, n=n)
            slack = max(abs(half_width(value + step, n=n) - width) for step in (-HALF_DIGIT, HALF_DIGIT))
            found.append(
                Claim(
                    paper=PAPER,
                    claim=f"{frame.loc[row, 'model']}, {column}, 95% interval",
                    where="Table 6",
                    printed=printed,
                    recomputed=shown(width, like=printed or "0.0"),
                    verdict=judge(printed, width, slack=slack) if printed else "cannot be recomputed",
                    note=NOTES.get(("6", frame.loc[row, "model"], f"{column} ±"), "") if printed else LOST,
                    formula=f"196 * sqrt(p (1 - p) / n), p = {value / 100:.3f}, n = {n}",
                )
            )
    return found


def disagreements() -> list[Claim]:
    """Numbers that the paper prints twice and differently, and how many it repeats faithfully."""
    core = [*(name for members in CORE.values() for name in members), *CORE, "Avg"]
    averages = {"PAA": "PAA average", "OOO": "OOO average", "IR": "IR average", "Avg": "Avg"}
    return [
        *_compare("2", "6", names=NAMES_2_6, columns={name: name for name in core}, rule=AVERAGES["6"]),
        *_compare("3", "8", names=NAMES_3_8, columns=averages, rule=AVERAGES["8"]),
    ]


def _compare(
    first: str,
    second: str,
    *,
    names: dict[str, str],
    columns: dict[str, str],
    rule: dict[str, tuple[str, ...]],
) -> list[Claim]:
    short, long = (read_table(f"unisim-table-{table}").set_index("model") for table in (first, second))
    found, same, pairs = [], 0, 0
    for model, row in short.iterrows():
        other = long.loc[names.get(model, model)]
        for column, theirs in columns.items():
            a, b = row[column], other[theirs]
            if a == "-" and b == "-":
                continue
            pairs += 1
            if float(a) == float(b):
                same += 1
                continue
            found.append(
                Claim(
                    paper=PAPER,
                    claim=f"{model}, {column}: the same number in two tables",
                    where=f"Tables {first} and {second}",
                    printed=f"{a} (Table {first}), {b} (Table {second})",
                    recomputed=_support(row, other, column=column, theirs=theirs, rule=rule, tables=(first, second)),
                    verdict="conflict",
                    formula="the two printed cells, and the printed average that rests on them",
                )
            )
    return [
        Claim(
            paper=PAPER,
            claim=f"Table {second} gives the numbers of Table {first} in full",
            where=f"Table {second}, caption",
            printed="same numbers",
            recomputed=f"{same} of {pairs} numbers agree",
            verdict="reproduces" if same == pairs else "conflict",
            formula="cells printed in both tables, compared",
            note="Each number that differs is a claim of its own.",
        ),
        *found,
    ]


def _support(
    row: pd.Series,
    other: pd.Series,
    *,
    column: str,
    theirs: str,
    rule: dict[str, tuple[str, ...]],
    tables: tuple[str, str],
) -> str:
    """Which of two numbers the table's own averages fit, in words."""

    def mean(cells: pd.Series, members: tuple[str, ...]) -> float:
        return sum(float(cells[name]) for name in members) / len(members)

    if theirs in rule:
        return f"{mean(other, rule[theirs]):.2f} from the cells of Table {tables[1]}"
    average = next(name for name, members in rule.items() if theirs in members)
    a, b = mean(row, rule[average]), mean(other, rule[average])
    return f"{average} {a:.2f} with Table {tables[0]}, {b:.2f} with Table {tables[1]}; printed {other[average]}"
