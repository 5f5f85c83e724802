"""A model's means on a suite and its rank among the rows of an origin, by the suite's rule, as on the board.

Also estimates the place of a model with only some of a suite's tasks, selects the tasks to run next, and describes in
sentences how comparable locally computed scores are with published and imported ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute.analysis import estimates
from compute.analysis.estimates import Estimated
from compute.analysis.intervals import bias_note
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.means import UNRANKED
from compute.analysis.ranks.variance import listed
from compute.analysis.table import ALL, HUMAN, ScoreTable
from compute.engine import variants
from compute.engine.plan import obstacle
from compute.engine.run_folders import StoredRun
from compute.io.tables import aligned
from compute.procedures import ONE_VECTOR, PROCEDURES
from compute.progress import duration
from compute.types import BadInput, Model, Task, is_origin, origins_in

MEANS = ("name", "scope", "mean", "mean_low", "mean_high", "tasks", "of_tasks", "reason")
BUDGET = re.compile(r"(\d+(?:\.\d+)?) ?(m|h)")


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """One model's row of a ranking, in stored units. None if something is unknown; `reason` says why."""

    model: str
    of_suite: str
    rank: int | None = None  # 1 is best, ties 1, 2, 2, 4
    rank_low: int | None = None  # best rank of the interval, which covers at least 95%
    rank_high: int | None = None
    of: int = 0  # ranked models, including this one
    others: Mapping[str, int] | None  # the other ranked ones, counted by origin; None: no comparison
    tie_class: str = ""  # letter, empty if unknown
    better: tuple[str, ...] = ()  # models that are significantly better
    worse: tuple[str, ...] = ()  # models that are significantly worse
    mean: float | None = None
    mean_low: float | None = None  # of the 95% interval
    mean_high: float | None = None
    mean_bias: float = 0.0  # excess of the mean due to few items: rank and interval refer to the mean without it
    tasks: int  # counted ones with a score
    of_tasks: int  # that count
    reason: str = ""
    notes: tuple[str, ...] = ()  # about how comparable the rows are, in sentences

    @classmethod
    def first(cls, ranking: Ranking) -> RankedModel:
        """Returns the row of the first model of a ranking."""
        table, ranked = ranking.table, ranking.rank != UNRANKED
        ends = {name: float(getattr(ranking, name)[0]) for name in ("mean", "mean_low", "mean_high")}
        places = {name: int(getattr(ranking, name)[0]) for name in ("rank", "rank_low", "rank_high")}
        others = Counter(origin for origin, has in zip(table.origins[1:], ranked[1:], strict=True) if has)
        return cls(
            model=table.models[0],
            of_suite=table.name,
            **{name: None if place == UNRANKED else place for name, place in places.items()},
            of=int(ranked.sum()),
            others={origin: others[origin] for origin in origins_in(filter(None, others))} if len(ranked) > 1 else None,
            tie_class=ranking.classes[0],
            better=tuple(table.models[other] for other in np.flatnonzero(ranking.better[:, 0])),
            worse=tuple(table.models[other] for other in np.flatnonzero(ranking.better[0])),
            **{name: None if np.isnan(end) else end for name, end in ends.items()},
            mean_bias=float(ranking.excess[0]),
            tasks=int(ranking.scored[0]),
            of_tasks=int(table.counted.sum()),
            reason=ranking.why[0].removeprefix("Not ranked: ") or ranking.unknown[0],
        )

    @classmethod
    def unknown(cls, table: ScoreTable, *, reason: str, others: Mapping[str, int] | None) -> RankedModel:
        """Returns the row of the first model of a table if it has neither rank nor mean, with the reason."""
        return cls(
            model=table.models[0],
            of_suite=table.name,
            others=others,
            tasks=int((~np.isnan(table.values[:1, table.counted])).sum()),
            of_tasks=int(table.counted.sum()),
            reason=reason,
        )

    def __str__(self) -> str:
        """Formats the rank with its interval and origins, then the notes; for a model alone, the mean with its
        interval.
        """
        if self.others is None:
            return self._mean_text()
        if self.rank is None:
            return f"Rank on {self.of_suite} unknown: {self.reason}"
        counts = [f"{count:,} {origin}" for origin, count in self.others.items()]
        rows = f"{listed(counts)} {'row of another model' if self.of == 2 else 'rows of other models'}"
        text = f"Rank {self.rank} of {self.of} on {self.of_suite}, among {rows}"
        if self.rank_low is None:
            return " ".join((f"{text}; its interval is unknown: {self.reason}.", *self.notes))
        low, high = self.rank_low, self.rank_high
        span = f"is {low}" if low == high else f"lies between {low} and {high}"
        return " ".join((f"{text}; with at least 95% confidence the rank {span}.", *self.notes))

    def _mean_text(self) -> str:
        if self.mean is None:
            return f"{self.of_suite}: mean unknown: {self.reason}"
        known = self.mean_low is not None
        interval = f"{self.mean_low:.4f} to {self.mean_high:.4f}" if known else f"interval: {self.reason}"
        note = bias_note(self.mean, self.mean_bias, digits=4)
        return f"{self.of_suite}: mean {self.mean:.4f} ({'; '.join(filter(None, (note, interval)))})"


