"""Shortlist of at most five models for a need: the best that fits, then those not significantly worse, open and small
ones first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.comparison import Comparison
from compute.analysis.intervals import Z95
from compute.io.files import words_beside
from compute.types import BadInput, unknown
from leaderboard.data.board_table import BoardTable
from leaderboard.data.comparison import ComparedLine, of_mean
from leaderboard.data.database import Database
from leaderboard.data.languages import NAMES, codes_in, name_of
from leaderboard.data.mean_rule import RankChoice
from leaderboard.data.models.loading_code import loading_code
from leaderboard.data.models.model_facts import facts, license_kind, own_facts
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.data.suite_cache import SuiteCache, ranked_rows
from leaderboard.html.formatting import number
from leaderboard.html.labels import SUSPECT, TRAINED

MOST = 5
FEWEST_PARAMETERS = 10_000  # a smaller limit is meant in millions or billions
MANY = "many"  # languages
GENERAL = "general"  # the need that any suite says something of
LICENSES = ("permissive", "stated", "unknown")  # kinds of them, in the order of ties


class ModelUse(NamedTuple):
    """A use of a model, and the tasks that are evidence for it. Without `categories`, these are all tasks that count in
    the suite's mean.
    """

    title: str
    suite: str
    categories: Sequence[str] = ()
    multilingual: Sequence[str] = ()  # categories that ask the same in many languages

    def asked(self, language: str) -> Sequence[str]:
        """Returns the categories for a language, MANY, or any (empty)."""
        return {"": self.categories, MANY: self.multilingual}.get(language, [*self.categories, *self.multilingual])

    def tasks(self, table: BoardTable, *, language: str) -> frozenset[str]:
        """Returns the tasks that are evidence for it; empty if no task asks the same in many languages."""
        own = self.asked(language) or (table.scores.categories if language != MANY else ())
        return frozenset(column.task for column in table.columns if column.ranked and column.group in own)


NEEDS = {key: ModelUse(**use) for key, use in words_beside(__file__).items()}


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions on a model. Unknown sizes, licences and weights meet no condition."""

    language: str = ""  # any, MANY, or codes or names, commas between
    max_parameters: float = 0  # 0: any
    license: str = ""  # licences or kinds of them, commas between; empty: any, also an unknown one
    open_weights: bool = False

    @property
    def licenses(self) -> frozenset[str]:
        """Returns the licences and kinds of licences of which a model must have one; empty: any."""
        return frozenset(filter(None, map(str.strip, self.license.lower().split(","))))

    def check(self, licenses: Iterable[str | None]) -> None:
        """Raises BadInput for a licence that none of some models has, and for an invalid size."""
        most = self.max_parameters
        if most and not (isinstance(most, int | float) and FEWEST_PARAMETERS <= most < np.inf):
            raise BadInput(f"max_parameters is {most!r}; it is a number of parameters, such as 1000000000 for 1 B")
        known = {*LICENSES, *(license.lower() for license in licenses if license)}
        for license in sorted(self.licenses - known):
            raise BadInput(
                f"{unknown('license', license, known)} Give {', '.join(LICENSES)}, or licences such as apache-2.0,mit"
            )

    def unmet(self, model: Mapping[str, Any]) -> frozenset[str]:
        """Returns which of size, license and weights a model does not meet, by `model_facts.facts`."""
        size, license = model["parameters"], model["license"]
        kinds = {license.lower(), license_kind(license), "stated" if license else ""}
        failed = {
            "size": self.max_parameters and (size is None or size > self.max_parameters),
            "license": self.licenses and not self.licenses & kinds,
            "weights": self.open_weights and not model["open_weights"],
        }
        return frozenset(name for name, fails in failed.items() if fails)


