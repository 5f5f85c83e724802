"""cFreD: every correlation, rank accuracy and rank of Tables 1 to 3, and the sentences, from the listed scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from compute.claims.tables import column_checks, figures, printed
from compute.claims.verdict import CANNOT, Check, Checks, claims_of, decimals, listing
from compute.metrics.agreement import correlation, rank_accuracy, squared_correlation
from compute.rounding import rounded
from compute.types import Claim

RHO, ACCURACY = "ρ²", "Rank Acc."
# Statistical metrics, then those trained on human preference; `higher` is whether more is better.
METRICS = pd.DataFrame(
    [
        ("FID", "FID", False),
        ("FD_DINOv2", "FD-DINOv2", False),
        ("CLIP", "CLIPScore", True),
        ("CMMD", "CMMD", False),
        ("cFreD", "cFreD", False),
        ("Aesthetic", "Aesthetic", True),
        ("ImReward", "ImageReward", True),
        ("HPS v2", "HPSv2", True),
        ("MPS", "MPS", True),
    ],
    columns=["column", "title", "higher"],
).set_index("column")
STATISTICAL, TRAINED = METRICS[:5], METRICS[5:]
SETS = {1: ("HPDv2", "Human rate"), 2: ("Parti-Prompts", "Human rate"), 3: ("COCO", "Human ELO")}
EQUAL = 1e-9  # values no further apart share a rank


def claims() -> list[Claim]:
    """Every claim of the paper with its verdict."""
    return claims_of("cFreD", (*(partial(table_checks, table) for table in SETS), hpdv2, parti, coco, all_sets))


@cache
def listed(table: int) -> pd.DataFrame:
    """The scores and ranks of the generators in Table 1, 2 or 3."""
    return figures(f"cfred-table-{table}").drop(index=[RHO, ACCURACY], errors="ignore")


@cache
def metrics(table: int) -> pd.DataFrame:
    """What the listed values give for every metric: `r`, `rho` with its `slack`, `accuracy` in percent, `right_way`.

    `right_way` is whether better scores go with people's preference.
    """
    frame, column = listed(table), SETS[table][1]
    human, human_ranks = frame[column], frame["Human rank"]
    half = printed(f"cfred-table-{table}").loc[frame.index].map(lambda cell: 0.5 * 10 ** -decimals(cell))
    figures = METRICS.assign(
        r=[correlation(scores=frame[name], human=human) for name in METRICS.index],
        slack=[
            rounding_slack(scores=frame[name], human=human, scores_half=half[name], human_half=half[column])
            for name in METRICS.index
        ],
        accuracy=[100 * rank_accuracy(ranks=frame[f"{name} rank"], human_ranks=human_ranks) for name in METRICS.index],
    )
    return figures.assign(rho=figures["r"] ** 2, right_way=(figures["r"] > 0) == figures["higher"])


def rounding_slack(*, scores: np.ndarray, human: np.ndarray, scores_half: np.ndarray, human_half: np.ndarray) -> float:
    """Largest shift of ρ² that rounding can cause, each input moved half a unit along its gradient."""
    inputs, halves = np.concatenate([scores, human]), np.concatenate([scores_half, human_half])

    def rho(values: np.ndarray) -> float:
        return squared_correlation(scores=values[: len(scores)], human=values[len(scores) :])

    centre = rho(inputs)
    rises = [rho(inputs + step) > centre for step in np.diag(halves)]
    steps = np.where(rises, halves, -halves)
    return max(abs(rho(inputs + step) - centre) for step in (steps, -steps))


def table_checks(table: int) -> Checks:
    """Every ρ², rank accuracy and column of ranks of a table; Table 2 prints no rank accuracies."""
    text, frame, values = printed(f"cfred-table-{table}"), listed(table), metrics(table)
    ranks = {
        name: rank_check(frame[f"{name} rank"], frame[name], title=row["title"], higher=row["higher"])
        for name, row in METRICS.iterrows()
    }
    accuracies: Check | list[Check] = Check(listed_values(values["accuracy"], table), CANNOT)
    if ACCURACY in text.index:
        accuracies = column_checks(text.loc[ACCURACY, values.index], values["accuracy"], words=dict(values))
    return {
        f"cfred-table-{table}-rho": column_checks(
            text.loc[RHO, values.index],
            values["rho"],
            slack=values["slack"],
            words={**values, "way": values["right_way"].map({True: "as it should", False: "the wrong way"})},
        ),
        f"cfred-table-{table}-accuracy": accuracies,
        f"cfred-table-{table}-ranks": [
            rank_check(frame["Human rank"], frame[SETS[table][1]], title="Human preference", higher=True),
            *(ranks[name] for name in STATISTICAL.index),
        ],
        # Preference-trained metrics are ranked image by image, by scores that are not printed.
        f"cfred-table-{table}-image-ranks": [replace(ranks[name], text="", holds=CANNOT) for name in TRAINED.index],
    }


def rank_check(ranks: pd.Series, scores: pd.Series, *, title: str, higher: bool) -> Check:
    """Whether the ranks are those of the scores; where only equal scores are ranked apart that is rounding."""
    expected = rankdata(-scores if higher else scores, method="min")
    better, ahead = (np.subtract.outer(values, values) for values in (-expected, ranks.to_numpy()))
    follows = bool((ahead[better > 0] < 0).all())
    order = "the same" if follows else "another"
    verdict = bool((expected == ranks).all()) or (follows and "rounding")
    return Check(listing_of(expected), verdict, words={"title": title, "ranks": listing_of(ranks), "order": order})


def listing_of(ranks: Iterable[float]) -> str:
    """Ranks in words."""
    return ", ".join(rounded(rank, 0) for rank in ranks)


def listed_values(values: pd.Series, table: int) -> str:
    """Values by the metrics' titles, in words."""
    return listing(values.rename(metrics(table)["title"]), digits=2)


