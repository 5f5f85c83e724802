"""UniSim-Bench: its tables, the maps of Figure 3, and its sentences, recomputed from Tables 2, 3, 4, 6 and 8."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, norm

from compute.analysis.correlation import correlate, interval
from compute.catalog.published import DASH
from compute.claims.tables import column_checks, figures, names_in, printed, score_columns
from compute.claims.verdict import CANNOT, Check, Checks, by_intervals, claims_of, listing
from compute.rounding import rounded
from compute.types import Claim

CORE = ("Img-2AFC average", "IT-2AFC average", "Text-2AFC average", "IQA average")
OOD = ("PAA", "OOO", "IR")
UNSEEN = ("IMAGEREWARD", "AGIQA-3K (alignment)")
# Training samples in thousands: Table 5, and the four counts of appendix B.2.
TRAINING = (15.9, 50.5, 645.1, 11.5, 100, 245.9, 100, 9.1, 50.5, 73.7)
LMM_TRAINING = (120, 300, 300, 120)
# Core data sets that UniSim is not trained on (section 3.3).
LEFT_OUT = ("BAPPS", "IMAGEREWARD", "AGIQA-3K (alignment)", "CD-COCO", "KONIQ-10K", "AGIQA-3K (quality)")
HALF_DIGIT = 0.05  # all cells but a few intervals are printed to one decimal
# What each model was fine-tuned from (section 4.1).
OUR_BASE = {
    "UniSim ViT-B/32": "CLIP ViT-B/32",
    "UniSim ViT-L/14": "CLIP ViT-L/14",
    "UniSim LL-N-0.5B": "LLaVA-NeXT-0.5B",
}
BASE = {
    "DS ViT-B/32": "CLIP ViT-B/32",
    "IR BLIP": "BLIP ViT-L/14",
    "HPSv2 ViT-H/14": "CLIP ViT-H/14",
    "PAC-S ViT-L/14": "CLIP ViT-L/14",
    "LIQE ViT-B/32": "CLIP ViT-B/32",
}
INTERNVL = ("InternVL2.5-8B", "InternVL2.5-26B", "InternVL2.5-38B")
CLIPS = ("CLIP ViT-B/32", "CLIP ViT-L/14", "CLIP ViT-H/14")
LMMS = ("LLaVA-NeXT-0.5B", "LLaVA-NeXT-7B", "Mantis Idefics-8B", "Qwen2-VL-7B", *INTERNVL)
APPENDIX_ONLY = ["SigLIP SoViT/14", "Mantis Idefics-8B"]
GENERAL, SPECIAL, OURS = "General-purpose models", "Specialized models", "Our models"
WEAK = 0.3  # a Kendall tau no larger than this in size is called weak; the paper sets no bound
CLOSE = 2  # points; the paper sets no bound either
# Intervals that stand one column early in the text of Table 6. They were moved by the formula that checks them here.
MOVED = {
    "Qwen2-VL-7B": ("AGIQA-3K (alignment)", "MAGICBRUSH", "HQ-EDIT (IT)", "CD-COCO", "POLARIS", "HQ-EDIT (text)"),
    "IR BLIP": ("MAGICBRUSH", "HQ-EDIT (IT)", "CD-COCO", "POLARIS", "HQ-EDIT (text)"),
}
EMPTIED = {"Qwen2-VL-7B": "IMAGEREWARD", "IR BLIP": "AGIQA-3K (alignment)"}  # where the move left nothing
TASKS = {name: name.removesuffix(" average") for name in CORE}
Pair = tuple[str, float, float]  # label, a model's figure, the figure it is compared with


def claims() -> list[Claim]:
    """Every claim of the paper with its verdict."""
    tables = (averages, intervals, repeated, counts, figure_3)
    return claims_of("UniSim-Bench", (*tables, core_sentences, ood_sentences, scale, training_data, versions))


def core_table() -> pd.DataFrame:
    """Table 2 as numbers, one row a model, with the printed group."""
    return figures("unisim-table-2").assign(group=printed("unisim-table-2")["group"])


@cache
def rules(table: int) -> dict[str, list[str]]:
    """The columns behind each average of a table; in Tables 2, 6 and 8 those of one category."""
    if table == 3:
        return {"Avg": list(OOD)}
    if table == 4:
        return {"unseen average": list(UNSEEN), "IT-2AFC average": rules(2)["IT-2AFC average"]}
    categories: dict[str, list[str]] = {}
    for column, task in score_columns()[f"unisim-table-{table}"].items():
        categories.setdefault(f"{task.category} average", []).append(column)
    return categories | {"Avg": list(categories)}


@cache
def samples() -> dict[str, int]:
    """Test samples of Table 1, its 5K and 2K read as 5000 and 2000: the intervals of Table 6 bear that out."""
    tasks = score_columns()["unisim-table-6"] | score_columns()["unisim-table-8"]
    return {column: task.n_items for column, task in tasks.items()}


@cache
def both_tables() -> pd.DataFrame:
    """Tables 2 and 3 side by side, one row a model of Table 2."""
    ood = figures("unisim-table-3").rename(index=names_in("unisim-table-2"), columns={"Avg": "OOD Avg"})
    return core_table().join(ood)


def averages() -> Checks:
    """Each printed average of a table, and the mean of its cells, which their own rounding moves by 0.05 at most."""
    checks: Checks = {}
    for table in (2, 3, 4, 6, 8):
        text, values = printed(f"unisim-table-{table}"), figures(f"unisim-table-{table}")
        if table == 4:  # three rows a model
            labels = text.index + " (" + text["IT-2AFC train set"] + ")"
            text, values = text.set_axis(labels), values.set_axis(labels)
        checks[f"unisim-table-{table}-average"] = [
            check
            for column, members in rules(table).items()
            for check in column_checks(
                text[column][values[column].notna()],
                values[members].mean(axis=1, skipna=False),
                slack=HALF_DIGIT,
                words={"parts": f"{len(members)} {'task averages' if column == 'Avg' else 'cells'}"},
            )
        ]
    return checks


def half_width(percent: pd.Series, *, n: int) -> pd.Series:
    """Half-width of the normal 95% interval of a proportion, in percentage points (caption of Table 6)."""
    share = percent / 100
    return 196 * (share * (1 - share) / n) ** 0.5


def intervals() -> Checks:
    """Each printed interval of Table 6; the rounding of its cell makes the slack.

    An interval that the formula itself moved to its column is not an evidence for the formula: it cannot be recomputed.
    """
    text, checks = printed("unisim-table-6"), []
    for column in score_columns()["unisim-table-6"]:
        values, n = figures("unisim-table-6")[column].dropna(), samples()[column]
        cells, width = text.loc[values.index, f"{column} ±"].rename(column), half_width(values, n=n)
        shifts = [(half_width(values + step, n=n) - width).abs() for step in (-HALF_DIGIT, HALF_DIGIT)]
        words = {"share": values / 100, "n": n}
        checks += [
            replace(check, holds=CANNOT) if column in MOVED.get(str(check.words["name"]), ()) else check
            for check in column_checks(cells[cells != DASH], width, slack=np.maximum(*shifts), words=words)
        ]
    return {
        "unisim-interval": [
            replace(check, words={**check.words, "moved": _moved(str(check.words["name"]), str(check.words["column"]))})
            for check in checks
        ]
    }


def _moved(model: str, column: str) -> str:
    """Why an interval of Table 6 says nothing about the formula; empty where it does."""
    if column in MOVED.get(model, ()):
        return (
            "Moved one column right in our copy, because the formula asks for it. That it fits now is no evidence, so "
            "it does not count as reproduced."
        )
    if EMPTIED.get(model) == column:
        return "Lost: the row's intervals stand one column early from here on, and the formula shows where."
    return ""


def repeated() -> Checks:
    """Numbers that the paper prints in two tables: how many agree, and each that does not."""
    core = [*score_columns()["unisim-table-2"], *CORE, "Avg"]
    ood = {"Avg": "Avg"} | {name: f"{name} average" for name in OOD}
    names = names_in("unisim-table-2")
    checks: Checks = {}
    for first, second, columns in ((2, 6, dict(zip(core, core, strict=True))), (3, 8, ood)):
        short, long = printed(f"unisim-table-{first}"), printed(f"unisim-table-{second}").rename(index=names)
        same, differing = 0, []
        for model, row in short.iterrows():
            other = long.loc[names[model]]
            for column, theirs in columns.items():
                words = {"model": model, "column": column, "first": row[column], "second": other[theirs]}
                if row[column] == other[theirs] == DASH:
                    continue
                if float(row[column]) == float(other[theirs]):
                    same += 1
                else:
                    support = _supported(row, other, column=theirs, tables=(first, second))
                    differing.append(Check(support, False, words=words))
        total = same + len(differing)
        checks[f"unisim-table-{second}-repeats"] = Check(f"{same} of {total} numbers agree", same == total)
        checks[f"unisim-tables-{first}-and-{second}"] = differing
    return checks


def _supported(row: pd.Series, other: pd.Series, *, column: str, tables: tuple[int, int]) -> str:
    """Which of two numbers the averages of the second table fit, in words."""
    average, members = next(rule for rule in rules(tables[1]).items() if column in (rule[0], *rule[1]))
    a, b = (pd.to_numeric(cells.reindex(members)).mean() for cells in (row, other))
    if column == average:
        return f"{rounded(b, 2)} from the cells of Table {tables[1]}"
    first, second = (f"{rounded(mean, 2)} with Table {name}" for mean, name in zip((a, b), tables, strict=True))
    return f"{average} {first}, {second}; printed {other[average]}"


def counts() -> Checks:
    """Sizes that the text and Tables 1 and 5 state."""
    total, training, mixed = sum(samples().values()) / 1000, sum(TRAINING) / 1000, sum(LMM_TRAINING)
    return {
        "unisim-data-sets": Check(value=len(samples())),
        "unisim-test-samples": Check(f"{rounded(total, 1)}K", value=total),
        "unisim-training-samples": Check(f"{rounded(training, 2)}M", value=training),
        "unisim-clip-samples": Check("1.6M", value=4 * 0.4),
        "unisim-lmm-samples": Check(f"{mixed}K", value=mixed, slack=0.5 * len(LMM_TRAINING)),
    }


def taus(frame: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Kendall tau-b of each pair of columns over the models that have both."""
    return {
        f"{TASKS.get(a, a)}-{TASKS.get(b, b)}": float(kendalltau(*frame[[a, b]].dropna().T.values).statistic)
        for a, b in pairs
    }


