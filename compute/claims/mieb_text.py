"""MIEB: the sentences of the paper that its own tables can confirm or contradict."""

from __future__ import annotations

import pandas as pd

from compute.catalog.published import number
from compute.claims.mieb_figures import (
    STS17_PAIRS,
    STS_ENGLISH,
    STSB_LANGUAGES,
    figures,
    half,
    long_name,
    mean_of,
    printed,
)
from compute.claims.mieb_statement import CELL, averaged, counted, stated, untested
from compute.types import Claim

CLOSED = "voyage-multimodal-3"  # the one model that is served, not published
E5_V = "royokong/e5-v"
BIG_G = "laion/CLIP-ViT-bigG-14-laion2B-39B-b160k"
SO_400M = "google/siglip-so400m-patch14-384"
MULTILINGUAL = "google/siglip-base-patch16-256-multilingual"
# Table 1, category -> number of tasks
TABLE_1 = {
    "Retrieval": 45,
    "Document Understanding": 10,
    "Linear Probing": 22,
    "Clustering": 5,
    "Zero-shot Classification": 23,
    "Compositionality Evaluation": 7,
    "Vision-centric QA": 6,
    "Visual STS": 9,
}
SUBTASKS = {"WIT": 11, "XFlickr30kCo": 8, "XM3600": 36}  # Table 6, languages of the multilingual tasks
WHOLE = (9, 10, 12, 13, 14, 15, 16, 17, 19, 20, 22)  # score tables of which every row can be read
REGROUPED = "The tables sort the same models by other columns: 10 categories in Table 2, 12 in Table 22."
ELSEWHERE = "It needs figures that the paper does not print."


def claims() -> list[Claim]:
    """One claim a sentence or a count."""
    return [*counts(), *order(), *leaders(), *kinds(), *extremes(), *quoted(), *unprinted()]


def best(column: pd.Series, *, without: str = "") -> str:
    """The model with the highest figure; one model may be left out."""
    return str(column.drop(without, errors="ignore").idxmax())


def counts() -> list[Claim]:
    """How many tasks, models, languages and pairs there are."""
    scored = set().union(*(printed(table).index for table in WHOLE))
    languages = {code for pair in STS17_PAIRS for code in pair.split("-")} | set(STSB_LANGUAGES)
    return [
        counted(
            "Tasks in MIEB",
            "Table 1",
            "130",
            sum(TABLE_1.values()),
            "sum of the 8 categories of Table 1",
            note="The 45 of Retrieval leave out the three multilingual tasks.",
        ),
        counted(
            "Models benchmarked",
            "Abstract",
            "50",
            len(scored),
            "models with a row in the score tables that reach us whole",
            note="Table 23 lists 50; six have no row, and two with rows are not in it.",
        ),
        counted("Models in the first leaderboard", "Appendix C", "36", len(printed(22)), "rows of Table 22"),
        counted(
            "Language pairs of the cross-lingual STS results",
            "Appendix B.4",
            "11",
            len(STS17_PAIRS),
            "columns of Table 13",
            note="The eleventh, English-English, stands in Table 12.",
        ),
        counted(
            "Languages of the multilingual STS results",
            "Appendix B.4",
            "10",
            len(STSB_LANGUAGES),
            "columns of Table 14",
            note="The tenth, English, stands in Table 12.",
        ),
        counted("Languages of Visual STS", "Table 1", "12", len(languages), "languages in Tables 13 and 14"),
        counted(
            "Multilingual retrieval subtasks",
            "Appendix B.3",
            "54",
            sum(SUBTASKS.values()),
            "sum of the languages that Table 6 lists",
            note="Section 5.5 and Table 22 say 55.",
        ),
        counted(
            "Multilingual retrieval subtasks",
            "Section 5.5",
            "55",
            sum(SUBTASKS.values()),
            "sum of the languages that Table 6 lists",
        ),
    ]


