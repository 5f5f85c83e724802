"""MIEB: the averages of Tables 2 to 5 and 22 and the sentences, recomputed from the cells of Tables 9 to 20."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
from scipy import stats

from compute import paths
from compute.catalog import shipped
from compute.catalog.published import number
from compute.claims import tables
from compute.claims.tables import column_checks, names_in, score_columns
from compute.claims.verdict import CANNOT, Check, Checks, claims_of
from compute.database import store
from compute.io.tables import read_csv
from compute.rounding import rounded
from compute.types import Claim, DatabaseError

CELL = 0.005  # half a printed unit of cells with two digits: the most that their mean can be off
COARSE_CELL = 0.05  # the same for cells with one digit
CLOSED = "voyage-multimodal-3"  # the one model that is served, not published
E5_V = "royokong/e5-v"
# Tables 2 and 22, column -> the tables whose cells it averages
TABLE_2 = {
    "Rtrv.": (21,),
    "Clus.": (9,),
    "ZS.": (18, 19),
    "LP.": (16, 17),
    "Cmp.": (20,),
    "VC.": (10,),
    "Doc.": (15,),
    "vSTS (en)": (12,),
}
TABLE_22 = {
    "Clus. (5)": (9,),
    "Compo. (7)": (20,),
    "Vis. STS (en) (7)": (12,),
    "Doc. (10)": (15,),
    "Clz. Coarse (8)": (16,),
    "Clz. Fine (13)": (17,),
    "ZS. Coarse (11)": (18,),
    "ZS. Fine (12)": (19,),
    "Vision Centric (6)": (10,),
}
LANGUAGES_22, RETRIEVAL_22 = "Vis. STS (cross&multi) (2 (19))", "Multiling. Retrieval (3 (55))"
MEAN_22 = "Mean (Multiling.) (130)"
TABLE_1 = (45, 10, 22, 5, 23, 7, 6, 9)  # tasks of each category
SUBTASKS = (11, 8, 36)  # Table 6, languages of WIT, XFlickr30kCo and XM3600
WHOLE = (9, 10, 12, 13, 14, 15, 16, 17, 19, 20, 22)  # score tables of which every row can be read
# Models whose averages the text quotes, by the ends of their keys in claims.csv
QUOTED_STS = {
    "eva02": "EVA02-CLIP-bigE-14-plus",
    "dinov2": "facebook/dinov2-small",
    "moco": "nyu-visionx/moco-v3-vit-l",
}
QUOTED_DOCUMENTS = {
    "e5-v": E5_V,
    "clip-l": "laion/CLIP-ViT-L-14-laion2B-s32B-b82K",
    "clip-h": "laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
    "datacomp": "laion/CLIP-ViT-L-14-DataComp.XL-s13B-b90K",
}
HALVES = {"full": "MIEB Full", "lite": "MIEB-lite"}
# Whether MLLM-based models are better or worse than the others in a column of Table 2 (sections 5 and 5.2)
MLLM = {
    "LP.": "worse",
    "ZS.": "worse",
    "Clus.": "worse",
    "vSTS (en)": "better",
    "Rtrv. (m)": "better",
    "vSTS (x&m)": "better",
}
PER_TASK = range(9, 22)  # the tables of which every cell is one score
# The tasks whose files hold the languages of Tables 13 and 14; the tasks of these tables have files of means alone.
BY_LANGUAGE = {
    "mieb/visualsts17multilingual": "mieb/sts17multilingualvisualsts",
    "mieb/visualsts-b-multilingual": "mieb/stsbenchmarkmultilingualvisualsts",
}
FAR = 0.5  # points: scores further apart than this differ
Part = tuple[int, list[str]]  # a table's number and the columns taken from it


def claims() -> list[Claim]:
    """Every claim of the paper that its scores touch, with its verdict."""
    tables_and_text = (
        table_22,
        table_2,
        table_3,
        table_4,
        table_5,
        lite,
        counts,
        order,
        leaders,
        kinds,
        extremes,
        quoted,
        public_files,
    )
    return claims_of("MIEB", tables_and_text)


def printed(table: int) -> pd.DataFrame:
    """A table of MIEB as text, indexed by the printed model name."""
    return tables.printed(f"mieb-table-{table}")


def figures(table: int) -> pd.DataFrame:
    """A table's numeric columns as floats in printed units, indexed by model; NaN where unreadable."""
    return tables.figures(f"mieb-table-{table}")