def correlations(frame: pd.DataFrame, pairs: Iterable[tuple[str, str]], *, claim: str) -> Check:
    """Whether all correlations are as claimed: `positive`, `weak` (at most WEAK) or `none` (at most WEAK in size, and
    contradicted by an interval without 0). The intervals hold with 95% confidence for all pairs together (Bonferroni).
    """
    chosen = list(pairs)
    values = taus(frame, chosen)
    columns = list(dict.fromkeys(name for pair in chosen for name in pair))
    table = correlate(scores=frame[columns].to_numpy(float), minimum=2)
    cells = tuple(zip(*[(columns.index(a), columns.index(b)) for a, b in chosen], strict=True))
    n = table.n[cells]
    low, high = interval(r=table.r[cells], n=n, method="kendall", quantile=norm.ppf(1 - 0.025 / len(chosen)))
    within, excluded = {
        "positive": (low > 0, high < 0),
        "weak": (high <= WEAK, low > WEAK),
        "none": ((low >= -WEAK) & (high <= WEAK), (low > 0) | (high < 0)),
    }[claim]
    names = [name for name, out in zip(values, excluded, strict=True) if out]
    words = {
        "models": f"{n.min()} to {n.max()} models" if n.min() < n.max() else f"{n.min()} models",
        "low": rounded(low.min(), 2),
        "high": rounded(high.max(), 2),
        "excluded": ", ".join(names) or "none",
    }
    return Check(listing(values, digits=2), by_intervals(within=within, excluded=excluded), words=words)