def mean_of(mine: ScoreTable) -> RankedModel:
    """Returns the mean of the one model of a table, by the table's rule."""
    if reason := no_mean(mine):
        return RankedModel.unknown(mine, reason=reason, others=None)
    row = RankedModel.first(Ranking.of(mine))
    return replace(row, reason="") if row.mean_low is not None else row


def means_of(mine: ScoreTable) -> pd.DataFrame:
    """Returns the suite's mean, then those of its categories if it has several: a row each, with MEANS."""
    several = mine.categories if len(mine.categories) > 1 else ()
    means = [mean_of(mine), *(replace(mean_of(mine.within(name)), of_suite=name) for name in several)]
    frame = pd.DataFrame([vars(row) for row in means]).rename(columns={"of_suite": "name"})
    frame["scope"] = ["suite", *["category"] * len(several)]
    return frame[list(MEANS)].astype(dict.fromkeys(MEANS[2:5], float))


def rank_of(
    mine: ScoreTable, others: ScoreTable | None, *, origin: str, notes: Sequence[str] = (), instead: Sequence[str] = ()
) -> RankedModel:
    """Returns the rank of the one model of a table among the rows of `others`, all of an origin, without its own.

    The rank is None without such rows. `notes` describe how comparable they are; `instead` are the origins that do have
    rows of other models, which the reason then names.
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
    """Returns why the tasks of a suite have no mean; empty if they have one."""
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
    """Returns caveats for comparing the model's runs, by task, with the rows of `others`, in sentences.

    They name who made those scores, and differences from the catalogue's protocol and between the runs. None: there are
    no others. `tasks`: those that count in the suite's mean.
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
    """Returns how these runs, by task, differ from the protocol that the catalogue states, in sentences."""
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
    """Returns how the runs of one model, whose scores form one mean, differ from each other, in sentences about
    `which`.
    """
    revisions = dict.fromkeys(run.short_revision for run in runs.values())
    dtypes = dict.fromkeys(run.run.dtype for run in runs.values())
    text = []
    for noun, values in (("revisions of the weights", revisions), ("number formats", dtypes)):
        if len(values) > 1:
            names = listed([value or "an unrecorded one" for value in values])
            text.append(f"{which} are of {len(values)} {noun}: {names}.")
    return tuple(text)


class EstimatedPlace(NamedTuple):
    """The estimated place of a model with all tasks of a suite, in stored units."""

    model: str
    of_suite: str
    tasks: int  # counted ones with a score
    of_tasks: int  # that count
    plain: float | None  # the mean of its scores
    estimate: Estimated | None
    of: int  # complete models, including this one
    reason: str = ""  # why there is no estimate
    notes: tuple[str, ...] = ()  # about how comparable the rows are, in sentences

    def __str__(self) -> str:
        plain = "" if self.plain is None else f"; the plain mean of its {self.tasks} tasks is {self.plain:.4f}"
        one = self.estimate
        if one is None:
            return f"Place on {self.of_suite} unknown: {self.reason}{plain}"
        span = f"{one.rank_low}" if one.rank_low == one.rank_high else f"{one.rank_low} to {one.rank_high}"
        text = (
            f"Estimated from {self.tasks} of {self.of_tasks} tasks of {self.of_suite}: mean {one.mean:.4f} "
            f"({one.low:.4f} to {one.high:.4f}), place {span} of {self.of}{plain}."
        )
        return " ".join((text, *self.notes))


