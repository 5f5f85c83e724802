"""PairBench, what the text says, against Tables 1 and 3 to 7."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from compute.catalog.published import numbers, read_table
from compute.claims.pairbench_tables import (
    MEASURES,
    NOT_PRINTED,
    PAPER,
    controllability,
    mean_mmscore,
    splits,
    statement,
)
from compute.types import Claim

GROUPS = ("COCO", "IN100", "WU-II", "WU-IT")
CLOSED = ("GPT-4o", "Gemini")


def claims() -> list[Claim]:
    """The statements of sections 4 and 5 and appendix B that the tables bear on, and those they cannot."""
    sensitive, invariant = splits()
    return [*_aggregate_text(sensitive, invariant), *_split_text(sensitive, invariant), *_unprinted()]


def _aggregate_text(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> list[Claim]:
    table = read_table("pairbench-table-1").set_index("model")
    ten = numbers(table, columns=list(table.columns))
    means = mean_mmscore(sensitive, invariant).sort_values(ascending=False)
    best = ten.idxmax()
    opened = means[[not name.startswith(CLOSED) for name in means.index]]
    lead, rivals = ten.loc["InternVL2.5-8B"], ten.loc[["Qwen2-VL-7B", "LLaVA-OneVision-7B"]]
    below = bool((lead[["SM", "Cont"]] < rivals[["SM", "Cont"]].min()).all())
    mini, full = ten.loc["GPT-4o-mini-0718"], ten.loc["GPT-4o-1120"]
    places = ten.rank(ascending=False).loc["GPT-4o-1120"]
    return [
        statement(
            "No model is best on all four measures",
            "Abstract; section 4.2.1",
            "",
            "; ".join(f"{MEASURES[column]}: {model}" for column, model in best.items()),
            best.nunique() > 1,
            formula="best of each column of Table 1",
        ),
        statement(
            "InternVL2.5-8B has the highest MMScore of the open models",
            "Section 4.2.1",
            "InternVL2.5-8B",
            f"{opened.index[0]} ({opened.iloc[0]:.2f})",
            opened.index[0] == "InternVL2.5-8B",
            formula="mean MMScore over all splits, open models",
        ),
        statement(
            "InternVL2.5-8B is less controllable and less smooth than Qwen2-VL-7B and LLaVA-OneVision-7B",
            "Section 4.2.1",
            "",
            f"SM {lead['SM']:.2f} against {rivals['SM'].min():.2f} and more, "
            f"Cont {lead['Cont']:.2f} against {rivals['Cont'].min():.2f} and more",
            below,
            formula="columns SM and Cont of Table 1",
        ),
        statement(
            "InternVL2.5-8B is competitive with the closed models in MMScore",
            "Section 5",
            "",
            f"place {list(means.index).index('InternVL2.5-8B') + 1} of {means.notna().sum()}",
            list(means.index).index("InternVL2.5-8B") < 6,
            note="Six of the models are closed.",
            formula="place by mean MMScore over all splits",
        ),
        statement(
            "GPT-4o-mini-0718 is as controllable and smooth as GPT-4o-1120 or more",
            "Section 4.2.1",
            "",
            "; ".join(f"{column} {mini[column]:.2f} against {full[column]:.2f}" for column in ("Cont", "SM")),
            bool((mini[["SM", "Cont"]] >= full[["SM", "Cont"]]).all()),
            formula="columns SM and Cont of Table 1",
        ),
        statement(
            "GPT-4o-1120 lacks in symmetry and smoothness",
            "Section 5",
            "",
            f"1-RelaxSym place {places['1-RS']:.0f}, smoothness place {places['SM']:.0f} of ten",
            bool((places[["1-RS", "SM"]] > 5).all()),
            note="Table 1 puts it in the better half of both.",
            formula="places in the columns 1-RS and SM of Table 1",
        ),
    ]


def _split_text(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> list[Claim]:
    both = (sensitive + invariant) / 2
    group = pd.DataFrame({name: both[[c for c in both if c.startswith(name)]].mean(axis=1) for name in GROUPS})
    best = group.idxmax()
    images = both[[c for c in both if not c.startswith("WU-IT")]].mean(axis=1)
    better = images > group["WU-IT"]
    closed = np.array([name.startswith(CLOSED) for name in both.index])
    gap = {
        name: values[closed].mean() - values[~closed].mean()
        for name, values in (("images", images), ("captions", group["WU-IT"]))
    }
    even = controllability(sensitive, invariant)
    cells = [f"{source} {change}" for source in ("COCO", "IN100") for change in ("R", "PS")]
    ahead = [cell for cell in cells if even.loc["InternVL2-4B", cell] > even.loc["InternVL2-8B", cell]]
    family = [f"InternVL2.5-{size}B" for size in (1, 2, 4, 8)]
    means = mean_mmscore(sensitive, invariant)[family]
    control = even.loc[family].mean(axis=1)
    rho = spearmanr([1, 2, 4, 8], control).statistic
    return [
        statement(
            "No model has the best MMScore on all four data sets",
            "Section 4.2.1",
            "",
            "; ".join(f"{name}: {model}" for name, model in best.items()),
            best.nunique() > 1,
            formula="best mean over the splits and conditions of a data set, Tables 3 to 7",
        ),
        statement(
            "Models do better on image pairs than on image-text pairs",
            "Section 4.2.1",
            "generally",
            f"{int(better.sum())} of {len(better)} models",
            better.mean() > 0.5,
            note="Not so: " + ", ".join(better.index[~better]) + ".",
            formula="mean MMScore of the 22 image splits against the two image-text splits",
        ),
        statement(
            "The gap between closed and open models is larger on image pairs than on image-text pairs",
            "Section 4.2.1",
            "",
            f"{gap['images']:.1f} against {gap['captions']:.1f} points",
            gap["images"] > gap["captions"],
            formula="mean MMScore of the closed models minus the open ones",
        ),
        statement(
            "Closed models do better on image pairs than open ones",
            "Section 5",
            "generally",
            f"{images[closed].mean():.1f} against {images[~closed].mean():.1f}",
            images[closed].mean() > images[~closed].mean(),
            formula="mean MMScore of the 22 image splits",
        ),
        statement(
            "InternVL2-4B is more controllable than InternVL2-8B under rotation and perspective shift",
            "Appendix B.0.2",
            "4 of 4",
            f"{len(ahead)} of 4",
            len(ahead) == len(cells),
            note=("It is so on " + ", ".join(ahead) + " only.") if ahead else "",
            formula="1 - |a - b| / sqrt(ab) on the R and PS splits of COCO and IN100",
        ),
        statement(
            "Larger InternVL2.5 models have a higher MMScore",
            "Appendix B.0.2; Figure 9",
            "",
            ", ".join(f"{value:.1f}" for value in means),
            means.is_monotonic_increasing,
            formula="mean MMScore over all splits, 1B to 8B",
        ),
        statement(
            "Larger InternVL2.5 models tend to be more controllable",
            "Appendix B.0.2; Figure 9",
            "",
            ", ".join(f"{value:.1f}" for value in control),
            rho > 0,
            note=f"Spearman correlation with size {rho:.1f}; the 8B model is below the 4B model.",
            formula="mean controllability over all splits, 1B to 8B",
        ),
    ]


def _unprinted() -> list[Claim]:
    rows = (
        (
            "Encoders do better than open models on most image pairs and match closed ones",
            "Section 4.2.2; Figure 4",
            "The figure prints no numbers.",
        ),
        (
            "GPT-4o-1120 and GPT-4o-mini-0718 have a low 1-RelaxSym on image-text pairs",
            "Section 4.2.1; Figure 3",
            NOT_PRINTED,
        ),
        (
            "Phi-3.5-vision, LLaVA-OneVision-7B and InternVL are fully symmetric on image-text pairs",
            "Figure 3",
            "No numbers are printed; the paper blames prompts that take the image only at their start.",
        ),
        (
            "A larger tolerance makes every model more symmetric",
            "Appendix B.0.1; Figure 7",
            "The figure prints no numbers; it follows from the definition.",
        ),
    )
    return [
        Claim(
            paper=PAPER,
            claim=claim,
            where=where,
            printed="",
            recomputed="",
            verdict="cannot be recomputed",
            note=note,
        )
        for claim, where, note in rows
    ]