def figure_3() -> Checks:
    """What section 3.2 reads from the maps of Figure 3, which print no numbers, one group of models at a time."""
    frame = both_tables()
    general, special = (frame[frame["group"] == group] for group in (GENERAL, SPECIAL))
    inner, outer = list(itertools.combinations(CORE, 2)), list(itertools.product(CORE, OOD))
    positive = correlations(general, inner, claim="positive")
    related = [("IT-2AFC average", "Text-2AFC average")]
    lost = correlations(special, related, claim="weak")
    (tau,), (before,) = (taus(group, related).values() for group in (special, general))
    fewer = taus(general.drop(index=APPENDIX_ONLY), inner)["Img-2AFC-Text-2AFC"]
    return {
        "unisim-figure-3-core-general": replace(positive, words=positive.words | {"fewer": fewer}),
        "unisim-figure-3-core-special": correlations(special, inner, claim="weak"),
        "unisim-figure-3-text": replace(
            lost,
            text=f"general-purpose {rounded(before, 2)}, specialised {rounded(tau, 2)}",
        ),
        "unisim-figure-3-ood-general": correlations(general, outer, claim="none"),
        "unisim-figure-3-ood-special": correlations(special, outer, claim="none"),
    }


def against_base(models: Iterable[str], *columns: str) -> list[Pair]:
    """Each model's figure and that of the model it was fine-tuned from, where Tables 2 and 3 print both."""
    frame, base = both_tables(), BASE | OUR_BASE
    pairs = [(model, frame.at[model, column], frame.at[base[model], column]) for column in columns for model in models]
    return [pair for pair in pairs if not math.isnan(pair[1] + pair[2])]