@dataclass(frozen=True, kw_only=True)
class ShortlistedModel:
    """A model that fits, and the difference of its mean from the best. Values are in shown units."""

    facts: pd.Series  # its row of the table of models
    row: str  # as in addresses
    rank: int  # among all models with a rank on these tasks
    mean: float
    line: ComparedLine | None  # its mean after that of the best; None: it is the best
    trained: bool  # on the data of a task behind its mean
    weakest: tuple[str, float] = ("", np.nan)  # of several languages the one with its lowest mean, and that

    @property
    def test(self) -> Comparison | None:
        """Returns the model minus the best. It is `worse` only if the difference is significant."""
        return self.line and self.line.tests[0]

    @property
    def reading(self) -> str:
        """Returns the outcome of the test; empty for the best model."""
        return self.test.reading if self.test else ""

    @property
    def loads(self) -> bool:
        """Returns whether there is code here that loads it."""
        return own_facts(self.facts["options"]) is not None or bool(loading_code(self.facts))

    def sentence(self, best: str, model: str) -> str:
        """Describes the test in a sentence, with these names of the two models."""
        return self.line.of_pair(replace(self.test, a=model, b=best), "the mean")


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """The shortlisted models, and what the evidence cannot show."""

    table: BoardTable
    tasks: frozenset[str]
    language: str = ""  # in words; empty: any
    categories: Sequence[str] = ()  # that the tasks are of; empty: all
    choices: tuple[ShortlistedModel, ...] = ()
    fits: tuple[ShortlistedModel, ...] = ()  # all that fit, also if significantly worse, by their means
    origin: str = ""  # of the scores
    ranked: int = 0  # models with a rank on these tasks
    unknown_size: int = 0  # excluded because their size is not stated, though they meet the other conditions
    unknown_license: int = 0
    smallest: ShortlistedModel | None = None  # of those not significantly worse, if asked for and all sizes are stated
    ties: int = 0  # fitting models not significantly worse than the best, itself among them
    untested: int = 0  # fitting models that cannot be tested against the best
    on_items: str = ""  # of evidence from one task, what its items say of the lead, as a sentence
    suspect: int = 0  # scores of the shortlist in doubt
    digits: int = 1

    @property
    def fitting(self) -> int:
        """How many of the ranked models meet every condition."""
        return len(self.fits)

    @property
    def runner_up(self) -> ShortlistedModel | None:
        """The next by its mean of those that fit, also if significantly worse."""
        return self.fits[1] if self.fitting > 1 else None

    @cached_property
    def usable(self) -> ShortlistedModel | None:
        """The first by its mean of those that code here loads, also if significantly worse."""
        return next((each for each in self.fits if each.loads), None)

    def answer(self, *, name: str = "title") -> str:
        """Describes the result; models by `name`, title or key."""
        if not self.tasks:
            language = f" in {self.language}" if self.language else ""
            return f"No task of {self.table.suite['title']} asks this{language}, so there is no evidence to choose by."
        if not self.ranked:
            return (
                f"No model has the scores that a mean over these {len(self.tasks)} tasks needs, so there is no "
                "evidence to choose by."
            )
        if not self.choices:
            reasons = (("size", self.unknown_size), ("licence", self.unknown_license))
            lost = [f" For {count} of them our sources state no {fact}." for fact, count in reasons if count]
            return f"None of the {self.ranked} models with a rank meets every condition.{''.join(lost)} Loosen one."
        best, second = self.choices[0], self.runner_up
        tasks = "1 task" if len(self.tasks) == 1 else f"{len(self.tasks)} tasks"
        where = f"{number(best.mean, digits=self.digits)} over {tasks} of {self.table.suite['title']}"
        where += f" in {self.language}" if self.language else ""
        where += f" ({', '.join((*self.categories, f'{self.origin} scores'))})"
        if second is None:
            return f"{best.facts[name]} is the only model that fits, with a mean of {where}."
        others, ties = self.fitting - 1, self.ties - 1
        rest = ""
        if self.untested == others:
            rest = f"{self.on_items} What other tasks of the kind would say is unknown."
        elif ties > (second.reading == "same"):
            rest = f" {ties} {'model that fits is' if ties == 1 else 'models that fit are'} not significantly worse."
        elif not ties and others > 1:
            rest = " Every other model that can be compared with the best is significantly worse."
        lead = f"{best.facts[name]} has the highest mean of the {self.fitting} models that fit, {where}."
        if self.smallest:
            if self.smallest.row == best.row:
                lead += " It is also the smallest of those that are not significantly worse."
            else:
                lead += f" The smallest model that is not significantly worse is {self.smallest.facts[name]}."
        if not best.loads:
            lead += " No code here loads it."
            if self.usable:
                test = self.usable.sentence(best.facts[name], "it")
                lead += f" The best model that code here loads is {self.usable.facts[name]}: {test}"
                if self.usable.row == second.row:
                    return f"{lead}{rest}"
        test = second.sentence(best.facts[name], "it")
        return f"{lead} The runner-up is {second.facts[name]}: {test}{rest}"


