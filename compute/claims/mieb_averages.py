"""MIEB: the category averages and means of Tables 22 and 2, against the cells of Tables 9 to 20."""

from __future__ import annotations

import re

import pandas as pd

from compute.catalog.published import number
from compute.claims.mieb_figures import (
    FULL,
    LITE,
    TABLE_22,
    Part,
    across_languages,
    figures,
    half,
    long_name,
    mean_of,
    printed,
    value,
)
from compute.claims.mieb_statement import CELL, COARSE_CELL, averaged, counted, untested
from compute.types import Claim

ACROSS = "mean of the means of Tables 13 and 14"
LOST_RETRIEVAL = "Table 21 reaches us damaged: no row has all the cells of this average."
LOST_LANGUAGES = "Table 11 reaches us cut off: most of XM3600 and all of WIT are missing."
LEFT_OUT = "Table 22 leaves out VOC2007 and four retrieval tasks; Table 2 counts them."
Source = tuple[pd.Series, str]  # recomputed averages by model, and the formula in words


def claims() -> list[Claim]:
    """Table 22, then both halves of Table 2; a column that is lost altogether is one claim."""
    return [
        *table_22(),
        *table_2("MIEB Full", "Table 2, MIEB (130 tasks)", FULL),
        *table_2("MIEB-lite", "Table 2, MIEB-lite (51 tasks)", LITE),
    ]


def described(parts: tuple[Part, ...]) -> str:
    """The formula of a category average in words: `mean of the 22 cells of Tables 16 and 17`."""
    count = sum(len(names) for _, names in parts)
    tables = " and ".join(str(table) for table, _ in parts)
    return f"mean of the {count} cells of Table{'s' if len(parts) > 1 else ''} {tables}"


def columns_of(texts: pd.DataFrame, sources: dict[str, Source], where: str, *, slack: float) -> list[Claim]:
    """One claim a cell: the printed averages, indexed by model, against those recomputed under long names."""
    return [
        averaged(f"{model}: {column}", where, text, value(averages, long_name(model)), formula, slack=slack)
        for column, (averages, formula) in sources.items()
        for model, text in texts[column].items()
    ]


def means_of(texts: pd.DataFrame, means: dict[str, list[str]], where: str, *, slack: float) -> list[Claim]:
    """One claim a printed mean, recomputed from the printed columns of its own table."""
    found = []
    for column, names in means.items():
        recomputed = texts[names].map(number).mean(axis=1, skipna=False)
        found += [
            averaged(
                f"{model}: {column}",
                where,
                text,
                value(recomputed, model),
                f"mean of {len(names)} columns",
                slack=slack,
            )
            for model, text in texts[column].items()
        ]
    return found


def table_22() -> list[Claim]:
    """Averages from cells, means from averages, and the task counts of its headings."""
    texts = printed(22)
    sources = {column: (mean_of(parts), described(parts)) for column, parts in TABLE_22.items()}
    sources["Vis. STS (cross&multi) (2 (19))"] = (across_languages(), ACROSS)
    categories = [name for name in texts.columns if not name.startswith("Mean")]
    means = {"Mean (Eng.) (125)": categories[:10], "Mean (Multiling.) (130)": categories}
    counts = [int(re.findall(r"\((\d+)", name)[0]) for name in categories]  # `(3 (55))`: 3 tasks, 55 subsets
    return [
        *columns_of(texts, sources, "Table 22", slack=CELL),
        *(
            untested(
                f"{column}: the averages of {len(texts)} models",
                "Table 22",
                f"{len(texts)} averages",
                "mean of the tasks of its table",
                note=note,
            )
            for column, note in (
                ("Retr. (41)", LOST_RETRIEVAL),
                ("Multiling. Retrieval (3 (55))", LOST_LANGUAGES),
            )
        ),
        *means_of(texts, means, "Table 22", slack=CELL),
        counted(
            "Tasks behind Mean (Eng.)",
            "Table 22, heading",
            "125",
            sum(counts[:10]),
            "sum of the counts in the headings of its 10 columns",
            note=LEFT_OUT,
        ),
        counted(
            "Tasks behind Mean (Multiling.)",
            "Table 22, heading",
            "130",
            sum(counts),
            "sum of the counts in the headings of its 12 columns",
            note=LEFT_OUT,
        ),
    ]


def table_2(group: str, where: str, rules: dict[str, tuple[Part, ...]]) -> list[Claim]:
    """One half. It rounds two-digit averages of two-digit cells: both roundings make the slack."""
    texts = half(group)
    kept = {column: parts for column, parts in rules.items() if column != "Rtrv."}
    sources = {column: (mean_of(parts), described(parts)) for column, parts in kept.items()}
    sources["vSTS (x&m)"] = (across_languages(), ACROSS)
    lost = [("Rtrv.", LOST_RETRIEVAL)]
    if group == "MIEB Full":
        sources["Rtrv. (m)"] = (figures(22)["Multiling. Retrieval (3 (55))"], "the same average in Table 22")
    else:
        lost.append(("Rtrv. (m)", LOST_LANGUAGES))
    columns = list(texts.columns[2:12])
    return [
        *columns_of(texts, sources, where, slack=2 * CELL),
        *(
            untested(
                f"{column}: the averages of {len(texts)} models",
                where,
                f"{len(texts)} averages",
                "mean of the tasks of its table",
                note=note,
            )
            for column, note in lost
        ),
        *means_of(texts, {"Mean (en)": columns[:8], "Mean (m)": columns}, where, slack=COARSE_CELL),
    ]