def higher(pairs: Iterable[Pair]) -> int:
    """How many scores are higher than those they are compared with."""
    return sum(a > b for _, a, b in pairs)


def listed_pairs(pairs: Iterable[Pair]) -> str:
    """The pairs in words."""
    return ", ".join(f"{name} {rounded(a, 1)} against {rounded(b, 1)}" for name, a, b in pairs)


def all_higher(pairs: list[Pair]) -> Check:
    """Whether every figure is higher than the one it is compared with."""
    return Check(listed_pairs(pairs), higher(pairs) == len(pairs))


def always_higher(pairs: list[Pair], unit: str) -> Check:
    """The same, by count."""
    return Check(f"higher in {higher(pairs)} of {len(pairs)} {unit}", higher(pairs) == len(pairs))


def none_higher(pairs: list[Pair]) -> Check:
    """Whether no figure is higher than the one it is compared with."""
    return Check(listed_pairs(pairs), higher(pairs) == 0)


def close_or_higher(pairs: list[Pair]) -> Check:
    """Whether no figure is lower by `CLOSE` points or more."""
    return Check(listed_pairs(pairs), all(a > b - CLOSE for _, a, b in pairs))


def core_sentences() -> Checks:
    """Section 4.2 on Table 2, and the sentences of the abstract and section 1 that rest on it."""
    core = core_table()
    dreamsim = against_base(["DS ViT-B/32"], "BAPPS", "PIEAPP (2AFC)")
    liqe = against_base(["LIQE ViT-B/32"], "PIEAPP (IQA)", "AGIQA-3K (quality)", "PIPAL")
    ours, special = core[core["group"] == OURS], core[core["group"] == SPECIAL]
    rank = core[list(CORE)].rank(ascending=False, method="min").loc[ours.index].min()
    rest = core["Avg"].drop(ours.index).max()
    images = core["Img-2AFC average"].sort_values(ascending=False)
    best = [
        (task, ours[f"{task} average"].max(), special[f"{task} average"].max()) for task in ("IT-2AFC", "Text-2AFC")
    ]
    return {
        "unisim-own-task": all_higher([*dreamsim, *liqe]),
        "unisim-hq-edit": none_higher(against_base(["HPSv2 ViT-H/14", "IR BLIP"], "HQ-EDIT (IT)")),
        "unisim-left-out": always_higher(against_base(OUR_BASE, *LEFT_OUT), "cells"),
        "unisim-all-tasks": always_higher(against_base(OUR_BASE, *CORE), "averages"),
        "unisim-img-2afc": Check(listing(images.head(3)), all(model.startswith("DS ") for model in images.index[:2])),
        "unisim-dreamsim-text": none_higher(against_base(["DS ViT-B/32"], "IT-2AFC average", "Text-2AFC average")),
        "unisim-hpsv2-text": none_higher(against_base(["HPSv2 ViT-H/14"], "Text-2AFC average")),
        "unisim-transfer": none_higher(against_base(["HPSv2 ViT-H/14", "IR BLIP"], "Text-2AFC average")),
        "unisim-first-or-second": Check(
            listing(rank.rename(TASKS), digits=0),
            (rank <= 2).sum() >= len(rank) - 1,
        ),
        "unisim-best-average": Check(
            f"UniSim {rounded(ours['Avg'].min(), 1)} to {rounded(ours['Avg'].max(), 1)}, others to {rounded(rest, 1)}",
            ours["Avg"].min() > rest,
        ),
        "unisim-some-cases": Check(listed_pairs(best), higher(best) > 0),
    }


def ood_sentences() -> Checks:
    """Section 4.3 on Table 3, and its caption."""
    frame = both_tables()
    mean = frame.groupby("group")["OOD Avg"].mean()
    own = against_base(BASE | OUR_BASE, "OOD Avg")
    far = against_base(BASE | OUR_BASE, "OOO", "IR")
    clip, lmm = (frame.loc[list(models), ["PAA", "OOO"]].mean() for models in (CLIPS, LMMS))
    *encoders, chat = against_base(OUR_BASE, "OOO")
    return {
        "unisim-ood-average": Check(
            listing(mean),
            mean.idxmax() == GENERAL,
            words={
                "higher": higher(own),
                "models": len(own),
                "those": listed_pairs(pair for pair in own if higher([pair])),
            },
        ),
        "unisim-ooo-ir": Check(f"lower in {len(far) - higher(far)} of {len(far)} cells", higher(far) < len(far) / 2),
        "unisim-paa-special": close_or_higher(against_base(BASE, "PAA")),
        "unisim-paa-ours": all_higher(against_base(OUR_BASE, "PAA")),
        "unisim-lmm-clip": Check(
            listed_pairs((task, lmm[task], clip[task]) for task in clip.index), (lmm < clip).all()
        ),
        "unisim-ooo-lmm": none_higher([chat]),
        "unisim-ooo-clip": close_or_higher(encoders),
    }