def half(group: str, *, read: Callable[[int], pd.DataFrame] = printed) -> pd.DataFrame:
    """One half of Table 2, indexed by model: `MIEB Full` or `MIEB-lite`; as text, or as numbers with `read=figures`."""
    return read(2)[printed(2)["group"].str.startswith(group)]


def long_names() -> dict[str, str]:
    """The models of Tables 2 and 3 as Tables 9 to 22 spell them."""
    return names_in("mieb-table-22")


def cells(*numbers: int, lite: bool = False) -> tuple[Part, ...]:
    """The score columns of these tables; `lite` takes only the tasks of MIEB-lite (ticked in Tables 6 to 8)."""
    return tuple(
        (
            number,
            [
                column
                for column, task in score_columns()[f"mieb-table-{number}"].items()
                if not lite or "mieb-lite" in task.suites
            ],
        )
        for number in numbers
    )


def mean_of(parts: tuple[Part, ...]) -> pd.Series:
    """Mean over the named cells for every model; NaN for a model with a missing cell in any of the tables."""
    wide = pd.concat([figures(table)[names].add_prefix(f"{table} ") for table, names in parts], axis=1)
    return wide.mean(axis=1, skipna=False)


def across_languages() -> pd.Series:
    """Visual STS outside English: the mean of the two task means of Tables 13 and 14, for every model."""
    return (mean_of(cells(13)) + mean_of(cells(14))) / 2


def category_checks(text: pd.DataFrame, rules: dict[str, tuple[Part, ...]], *, slack: float) -> list[Check]:
    """Each printed category average and the mean of its cells."""
    checks = []
    for column, parts in rules.items():
        count, tables = sum(len(names) for _, names in parts), " and ".join(str(table) for table, _ in parts)
        words = {"count": count, "tables": f"Table{'s' if len(parts) > 1 else ''} {tables}"}
        checks += column_checks(text[column], mean_of(parts), slack=slack, names=long_names(), words=words)
    return checks


def mean_checks(text: pd.DataFrame, means: dict[str, list[str]], *, slack: float) -> list[Check]:
    """Each printed mean and the mean of the printed its own columns table."""
    checks = []
    for column, names in means.items():
        recomputed = text[names].map(number).mean(axis=1, skipna=False)
        checks += column_checks(text[column], recomputed, slack=slack, words={"count": len(names)})
    return checks


def table_22() -> Checks:
    """Averages from cells, means from averages, and the task counts of its headings."""
    text = printed(22)
    rules = {column: cells(*numbers) for column, numbers in TABLE_22.items()}
    rules["Clz. Coarse (8)"] = ((16, [name for name in rules["Clz. Coarse (8)"][0][1] if name != "VOC2007"]),)
    categories = [name for name in text.columns if not name.startswith("Mean")]
    means = {"Mean (Eng.) (125)": categories[:10], MEAN_22: categories}
    tasks = [int(re.findall(r"\((\d+)", name)[0]) for name in categories]  # `(3 (55))`: 3 tasks, 55 subsets
    return {
        "mieb-table-22-average": category_checks(text, rules, slack=CELL),
        "mieb-table-22-languages": column_checks(text[LANGUAGES_22], across_languages(), slack=CELL),
        "mieb-table-22-mean": mean_checks(text, means, slack=CELL),
        "mieb-table-22-english-tasks": Check(value=sum(tasks[:10])),
        "mieb-table-22-tasks": Check(value=sum(tasks)),
    }


