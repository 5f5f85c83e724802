"""PairBench, its tables: aggregate scores, correlations, sizes of the splits and the models listed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import t

from compute.catalog.published import numbers, read_table
from compute.claims.verdict import judge, shown, stated
from compute.types import Claim

PAPER = "PairBench"
statement = partial(stated, PAPER)
HALF_UNIT = 0.005  # rounding of a printed MMScore, in its printed units
MEASURES = {"MMScore": "MMScore", "1-RS": "1-RelaxSym", "SM": "Smoothness", "Cont": "Controllability"}
NOT_PRINTED = "The figure it is made from is not printed per split."


@dataclass(frozen=True, kw_only=True)
class Split:
    """One source of Table 8: images taken, splits, new points and comparisons a split."""

    source: str
    images: int
    splits: int
    new_points: int
    comparisons: int
    totalled: bool  # part of the printed totals


# Table 8; the split What's Up SP of image pairs adds no new points, its five coupled splits do.
SPLITS = (
    Split(source="COCO", images=500, splits=5, new_points=5 * 1000, comparisons=5 * 3000, totalled=True),
    Split(source="IN100", images=500, splits=5, new_points=5 * 1000, comparisons=5 * 3000, totalled=True),
    Split(
        source="What's Up A, images",
        images=418,
        splits=6,
        new_points=5 * 1254,
        comparisons=6 * 3344,
        totalled=True,
    ),
    Split(
        source="What's Up B, images",
        images=408,
        splits=6,
        new_points=5 * 1224,
        comparisons=6 * 3264,
        totalled=True,
    ),
    Split(
        source="What's Up A, captions",
        images=418,
        splits=1,
        new_points=1254,
        comparisons=3344,
        totalled=False,
    ),
    Split(
        source="What's Up B, captions",
        images=408,
        splits=1,
        new_points=1224,
        comparisons=3264,
        totalled=False,
    ),
)


def splits() -> tuple[pd.DataFrame, pd.DataFrame]:
    """MMScores in percent, sensitive and invariant: models by the 24 splits, the same columns in both."""
    tables = {number: read_table(f"pairbench-table-{number}").set_index("model") for number in (3, 4, 5, 6, 7)}
    values = {number: numbers(frame, columns=list(frame.columns)) for number, frame in tables.items()}
    captions = {
        ending: values[7].filter(regex=rf"{ending}\.$").rename(columns=lambda name: name.split(" ")[0])
        for ending in ("Sens", "Invar")
    }
    return (
        values[3].join(values[5]).join(captions["Sens"]),
        values[4].join(values[6]).join(captions["Invar"]),
    )


def mean_mmscore(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> pd.Series:
    """Plain mean over splits and conditions, a model; NaN where a cell is missing."""
    return (sensitive.mean(axis=1, skipna=False) + invariant.mean(axis=1, skipna=False)) / 2


def controllability(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> pd.DataFrame:
    """100 (1 - |a - b| / sqrt(ab)) for every model and split; NaN where a or b is 0 or missing."""
    product = (sensitive * invariant).where(lambda frame: frame > 0)
    return 100 * (1 - (sensitive - invariant).abs() / np.sqrt(product))


def controllability_slack(sensitive: pd.Series, invariant: pd.Series) -> float:
    """Largest shift of a model's mean controllability that the rounding of its printed MMScores can cause."""
    centre = controllability(sensitive.to_frame(), invariant.to_frame())
    corners = [
        controllability((sensitive + a).to_frame(), (invariant + b).to_frame())
        for a in (-HALF_UNIT, HALF_UNIT)
        for b in (-HALF_UNIT, HALF_UNIT)
    ]
    return float(np.mean(np.max([(corner - centre).abs().to_numpy() for corner in corners], axis=0)))


def claims() -> list[Claim]:
    """Every figure of Tables 1 and 2, the totals of Table 8, and the counts of models."""
    sensitive, invariant = splits()
    return [*_table_1(sensitive, invariant), *_table_2(), *_sizes(), *_models(sensitive)]


def _table_1(sensitive: pd.DataFrame, invariant: pd.DataFrame) -> list[Claim]:
    table = read_table("pairbench-table-1").set_index("model")
    means = mean_mmscore(sensitive, invariant)
    even = controllability(sensitive, invariant).mean(axis=1, skipna=False)
    found = []
    for model, row in table.iterrows():
        slack = controllability_slack(sensitive.loc[model], invariant.loc[model])
        for column, value, margin, formula in (
            ("MMScore", means[model], HALF_UNIT, "mean of 24 splits x 2 conditions, Tables 3 to 7"),
            ("Cont", even[model], slack, "mean over 24 splits of 1 - |a - b| / sqrt(ab), Tables 3 to 7"),
            ("1-RS", None, 0.0, "share of pairs within one point in both orders"),
            ("SM", None, 0.0, "entropy of the valid scores"),
        ):
            found.append(
                Claim(
                    paper=PAPER,
                    claim=f"{MEASURES[column]} of {model}, all splits",
                    where="Table 1",
                    printed=row[column],
                    recomputed=shown(value, like=row[column]),
                    verdict=judge(row[column], value, slack=margin),
                    note="" if value is not None else NOT_PRINTED,
                    formula=formula,
                )
            )
    return found


