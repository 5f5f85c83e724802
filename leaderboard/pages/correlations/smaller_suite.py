"""A smaller suite as a page shows it: the choice, how it stands for the whole, and what it saves, as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd

from compute.analysis.lite import smaller
from compute.analysis.lite.smaller import HeldOut, Smaller, SuiteAgreement
from compute.analysis.suite import arrange
from compute.database import store
from compute.types import ORIGINS, LikenessError
from leaderboard.data import suite_queries
from leaderboard.data.memo import memoised
from leaderboard.html.markup import NOTHING, link, number, table, text, to_model, to_task
from leaderboard.web.parameters import Choice, Number, Parameter

if TYPE_CHECKING:
    from compute.analysis.suite import SuiteScores
    from leaderboard.data.database import Database

BY = ("tasks", "hours")
OWN = {"mieb": "mieb-lite", "mieb-en": "mieb-lite"}  # the smaller suite that a paper already chose
SIZE = 51  # of MIEB-lite


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One choice of the section's controls."""

    suite: str
    origin: str
    by: str
    size: int
    hours: float
    high: float
    low: float


def parameters(suites: pd.DataFrame) -> tuple[Parameter, ...]:
    """The section's query parameters; their defaults are MIEB section 6.3."""
    choosable = suites[suites["aggregate"] != "human"]
    return (
        Choice(key="lite", default="mieb", choices=tuple(choosable["key"])),
        Choice(key="lite_origin", default="published", choices=(*ORIGINS, "all")),
        Choice(key="by", default="tasks", choices=BY),
        Number(key="size", default=SIZE, low=1, high=200, whole=True),
        Number(key="hours", default=5, low=0.01, high=1000),
        Number(key="high", default=0.5, low=-1, high=1),
        Number(key="low", default=0.45, low=-1, high=1),
    )


class Builder:
    """Chosen suites of a database, each made once a file."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.scores = memoised(
            lambda suite, origin: arrange(store.suite_frames(db.ask, suite=suite), origin=origin), most=32, of=db
        )
        self.choose = memoised(self._choose, most=64, of=db)
        self.held_out = memoised(self._held_out, most=64, of=db)

    def _choose(self, wish: Wish) -> Smaller:
        scores = self.scores(wish.suite, wish.origin)
        size, hours = _limit(wish, scores)
        return smaller.choose(scores, size=size, hours=hours, thresholds=_thresholds(wish))

    def _held_out(self, wish: Wish) -> HeldOut | None:
        """The same choice made on half of the models and measured on the others; None where it cannot be made."""
        scores = self.scores(wish.suite, wish.origin)
        size, hours = _limit(wish, scores)
        try:
            return smaller.held_out(scores, size=size, hours=hours, thresholds=_thresholds(wish))
        except LikenessError:
            return None

    def own(self, suite: str, origin: str) -> SuiteAgreement | None:
        """How the paper's own smaller suite stands for the whole, None where there is none to compare."""
        if suite not in OWN:
            return None
        try:
            return smaller.between(self.scores(suite, origin), self.scores(OWN[suite], origin))
        except LikenessError:
            return None


def _limit(wish: Wish, scores: SuiteScores) -> tuple[int | None, float | None]:
    return (min(wish.size, len(scores.tasks)), None) if wish.by == "tasks" else (None, wish.hours)


def _thresholds(wish: Wish) -> tuple[float, float]:
    return max(wish.high, wish.low), min(wish.high, wish.low)


def page(builder: Builder, wish: Wish, *, models: pd.DataFrame) -> str:
    """The section's text for one choice. Raises BadInput or Undefined where the choice cannot be met."""
    result = builder.choose(wish)
    scores, chosen, kept = result.scores, result.selection, result.fidelity
    tasks = [scores.tasks[place] for place in chosen.chosen]
    board = f"board?suite={wish.suite}&tasks={quote(','.join(tasks), safe='/,:')}"
    whose = scores.models[result.whole.rows[kept.largest_change_model]]
    titles = models["title"]
    total = len(scores.tasks)
    lines = [
        (
            f"Chosen here: {len(tasks)} tasks",
            f"{kept.spearman:.3f}",
            f"{kept.pearson:.3f}",
            str(kept.n_models),
            _change(kept.largest_rank_change, whose, titles),
            f"{total - len(tasks)} of {total}",
        )
    ]
    own = builder.own(wish.suite, wish.origin)
    if own is not None:
        lines.append(
            (
                link(f"board?suite={OWN[wish.suite]}", f"MIEB-lite's own {own.tasks} tasks"),
                f"{own.spearman:.3f}",
                f"{own.pearson:.3f}",
                str(own.n_models),
                _change(own.largest_rank_change, own.model, titles),
                f"{total - own.tasks} of {total}",
            )
        )
    heads = ("Subset", "Spearman", "Pearson", "Models", "Largest change of rank", "Runs saved, each model")
    return (
        f"<p class='pg-lead'>{_headline(result, builder.held_out(wish), own)} "
        f"{link(board, 'Open the subset on the board')}</p>"
        + table(heads, lines, numeric=(1, 2, 3, 5))
        + _notes(builder, result, own)
        + _tasks(result)
    )


