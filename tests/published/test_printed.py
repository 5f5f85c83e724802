"""What the printed tables allow to check of our transcription: averages from their cells, ranks from their scores.

That no figure changes unseen is for the digest of every table (tests/compute/catalog/test_data_version.py).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from compute.catalog.published import number, numbers, published_table

CORE = {
    "Img-2AFC average": ["NIGHTS", "BAPPS", "PIEAPP (2AFC)"],
    "IT-2AFC average": ["IMAGEREWARD", "HPDV2", "AGIQA-3K (alignment)", "MAGICBRUSH", "HQ-EDIT (IT)"],
    "Text-2AFC average": ["CD-COCO", "POLARIS", "HQ-EDIT (text)"],
    "IQA average": ["KADID-10K", "KONIQ-10K", "PIEAPP (IQA)", "AGIQA-3K (quality)", "PIPAL"],
}
OOD = {
    "PAA average": [
        "SICE (brightness)",
        *(f"KONIQ-10K ({attribute})" for attribute in ("brightness", "colorfulness", "contrast", "sharpness")),
    ],
    "OOO average": ["IMAGENET-OOO", "CIFAR-100-OOO"],
    "IR average": ["ROXFORD", "RPARIS"],
}
UNISIM = {
    2: {**CORE, "Avg": list(CORE)},
    3: {"Avg": ["PAA", "OOO", "IR"]},
    4: {"unseen average": ["IMAGEREWARD", "AGIQA-3K (alignment)"], "IT-2AFC average": CORE["IT-2AFC average"]},
    6: {**CORE, "Avg": list(CORE)},
    8: {**OOD, "Avg": list(OOD)},
}
# The paper's own misprints, kept as printed: Table 2 has the cells or averages that these need.
MISPRINTS = {
    (6, "LLaVA-NeXT-7B", "Img-2AFC average"),
    (6, "LIQE ViT-B/32", "Img-2AFC average"),
    (6, "LIQE ViT-B/32", "IQA average"),
    (6, "LIQE ViT-B/32", "Avg"),
    (6, "DeQA mOwl-2", "IQA average"),
    (6, "UniSim LL-N-0.5B", "IQA average"),
    (6, "UniSim v1 LL-N-7B", "Img-2AFC average"),
}


def test_unisims_averages_follow_from_their_cells() -> None:
    wrong = set()
    for table, averages in UNISIM.items():
        for row in published_table(f"unisim-table-{table}").to_dict("records"):
            for column, members in averages.items():
                if row[column] == "-":
                    assert "-" in [row[member] for member in members], (row["model"], column)
                # Half a digit for the average itself and at most half a digit for its rounded cells.
                elif abs(np.mean([float(row[member]) for member in members]) - float(row[column])) > 0.1 + 1e-9:
                    wrong.add((table, row["model"], column))
    assert wrong == MISPRINTS


MIEB_MEANS = (9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20)  # the last column of these is the mean of the others
UNREADABLE = {"kakaobrain/align-base", "royokong/e5-v", "jinaai/jina-clip-v1"}  # a cell of theirs, in Table 17
# Columns of Table 22, and the tables whose means they repeat.
REPEATED = {
    "Clus. (5)": 9,
    "Vis. STS (en) (7)": 12,
    "Doc. (10)": 15,
    "Vision Centric (6)": 10,
}


def mieb(table: int) -> pd.DataFrame:
    frame = published_table(f"mieb-table-{table}")
    named = [name for name in frame.columns if name not in ("model", "group", "Model Type")]
    mean = next((name for name in named if name in ("mean", "Avg.")), named[-1])
    order = [*(name for name in named if name != mean), mean]
    return numbers(frame, columns=order).set_index(frame["model"])[order]


def test_miebs_means_follow_from_their_cells_and_are_repeated() -> None:
    for table in MIEB_MEANS:
        frame = mieb(table)
        apart = (frame.iloc[:, :-1].mean(axis=1, skipna=False) - frame.iloc[:, -1]).abs()
        assert (apart.dropna() <= 0.0101).all(), table
        assert set(apart.index[apart.isna()]) == (UNREADABLE if table == 17 else set()), table
    overall = mieb(22)
    assert overall.shape == (38, 14)
    for column, table in REPEATED.items():
        assert (overall[column] == mieb(table).iloc[:, -1][overall.index]).all(), column
    for column, members in (("Mean (Eng.) (125)", 10), ("Mean (Multiling.) (130)", 12)):
        assert ((overall.iloc[:, :members].mean(axis=1) - overall[column]).abs() <= 0.01 + 1e-6).all()


# Printed means that do not follow from the printed splits, even within their rounding.
OFF_MEANS = {"Gemini-1.5-Flash", "Gemini-1.5-Pro"}
OFF_CONTROLLABILITY = {"Gemini-1.5-Flash"}


def test_pairbenchs_table_1_follows_from_tables_3_to_7() -> None:
    tables = {table: published_table(f"pairbench-table-{table}").set_index("model") for table in (1, 3, 4, 5, 6, 7)}
    off, uncontrolled = set(), set()
    for model, row in tables[1].iterrows():
        text = tables[7].loc[model].map(float)
        pairs = [(text[f"WU-IT-{part} Sens."], text[f"WU-IT-{part} Invar."]) for part in "AB"]
        for a, b in ((3, 4), (5, 6)):
            pairs += zip(tables[a].loc[model].map(float), tables[b].loc[model].map(float), strict=True)
        assert len(pairs) == 24
        if abs(np.mean(pairs) - float(row["MMScore"])) > 0.01:  # half a unit printed, half a unit of the inputs
            off.add(model)
        if abs(100 * np.mean([1 - abs(a - b) / np.sqrt(a * b) for a, b in pairs]) - float(row["Cont"])) > 0.02:
            uncontrolled.add(model)
    assert off == OFF_MEANS and uncontrolled == OFF_CONTROLLABILITY


@pytest.mark.parametrize("table", [1, 2, 3])
def test_cfreds_generators_rank_by_their_scores(table: int) -> None:
    """But for the misprint of FLUX.1[dev] in Table 3."""
    frame = published_table(f"cfred-table-{table}").set_index("model").drop(["ρ²", "Rank Acc."], errors="ignore")
    for metric, sign in (("FID", 1), ("FD_DINOv2", 1), ("CLIP", -1), ("CMMD", 1), ("cFreD", 1)):
        ranks = frame[f"{metric} rank"].map(int)
        assert sorted(ranks) == list(range(1, len(frame) + 1)), metric
        kept = frame.index != "FLUX.1[dev]" if (table, metric) == (3, "CMMD") else np.ones(len(frame), bool)
        scores = (sign * frame[metric].map(number))[kept].iloc[np.argsort(ranks[kept].to_numpy())]
        assert scores.is_monotonic_increasing, metric