def _table_2() -> list[Claim]:
    table = read_table("pairbench-table-2").set_index("model")
    found = [
        Claim(
            paper=PAPER,
            claim=f"Spearman correlation of {MEASURES[column]} with {benchmark}",
            where="Table 2",
            printed=row[column],
            recomputed="",
            verdict="cannot be recomputed",
            note="The other benchmark's scores of the 23 models are not printed.",
            formula="Spearman correlation over 23 models",
        )
        for benchmark, row in table.iterrows()
        for column in table.columns
    ]
    values = numbers(table, columns=list(table.columns))
    best = (values["MMScore"] == values.max(axis=1)).sum()
    quantile = t.ppf(0.975, df=21)
    least = 100 * quantile / np.sqrt(21 + quantile**2)
    high = int((values >= least).to_numpy().sum())
    return found + [
        statement(
            "MMScore has the highest correlation with every benchmark",
            "Section 4.3",
            "8 of 8",
            f"{best} of 8",
            best == 8,
            formula="rows of Table 2 whose largest figure is MMScore's",
        ),
        statement(
            "All measures have a high positive correlation with the benchmarks",
            "Section 4.3",
            "32 of 32",
            f"{high} of 32",
            high == 32,
            note=f"All are positive, the smallest {values.min().min():.0f}%.",
            formula=f"cells of Table 2 of at least {least:.0f}%, the 5% level for 23 models",
        ),
    ]


def _sizes() -> list[Claim]:
    totals = {
        name: (
            sum(getattr(split, name) for split in SPLITS),
            sum(getattr(split, name) for split in SPLITS if split.totalled),
        )
        for name in ("new_points", "comparisons")
    }
    images = sum(split.images for split in SPLITS if split.totalled)
    left_out = "The printed total leaves out the image-text splits: without them it is {:,}."
    rows = [("Source images or image-text pairs in total", "Table 8", "1826", images, "", "500 + 500 + 418 + 408")]
    for name, claim, printed in (
        ("new_points", "New data points over all splits", "22390"),
        ("comparisons", "Data-pair comparisons over all splits", "69648"),
    ):
        rows.append(
            (
                claim,
                "Table 8",
                printed,
                totals[name][0],
                left_out.format(totals[name][1]),
                "sum over all rows of Table 8",
            )
        )
    found = [
        Claim(
            paper=PAPER,
            claim=claim,
            where=where,
            printed=printed,
            recomputed=str(value),
            verdict=judge(printed, float(value)),
            note=note,
            formula=formula,
        )
        for claim, where, printed, value, note, formula in rows
    ]
    thousands = totals["comparisons"][0] / 1000
    found.append(
        statement(
            "The four instances hold 70K data pairs",
            "Section 1",
            "70K",
            f"{thousands:.1f}K",
            round(thousands, -1) == 70,
            note=left_out.format(totals["comparisons"][1]),
            formula="sum over all rows of Table 8",
        )
    )
    count = sum(split.splits for split in SPLITS)
    return found + [
        statement(
            "5 splits each for COCO and IN100, 6 for each What's Up subset, 1 each with captions",
            "Section 3.1",
            "24",
            str(count),
            count == 24,
            formula="rows of Table 8",
        )
    ]


def _models(sensitive: pd.DataFrame) -> list[Claim]:
    names = list(sensitive.index)
    found = []
    for claim, where, printed, prefix, note in (
        ("Models evaluated", "Section 4.3", 23, "", ""),
        (
            "Versions of GPT-4o evaluated",
            "Section 4.1",
            3,
            "GPT-4o",
            "The same sentence names four, mini among them.",
        ),
        (
            "Versions of InternVL2.5 evaluated",
            "Section 4.1",
            4,
            "InternVL2.5-",
            "The list beside it names three.",
        ),
        ("Versions of Molmo evaluated", "Section 4.1", 3, "Molmo", ""),
    ):
        count = sum(name.startswith(prefix) for name in names)
        found.append(
            statement(claim, where, str(printed), str(count), count == printed, note=note, formula="rows of Table 3")
        )
    return found