def table_2() -> Checks:
    """Both halves, which round two-digit averages of two-digit cells: both roundings make the slack."""
    checks: Checks = {}
    for key, group in HALVES.items():
        text = half(group)
        rules = {name: cells(*numbers, lite=key == "lite") for name, numbers in TABLE_2.items() if name != "Rtrv."}
        means = {"Mean (en)": list(text.columns[2:10]), "Mean (m)": list(text.columns[2:12])}
        checks |= {
            f"mieb-{key}-average": category_checks(text, rules, slack=2 * CELL),
            f"mieb-{key}-languages": column_checks(
                text["vSTS (x&m)"], across_languages(), slack=2 * CELL, names=long_names()
            ),
            f"mieb-{key}-mean": mean_checks(text, means, slack=COARSE_CELL),
        }
    retrieval = half("MIEB Full")["Rtrv. (m)"]
    checks["mieb-full-multilingual-retrieval"] = column_checks(
        retrieval, figures(22)[RETRIEVAL_22], slack=2 * CELL, names=long_names()
    )
    return checks


def table_3() -> Checks:
    """Averages and variances over languages against Table 11; the two final columns against the other six."""
    text, values = printed(3), figures(3)
    languages = figures(11).filter(regex="^XF ")
    spread = languages.var(axis=1, ddof=0, skipna=False) / 100  # of fractions, times 100, as the table's unit is
    means = languages.mean(axis=1, skipna=False)
    return {
        "mieb-table-3-average": column_checks(text["xFlickr&CO avg."], means, slack=CELL, names=long_names()),
        "mieb-table-3-variance": column_checks(text["xFlickr&CO var."], spread, slack=CELL, names=long_names()),
        "mieb-table-3-overall": [
            check
            for kind in ("avg.", "var.")
            for check in column_checks(
                text[f"avg. {kind}"], values.filter(regex=f"^[xXW].*{kind}").mean(axis=1), slack=COARSE_CELL
            )
        ],
    }


def table_4() -> Checks:
    """E5-V's Visual STS row against Table 12, and both averages."""
    frame = printed(4).set_index("group")
    ((_, tasks),) = cells(12)
    return {
        "mieb-table-4-cell": column_checks(frame.loc["v-STS (ours)", tasks], figures(12).loc[E5_V], slack=CELL),
        "mieb-table-4-average": column_checks(frame["avg."], frame[tasks].map(number).mean(axis=1), slack=COARSE_CELL),
    }


def table_5() -> Checks:
    """The saving by MIEB-lite; slack is what the rounding of the hours to one digit can do."""
    small, full = figures(5)["MIEB-lite"], figures(5)["MIEB"]
    share, most = small / full, (small + COARSE_CELL) / (full - COARSE_CELL)
    saving, slack = 100 * (1 - share), 100 * (most - share)
    return {"mieb-table-5-saving": column_checks(printed(5)["Reduction %"], saving, slack=slack)}


def lite() -> Checks:
    """How closely means on MIEB-lite follow means on MIEB (section 6.3), as far as printed cells reach."""
    full, small = (half(group, read=figures)["Mean (m)"] for group in ("MIEB Full", "MIEB-lite"))
    columns = [mean_of(cells(*numbers, lite=True)) for name, numbers in TABLE_2.items() if name not in ("Rtrv.", "ZS.")]
    readable = pd.concat([*columns, across_languages()], axis=1, join="inner").mean(axis=1, skipna=False).dropna()
    samples = {
        "halves": pd.concat([full, small], axis=1, join="inner"),
        "cells": pd.concat([figures(22)[MEAN_22], readable], axis=1, join="inner"),
    }
    return {
        f"mieb-{name}-{key}": Check(
            rounded(function(*sample.to_numpy().T).statistic, 3),
            CANNOT,
            words={"models": len(sample), "categories": len(columns) + 1},
        )
        for name, function in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr))
        for key, sample in samples.items()
    }


