"""A suite's judges on the boards of PairBench's four metrics: who leads each, and how the metrics agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.correlation import correlate
from compute.analysis.intervals import bias_note
from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from compute.metrics import judge
from compute.metrics.judge import CONDITIONS, METRICS
from leaderboard.data.database import shared
from leaderboard.data.mean_rule import RankChoice
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.data.suite_cache import SuiteCache

NAMED = 3  # rivals of a leader
JUDGE = ["model", "origin"]  # what identifies a row
PRINTED = ("the printed mean over the splits",)  # the one task of a board without scores by split


class Board(NamedTuple):
    """The judges by one metric: one row per judge and origin, best first, those without every split last.

    `judges` has model, origin, title, kind, value, low and high (the 95% interval, NaN if it is not known), note
    (its bias in words), splits (with a score), of (all), complete, recomputed (the paper does not print this mean), and
    place: the rank among the judges of the origin with most of them, 0 elsewhere.
    """

    judges: pd.DataFrame
    reading: str  # how sure the lead is

    def at(self, place: int) -> pd.DataFrame:
        """Returns the judges at a position among those that are ranked: 0 leads, 1 is next."""
        places = sorted(set(self.judges["place"]) - {0})
        return self.judges[self.judges["place"] == places[place]] if place < len(places) else self.judges[:0]


@shared
def boards(cache: SuiteCache, suite: str, images: bool) -> dict[str, Board]:
    """Returns the boards of a suite's metrics that any judge has, by metric; `images`: of the splits with two images
    each.
    """
    tasks, scores = cache.db.query("judged_tasks", suite=suite), cache.db.query("judged_scores", suite=suite)
    chosen = list(tasks["key"][tasks["ranked"] & (tasks["images"] | (not images))])
    whole = scores[scores["task"].isin(tasks["key"][~tasks["ranked"] & (not images)])]
    about, table = cache.db.keyed("metrics"), cache.table(suite)
    ranked_by = table.choices.metrics or METRICS[:1]
    even, found = _evenness(scores, tasks=chosen), {}
    for metric in METRICS if chosen else ():
        printed = whole[whole["metric"] == metric].set_index(JUDGE)["value"]
        judges = _of_means(printed, even if metric == "controllability" else even[:0])
        if metric in ranked_by:
            scope = Scope(metric=metric) if len(ranked_by) > 1 else WHOLE
            ranked = cache.ranked(suite, RankChoice(tasks=frozenset(chosen), scope=scope))
            own = pd.DataFrame(ranked.table.values[:, ranked.table.counted])
            by_split = _judges(ranked, means=own.mean(axis=1), splits=own.count(axis=1))
            judges = pd.concat([by_split, judges[~judges["origin"].isin(by_split["origin"])]])
        judges = judges.dropna(subset="value")
        if judges.empty:
            continue
        unit = {"digits": int(about["digits"][metric]), "scale": float(about["scale"][metric])}
        usual = judges["origin"][judges["rank"] > 0].mode(dropna=False)
        judges = judges.assign(
            note=[bias_note(row.value, row.bias, **unit) for row in judges.itertuples()],
            title=judges["model"].map(table.models["title"]),
            kind=judges["model"].map(table.models["kind"]),
            of=len(chosen),
            complete=judges["splits"] == len(chosen),
            place=judges["rank"].where(judges["origin"].isin(usual[:1]), 0),
        ).sort_values(["complete", "value", "title"], ascending=[False, False, True], ignore_index=True)
        found[metric] = Board(judges, _reading(judges[judges["place"] > 0]))
    return found


def _evenness(scores: pd.DataFrame, *, tasks: Sequence[str]) -> pd.DataFrame:
    """Returns controllability of judges by split, from their MMScores under the two conditions."""
    own = scores[(scores["metric"] == "mmscore") & scores["task"].isin(tasks) & scores["subset"].isin(CONDITIONS)]
    wide = own.pivot(index=JUDGE, columns=["subset", "task"], values="value")
    wide = wide.reindex(columns=pd.MultiIndex.from_product([CONDITIONS, tasks]))
    values = judge.evenness(**{condition: wide[condition] for condition in CONDITIONS})
    return pd.DataFrame(values, index=wide.index, columns=tasks).dropna(how="all")


def _of_means(printed: pd.Series, even: pd.DataFrame) -> pd.DataFrame:
    """Returns the judges by printed means or, if there are none, by means over the splits of `even`."""
    means = printed.combine_first(even.mean(axis=1))
    counts, splits = even.count(axis=1).reindex(means.index), even.shape[1]
    counts[printed.index] = splits
    values, tasks = even.reindex(means.index).to_numpy(), tuple(even.columns)
    if len(printed):
        values, tasks = means.where(counts == splits).to_numpy()[:, None], PRINTED
    models, origins = (tuple(means.index.get_level_values(name)) for name in JUDGE)
    upper = np.full(len(tasks), np.inf if even.empty else 1.0)
    table = ScoreTable(values=values, models=models, origins=origins, tasks=tasks, upper=upper)
    judges = _judges(Ranking.of(table, apart=True), means=means, splits=counts)
    return judges.assign(recomputed=~means.index.isin(printed.index))


def _judges(ranked: Ranking, *, means: pd.Series, splits: pd.Series) -> pd.DataFrame:
    """Returns the judges of a ranking; `means` has those that it does not rank."""
    table = ranked.table
    return pd.DataFrame(
        {
            "model": table.models,
            "origin": table.origins,
            "rank": np.maximum(ranked.rank, 0),
            "value": np.where(ranked.rank > 0, ranked.mean, means.to_numpy()),
            "low": ranked.mean_low,
            "high": ranked.mean_high,
            "bias": ranked.excess,
            "splits": splits.to_numpy(),
            "recomputed": np.array(table.origins) == "published",
            "row": range(len(table.models)),
            "ranked": ranked,
        }
    )


def _reading(judges: pd.DataFrame) -> str:
    """Describes how certain the lead is among the ranked judges of an origin."""
    first, others = (judges[judges["place"].eq(1) == lead] for lead in (True, False))
    if len(first) > 1:
        return "They are level."
    if others.empty:
        return "No other judge to compare with." if len(first) else ""
    leader, ranked = first.iloc[0]["row"], first.iloc[0]["ranked"]
    if not ranked.decided[leader, others["row"]].all():
        why = next(filter(None, (ranked.unknown[row] for row in (leader, *others["row"]))), "")
        why = "only means over the splits are printed" if ranked.table.tasks == PRINTED else why
        return f"Unknown whether significant: {why}."
    rivals = list(others["title"][~ranked.better[leader, others["row"]]])
    if not rivals:
        return "Significantly better than every other judge."
    more = f" and {len(rivals) - NAMED} more" if len(rivals) > NAMED else ""
    return f"Not significant: {', '.join(rivals[:NAMED])}{more} may be as good."


def agreements(boards: Mapping[str, Board]) -> list[tuple[str, str, dict[str, float]]]:
    """Returns every two metrics that enough judges have, and Spearman's r over n judges with its 95% interval, low and
    high.

    It is significant if the interval excludes 0; NaN: unknown.
    """
    own = {key: board.judges[board.judges["rank"] > 0].set_index(JUDGE)["value"] for key, board in boards.items()}
    found = correlate(scores=pd.DataFrame(own, columns=[*own]).to_numpy(float), method="spearman")
    pairs = []
    for a, b in combinations(range(len(own)), 2):
        pair = {name: getattr(found, name)[a, b].item() for name in ("r", "low", "high", "n")}
        if not np.isnan(pair["r"]):
            pairs.append(([*own][a], [*own][b], pair | {"significant": pair["low"] > 0 or pair["high"] < 0}))
    return pairs