def order() -> list[Claim]:
    """Whether the overall tables are sorted as they say, and where the two disagree."""
    overall, full, small = figures(22), half("MIEB Full"), half("MIEB-lite")
    means = {
        "Table 2, MIEB (130 tasks)": full["Mean (m)"].map(number),
        "Table 2, MIEB-lite (51 tasks)": small["Mean (m)"].map(number),
        "Table 22": overall["Mean (Multiling.) (130)"],
    }
    found = []
    for where, column in means.items():
        wrong = int((column.diff() > 0).sum())
        found.append(
            stated(
                "Rows are ranked by the mean over all tasks",
                where,
                "in order",
                f"{wrong} neighbouring pairs the wrong way round" if wrong else "in order",
                "neighbouring rows of which the lower has the higher mean",
                holds=not wrong,
            )
        )
    first, second = long_name(best(full["Mean (en)"].map(number))), best(overall["Mean (Eng.) (125)"])
    place = int(means["Table 2, MIEB (130 tasks)"].rank(ascending=False)["E5-V"])
    return [
        *found,
        stated(
            "The model with the best mean over the English tasks",
            "Tables 2 and 22",
            first,
            second,
            "highest Mean (en) of Table 2 against highest Mean (Eng.) of Table 22",
            holds=first == second,
            note=REGROUPED,
        ),
        counted(
            "Overall rank of E5-V",
            "Tables 2 and 22",
            str(place),
            int(means["Table 22"].rank(ascending=False)[E5_V]),
            "its rank by Mean (m) of Table 2 against its rank by the overall mean of Table 22",
            note=REGROUPED,
        ),
    ]


def leaders() -> list[Claim]:
    """Which model is best where."""
    overall = figures(22)
    columns = [name for name in overall.columns if not name.startswith("Mean")]
    winners = {best(overall[name]) for name in columns}
    found = [
        stated(
            "No model is best in all categories",
            "Section 5",
            "none",
            f"{len(winners)} models lead 12 columns",
            "distinct best models of the 12 category columns of Table 22",
            holds=len(winners) > 1,
        )
    ]
    for name, column in (
        ("document understanding", "Doc. (10)"),
        ("English Visual STS", "Vis. STS (en) (7)"),
        ("Visual STS in other languages", "Vis. STS (cross&multi) (2 (19))"),
        ("multilingual retrieval", "Multiling. Retrieval (3 (55))"),
        ("compositionality", "Compo. (7)"),
    ):
        lead = best(overall[column], without=CLOSED)
        found.append(
            stated(
                f"E5-V is the best open model in {name}",
                "Section 5",
                E5_V,
                lead,
                f"highest of Table 22's {column} without {CLOSED}",
                holds=lead == E5_V,
            )
        )
    for table, name in ((12, "English"), (13, "cross-lingual"), (14, "multilingual")):
        lead = best(figures(table)["mean"])
        found.append(
            stated(
                f"E5-V achieves the best {name} Visual STS",
                "Section 5.6",
                E5_V,
                lead,
                f"highest mean of Table {table}",
                holds=lead == E5_V,
                note=f"It is the best of the open models; {CLOSED} is above it.",
            )
        )
    top = list(overall["Retr. (41)"].nlargest(2).index)
    second = str(overall["Multiling. Retrieval (3 (55))"].nlargest(2).index[1])
    lead = best(figures(15)["Avg."])
    return [
        *found,
        stated(
            "The two best models in retrieval",
            "Section 5.1",
            f"{BIG_G}, {SO_400M}",
            ", ".join(top),
            "the two highest of Table 22's Retr. (41)",
            holds=top == [BIG_G, SO_400M],
        ),
        stated(
            "The second-best model in multilingual retrieval",
            "Section 5.5",
            MULTILINGUAL,
            second,
            "second highest of Table 22's Multiling. Retrieval",
            holds=second == MULTILINGUAL,
        ),
        stated(
            "The best model in document understanding",
            "Section 5.7",
            CLOSED,
            lead,
            "highest average of Table 15",
            holds=lead == CLOSED,
        ),
    ]


def kinds() -> list[Claim]:
    """MLLM-based models against the others, over the 20 models of Table 2."""
    full = half("MIEB Full")
    found = []
    for name, group in (("MIEB", "MIEB Full"), ("MIEB-lite", "MIEB-lite")):
        lead = best(half(group)["Mean (m)"].map(number))
        kind = str(half(group).at[lead, "Model Type"])
        found.append(
            stated(
                f"The type of the model that leads {name}",
                "Section 5",
                "MLLM",
                kind,
                f"type of the model with the highest Mean (m) of Table 2: {lead}",
                holds=kind == "MLLM",
            )
        )
    for name, word in (
        ("LP.", "worse"),
        ("ZS.", "worse"),
        ("Clus.", "worse"),
        ("vSTS (en)", "better"),
        ("Rtrv. (m)", "better"),
        ("vSTS (x&m)", "better"),
    ):
        means = full[name].map(number).groupby(full["Model Type"]).mean()
        holds = bool((means["MLLM"] > means["Enc."]) == (word == "better"))
        found.append(
            stated(
                f"MLLM-based models compared with the others: {name}",
                "Sections 5 and 5.2",
                word,
                f"{means['MLLM']:.1f} against {means['Enc.']:.1f}",
                "mean of the MLLM rows against mean of the encoder rows of Table 2, MIEB",
                holds=holds,
            )
        )
    return found