def scale() -> Checks:
    """Section 4.4 on the InternVL2.5 models of Tables 2 and 3."""
    frame = both_tables().loc[list(INTERNVL)]
    small, middle, large = (frame.loc[model] for model in INTERNVL)
    means = frame[list(CORE)].mean(axis=1)
    rises = int((middle[list(CORE)] > small[list(CORE)]).sum())
    sizes = frame.rename(index=lambda model: model.removeprefix("InternVL2.5-"))
    text = {column: listing(sizes[column]) for column in ("Avg", "PAA", "OOO")}
    return {
        "unisim-internvl-size": Check("8B"),
        "unisim-internvl-small": Check(rounded(means.iloc[0], 2), value=means.iloc[0], slack=HALF_DIGIT),
        "unisim-internvl-middle": Check(rounded(means.iloc[1], 2), value=means.iloc[1], slack=HALF_DIGIT),
        "unisim-internvl-rise": Check(f"{rises} of {len(CORE)} task averages rise", rises == len(CORE)),
        "unisim-internvl-large": Check(text["Avg"], large["Avg"] <= middle["Avg"]),
        "unisim-internvl-ood": Check(
            f"PAA {text['PAA']}; OOO {text['OOO']}", all(middle[task] > small[task] for task in ("PAA", "OOO"))
        ),
        "unisim-internvl-paa": Check(text["PAA"], large["PAA"] < small["PAA"]),
    }


def training_data() -> Checks:
    """Section 4.4 on Table 4: one, two or three image-text data sets."""
    sets = printed("unisim-table-4")["IT-2AFC train set"]
    values = figures("unisim-table-4").set_index(sets, append=True)
    gains = values.sub(values.xs("HQ-EDIT", level=1), level="model").drop("HQ-EDIT", level=1)
    unseen, text = gains[list(UNSEEN)].to_numpy(), gains["Text-2AFC average"]
    model, name = text.idxmin()
    default = printed("unisim-table-4")[sets == "+ MAGICBRUSH"].drop(columns=["IT-2AFC train set", "unseen average"])
    same = int((default == printed("unisim-table-2").loc[default.index, default.columns]).to_numpy().sum())
    return {
        "unisim-sets-unseen": Check(
            f"higher in {(unseen > 0).sum()} of {unseen.size} cells, {rounded(unseen.min(), 1, sign=True)} at least",
            (unseen > 0).all(),
        ),
        "unisim-sets-text": Check(
            f"higher in {(text > 0).sum()} of {len(text)} cells; "
            f"{model} with {name.removeprefix('+ ')}: {rounded(text.min(), 1, sign=True)}",
            (text > 0).all(),
        ),
        "unisim-sets-default": Check(f"{same} of {default.size} cells agree", same == default.size),
    }


def versions() -> Checks:
    """Appendix C on the v1 models of Tables 6 and 8, trained on perceptual data only."""
    core = figures("unisim-table-6")[list(LEFT_OUT)]
    ood = figures("unisim-table-8").rename(index=names_in("unisim-table-2"))
    cells = rules(8)["PAA average"] + rules(8)["OOO average"]  # LMMs are not evaluated on retrieval

    def lower(frame: pd.DataFrame, size: str) -> list[str]:
        gains = frame.loc[f"UniSim v1 LL-N-{size}"] - frame.loc[f"LLaVA-NeXT-{size}"]
        return list(gains.index[gains < 0])

    large, far, small = lower(core, "7B"), lower(ood[cells], "7B"), lower(core, "0.5B")
    means = [
        (task, *ood.loc[["UniSim LL-N-0.5B", "UniSim v1 LL-N-0.5B"], f"{task} average"]) for task in ("PAA", "OOO")
    ]
    total = len(LEFT_OUT)
    return {
        "unisim-v1-left-out": Check(f"lower in {len(large)} of {total}: {', '.join(large)}", len(large) == total),
        "unisim-v1-unseen": Check(f"lower in {len(far)} of {len(cells)}", len(far) > len(cells) / 2),
        "unisim-v1-sizes": Check(
            f"above its base in {total - len(small)} of {total} left-out sets, the 7B in {total - len(large)}",
            len(small) < len(large),
        ),
        "unisim-v1-default": all_higher(means),
    }
