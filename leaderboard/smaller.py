"""A smaller suite as a page shows it: the choice, how it stands for the whole, and what it saves, as text."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd

from compute import store
from compute.analysis import smaller
from compute.analysis.smaller import Agreement, Smaller
from compute.analysis.suite import arrange
from compute.types import LikenessError
from leaderboard import queries_pages
from leaderboard.markup import NOTHING, link, number, table, text, to_model, to_task
from leaderboard.state import Choice, Number, Parameter

if TYPE_CHECKING:
    from leaderboard.queries import Database

BY = ("tasks", "hours")
OWN = {"mieb": "mieb-lite", "mieb-en": "mieb-lite"}  # the smaller suite that a paper already chose
SIZE = 51  # of MIEB-lite


def parameters(suites: pd.DataFrame) -> tuple[Parameter, ...]:
    """The section's query parameters; their defaults are MIEB section 6.3."""
    choosable = suites[suites["aggregate"] != "human"]
    return (
        Choice(key="lite", default="mieb", choices=tuple(choosable["key"])),
        Choice(key="lite_origin", default="published", choices=("published", "imported", "computed", "all")),
        Choice(key="by", default="tasks", choices=BY),
        Number(key="size", default=SIZE, low=1, high=200, whole=True),
        Number(key="hours", default=5, low=0.01, high=1000),
        Number(key="high", default=0.5, low=-1, high=1),
        Number(key="low", default=0.45, low=-1, high=1),
    )


class Builder:
    """Chosen suites of one database, each made once."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.scores = lru_cache(maxsize=32)(
            lambda suite, origin: arrange(store.suite_frames(db.ask, suite=suite), origin=origin))
        self.choose = lru_cache(maxsize=64)(self._choose)

    def _choose(self, suite: str, origin: str, by: str, size: int, hours: float, high: float, low: float) -> Smaller:
        scores = self.scores(suite, origin)
        amount = {"size": min(size, len(scores.tasks))} if by == "tasks" else {"hours": hours}
        return smaller.choose(scores, **amount, thresholds=(max(high, low), min(high, low)))

    def own(self, suite: str, origin: str) -> Agreement | None:
        """How the paper's own smaller suite stands for the whole, None where there is none to compare."""
        if suite not in OWN:
            return None
        try:
            return smaller.between(self.scores(suite, origin), self.scores(OWN[suite], origin))
        except LikenessError:
            return None


def page(builder: Builder, *, models: pd.DataFrame, **asked: Any) -> str:
    """The section's text for one choice. Raises BadInput or Undefined where the choice cannot be met."""
    suite, origin = asked["lite"], asked["lite_origin"]
    result = builder.choose(suite, origin, asked["by"], asked["size"], asked["hours"], asked["high"], asked["low"])
    scores, chosen, kept = result.scores, result.selection, result.fidelity
    tasks = [scores.tasks[place] for place in chosen.chosen]
    board = f"board?suite={suite}&tasks={quote(','.join(tasks), safe='/,:')}"
    whose = scores.models[result.whole.rows[kept.largest_change_model]]
    titles = models["title"]
    total = len(scores.tasks)
    lines = [(f"Chosen here: {len(tasks)} tasks", f"{kept.spearman:.3f}", f"{kept.pearson:.3f}", str(kept.n_models),
              _change(kept.largest_rank_change, whose, titles), f"{total - len(tasks)} of {total}")]
    own = builder.own(suite, origin)
    if own is not None:
        lines.append((link(f"board?suite={OWN[suite]}", f"MIEB-lite's own {own.tasks} tasks"), f"{own.spearman:.3f}",
                      f"{own.pearson:.3f}", str(own.n_models), _change(own.largest_rank_change, own.model, titles),
                      f"{total - own.tasks} of {total}"))
    heads = ("Subset", "Spearman", "Pearson", "Models", "Largest change of rank", "Runs saved, each model")
    return (f"<p class='lk-lead'>{len(tasks)} of {total} tasks order {kept.n_models} models as the whole suite does, "
            f"to a Spearman correlation of <b>{kept.spearman:.3f}</b>. "
            f"{link(board, 'Open the subset on the board')}</p>"
            + table(heads, lines, numeric=(1, 2, 3, 5)) + _notes(builder, result, own) + _tasks(result))


def _change(change: int, model: str, titles: pd.Series) -> str:
    places = "none" if change == 0 else f"{change} place{'s' if change > 1 else ''}"
    return places if change == 0 else f"{places}: {to_model(model, titles.get(model, model))}"


def _notes(builder: Builder, result: Smaller, own: Agreement | None) -> str:
    scores, ready = result.scores, result.whole
    notes = ["The agreement is measured on the models it was chosen on, so new models will agree somewhat less."]
    steps = result.selection.agreement
    best = int(steps.argmax())
    if steps[best] - steps[-1] > 0.0005:
        notes.append(f"The agreement was highest with {best + 1} tasks: {steps[best]:.3f}.")
    absent = len(scores.tasks) - len(ready.candidates)
    if absent:
        lost = [name for place, name in enumerate(scores.categories)
                if not (scores.codes[ready.candidates] == place).any()]
        none = f"; so no task of {text(' and '.join(lost))}" if lost else ""
        notes.append(f"{absent} tasks cannot be chosen, since not all of the {len(ready.rows)} models have a readable "
                     f"figure of their own there{none}.")
    if ready.filled:
        notes.append("Where single figures of a category are missing, the mean that the paper prints for it enters the "
                     "whole.")
    if len(result.selection.dropped):
        notes.append(f"{len(result.selection.dropped)} tasks went first as redundant.")
    if own is not None:
        said = queries_pages.lite_claims(builder.db)
        printed = "; ".join(f"{text(row.claim)} {text(row.printed)}" for row in said.itertuples())
        notes.append(f"MIEB-lite's line is over the models that have both means here"
                     f"{f'. The paper prints: {printed}' if printed else ''} ({link('claims', 'Claims')}).")
    hours = result.selection.hours
    if math.isnan(hours):
        notes.append("Hours: no running time of single tasks is known here. MIEB gives totals for two models only (its "
                     "Table 5); imported result files would bring times a task.")
    else:
        total = number(float(scores.hours.sum()), digits=1)
        notes.append(f"Hours: {hours:.1f} a model for the subset, {total} for all, by the median running time that "
                     "imported result files state, on hardware they do not name.")
    return "<ul class='lk-notes'>" + "".join(f"<li>{note}</li>" for note in notes) + "</ul>"


def _tasks(result: Smaller) -> str:
    scores, chosen = result.scores, result.selection
    known = not all(math.isnan(value) for value in scores.hours)
    rows = [(str(step + 1), to_task(scores.tasks[place], scores.titles[place]),
             text(scores.categories[scores.codes[place]]), f"{chosen.agreement[step]:.3f}",
             *((number(scores.hours[place], digits=2) if known else NOTHING,) if known else ()))
            for step, place in enumerate(chosen.path)]
    heads = ("Step", "Task", "Category", "Spearman so far", *(("Hours",) if known else ()))
    return ("<details><summary>Table: the tasks in the order of choice</summary>"
            + table(heads, rows, numeric=(0, 3, 4)) + "</details>")
