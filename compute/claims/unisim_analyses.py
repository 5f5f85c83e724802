"""UniSim-Bench's further analyses: what section 4.4 and appendix C say, held against Tables 3, 4, 6 and 8."""

from __future__ import annotations

import pandas as pd

from compute.catalog.published import numbers, read_table
from compute.claims.unisim_figure3 import core_table, ood_table
from compute.claims.unisim_tables import CORE, LEFT_OUT, OOD, statement
from compute.claims.verdict import judge
from compute.types import Claim

FAMILY = ("InternVL2.5-8B", "InternVL2.5-26B", "InternVL2.5-38B")
V1_SMALL, V1_LARGE, DEFAULT = "UniSim v1 LL-N-0.5B", "UniSim v1 LL-N-7B", "UniSim LL-N-0.5B"
OOD_CELLS = (*OOD["PAA average"], *OOD["OOO average"])  # LMMs are not evaluated on retrieval
NO_NUMBERS = "The figure prints no numbers."


def claims() -> list[Claim]:
    """Scale, training data, the two versions of UniSim LL-N, and what cannot be checked."""
    return [*scale(), *training_data(), *versions(), *unchecked()]


def scale() -> list[Claim]:
    """Section 4.4 on the InternVL2.5 family in Tables 2 and 3."""
    core, ood = core_table().loc[list(FAMILY)], ood_table().loc[list(FAMILY)]
    small, middle, large = FAMILY
    averages = {model: core.loc[model, list(CORE)].mean() for model in FAMILY}
    rises = int((core.loc[middle, list(CORE)] > core.loc[small, list(CORE)]).sum())
    where = "Section 4.4"

    def row(column: str) -> str:
        frame = core if column in core else ood
        return ", ".join(f"{model.removeprefix('InternVL2.5-')} {frame.at[model, column]:.1f}" for model in FAMILY)

    return [
        statement(
            "Size of the smallest InternVL2.5 model",
            where=where,
            printed="7B",
            recomputed="8B",
            verdict="conflict",
            formula="name of the model in Tables 2, 3, 6 and 8",
            note="Section 4.1 and the same paragraph also say 8B.",
        ),
        statement(
            "Average of the smallest InternVL2.5 model on core tasks",
            where=where,
            printed="73.0",
            recomputed=f"{averages[small]:.2f}",
            verdict=judge("73.0", averages[small], slack=0.05),
            formula="mean of its 4 task averages in Table 2",
            note="Table 2 prints 73.3.",
        ),
        statement(
            "Average of InternVL2.5-26B on core tasks",
            where=where,
            printed="77.0",
            recomputed=f"{averages[middle]:.2f}",
            verdict=judge("77.0", averages[middle], slack=0.05),
            formula="mean of its 4 task averages in Table 2",
        ),
        statement(
            "InternVL2.5 improves consistently from 8B to 26B on core tasks",
            where=where,
            printed="consistent",
            recomputed=f"{rises} of {len(CORE)} task averages rise",
            verdict=rises == len(CORE),
            formula="task averages of Table 2, 26B against 8B",
        ),
        statement(
            "InternVL2.5 gains nothing more at 38B on core tasks",
            where=where,
            printed="no further gains",
            recomputed=row("Avg"),
            verdict=bool(core.at[large, "Avg"] <= core.at[middle, "Avg"]),
            formula="Avg of Table 2",
        ),
        statement(
            "InternVL2.5-26B outperforms the 8B on unseen tasks",
            where=where,
            printed="outperforms",
            recomputed=f"PAA {row('PAA')}; OOO {row('OOO')}",
            verdict=bool((ood.loc[middle, ["PAA", "OOO"]] > ood.loc[small, ["PAA", "OOO"]]).all()),
            formula="PAA and OOO of Table 3",
        ),
        statement(
            "InternVL2.5-38B falls below the 8B on PAA",
            where=where,
            printed="below",
            recomputed=row("PAA"),
            verdict=bool(ood.at[large, "PAA"] < ood.at[small, "PAA"]),
            formula="PAA of Table 3",
        ),
    ]