def best(column: pd.Series, *, without: str = "") -> str:
    """The model with the highest figure; one model may be skipped."""
    return str(column.drop(without, errors="ignore").idxmax())


def counts() -> Checks:
    """How many tasks, models, languages and pairs there are."""
    ((_, pairs),), ((_, languages),) = cells(13), cells(14)
    scored, listed = (
        {name.rpartition("/")[2] for table in tables for name in printed(table).index} for tables in (WHOLE, (23,))
    )
    gap = {"scored": len(scored), "missing": len(listed - scored), "extra": len(scored - listed)}
    return {
        "mieb-tasks": Check(value=sum(TABLE_1)),
        "mieb-models": Check(value=len(listed), words=gap),
        "mieb-first-models": Check(value=len(printed(22))),
        "mieb-pairs": Check(value=len(pairs)),
        "mieb-multilingual-languages": Check(value=len(languages)),
        "mieb-languages": Check(value=len({*"-".join(pairs).split("-"), *languages})),
        "mieb-subtasks-54": Check(value=sum(SUBTASKS)),
        "mieb-subtasks-55": Check(value=sum(SUBTASKS)),
    }


def order() -> Checks:
    """Whether the overall tables are sorted as they say, and where the two disagree."""
    full, small, overall = half("MIEB Full", read=figures), half("MIEB-lite", read=figures), figures(22)

    def in_order(means: pd.Series) -> Check:
        wrong = (means.diff() > 0).sum()
        return Check(f"{wrong} neighbouring pairs the wrong way round" if wrong else "in order")

    ranks, ranks_22 = (means.rank(ascending=False) for means in (full["Mean (m)"], overall[MEAN_22]))
    return {
        "mieb-order-full": in_order(full["Mean (m)"]),
        "mieb-order-lite": in_order(small["Mean (m)"]),
        "mieb-order-22": in_order(overall[MEAN_22]),
        "mieb-best-english": Check(
            best(overall["Mean (Eng.) (125)"]), across=True, words={"best": long_names()[best(full["Mean (en)"])]}
        ),
        "mieb-rank-e5-v": Check(value=int(ranks_22[E5_V]), across=True, words={"rank": int(ranks["E5-V"])}),
    }


def leaders() -> Checks:
    """Which model is best where."""
    overall = figures(22)
    categories = [name for name in overall.columns if not name.startswith("Mean")]
    winners = {best(overall[name]) for name in categories}

    def open_leader(column: str) -> Check:
        return Check(best(overall[column], without=CLOSED))

    return {
        "mieb-no-winner": Check(f"{len(winners)} models lead {len(categories)} columns", len(winners) > 1),
        "mieb-e5-v-documents": open_leader("Doc. (10)"),
        "mieb-e5-v-sts": open_leader("Vis. STS (en) (7)"),
        "mieb-e5-v-sts-languages": open_leader(LANGUAGES_22),
        "mieb-e5-v-retrieval": open_leader(RETRIEVAL_22),
        "mieb-e5-v-compositionality": open_leader("Compo. (7)"),
        "mieb-e5-v-english": Check(best(figures(12)["mean"])),
        "mieb-e5-v-cross-lingual": Check(best(figures(13)["mean"])),
        "mieb-e5-v-multilingual": Check(best(figures(14)["mean"])),
        "mieb-best-retrieval": Check(", ".join(overall["Retr. (41)"].nlargest(2).index)),
        "mieb-second-retrieval": Check(overall[RETRIEVAL_22].nlargest(2).index[1]),
        "mieb-best-documents": Check(best(figures(15)["Avg."])),
    }


def kinds() -> Checks:
    """MLLM-based models against the others, over the 20 models of Table 2."""
    checks: Checks = {}
    for key, group in HALVES.items():
        lead = best(half(group, read=figures)["Mean (m)"])
        checks[f"mieb-{key}-type"] = Check(half(group).at[lead, "Model Type"], words={"lead": lead})
    means = half("MIEB Full", read=figures).groupby(half("MIEB Full")["Model Type"]).mean()
    checks["mieb-mllm"] = [
        Check(
            f"{rounded(mllm, 1)} against {rounded(encoder, 1)}",
            (mllm > encoder) == (word == "better"),
            words={"column": column, "word": word},
        )
        for column, word in MLLM.items()
        for mllm, encoder in [means.loc[["MLLM", "Enc."], column]]
    ]
    return checks


