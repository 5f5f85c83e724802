"""cFreD, Tables 1 to 3: every correlation, rank accuracy and rank column against the listed values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from compute.catalog.published import DASH, numbers, read_table
from compute.claims.verdict import decimals, judge, shown
from compute.metrics.agreement import correlation, rank_accuracy, squared_correlation
from compute.types import Claim

PAPER = "cFreD"
RHO, ACCURACY = "ρ²", "Rank Acc."


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One automatic metric: its column, whether more is better, whether it is trained on preferences."""

    column: str
    title: str
    higher_is_better: bool
    trained: bool


JUDGES = (
    Judge(column="FID", title="FID", higher_is_better=False, trained=False),
    Judge(column="FD_DINOv2", title="FD-DINOv2", higher_is_better=False, trained=False),
    Judge(column="CLIP", title="CLIPScore", higher_is_better=True, trained=False),
    Judge(column="CMMD", title="CMMD", higher_is_better=False, trained=False),
    Judge(column="cFreD", title="cFreD", higher_is_better=False, trained=False),
    Judge(column="Aesthetic", title="Aesthetic", higher_is_better=True, trained=True),
    Judge(column="ImReward", title="ImageReward", higher_is_better=True, trained=True),
    Judge(column="HPS v2", title="HPSv2", higher_is_better=True, trained=True),
    Judge(column="MPS", title="MPS", higher_is_better=True, trained=True),
)
SETS = {1: ("HPDv2", "Human rate"), 2: ("Parti-Prompts", "Human rate"), 3: ("COCO", "Human ELO")}
NOTES = {
    (
        3,
        "CMMD",
    ): "FLUX.1[dev] is listed with 6.08, its rank 8 asks for 48.52 to 66.10; none of these gives 0.22.",
    (3, "MPS"): "SDv3-M is listed with 2.35, likely a misprint: with 12.35 the ρ² would be 0.48.",
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One metric on one set: printed scores, ranks and summary cells, and what the listed values give."""

    judge: Judge
    scores: np.ndarray
    ranks: np.ndarray
    printed_rho: str
    printed_accuracy: str  # empty where the paper prints none
    r: float
    rho: float
    accuracy: float  # percent
    slack: float  # of rho

    @property
    def right_way(self) -> bool:
        """Whether better scores go with people's preference."""
        return (self.r > 0) == self.judge.higher_is_better


@cache
def columns(table: int) -> dict[str, Column]:
    """Every metric of Table 1, 2 or 3 by its printed column."""
    frame = read_table(f"cfred-table-{table}").set_index("model")
    listed = frame.drop(index=[row for row in (RHO, ACCURACY) if row in frame.index])
    human_name = SETS[table][1]
    human = numbers(listed, columns=[human_name])[human_name].to_numpy()
    human_ranks = numbers(listed, columns=["Human rank"])["Human rank"].to_numpy()
    found = {}
    for entry in JUDGES:
        both = numbers(listed, columns=[entry.column, f"{entry.column} rank"]).to_numpy()
        scores, ranks = both[:, 0], both[:, 1]
        found[entry.column] = Column(
            judge=entry,
            scores=scores,
            ranks=ranks,
            printed_rho=frame.loc[RHO, entry.column],
            printed_accuracy=frame.loc[ACCURACY, entry.column] if ACCURACY in frame.index else "",
            r=correlation(scores=scores, human=human),
            rho=squared_correlation(scores=scores, human=human),
            accuracy=100 * rank_accuracy(ranks=ranks, human_ranks=human_ranks),
            slack=rounding_slack(
                scores=scores,
                human=human,
                scores_half=_half_units(listed[entry.column]),
                human_half=_half_units(listed[human_name]),
            ),
        )
    return found


def _half_units(printed: pd.Series) -> np.ndarray:
    """Half of the last printed digit of every cell."""
    return np.array([0.5 * 10 ** -decimals(text) for text in printed])


def rounding_slack(*, scores: np.ndarray, human: np.ndarray, scores_half: np.ndarray, human_half: np.ndarray) -> float:
    """Largest shift of ρ² that rounding can cause, each input moved half a unit along its gradient."""
    centre = squared_correlation(scores=scores, human=human)
    scores_up = [squared_correlation(scores=scores + step, human=human) > centre for step in np.diag(scores_half)]
    human_up = [squared_correlation(scores=scores, human=human + step) > centre for step in np.diag(human_half)]
    scores_step = np.where(scores_up, scores_half, -scores_half)
    human_step = np.where(human_up, human_half, -human_half)
    highest = squared_correlation(scores=scores + scores_step, human=human + human_step)
    lowest = squared_correlation(scores=scores - scores_step, human=human - human_step)
    return max(abs(highest - centre), abs(lowest - centre))


def claims() -> list[Claim]:
    """Every ρ², rank accuracy and rank column of the three tables."""
    found = []
    for table in SETS:
        found += [_rho(table, column) for column in columns(table).values()]
        found += _accuracies(table)
        found += _ranks(table)
    return found


def _rho(table: int, column: Column) -> Claim:
    way = "as it should" if column.right_way else "the wrong way"
    note = f"r = {column.r:+.3f}, {way}. {NOTES.get((table, column.judge.column), '')}".strip()
    return Claim(
        paper=PAPER,
        claim=f"ρ² of {column.judge.title} with human preference on {SETS[table][0]}",
        where=f"Table {table}",
        printed=column.printed_rho,
        recomputed=shown(column.rho, like=column.printed_rho),
        verdict=judge(column.printed_rho, column.rho, slack=column.slack),
        note=note,
        formula=f"squared Pearson correlation of the listed scores and the column {SETS[table][1]}",
    )


def _accuracies(table: int) -> list[Claim]:
    name = SETS[table][0]
    formula = "share of generator pairs that the listed ranks order as the human ranks do"
    if not any(column.printed_accuracy for column in columns(table).values()):
        values = ", ".join(f"{column.judge.title} {column.accuracy:.2f}" for column in columns(table).values())
        return [
            Claim(
                paper=PAPER,
                claim=f"Rank accuracies on {name}",
                where=f"Table {table}",
                printed=DASH,
                recomputed=values,
                verdict="cannot be recomputed",
                formula=formula,
                note="The paper prints no such row here, so there is nothing to hold these values against.",
            )
        ]
    return [
        Claim(
            paper=PAPER,
            claim=f"Rank accuracy of {column.judge.title} on {name}",
            where=f"Table {table}",
            printed=column.printed_accuracy,
            recomputed=shown(column.accuracy, like=column.printed_accuracy),
            verdict=judge(column.printed_accuracy, column.accuracy),
            formula=formula,
        )
        for column in columns(table).values()
    ]


def _ranks(table: int) -> list[Claim]:
    """Listed ranks against listed scores; preference-trained metrics are ranked by figures not printed."""
    frame = read_table(f"cfred-table-{table}").set_index("model").drop(index=[RHO, ACCURACY], errors="ignore")
    human = numbers(frame, columns=["Human rank", SETS[table][1]]).to_numpy()
    found = [_rank_claim(table, "Human preference", human[:, 0], human[:, 1], higher=True)]
    for column in columns(table).values():
        entry = column.judge
        if not entry.trained:
            found.append(
                _rank_claim(
                    table,
                    entry.title,
                    column.ranks,
                    column.scores,
                    higher=entry.higher_is_better,
                    note=NOTES.get((table, entry.column), ""),
                )
            )
            continue
        order = "the same" if _follows(column.ranks, column.scores, higher=True) else "another"
        found.append(
            Claim(
                paper=PAPER,
                claim=f"Ranks under {entry.title} on {SETS[table][0]}",
                where=f"Table {table}",
                printed=_listing(column.ranks),
                recomputed="",
                verdict="cannot be recomputed",
                note=f"Mean per-image ranks, not printed; the mean scores give {order} order.",
                formula="mean of the ranks image by image",
            )
        )
    return found


def _rank_claim(
    table: int, title: str, ranks: np.ndarray, scores: np.ndarray, *, higher: bool, note: str = ""
) -> Claim:
    expected = rankdata(-scores if higher else scores, method="min")
    if np.array_equal(expected, ranks):
        verdict = "reproduces"
    else:
        verdict = "rounding" if _follows(ranks, scores, higher=higher) else "conflict"
    if verdict == "rounding":
        note = "Two listed scores are equal at the printed digits."
    return Claim(
        paper=PAPER,
        claim=f"Ranks under {title} on {SETS[table][0]}",
        where=f"Table {table}",
        printed=_listing(ranks),
        recomputed=_listing(expected),
        verdict=verdict,
        note=note,
        formula="places by the listed scores",
    )


def _follows(ranks: np.ndarray, scores: np.ndarray, *, higher: bool) -> bool:
    """Whether every pair of unequal scores is ranked in their order."""
    better = np.subtract.outer(scores, scores) * (1 if higher else -1)
    return bool((np.subtract.outer(ranks, ranks)[better > 0] < 0).all())


def _listing(ranks: np.ndarray) -> str:
    return ", ".join(f"{rank:.0f}" for rank in ranks)