def shortlist(
    suite_cache: SuiteCache, *, need: str, conditions: Conditions, suite: str = "", smallest: bool = False
) -> Shortlist:
    """Returns the models for one of NEEDS under conditions, by the tasks of its suite or of another `suite`.

    The best is the fitting model with the highest mean. Those that are not significantly worse, as the ranking of all
    models on these tasks has it, follow by their rank, at the same rank by licence and size, those that no code here
    loads last, or `smallest` first; then, as far as there is room, those that cannot be compared, by their mean. Of
    several languages the tasks count that have scores in each. Raises BadInput for a need, language or kind of licence
    that is not known, UnknownKey for a suite.
    """
    language = codes_in(conditions.language)
    codes = language.split(",") if language else []
    if need not in NEEDS:
        raise BadInput(unknown("need", need, NEEDS, listed=True))
    for code in codes:
        if code not in (MANY, *NAMES):
            raise BadInput(unknown("language", code, (MANY, *NAMES)))
    if MANY in codes and len(codes) > 1:
        raise BadInput(f"{MANY} is of all languages: choose it alone, or name the languages")
    usual, scope = NEEDS[need], WHOLE
    about = usual._replace(suite=suite or usual.suite)
    table = suite_cache.table(about.suite)
    conditions.check(table.models["license"])
    in_words = "many languages" if language == MANY else name_of(language)
    if language not in ("", MANY):
        scope = Scope(language=language)
        try:
            table = suite_cache.table(about.suite, scope)
        except BadInput:
            return Shortlist(table=table, tasks=frozenset(), language=in_words)
    # All tasks of a suite are evidence for a use of its own benchmark, and for many uses.
    benchmarks = {key: benchmark for key, (_, benchmark) in suite_cache.suites().items()}
    same = usual.categories or need == GENERAL or benchmarks[about.suite] == benchmarks[usual.suite]
    tasks = about.tasks(table, language=language) if same else frozenset()
    groups = {column.group for column in table.columns if column.task in tasks}
    categories = [group for group in about.asked(language) if group in groups]
    nothing = Shortlist(table=table, tasks=tasks, language=in_words, categories=categories)
    try:
        ranked = suite_cache.ranked(about.suite, RankChoice(tasks=tasks, scope=scope)) if tasks else None
    except BadInput:
        ranked = None
    if ranked is None or not (ranked.rank > 0).any():
        return nothing
    rows = ranked_rows(table, ranked)
    known = {row: facts(suite_cache)[table.rows[row].model] for row in rows}
    unmet = {row: conditions.unmet(known[row]) for row in rows}
    fitting = [row for row in rows if not unmet[row]]
    scale = table.category_columns[0].scale

    def model(row: int) -> ShortlistedModel:
        return ShortlistedModel(
            facts=table.models.loc[table.rows[row].model],
            row=table.rows[row].id,
            rank=int(ranked.rank[row]),
            mean=float(ranked.mean[row]) * scale,
            line=None if row == fitting[0] else of_mean(table, ranked, [fitting[0], row]),
            trained=bool((table.marks[row, ranked.table.chosen] & TRAINED).any()),
        )

    def openness(row: int) -> tuple[float, bool, int, int, float]:
        kind, size = license_kind(known[row]["license"]), known[row]["parameters"] or np.inf
        order = (not models[row].loads, int(ranked.rank[row]), LICENSES.index(kind), size)
        return size if smallest else 0, *order

    models = {row: model(row) for row in fitting}
    # By the mean first: over few tasks a model far behind is not significantly worse either.
    ties = sorted((row for row in fitting if models[row].reading == "same"), key=openness)
    untested = [row for row in fitting if models[row].reading in ("unknown", "none")]
    picked = [*fitting[:1], *ties, *untested][:MOST]
    counted = np.array([column.task in tasks for column in table.columns])
    weakest = _weakest(suite_cache, about.suite, tasks, codes, [table.rows[row].id for row in picked])
    sizes = {row: known[row]["parameters"] for row in (*fitting[:1], *ties)}
    return replace(
        nothing,
        choices=tuple(replace(models[row], weakest=weakest.get(table.rows[row].id, ("", np.nan))) for row in picked),
        smallest=models[min(sizes, key=sizes.get)] if smallest and len(sizes) > 1 and all(sizes.values()) else None,
        fits=tuple(models.values()),
        origin=table.origin,
        ranked=len(rows),
        unknown_size=sum(known[row]["parameters"] is None and unmet[row] == {"size"} for row in rows),
        unknown_license=sum(not known[row]["license"] and unmet[row] == {"license"} for row in rows),
        ties=len(ties) + len(fitting[:1]),
        untested=len(untested),
        on_items=_on_items(suite_cache.db, table, tasks, ranked.mean[fitting[:2]]) if len(fitting) > 1 else "",
        suspect=int((table.marks[np.ix_(picked, counted)] & SUSPECT > 0).sum()) if picked else 0,
        digits=table.category_columns[0].digits,
    )


