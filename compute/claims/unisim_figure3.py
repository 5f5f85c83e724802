"""UniSim-Bench's Figure 3: Kendall tau-b between tasks, general-purpose and specialised models apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pandas as pd
from scipy.stats import kendalltau

from compute.catalog.published import numbers, read_table
from compute.claims.unisim_tables import CORE, statement
from compute.types import Claim

GENERAL, SPECIAL, OURS = "General-purpose models", "Specialized models", "Our models"
WEAK = 0.3  # a Kendall tau no larger than this in size is called weak here; the paper sets no bound
TASKS = {name: name.removesuffix(" average") for name in CORE}
# Rows of Table 3 that Table 2 names differently.
NAMES_3_2 = {
    "LLaVA NeXT-0.5B": "LLaVA-NeXT-0.5B",
    "LLaVA NeXT-7B": "LLaVA-NeXT-7B",
    "DreamSim ViT-B/32": "DS ViT-B/32",
    "ImageReward BLIP": "IR BLIP",
}
APPENDIX_ONLY = ["SigLIP SoViT/14", "Mantis Idefics-8B"]


def claims() -> list[Claim]:
    """What section 3.2 reads from the maps of Figure 3, which print no numbers."""
    return figure_3(core_table().join(ood_table()))


def core_table() -> pd.DataFrame:
    """Table 2 as numbers, one row a model, with the printed group."""
    frame = read_table("unisim-table-2").set_index("model")
    return numbers(frame, columns=[name for name in frame.columns if name != "group"]).assign(group=frame["group"])


def ood_table() -> pd.DataFrame:
    """Table 3 as numbers under the model names of Table 2; its mean is `OOD Avg`."""
    frame = read_table("unisim-table-3").set_index("model").rename(index=NAMES_3_2)
    return numbers(frame, columns=["PAA", "OOO", "IR", "Avg"]).rename(columns={"Avg": "OOD Avg"})


def taus(frame: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Kendall tau-b of each pair of columns over the models that have both."""
    return {
        f"{TASKS.get(a, a)}-{TASKS.get(b, b)}": float(kendalltau(*frame[[a, b]].dropna().T.values).statistic)
        for a, b in pairs
    }


def figure_3(frame: pd.DataFrame) -> list[Claim]:
    """The maps over the printed task averages of Tables 2 and 3, one group of models at a time."""
    general, special = (frame[frame["group"] == group] for group in (GENERAL, SPECIAL))
    inner = list(itertools.combinations(CORE, 2))
    formula = "Kendall tau-b over the printed task averages of the {} models of Tables 2 and 3"
    few = "At most 6 specialised models share two tasks, so each value is very uncertain."
    core_g, core_s = taus(general, inner), taus(special, inner)
    pair = "IT-2AFC-Text-2AFC"
    fewer = taus(general.drop(index=APPENDIX_ONLY), inner)["Img-2AFC-Text-2AFC"]
    return [
        statement(
            "Core tasks correlate positively among general-purpose models",
            where="Section 3.2, Figure 3a",
            printed="positive",
            recomputed=_listed(core_g),
            verdict=all(tau > 0 for tau in core_g.values()),
            formula=formula.format("general-purpose"),
            note="Reproduces if all 6 are positive. Without the models of the appendix (SigLIP, Mantis) "
            f"Img-2AFC-Text-2AFC is {fewer:.2f}.",
        ),
        statement(
            "Core tasks correlate weakly or negatively among specialised models",
            where="Section 3.2, Figure 3b",
            printed="very weak or even negative",
            recomputed=_listed(core_s),
            verdict=all(tau <= WEAK for tau in core_s.values()),
            formula=formula.format("specialised"),
            note=f"{few} Weak is read as at most {WEAK}.",
        ),
        statement(
            "IT-2AFC and Text-2AFC, closely related, lose their correlation among specialised models",
            where="Section 3.2",
            printed="very weak or even negative",
            recomputed=f"general-purpose {core_g[pair]:.2f}, specialised {core_s[pair]:.2f}",
            verdict=core_s[pair] <= WEAK < core_g[pair],
            formula=formula.format("general-purpose and specialised"),
            note=f"{few} Weak is read as at most {WEAK}.",
        ),
        _no_correlation(general, "general-purpose", formula=formula, more="IR rests on 5 models."),
        _no_correlation(special, "specialised", formula=formula, more=few),
    ]


def _no_correlation(models: pd.DataFrame, group: str, *, formula: str, more: str) -> Claim:
    values = taus(models, itertools.product(CORE, ("PAA", "OOO", "IR")))
    loud = [name for name, tau in values.items() if abs(tau) > WEAK]
    return statement(
        f"Out-of-distribution tasks show no correlation with core tasks, {group} models",
        where="Section 3.2, Figure 3",
        printed="no correlation",
        recomputed=_listed(values),
        verdict=not loud,
        formula=formula.format(group),
        note=f"None is read as at most {WEAK} in size; beyond it: {', '.join(loud) or 'none'}. {more}",
    )


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {tau:.2f}" for name, tau in values.items())
