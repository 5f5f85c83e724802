"""Finds items whose label may be wrong because models that have run on them agree on another answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.intervals import Z95
from compute.engine.checking.resolution import items_by_model
from compute.procedures import LABELLED
from compute.types import Task, Undefined, counted

AGREE = 2  # models that must give the same answer against the label


class Doubts(NamedTuple):
    """The items to review, and the models whose answers count."""

    items: pd.DataFrame  # by item, the most certain first: expected, answer, votes, margin
    models: list[str]


def doubts(runs: Mapping[str, pd.DataFrame]) -> Doubts:
    """Returns the items whose label may be wrong, by confident learning (Northcutt, Jiang and Chuang 2021, JAIR 70,
    1373).

    `runs` has a frame per model: `item`, `expected`, `answer` and `value`, as in Evidence. The probability of an answer
    is the share of models that give it, because evidence stores answers but not probabilities. The models that count
    are the better half, at least AGREE, of those whose balanced accuracy (averaged over labels) is significantly above
    1 / labels. An answer's threshold is its mean share over the items with that label. An item is listed if the most
    frequent other answer that reaches its threshold has AGREE votes and more than the label. Items are ordered by the
    paper's normalised margin, votes for the label minus those for the answer, and ties by `margin`, the mean over
    models of `value` in standard deviations of each. Raises Undefined if fewer than AGREE models count.
    """
    if len(runs) < AGREE:
        raise Undefined(f"{counted(len(runs), 'model')} with a complete run; {AGREE} are needed that can agree")
    rows = pd.concat([of.assign(model=model, margin=of["value"] / of["value"].std()) for model, of in runs.items()])
    rows["right"] = rows["answer"] == rows["expected"]
    of_label = rows.groupby(["model", "expected"])["right"].agg(["mean", "size"])
    variance = of_label["mean"] * (1 - of_label["mean"]) / of_label["size"]
    labels, accuracy = rows["expected"].nunique(), of_label["mean"].groupby("model").mean()
    lowest = accuracy - Z95 * np.sqrt(variance.groupby("model").sum()) / labels
    able = accuracy[lowest > 1 / labels].sort_values(ascending=False, kind="stable")
    if len(able) < AGREE:
        raise Undefined(f"{len(able)} of {len(runs)} models significantly above chance; {AGREE} are needed")
    models = able.index[: max(AGREE, (len(able) + 1) // 2)].tolist()
    rows = rows[rows["model"].isin(models)]
    items = rows.groupby("item").agg(expected=("expected", "first"), own=("right", "sum"), margin=("margin", "mean"))
    found = rows.groupby(["item", "answer"]).size().rename("votes").reset_index("answer").join(items)
    least = found["answer"].map(items.groupby("expected")["own"].mean()).clip(lower=AGREE)  # NaN: never a label
    found = found[(found["votes"] >= least) & (found["votes"] > found["own"]) & (found["answer"] != found["expected"])]
    found = found.assign(own=found["own"] - found["votes"]).sort_values(["own", "margin"], kind="stable")
    return Doubts(found.loc[~found.index.duplicated(), ["expected", "answer", "votes", "margin"]], models)


def in_words(task: Task, *, root: Path) -> Iterator[str]:
    """Yields the labels to review after the runs of a task under `root`: one sentence, then a line per item."""
    if task.procedure not in LABELLED:
        yield "Labels: not checked, no model answers with a label in data of this shape"
        return
    runs = items_by_model(task, roots=[root])
    try:
        found, models = doubts(runs)
    except Undefined as error:
        more = f"Run more models on these data, read in the same shape, with --results {root}, then check again"
        yield f"Labels: not checked, {error}. {more}"
        return
    by = f"to look at, by the answers of {' and '.join(models)}"
    if found.empty:
        yield f"None of {task.n_items:,} labels {by}"
        return
    scores = pd.DataFrame({model: of.set_index("item")[task.metrics[0]] for model, of in runs.items()})
    means = scores.mean(), scores.drop(found.index).mean()
    first, then = (" and ".join(mean.index[mean == mean.max()]) for mean in means)
    leader = f"stays with {first}" if first == then else f"passes from {first} to {then}"
    yield f"{len(found):,} of {len(scores):,} labels {by}; without them the lead {leader}"
    for row in found.itertuples():
        said = f"{row.votes} of {len(models)} models answer {row.answer}"
        yield f"  {row.Index}: labelled {row.expected}, {said}, mean margin {row.margin:+.1f} standard deviations"