def extremes() -> list[Claim]:
    """The easiest and the hardest categories and tasks."""
    full = half("MIEB Full")
    upper = full[list(full.columns[2:12])].map(number).mean()
    wide = figures(22).mean()
    easiest = str(upper.idxmax())
    hard, hard_wide = (sorted(column.nsmallest(2).index) for column in (upper.iloc[:8], wide.iloc[:10]))
    hardest = str(figures(20).drop(columns="Avg.").mean().idxmin())
    blip = [name for name in figures(10)["Avg."].nlargest(5).index if "blip" in name.lower()]
    return [
        stated(
            "The category with the highest average",
            "Section 5.4",
            "LP.",
            f"{easiest} {upper[easiest]:.1f}, LP. {upper['LP.']:.1f}",
            "mean of each column over the 20 models of Table 2, MIEB",
            holds=easiest == "LP.",
            note="The text says generally.",
        ),
        stated(
            "The two hardest categories",
            "Section 5.8",
            "Cmp., Rtrv.",
            ", ".join(hard),
            "lowest two of the 8 English columns, mean over the 20 models of Table 2, MIEB",
            holds=hard == ["Cmp.", "Rtrv."],
        ),
        stated(
            "The two hardest categories",
            "Section 5.8",
            "Compo. (7), Retr. (41)",
            ", ".join(hard_wide),
            "lowest two of the 10 English columns, mean over the 38 models of Table 22",
            holds=hard_wide == ["Compo. (7)", "Retr. (41)"],
        ),
        stated(
            "The hardest compositionality task",
            "Section 5.8",
            "Winoground",
            hardest,
            "lowest column mean of Table 20",
            holds=hardest == "Winoground",
        ),
        counted(
            "BLIP models among the five best in vision-centric QA",
            "Section 5.9",
            "2",
            len(blip),
            "rows with the five highest averages of Table 10",
            note="The text says two; the next BLIP model, blip2-finetune-coco, is seventh.",
        ),
    ]


def quoted() -> list[Claim]:
    """Averages quoted in sections 5.6 and 5.7 against their cells."""
    sts = mean_of(((12, STS_ENGLISH),))
    documents = figures(15).drop(columns="Avg.").mean(axis=1, skipna=False)
    return [
        *(
            averaged(
                f"{model}: average on English Visual STS",
                "Section 5.6",
                text,
                float(sts[model]),
                "mean of the 7 cells of Table 12",
                slack=CELL,
                note=note,
            )
            for model, text, note in (
                ("EVA02-CLIP-bigE-14-plus", "71.99", ""),
                ("facebook/dinov2-small", "12.98", "The lowest of four DINOv2 models; the best has 16.83."),
                ("nyu-visionx/moco-v3-vit-l", "14.31", "Printed for MoCo v3; its other model has 14.89."),
            )
        ),
        *(
            averaged(
                f"{model}: average nDCG@5 on ViDoRe",
                "Section 5.7",
                text,
                float(documents[model]),
                "mean of the 10 cells of Table 15",
                slack=CELL,
            )
            for model, text in (
                (E5_V, "62.69"),
                ("laion/CLIP-ViT-L-14-laion2B-s32B-b82K", "36.26"),
                ("laion/CLIP-ViT-H-14-laion2B-s32B-b79K", "40.41"),
                ("laion/CLIP-ViT-L-14-DataComp.XL-s13B-b90K", "38.64"),
            )
        ),
    ]


def unprinted() -> list[Claim]:
    """Statements that no readable table of the paper can test."""
    return [
        untested(
            "The best model on CUB200 retrieval is a DINOv2",
            "Section 5.1",
            "Dino-v2",
            "",
            note="Table 21 reaches us damaged, without the rows of the vision-only models.",
        ),
        *(
            untested(statement, where, text, "", note=ELSEWHERE)
            for statement, where, text in (
                ("Correlation of Visual STS with MLLMs on OCRBench and TextVQA", "Section 1", "over 99%"),
                ("Ranks of models for 8 to 256 shots in linear probing", "Section 6.1", "the same"),
                ("Tasks dropped for a mean correlation above 0.5", "Section 6.3", "11"),
                ("Tasks dropped for a mean correlation above 0.45", "Section 6.3", "32"),
                ("Clusters of tasks by UMAP and HDBSCAN", "Section 6.3", "17"),
            )
        ),
    ]
