"""MIEB: what its tables print and its text says, recomputed from its own cells."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from compute.catalog.published import number
from compute.claims import mieb_averages, mieb_text
from compute.claims.mieb_figures import LITE, STS_ENGLISH, across_languages, figures, half, mean_of, printed, value
from compute.claims.mieb_statement import CELL, COARSE_CELL, averaged, untested
from compute.claims.verdict import shown
from compute.types import Claim

NOT_NDCG = (
    "Table 11 prints nDCG@10; in the public result files the printed averages are those of Recall@5, and the"
    " variances fit the languages with their mean counted in."
)
ABOUT_LITE = (
    "The paper prints no means of 38 models on MIEB-lite, and the retrieval cells they need are damaged: this"
    " is the figure of fewer models or of fewer categories."
)
CUT_OFF = "Table 11 reaches us cut off: most of XM3600 and all of WIT are missing."
TABLE_3 = {
    "E5-V": "royokong/e5-v",
    "SigLIP": "google/siglip-base-patch16-256-multilingual",
    "VISTA (m3)": "BAAI/bge-visualized-m3",
    "VLM2Vec": "TIGER-Lab/VLM2Vec-Full",
    "Open-CLIP": "laion/CLIP-ViT-bigG-14-laion2B-39B-b160k",
    "EVA02-CLIP": "EVA02-CLIP-bigE-14-plus",
}


def claims() -> list[Claim]:
    """Every claim of the paper that its figures touch: tables first, then the sentences."""
    return [*mieb_averages.claims(), *table_3(), *table_4(), *table_5(), *lite(), *mieb_text.claims()]


def table_3() -> list[Claim]:
    """Averages and variances over languages against Table 11; the two final columns against the other six."""
    frame, values, languages = printed(3), figures(3), figures(11)
    cells = languages[[name for name in languages.columns if name.startswith("XF ")]]
    means = cells.mean(axis=1, skipna=False)
    spread = cells.var(axis=1, ddof=0, skipna=False) / 100  # of fractions, times 100, as the table's unit is
    found = []
    for model, row in frame.iterrows():
        source = TABLE_3[model]
        found += [
            averaged(
                f"{model}: average over the languages of xFlickr&CO",
                "Table 3",
                row["xFlickr&CO avg."],
                value(means, source),
                "mean of the 8 languages of Table 11",
                slack=CELL,
                note=NOT_NDCG,
            ),
            averaged(
                f"{model}: variance over the languages of xFlickr&CO",
                "Table 3",
                row["xFlickr&CO var."],
                value(spread, source),
                "variance of the 8 languages of Table 11 as fractions, times 100",
                slack=CELL,
                note=NOT_NDCG,
            ),
        ]
        for kind in ("avg.", "var."):
            three = [f"{name} {kind}" for name in ("xFlickr&CO", "XM3600", "WIT")]
            found.append(
                averaged(
                    f"{model}: avg. {kind}",
                    "Table 3",
                    row[f"avg. {kind}"],
                    float(values.loc[model, three].mean()),
                    "mean of the three data sets as printed",
                    slack=COARSE_CELL,
                )
            )
    found += [
        untested(
            f"{name}: averages and variances of {len(frame)} models",
            "Table 3",
            f"{2 * len(frame)} figures",
            "mean and variance over the languages of Table 11",
            note=CUT_OFF,
        )
        for name in ("XM3600", "WIT")
    ]
    return found


def table_4() -> list[Claim]:
    """E5-V's Visual STS row against Table 12, and both averages."""
    frame = printed(4).set_index("group")
    source = figures(12).loc["royokong/e5-v"]
    found = [
        averaged(
            f"E5-V, Visual STS: {name}",
            "Table 4",
            frame.at["v-STS (ours)", name],
            float(source[name]),
            "the same cell in Table 12",
            slack=CELL,
        )
        for name in STS_ENGLISH
    ]
    found += [
        averaged(
            f"E5-V, {label}: avg.",
            "Table 4",
            row["avg."],
            float(row[list(STS_ENGLISH)].map(number).mean()),
            "mean of the 7 columns",
            slack=COARSE_CELL,
        )
        for label, row in frame.iterrows()
    ]
    return found


def table_5() -> list[Claim]:
    """The saving by MIEB-lite; slack is what the rounding of the hours to one digit can do."""
    found = []
    for model, row in printed(5).iterrows():
        whole, small = number(row["MIEB"]), number(row["MIEB-lite"])
        slack = 100 * ((small + COARSE_CELL) / (whole - COARSE_CELL) - small / whole)
        found.append(
            averaged(
                f"{model}: saving by MIEB-lite",
                "Table 5",
                row["Reduction %"],
                100 * (1 - small / whole),
                "1 - hours on MIEB-lite / hours on MIEB, in percent",
                slack=slack,
            )
        )
    return found


def lite() -> list[Claim]:
    """How closely means on MIEB-lite follow means on MIEB (section 6.3), as far as printed cells reach."""
    full, small = (half(group)["Mean (m)"].map(number) for group in ("MIEB Full", "MIEB-lite"))
    shared = full.index.intersection(small.index)
    columns = [mean_of(parts) for column, parts in LITE.items() if column not in ("Rtrv.", "ZS.")]
    columns.append(across_languages())
    readable = pd.concat(columns, axis=1, join="inner").mean(axis=1, skipna=False)
    overall = figures(22)["Mean (Multiling.) (130)"]
    known = [model for model in overall.index if value(readable, model) is not None]
    samples = (
        (f"Mean (m) of the {len(shared)} models in both halves of Table 2", full[shared], small[shared]),
        (
            f"overall mean of Table 22 against the mean of {len(columns)} of the 10 MIEB-lite categories"
            f" from Tables 9 to 20, {len(known)} models",
            overall[known],
            readable[known],
        ),
    )
    return [
        untested(
            f"{name} correlation of the means of 38 models on MIEB and on MIEB-lite",
            "Section 6.3",
            text,
            formula,
            note=ABOUT_LITE,
            recomputed=shown(float(function(first, second).statistic), like=text, extra=0),
        )
        for name, text, function in (
            ("Spearman", "0.992", stats.spearmanr),
            ("Pearson", "0.986", stats.pearsonr),
        )
        for formula, first, second in samples
    ]