def _weakest(
    suite_cache: SuiteCache, suite: str, tasks: frozenset[str], codes: Sequence[str], rows: Sequence[str]
) -> dict[str, tuple[str, float]]:
    """Returns the language in which each of some rows has its lowest mean over the tasks, and that mean."""
    found: dict[str, tuple[str, float]] = {}
    for code in codes if len(codes) > 1 else ():
        scope = Scope(language=code)
        table, ranked = suite_cache.table(suite, scope), suite_cache.ranked(suite, RankChoice(tasks=tasks, scope=scope))
        for row in rows:
            mean = float(ranked.mean[table.row(row)]) * table.category_columns[0].scale
            if mean < found.get(row, ("", np.inf))[1]:
                found[row] = (name_of(code), mean)
    return found


def _on_items(db: Database, table: BoardTable, tasks: Collection[str], means: np.ndarray) -> str:
    """Returns what the items of the only task say about the lead of the first of two means; empty for several tasks.

    The mean of n items' scores from 0 to 1 has a variance of m (1 - m) / n at most (Bhatia and Davis 2000).
    """
    columns = [column for column in table.columns if column.task in tasks]
    if len(columns) != 1 or not columns[0].n or (columns[0].lower, columns[0].upper) != (0.0, 1.0):
        return ""
    about = db.keyed("suite_tasks", suite=table.suite["key"]).loc[columns[0].task]
    parts = len(about["subsets"]) if table.scope.language else 1
    n, gap = columns[0].n / parts, abs(means[0] - means[1])
    half = Z95 * np.sqrt((means * (1 - means)).sum() / n)
    low, high = (
        number(columns[0].scale * end, digits=columns[0].digits + 1, sign=True) for end in (gap - half, gap + half)
    )
    return (
        f" On the {'about ' * (parts > 1)}{n:,.0f} items of this one task the lead is {low} to {high} (at least 95%)."
    )
