"""A model's means on a suite and its rank among the rows of an origin, by the suite's rule, as on the board.

And how far its scores, computed here, can be compared with published and imported ones, in sentences.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from compute.analysis.ranked_model import RankedModel
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.variance import listed
from compute.analysis.table import ALL, HUMAN, ScoreTable
from compute.engine import variants
from compute.engine.run_folders import StoredRun
from compute.types import Task, is_origin, origins_in

MEANS = ("name", "scope", "mean", "mean_low", "mean_high", "tasks", "of_tasks", "reason")


def mean_of(mine: ScoreTable) -> RankedModel:
    """The mean of the one model of a table, by its rule."""
    if reason := no_mean(mine):
        return RankedModel.unknown(mine, reason=reason, others=None)
    row = RankedModel.first(Ranking.of(mine))
    return replace(row, reason="") if row.mean_low is not None else row


def means_of(mine: ScoreTable) -> pd.DataFrame:
    """The suite's mean, then those of its categories where it has several: a row each, with MEANS."""
    several = mine.categories if len(mine.categories) > 1 else ()
    means = [mean_of(mine), *(replace(mean_of(mine.within(name)), of_suite=name) for name in several)]
    frame = pd.DataFrame([vars(row) for row in means]).rename(columns={"of_suite": "name"})
    frame["scope"] = ["suite", *["category"] * len(several)]
    return frame[list(MEANS)].astype(dict.fromkeys(MEANS[2:5], float))


def rank_of(
    mine: ScoreTable, others: ScoreTable | None, *, origin: str, notes: Sequence[str] = (), instead: Sequence[str] = ()
) -> RankedModel:
    """The rank of the one model of a table among the rows of `others`, of an origin, without its own; None without such
    rows.

    `notes` say how they compare; `instead`: the origins that do have rows of other models, which the reason then names.
    """
    if reason := no_mean(mine):
        return RankedModel.unknown(mine, reason=reason, others={})
    rows = [] if others is None else [at for at, key in enumerate(others.models) if key != mine.models[0]]
    if others is None or not rows:
        which = "" if origin == ALL else f"{origin} "
        remedy = (
            f", but {listed(instead)} ones: {' or '.join(f'rank({name!r})' for name in instead)}" if instead else ""
        )
        reason = f"{mine.name} has no {which}scores of other models{remedy}"
        return replace(RankedModel.first(Ranking.of(mine)), rank=None, of=0, others={}, tie_class="", reason=reason)
    row = RankedModel.first(Ranking.of(mine.beside(others.rows(rows))))
    return replace(row, notes=(f"{row.tasks} of {row.of_tasks} tasks have a score.", *notes))


def no_mean(table: ScoreTable) -> str:
    """Why the tasks of a suite make no mean; empty where they do."""
    if table.aggregate == HUMAN or not table.tasks:
        return f"{table.name} is ranked by people, not by a mean over tasks"
    return table.unlike_tasks


def comparability(
    *,
    model: str,
    origin: str,
    tasks: Sequence[Task],
    runs: Mapping[str, StoredRun],
    others: ScoreTable | None,
) -> tuple[str, ...]:
    """What to know before the model's runs, by task, are compared with the rows of `others`, in sentences: who made
    those scores, what differs from the catalogue's protocol, and between the runs. None: there are no others.

    `tasks`: those that count in the suite's mean.
    """
    counting = {task.key: runs[task.key] for task in tasks if task.key in runs}
    different, said = unlike(counting), []
    among: Collection[str] = (origin,)
    if origin == ALL:
        rows = () if others is None else zip(others.models, others.origins, strict=True)
        among = {of for key, of in rows if key != model}
    if theirs := origins_in(of for of in among if is_origin(of) and of != "computed"):
        same = (
            "and these runs do not follow the catalogue's protocol throughout"
            if different
            else "with their own code and machines; as far as the catalogue states the protocol, it is the same"
        )
        said.append(f"Others computed the {' and '.join(theirs)} scores, {same}.")
    return (*said, *different, *mixed(counting))


def unlike(runs: Mapping[str, StoredRun]) -> tuple[str, ...]:
    """What in these runs, by task, differs from the protocol that the catalogue states, in sentences."""
    text = []
    for task, run in runs.items():
        settings = run.run.settings
        if known := settings.get("catalogue_items"):
            text.append(f"{task} has {settings['items']:,} items here, {known:,} in the catalogue.")
        if run.coverage < 1:
            text.append(f"{task} rests on {run.coverage:.1%} of its items.")
        if run.variant and run.variant not in variants.COMPARED:
            text.append(f"{task} was run with {run.variant}.")
    return tuple(text)


def mixed(runs: Mapping[str, StoredRun], *, which: str = "The runs") -> tuple[str, ...]:
    """What differs between the runs of one model, whose scores make one mean, in sentences about `which`."""
    revisions = dict.fromkeys(run.short_revision for run in runs.values())
    dtypes = dict.fromkeys(run.run.dtype for run in runs.values())
    text = []
    for noun, values in (("revisions of the weights", revisions), ("number formats", dtypes)):
        if len(values) > 1:
            names = listed([value or "an unrecorded one" for value in values])
            text.append(f"{which} are of {len(values)} {noun}: {names}.")
    return tuple(text)