def training_data() -> list[Claim]:
    """Section 4.4 on Table 4: one, two or three image-text data sets."""
    frame = read_table("unisim-table-4")
    columns = ["IMAGEREWARD", "AGIQA-3K (alignment)", "Text-2AFC average"]
    values = numbers(frame, columns=columns).set_index([frame["model"], frame["IT-2AFC train set"]])
    one = values.xs("HQ-EDIT", level=1)
    gains = pd.concat({name: values.xs(name, level=1) - one for name in ("+ HPDV2", "+ MAGICBRUSH")})
    unseen, text = gains[columns[:2]].to_numpy().ravel(), gains[columns[2]]
    last = frame[frame["IT-2AFC train set"] == "+ MAGICBRUSH"].set_index("model")
    shared = [name for name in last.columns if name not in ("IT-2AFC train set", "unseen average")]
    full = read_table("unisim-table-2").set_index("model").loc[last.index]
    same = int((last[shared] == full[shared]).to_numpy().sum())
    worst = f"{text.idxmin()[1]} with {text.idxmin()[0].removeprefix('+ ')}: {text.min():+.1f}"
    where = "Section 4.4, Table 4"
    return [
        statement(
            "Two or three training sets improve the unseen image-text data sets",
            where=where,
            printed="improves",
            recomputed=f"higher in {(unseen > 0).sum()} of {len(unseen)} cells, {unseen.min():+.1f} at least",
            verdict=bool((unseen > 0).all()),
            formula="IMAGEREWARD and AGIQA-3K with two and three sets against HQ-EDIT alone, both models",
        ),
        statement(
            "Two or three training sets also enhance Text-2AFC",
            where=where,
            printed="enhances",
            recomputed=f"higher in {int((text > 0).sum())} of {len(text)} cells; {worst}",
            verdict=bool((text > 0).all()),
            formula="Text-2AFC with two and three sets against HQ-EDIT alone, both models",
        ),
        statement(
            "The default rows of Table 4 are the UniSim rows of Table 2",
            where="Tables 2 and 4",
            printed="same models",
            recomputed=f"{same} of {last[shared].size} cells agree",
            verdict=same == last[shared].size,
            formula="cells printed in both tables, compared",
        ),
    ]


def versions() -> list[Claim]:
    """Appendix C on the v1 models of Tables 6 and 8, trained on perceptual data only."""
    core = read_table("unisim-table-6").set_index("model")
    core = numbers(core, columns=list(LEFT_OUT))
    ood = (
        read_table("unisim-table-8")
        .set_index("model")
        .rename(index={"LLaVA NeXT-0.5B": "LLaVA-NeXT-0.5B", "LLaVA NeXT-7B": "LLaVA-NeXT-7B"})
    )
    ood = numbers(ood, columns=[*OOD_CELLS, "PAA average", "OOO average"])

    def lower(frame: pd.DataFrame, model: str, base: str, cells: tuple[str, ...]) -> list[str]:
        return [name for name in cells if frame.at[model, name] < frame.at[base, name]]

    left = lower(core, V1_LARGE, "LLaVA-NeXT-7B", LEFT_OUT)
    far = lower(ood, V1_LARGE, "LLaVA-NeXT-7B", OOD_CELLS)
    small = lower(core, V1_SMALL, "LLaVA-NeXT-0.5B", LEFT_OUT)
    means = {task: (ood.at[DEFAULT, f"{task} average"], ood.at[V1_SMALL, f"{task} average"]) for task in ("PAA", "OOO")}
    where = "Appendix C"
    return [
        statement(
            "UniSim LL-N-7B is worse than its baseline on the left-out core data sets",
            where=where,
            printed="worse",
            recomputed=f"lower in {len(left)} of {len(LEFT_OUT)}: {', '.join(left)}",
            verdict=len(left) == len(LEFT_OUT),
            formula="Table 6, against LLaVA-NeXT-7B",
        ),
        statement(
            "UniSim LL-N-7B is worse than its baseline on most unseen data sets",
            where=where,
            printed="most",
            recomputed=f"lower in {len(far)} of {len(OOD_CELLS)}",
            verdict=len(far) > len(OOD_CELLS) / 2,
            formula="Table 8, PAA and OOO cells against LLaVA-NeXT-7B",
        ),
        statement(
            "UniSim LL-N-0.5B v1 generalises better than the 7B",
            where=where,
            printed="better",
            recomputed=f"above its base in {len(LEFT_OUT) - len(small)} of {len(LEFT_OUT)} left-out sets, "
            f"the 7B in {len(LEFT_OUT) - len(left)}",
            verdict=len(small) < len(left),
            formula="Table 6, each v1 model against its base",
        ),
        statement(
            "Adding multi-image data lets UniSim LL-N-0.5B generalise better than v1",
            where=where,
            printed="better",
            recomputed=", ".join(f"{task} {a:.1f} against {b:.1f}" for task, (a, b) in means.items()),
            verdict=all(a > b for a, b in means.values()),
            formula="PAA and OOO averages of Table 8",
        ),
    ]


def unchecked() -> list[Claim]:
    """Statements that rest on drawings without numbers."""
    formula = "not computed: the figure prints no numbers"
    return [
        statement(
            "CLIP-based UniSim keeps nearly 50% accuracy among 8 images",
            where="Section 4.4, Figure 4",
            printed="nearly 50%",
            recomputed="",
            verdict="cannot be recomputed",
            formula=formula,
            note=NO_NUMBERS,
        ),
        statement(
            "CLIP-based UniSim is three times as accurate as CLIP among 8 images",
            where="Section 4.4, Figure 4",
            printed="three times",
            recomputed="",
            verdict="cannot be recomputed",
            formula=formula,
            note=NO_NUMBERS,
        ),
        statement(
            "Examples in the prompt lower the accuracy of every LMM tried",
            where="Appendix C, Figure 5",
            printed="consistently lower",
            recomputed="",
            verdict="cannot be recomputed",
            formula=formula,
            note=NO_NUMBERS,
        ),
    ]