def extremes() -> Checks:
    """The easiest and the hardest categories and tasks."""
    table = half("MIEB Full", read=figures)
    upper, wide = table.mean().iloc[:10], figures(22).mean()
    whole = table.iloc[:, :10].dropna(subset=["LP."])
    leads = int((whole["LP."] >= whole.max(axis=1)).sum())
    easiest = str(upper.idxmax())
    hard, hard_wide = (", ".join(sorted(column.nsmallest(2).index)) for column in (upper.iloc[:8], wide.iloc[:10]))
    blip = figures(10)["Avg."].nlargest(5).index.str.contains("blip", case=False)
    return {
        # "Generally the highest" is a statement about models, so it is compared model by model.
        "mieb-easiest": Check(
            f"LP. is highest for {leads} of {len(whole)} models",
            CANNOT if easiest != "LP." else True,
            words={"easiest": easiest, "mean": upper[easiest], "lp": upper["LP."]},
        ),
        "mieb-hardest-table-2": Check(hard),
        "mieb-hardest-table-22": Check(hard_wide),
        "mieb-hardest-composition": Check(str(figures(20).drop(columns="Avg.").mean().idxmin())),
        "mieb-blip": Check(value=blip.sum()),
    }


def quoted() -> Checks:
    """Averages quoted in sections 5.6 and 5.7 against their cells."""
    return {
        f"mieb-quoted-{key}": Check(value=mean_of(cells(table))[model], slack=CELL)
        for table, models in ((12, QUOTED_STS), (15, QUOTED_DOCUMENTS))
        for key, model in models.items()
    }


def public_files() -> Checks:
    """The readable cells of Tables 9 to 21 against the shipped results of the test split, score by score."""
    columns = read_csv(paths.PUBLISHED / "columns.csv", columns=("table", "column", "role", "task", "subset", "metric"))
    models = {alias.printed: alias.model for alias in shipped().aliases if alias.benchmark == "mieb"}
    cells = pd.concat(
        figures(table)[column.column]
        .rename(models)
        .rename_axis("model")
        .reset_index(name="printed")
        .assign(
            task=column.task if column.subset == "average" else BY_LANGUAGE.get(column.task, column.task),
            subset=column.subset,
            metric=column.metric,
            table=table,
            column=column.column,
        )
        for table in PER_TASK
        for column in columns[(columns.table == f"mieb-table-{table}") & (columns.role == "score")].itertuples()
    ).dropna()
    try:
        files = store.read_parquet(paths.IMPORTED / "mteb.parquet")
    except (OSError, DatabaseError):
        return {"mieb-public-files": Check(holds=CANNOT, words={"differ": "The public results are not here"})}
    files = files[files.main].assign(
        model=lambda frame: frame.folder.str.replace("__", "/", n=1).str.lower(),
        task=lambda frame: frame.task.map({task.title: task.key for task in shipped().tasks}),
    )
    both = cells.merge(files, on=["model", "task", "subset", "metric"])
    gap = 100 * both.value - both.printed
    far = gap.abs() > FAR
    titles = both.model.map({model.key: model.title for model in shipped().models})
    cells = (both.column + gap.map(" {:+.2f}".format))[far].groupby([titles, both.table], sort=False).agg(", ".join)
    return {
        "mieb-public-files": Check(
            f"{far.sum()} of {len(both):,} differ by more than {FAR} points; mean difference "
            f"{rounded(gap.mean(), 3, sign=True)}",
            not far.any(),
            across=True,
            words={"differ": "; ".join(f"{model} in Table {table}: {text}" for (model, table), text in cells.items())},
        )
    }