def rank_of(column: str, values: pd.Series) -> int:
    """The rank of a metric by its figure, the highest first."""
    return 1 + int((values > values[column] + EQUAL).sum())


def best_statistical(table: int) -> Check:
    """Whether cFreD has the highest ρ² of the statistical metrics."""
    rho = metrics(table)["rho"][: len(STATISTICAL)]
    return Check(listed_values(rho, table), rank_of("cFreD", rho) == 1)


def hpdv2() -> Checks:
    """Sections 4.1 to 4.3 on Table 1."""
    values = metrics(1)
    cfred, hps, clip = values.loc["cFreD"], values.loc["HPS v2"], values.at["CLIP", "accuracy"]
    level = values["title"][values["accuracy"] >= cfred.accuracy - EQUAL]
    rank = rank_of("cFreD", values["rho"])
    return {
        "cfred-hpdv2-rho": Check(f"{rounded(cfred.rho, 4)}, rank {rank}", rank == 1, words={"r": cfred.r}),
        "cfred-hpdv2-hpsv2-rho": Check(
            value=hps.rho, slack=hps.slack, words={"r": hps.r, "table": printed("cfred-table-1").at[RHO, "HPS v2"]}
        ),
        "cfred-hpdv2-accuracy": Check(
            rounded(cfred.accuracy, 1), rank_of("cFreD", values["accuracy"]) == 1, words={"level": " and ".join(level)}
        ),
        "cfred-hpdv2-hpsv2-accuracy": Check(rounded(hps.accuracy, 1), rank_of("HPS v2", values["accuracy"]) == 2),
        "cfred-hpdv2-coco": Check(printed("cfred-table-1").at["COCO", "Human rank"]),
        "cfred-hpdv2-blend": Check(f"CLIPScore alone {rounded(clip, 2)}", clip > 30),
    }


def parti() -> Checks:
    """Section 4.2 on Table 2."""
    trained = metrics(2)["r"][len(STATISTICAL) :].sort_values(ascending=False)  # more is better for all of them
    return {
        "cfred-parti-rho": best_statistical(2),
        "cfred-parti-trained": Check(
            ", ".join(f"{metrics(2).at[column, 'title']} {rounded(r, 2, sign=True)}" for column, r in trained.items()),
            list(trained.index[:3]) == ["HPS v2", "ImReward", "MPS"],
        ),
    }


def coco() -> Checks:
    """Section 4.2 on Table 3."""
    text, columns = figures("cfred-table-3"), list(metrics(3).index)
    ranks = [rank_of("cFreD", text.loc[row, columns]) for row in (RHO, ACCURACY)]
    rest = metrics(3)["accuracy"][: len(STATISTICAL)].drop("cFreD")
    return {
        "cfred-coco-rho": best_statistical(3),
        "cfred-coco-third": Check(f"{ranks[0]} by ρ², {ranks[1]} by rank accuracy", ranks == [3, 3]),
        "cfred-coco-others": Check(listed_values(rest, 3), rest.max() < 50),
    }


def all_sets() -> Checks:
    """The abstract and section 4.1 on all three tables."""
    statistical = sum(bool(best_statistical(table).holds) for table in SETS)
    ahead = [name for table, (name, _) in SETS.items() if rank_of("cFreD", metrics(table)["rho"]) == 1]
    return {
        "cfred-above-statistical": Check(f"{statistical} of 3"),
        "cfred-above-trained": Check(f"{len(ahead)} of 3", words={"sets": " and ".join(ahead)}),
        "cfred-sources": Check(", ".join(str(len(listed(table))) for table in SETS)),
    }