def beside(
    mine: ScoreTable, others: ScoreTable, *, model: Model, tasks: Sequence[Task], frames: Mapping[str, pd.DataFrame]
) -> tuple[ScoreTable, dict[str, Any]]:
    """Returns the model's row of `mine`, on `tasks`, above the complete rows of others, with the hours of others' runs.

    Also returns the other arguments of `estimates`. `frames`: models and runs of the database.
    """
    whole = ~np.isnan(others.values[:, others.counted]).any(axis=1)
    rows = [at for at, key in enumerate(others.models) if whole[at] and key != model.key]
    hours = pd.Series(others.hours, others.tasks).reindex(mine.tasks)
    hours = hours.fillna(frames["runs"].groupby("task")["seconds"].median() / 3600)
    own = estimates.possible(
        [model.abilities],
        [task.modalities for task in tasks],
        late=[bool(model.late_interaction)],
        one_vector=[task.procedure in ONE_VECTOR for task in tasks],
    )
    return replace(mine.beside(others.rows(rows)), hours=hours.to_numpy(float)), {
        "models": frames["models"].set_index("key"),
        "possible": np.vstack([own, np.ones((len(rows), len(tasks)), bool)]),
    }


def place_of(table: ScoreTable, known: Mapping[str, Any], *, notes: Sequence[str]) -> EstimatedPlace:
    """Estimates the place of the first model of a table; arguments as `beside` returns them."""
    scores = table.values[0, table.counted]
    seen = ~np.isnan(scores)
    found, reasons, _ = estimates.estimates(table, **known)
    reason = "it has every task, so its rank is known" if seen.all() else "no task has a score"
    return EstimatedPlace(
        model=table.models[0],
        of_suite=table.name,
        tasks=int(seen.sum()),
        of_tasks=len(seen),
        plain=float(scores[seen].mean()) if seen.any() else None,
        estimate=found.get(0),
        of=len(table.models),
        reason="" if 0 in found else reasons.get(0, reason),
        notes=tuple(notes),
    )


def next_tasks(
    table: ScoreTable, known: Mapping[str, Any], *, model: Model, tasks: Sequence[Task], budget: str
) -> pd.DataFrame:
    """Returns the tasks to run next, as in `Evaluation.next_tasks`; `table` and `known` as `beside` returns them.

    Raises BadInput for an invalid budget, and CannotDo if no order can be determined.
    """
    procedures = {each.key: each for each in PROCEDURES}
    can = np.array([not obstacle(model, task, procedures) for task in tasks])
    order = estimates.first_next(
        table, known["models"], possible=known["possible"][0], among=can, budget=hours_of(budget)
    )
    at, each = np.flatnonzero(table.counted)[order.tasks], order.hours[order.tasks]
    columns = {
        "task": [tasks[one].key for one in at],
        "items": pd.array([tasks[one].n_items for one in at], dtype="Int64"),
        "hours": each,
        "total": np.cumsum(each),
        "half": order.halves(range(1, len(at) + 1)),
        "timed": ~np.isnan(table.hours[at]),
    }
    return pd.DataFrame(columns)


def lines(frame: pd.DataFrame, *, model: str, suite: str, budget: str) -> Iterator[str]:
    """Yields the result of `Evaluation.next_tasks` as text."""
    yield f"{suite} for {model} within {budget}: {len(frame)} tasks, by how much an hour of each narrows the mean"
    if frame.empty:
        return
    rows = [("", "task", "items", "takes", "in all", "mean within")]
    for step, row in enumerate(frame.itertuples(), start=1):
        half = "unknown" if np.isnan(row.half) else f"± {row.half:.4f}"
        items = "unknown" if pd.isna(row.items) else f"{row.items:,}"
        took = duration(3600 * row.hours) if row.timed else f"about {duration(3600 * row.hours)}"
        rows.append((str(step), row.task, items, took, duration(3600 * row.total), half))
    yield from aligned(rows)
    yield f"Times are the median of others' runs, on hardware that is not known: those of {model} may differ"
    if not frame["timed"].all():
        yield "about: nobody's run says how long the task takes, so this is the median of the other tasks"


def hours_of(budget: str) -> float:
    """Returns the hours of a text such as 30m or 2.5h. Raises BadInput."""
    if not (found := BUDGET.fullmatch(budget.strip().lower())) or not float(found[1]):
        raise BadInput(f"A budget is minutes or hours, such as 30m, 1h or 2.5h; got {budget!r}")
    return float(found[1]) / (60 if found[2] == "m" else 1)
