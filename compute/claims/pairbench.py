"""PairBench: Tables 1, 2 and 8 and the sentences, recomputed from the MMScores of Tables 3 to 7."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import spearmanr, t

from compute.analysis.correlation import interval
from compute.claims.tables import column_checks, figures, printed
from compute.claims.verdict import Check, Checks, by_intervals, claims_of
from compute.metrics.judge import evenness
from compute.rounding import rounded
from compute.types import Claim

HALF_UNIT = 0.005  # rounding of a printed MMScore, in its printed units
MEASURES = {"MMScore": "MMScore", "1-RS": "1-RelaxSym", "SM": "Smoothness", "Cont": "Controllability"}
UNKNOWN = pd.Series(dtype=float)  # nothing can be recomputed
GROUPS = ("COCO", "IN100", "WU-II", "WU-IT")
CLOSED = ("GPT-4o", "Gemini")
# Table 8: images or pairs taken, splits, new points and comparisons of each source. The split What's Up SP of image
# pairs adds no new points, its five coupled splits do. The printed totals omit the captions.
IMAGES = (
    (500, 5, 5 * 1000, 5 * 3000),  # COCO
    (500, 5, 5 * 1000, 5 * 3000),  # IN100
    (418, 6, 5 * 1254, 6 * 3344),  # What's Up A
    (408, 6, 5 * 1224, 6 * 3264),  # What's Up B
)
CAPTIONS = ((418, 1, 1254, 3344), (408, 1, 1224, 3264))


def claims() -> list[Claim]:
    """Every claim of the paper with its verdict."""
    return claims_of("PairBench", (table_1, table_2, sizes, models, overall_sentences, split_sentences))


@cache
def splits() -> tuple[pd.DataFrame, pd.DataFrame]:
    """MMScores in percent, sensitive and invariant: models by the 24 splits, the same columns in both."""
    captions = figures("pairbench-table-7")
    sensitive, invariant = (
        figures(f"pairbench-table-{natural}")
        .join(figures(f"pairbench-table-{coupled}"))
        .join(captions.filter(like=ending).rename(columns=lambda name: name.split(" ")[0]))
        for natural, coupled, ending in ((3, 5, "Sens."), (4, 6, "Invar."))
    )
    return sensitive, invariant


def mean_mmscore(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> pd.Series:
    """Plain mean over splits and conditions, a model; NaN where a cell is missing."""
    return (sensitive.mean(axis=1, skipna=False) + invariant.mean(axis=1, skipna=False)) / 2


def controllability(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> pd.DataFrame:
    """100 (1 - |a - b| / sqrt(ab)) for every model and split; NaN where a or b is 0 or missing."""
    values = 100 * evenness(sensitive=sensitive, invariant=invariant)
    return pd.DataFrame(values, index=sensitive.index, columns=sensitive.columns)


def controllability_slack(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> pd.Series:
    """Largest shift of each model's mean controllability that the rounding of its printed MMScores can cause."""
    centre = controllability(sensitive, invariant)
    shifts = [
        (controllability(sensitive + a, invariant + b) - centre).abs()
        for a, b in itertools.product((-HALF_UNIT, HALF_UNIT), repeat=2)
    ]
    return pd.concat(shifts).groupby(level=0).max().mean(axis=1, skipna=False)


def table_1() -> Checks:
    """Every cell of Table 1; two of its four measures cannot be recomputed."""
    sensitive, invariant = splits()
    control = controllability(sensitive, invariant).mean(axis=1, skipna=False)
    text = printed("pairbench-table-1").rename(columns=MEASURES)
    return {
        "pairbench-mmscore": column_checks(text["MMScore"], mean_mmscore(sensitive, invariant), slack=HALF_UNIT),
        "pairbench-controllability": column_checks(
            text["Controllability"], control, slack=controllability_slack(sensitive, invariant)
        ),
        "pairbench-relaxsym": column_checks(text["1-RelaxSym"], UNKNOWN),
        "pairbench-smoothness": column_checks(text["Smoothness"], UNKNOWN),
    }


def table_2() -> Checks:
    """The correlations of Table 2, which rest on scores that are not printed, and two sentences on them."""
    text, values = printed("pairbench-table-2").rename(columns=MEASURES), figures("pairbench-table-2")
    best = (values["MMScore"] == values.max(axis=1)).sum()
    quantile = t.ppf(0.975, df=21)
    least = 100 * quantile / np.sqrt(21 + quantile**2)
    high = (values >= least).to_numpy().sum()
    return {
        "pairbench-correlation": [check for column in text for check in column_checks(text[column], UNKNOWN)],
        "pairbench-highest-correlation": Check(f"{best} of 8"),
        "pairbench-high-correlation": Check(
            f"{high} of {values.size} cells",
            bool(high == values.size),
            words={"least": least, "lowest": values.min().min()},
        ),
    }


