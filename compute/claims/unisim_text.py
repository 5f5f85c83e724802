"""UniSim-Bench's sentences: what sections 1 to 4.3 say of the tables, held against the tables."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from compute.claims.unisim_figure3 import OURS, SPECIAL, TASKS, core_table, ood_table
from compute.claims.unisim_tables import CORE, LEFT_OUT, statement
from compute.types import Claim

# What each model was fine-tuned from (section 4.1).
BASE = {
    "DS ViT-B/32": "CLIP ViT-B/32",
    "IR BLIP": "BLIP ViT-L/14",
    "HPSv2 ViT-H/14": "CLIP ViT-H/14",
    "PAC-S ViT-L/14": "CLIP ViT-L/14",
    "LIQE ViT-B/32": "CLIP ViT-B/32",
}
OUR_BASE = {
    "UniSim ViT-B/32": "CLIP ViT-B/32",
    "UniSim ViT-L/14": "CLIP ViT-L/14",
    "UniSim LL-N-0.5B": "LLaVA-NeXT-0.5B",
}
CLIPS = ("CLIP ViT-B/32", "CLIP ViT-L/14", "CLIP ViT-H/14")
LMMS = (
    "LLaVA-NeXT-0.5B",
    "LLaVA-NeXT-7B",
    "Mantis Idefics-8B",
    "Qwen2-VL-7B",
    "InternVL2.5-8B",
    "InternVL2.5-26B",
    "InternVL2.5-38B",
)
Pair = tuple[str, float, float]  # label, a model's figure, the figure it is held against


def claims() -> list[Claim]:
    """The statements of sections 4.2 and 4.3, and those of the abstract and section 1 that they rest on."""
    return [*core_statements(core_table()), *ood_statements(ood_table())]


def core_statements(core: pd.DataFrame) -> list[Claim]:
    """Section 4.2 on Table 2."""

    def against_base(model: str, column: str) -> Pair:
        return model, core.at[model, column], core.at[(BASE | OUR_BASE)[model], column]

    hq = [against_base(model, "HQ-EDIT (IT)") for model in ("HPSv2 ViT-H/14", "IR BLIP")]
    unseen = [against_base(model, column) for model in OUR_BASE for column in LEFT_OUT]
    raised = [against_base(model, column) for model in OUR_BASE for column in CORE]
    dream = [against_base("DS ViT-B/32", f"{task} average") for task in ("IT-2AFC", "Text-2AFC")]
    text = [against_base(model, "Text-2AFC average") for model in ("HPSv2 ViT-H/14", "IR BLIP")]
    kept = [
        *(against_base("DS ViT-B/32", column) for column in ("BAPPS", "PIEAPP (2AFC)")),
        *(against_base("LIQE ViT-B/32", column) for column in ("PIEAPP (IQA)", "AGIQA-3K (quality)", "PIPAL")),
    ]
    ours, special = core[core["group"] == OURS], core[core["group"] == SPECIAL]
    rank = core[list(CORE)].rank(ascending=False, method="min").loc[ours.index].min()
    rest = core["Avg"].drop(ours.index).max()
    images = core["Img-2AFC average"].sort_values(ascending=False)
    best = {
        task: (ours[f"{task} average"].max(), special[f"{task} average"].max()) for task in ("IT-2AFC", "Text-2AFC")
    }
    where = "Section 4.2"
    return [
        statement(
            "DreamSim and LIQE generalise to unseen data sets of their own task",
            where=where,
            printed="generalise",
            recomputed=_shown(kept),
            verdict=_higher(kept) == len(kept),
            formula="each against its base model on the data sets it was not trained on",
        ),
        statement(
            "HPSv2 and ImageReward fall below the generalist baselines on HQ-EDIT",
            where=where,
            printed="worse",
            recomputed=_shown(hq),
            verdict=_higher(hq) == 0,
            formula="IT-2AFC HQ-EDIT of each against the model it was fine-tuned from",
        ),
        statement(
            "UniSim outperforms its baselines on the left-out data sets",
            where=where,
            printed="outperform",
            recomputed=f"higher in {_higher(unseen)} of {len(unseen)} cells",
            verdict=_higher(unseen) == len(unseen),
            formula="3 UniSim models against their bases on the 6 core data sets kept out of training",
        ),
        statement(
            "UniSim improves upon its base models across all tasks",
            where=where,
            printed="all tasks",
            recomputed=f"higher in {_higher(raised)} of {len(raised)} averages",
            verdict=_higher(raised) == len(raised),
            formula="3 UniSim models against their bases, 4 task averages",
        ),
        statement(
            "DreamSim is best on Img-2AFC",
            where=where,
            printed="best",
            recomputed=", ".join(f"{model} {value:.1f}" for model, value in images.head(3).items()),
            verdict=all(model.startswith("DS ") for model in images.index[:2]),
            formula="the three highest Img-2AFC averages",
        ),
        statement(
            "DreamSim underperforms CLIP on IT-2AFC and Text-2AFC",
            where=where,
            printed="underperforms",
            recomputed=_shown(dream),
            verdict=_higher(dream) == 0,
            formula="the two averages of DS ViT-B/32 against CLIP ViT-B/32",
        ),
        statement(
            "HPSv2 underperforms CLIP ViT-H/14 on Text-2AFC",
            where=f"{where}, caption of Table 2",
            printed="underperforms",
            recomputed=_shown(text[:1]),
            verdict=_higher(text[:1]) == 0,
            formula="Text-2AFC average of HPSv2 against its base",
        ),
        statement(
            "Metrics made for IT-2AFC do not transfer to Text-2AFC",
            where="Section 1",
            printed="do not transfer",
            recomputed=_shown(text),
            verdict=_higher(text) == 0,
            formula="Text-2AFC averages of HPSv2 and ImageReward against their bases",
        ),
        statement(
            "UniSim is first or second best across nearly all tasks",
            where=f"{where}, caption of Table 2",
            printed="first or second",
            recomputed=", ".join(f"{TASKS[name]} {at:.0f}" for name, at in rank.items()),
            verdict=bool((rank <= 2).sum() >= len(rank) - 1),
            formula="rank of the best UniSim model among the 23 rows, a task at a time",
            note="With the two DreamSim rows counted once Img-2AFC is second; IQA stays fourth.",
        ),
        statement(
            "UniSim has the best average performance",
            where=where,
            printed="best",
            recomputed=f"UniSim {ours['Avg'].min():.1f} to {ours['Avg'].max():.1f}, others to {rest:.1f}",
            verdict=bool(ours["Avg"].min() > rest),
            formula="Avg of Table 2",
        ),
        statement(
            "UniSim surpasses task-specific models in some cases",
            where="Abstract",
            printed="surpasses",
            recomputed=_shown([(task, *pair) for task, pair in best.items()]),
            verdict=any(a > b for a, b in best.values()),
            formula="highest average of a UniSim and of a specialised model",
        ),
    ]


def ood_statements(ood: pd.DataFrame) -> list[Claim]:
    """Section 4.3 on Table 3."""

    def against_base(column: str, bases: dict[str, str]) -> list[Pair]:
        pairs = [(model, ood.at[model, column], ood.at[base, column]) for model, base in bases.items()]
        return [pair for pair in pairs if not (math.isnan(pair[1]) or math.isnan(pair[2]))]

    group = core_table()["group"].reindex(ood.index)
    mean = ood["OOD Avg"].groupby(group).mean()
    own = against_base("OOD Avg", BASE | OUR_BASE)
    far = [*against_base("OOO", BASE | OUR_BASE), *against_base("IR", BASE | OUR_BASE)]
    paa, ours = against_base("PAA", BASE), against_base("PAA", OUR_BASE)
    clip, lmm = ood.loc[list(CLIPS)].mean(), ood.loc[list(LMMS)].mean()
    ooo = {model: (model, a, b) for model, a, b in against_base("OOO", OUR_BASE)}
    encoders = [ooo["UniSim ViT-B/32"], ooo["UniSim ViT-L/14"]]
    where = "Section 4.3"
    return [
        statement(
            "Perceptual models average lower than general-purpose ones on unseen tasks",
            where=where,
            printed="lower",
            recomputed=", ".join(f"{name} {value:.1f}" for name, value in mean.items()),
            verdict=bool(mean.idxmax() not in (SPECIAL, OURS)),
            formula="mean of the Avg of Table 3, a group at a time",
            note=f"Model by model, {_higher(own)} of {len(own)} exceed the model they were fine-tuned from: "
            f"{_shown(pair for pair in own if pair[1] > pair[2])}.",
        ),
        statement(
            "Perceptual metrics generally underperform their baselines on OOO and IR",
            where="Caption of Table 3",
            printed="generally",
            recomputed=f"lower in {len(far) - _higher(far)} of {len(far)} cells",
            verdict=_higher(far) < len(far) / 2,
            formula="OOO and IR of each against the model it was fine-tuned from",
            note="Generally is read as in more than half.",
        ),
        statement(
            "Specialised models come close to or slightly exceed their baselines on PAA",
            where=where,
            printed="close or slightly above",
            recomputed=_shown(paa),
            verdict=all(a > b - 2 for _, a, b in paa),
            formula="PAA of each against the model it was fine-tuned from",
            note="Close is read as within 2 points.",
        ),
        statement(
            "All UniSim models outperform their baselines on PAA",
            where=where,
            printed="outperform",
            recomputed=_shown(ours),
            verdict=_higher(ours) == len(ours),
            formula="PAA of the 3 UniSim models against their bases",
        ),
        statement(
            "LMMs are generally worse than CLIP models on unseen tasks",
            where=where,
            printed="worse",
            recomputed=_shown((task, lmm[task], clip[task]) for task in ("PAA", "OOO")),
            verdict=bool((lmm[["PAA", "OOO"]] < clip[["PAA", "OOO"]]).all()),
            formula="mean over 7 general-purpose LMMs against the mean over 3 CLIP models",
        ),
        statement(
            "The LMM-based UniSim drops on OOO",
            where=where,
            printed="drops significantly",
            recomputed=_shown([ooo["UniSim LL-N-0.5B"]]),
            verdict=_higher([ooo["UniSim LL-N-0.5B"]]) == 0,
            formula="OOO average against LLaVA-NeXT-0.5B",
            note="Guessing gives 33.3.",
        ),
        statement(
            "CLIP-based UniSim models are unaffected on OOO",
            where=where,
            printed="unaffected",
            recomputed=_shown(encoders),
            verdict=all(a > b - 2 for _, a, b in encoders),
            formula="OOO averages against their bases",
            note="Unaffected is read as within 2 points of the base.",
        ),
    ]


def _higher(pairs: Iterable[Pair]) -> int:
    return sum(a > b for _, a, b in pairs)


def _shown(pairs: Iterable[Pair]) -> str:
    return ", ".join(f"{name} {a:.1f} against {b:.1f}" for name, a, b in pairs)