def _headline(result: Smaller, tried: HeldOut | None, own: SuiteAgreement | None) -> str:
    """What was reached, how far that flatters, from which tasks, and on what the paper's own line stands."""
    kept, total, could = result.fidelity, len(result.scores.tasks), len(result.whole.candidates)
    said = (
        f"{len(result.selection.chosen)} of {total} tasks order {kept.n_models} models as the whole suite does, to "
        f"a Spearman correlation of <b>{kept.spearman:.3f}</b>; that is optimistic, for it is measured on the models "
        "they were chosen on"
    )
    if tried is not None:
        said += (
            f". Chosen on one half of the models, they order the other half to <b>{tried.median:.3f}</b> (median "
            f"of {len(tried.spearman)} random halves of about {tried.n_models} models; "
            f"{number(min(tried.spearman), digits=3)} to {number(max(tried.spearman), digits=3)})"
        )
    if could < total:
        said += (
            f". Only {could} of the {total} tasks ({could / total:.0%}) could be chosen at all: those with a "
            "readable figure of every model"
        )
    if own is not None:
        said += f". MIEB-lite's own line is over {own.n_models} models"
    return f"{said}."


def _change(change: int, model: str, titles: pd.Series) -> str:
    places = "none" if change == 0 else f"{change} place{'s' if change > 1 else ''}"
    return places if change == 0 else f"{places}: {to_model(model, titles.get(model, model))}"


def _notes(builder: Builder, result: Smaller, own: SuiteAgreement | None) -> str:
    scores, ready = result.scores, result.whole
    notes = []
    steps = result.selection.agreement
    best = int(steps.argmax())
    if steps[best] - steps[-1] > 0.0005:
        notes.append(f"The agreement was highest with {best + 1} tasks: {steps[best]:.3f}.")
    absent = len(scores.tasks) - len(ready.candidates)
    if absent:
        lost = [
            name for place, name in enumerate(scores.categories) if not (scores.codes[ready.candidates] == place).any()
        ]
        none = f"; so no task of {text(' and '.join(lost))}" if lost else ""
        notes.append(
            f"{absent} tasks cannot be chosen, since not all of the {len(ready.rows)} models have a readable "
            f"figure of their own there{none}."
        )
    if ready.filled:
        notes.append(
            "Where single figures of a category are missing, the mean that the paper prints for it enters the whole."
        )
    if len(result.selection.dropped):
        notes.append(f"{len(result.selection.dropped)} tasks went first as redundant.")
    if own is not None:
        said = suite_queries.lite_claims(builder.db)
        printed = "; ".join(f"{text(row.claim)} {text(row.printed)}" for row in said.itertuples())
        notes.append(
            f"MIEB-lite's line is over the models that have both means here"
            f"{f'. The paper prints: {printed}' if printed else ''} ({link('claims', 'Claims')})."
        )
    hours = result.selection.hours
    if math.isnan(hours):
        notes.append(
            "Hours: no running time of single tasks is known here. MIEB gives totals for two models only (its "
            "Table 5); imported result files would bring times a task."
        )
    else:
        total = number(float(scores.hours.sum()), digits=1)
        notes.append(
            f"Hours: {hours:.1f} a model for the subset, {total} for all, by the median running time that "
            "imported result files state, on hardware they do not name."
        )
    return "<ul class='pg-notes'>" + "".join(f"<li>{note}</li>" for note in notes) + "</ul>"


def _tasks(result: Smaller) -> str:
    scores, chosen = result.scores, result.selection
    known = not all(math.isnan(value) for value in scores.hours)
    rows = [
        (
            str(step + 1),
            to_task(scores.tasks[place], scores.titles[place]),
            text(scores.categories[scores.codes[place]]),
            f"{chosen.agreement[step]:.3f}",
            *((number(scores.hours[place], digits=2) if known else NOTHING,) if known else ()),
        )
        for step, place in enumerate(chosen.path)
    ]
    heads = ("Step", "Task", "Category", "Spearman so far", *(("Hours",) if known else ()))
    return (
        "<details><summary>Table: the tasks in the order of choice</summary>"
        + table(heads, rows, numeric=(0, 3, 4))
        + "</details>"
    )