def sizes() -> Checks:
    """The totals of Table 8 and the sentences on them."""
    images, captions = (np.sum(rows, axis=0) for rows in (IMAGES, CAPTIONS))
    _, count, points, comparisons = images + captions
    pairs = comparisons / 1000
    return {
        "pairbench-images": Check(value=images[0]),
        "pairbench-points": Check(value=points, words={"images": images[2]}),
        "pairbench-comparisons": Check(value=comparisons, words={"images": images[3]}),
        "pairbench-70k": Check(f"{rounded(pairs, 1)}K", round(pairs, -1) == 70, words={"images": images[3]}),
        "pairbench-splits": Check(value=count),
    }


def models() -> Checks:
    """How many models are evaluated, and of which kinds."""
    names = printed("pairbench-table-3").index
    prefixes = {"models": "", "gpt-4o": "GPT-4o", "internvl": "InternVL2.5-", "molmo": "Molmo"}
    return {
        f"pairbench-{key}": Check(value=sum(name.startswith(prefix) for name in names))
        for key, prefix in prefixes.items()
    }


def no_winner(table: pd.DataFrame) -> Check:
    """Whether different models are best in different columns."""
    best = table.idxmax()
    return Check("; ".join(f"{column}: {model}" for column, model in best.items()), best.nunique() > 1)


def overall_sentences() -> Checks:
    """Sections 4.2.1 and 5 on Table 1 and the mean over all splits."""
    table = figures("pairbench-table-1")
    means = mean_mmscore(*splits()).sort_values(ascending=False)
    opened = means[~means.index.str.startswith(CLOSED)]
    rank = means.index.get_loc("InternVL2.5-8B") + 1
    both = table[["Cont", "SM"]]
    lead, mini, full = (both.loc[name] for name in ("InternVL2.5-8B", "GPT-4o-mini-0718", "GPT-4o-1120"))
    rivals = both.loc[["Qwen2-VL-7B", "LLaVA-OneVision-7B"]].min()
    ranks = table[["1-RS", "SM"]].rank(ascending=False).loc["GPT-4o-1120"]
    return {
        "pairbench-all-measures": no_winner(table.rename(columns=MEASURES)),
        "pairbench-best-open": Check(
            f"{opened.index[0]} ({rounded(opened.iloc[0], 2)})", opened.index[0] == "InternVL2.5-8B"
        ),
        "pairbench-less-controllable": Check(
            f"SM {rounded(lead['SM'], 2)} against {rounded(rivals['SM'], 2)} and more, "
            f"Cont {rounded(lead['Cont'], 2)} against {rounded(rivals['Cont'], 2)} and more",
            (lead < rivals).all(),
        ),
        "pairbench-competitive": Check(f"rank {rank} of {means.count()}", rank <= 6),
        "pairbench-mini": Check(
            "; ".join(f"{name} {rounded(mini[name], 2)} against {rounded(full[name], 2)}" for name in both),
            (mini >= full).all(),
        ),
        "pairbench-gpt-4o-symmetry": Check(
            f"1-RelaxSym rank {rounded(ranks['1-RS'], 0)}, smoothness rank {rounded(ranks['SM'], 0)} of ten",
            (ranks > 5).all(),
        ),
    }


def split_sentences() -> Checks:
    """Sections 4.2.1 and 5 and appendix B on the data sets of Tables 3 to 7."""
    sensitive, invariant = splits()
    both = (sensitive + invariant) / 2
    group = pd.DataFrame({name: both.filter(regex=f"^{name}").mean(axis=1) for name in GROUPS})
    images, captions = both.filter(regex="^(?!WU-IT)").mean(axis=1), group["WU-IT"]
    better = images > captions
    closed = both.index.str.startswith(CLOSED)
    gap, caption_gap = (values[closed].mean() - values[~closed].mean() for values in (images, captions))
    control = controllability(sensitive, invariant)
    cells = [f"{source} {change}" for source in ("COCO", "IN100") for change in ("R", "PS")]
    ahead = [cell for cell in cells if control.at["InternVL2-4B", cell] > control.at["InternVL2-8B", cell]]
    family = [f"InternVL2.5-{size}B" for size in (1, 2, 4, 8)]
    means, controls = both.mean(axis=1)[family], control.loc[family].mean(axis=1)
    rho = spearmanr([1, 2, 4, 8], controls).statistic
    low, high = interval(r=rho, n=len(family), method="spearman")
    return {
        "pairbench-all-data-sets": no_winner(group),
        "pairbench-image-pairs": Check(
            f"{better.sum()} of {len(better)} models",
            better.mean() > 0.5,
            words={"others": ", ".join(better.index[~better])},
        ),
        "pairbench-gap": Check(f"{rounded(gap, 1)} against {rounded(caption_gap, 1)} points", gap > caption_gap),
        "pairbench-closed-images": Check(
            f"{rounded(images[closed].mean(), 1)} against {rounded(images[~closed].mean(), 1)}", gap > 0
        ),
        "pairbench-internvl2-control": Check(f"{len(ahead)} of 4", words={"ahead": ", ".join(ahead)}),
        "pairbench-size-mmscore": Check(", ".join(rounded(value, 1) for value in means), means.is_monotonic_increasing),
        "pairbench-size-control": Check(
            ", ".join(rounded(value, 1) for value in controls),
            by_intervals(within=low > 0, excluded=high < 0),
            words={"rho": rho, "low": low, "high": high},
        ),
    }
