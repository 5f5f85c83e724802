"""At most five models for a need: the best that fits, then those not significantly worse, open and small ones first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from compute.analysis.comparison import compared
from compute.analysis.ranking import Ranking
from compute.types import BadInput, shortened, suggestion
from leaderboard.data.board_table import BoardTable
from leaderboard.data.languages import NAMES, code_of
from leaderboard.data.leaders import ranked_rows
from leaderboard.data.model_queries import PERMISSIVE
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import blank
from leaderboard.html.labels import SUSPECT, TRAINED

MOST = 5
FEWEST = 3  # tasks that two models share before a difference between them is tested
MANY = "many"  # languages
STATED, UNKNOWN, PERMITS = "stated", "unknown", "permissive"  # kinds of licences; the last are those in PERMISSIVE


@dataclass(frozen=True, kw_only=True)
class ModelUse:
    """A use of a model, and which tasks are evidence for it. No `categories`: all that count in the suite's mean."""

    title: str
    suite: str
    categories: tuple[str, ...] = ()
    multilingual: tuple[str, ...] = ()  # categories that ask the same in many languages

    def asked(self, language: str) -> tuple[str, ...]:
        """The categories for a language, MANY, or any (empty)."""
        return {"": self.categories, MANY: self.multilingual}.get(language, self.categories + self.multilingual)

    def tasks(self, table: BoardTable, *, language: str) -> frozenset[str]:
        """The tasks that are evidence for it; none where no task asks the same in many languages."""
        own = self.asked(language) or (table.scores.categories if language != MANY else ())
        return frozenset(column.task for column in table.columns if column.ranked and column.group in own)


NEEDS = {
    "search": ModelUse(
        title="Search images by text or by image",
        suite="mieb",
        categories=("Retrieval",),
        multilingual=("Multilingual Retrieval",),
    ),
    "documents": ModelUse(title="Find pages and documents", suite="vidore-v3"),
    "general": ModelUse(title="Embed images for many uses", suite="mieb"),
    "classification": ModelUse(
        title="Classify images, without or with a few labels",
        suite="mieb",
        categories=("Zero-shot Classification", "Linear Probing"),
    ),
    "clustering": ModelUse(title="Group images", suite="mieb", categories=("Clustering",)),
    "text-in-images": ModelUse(
        title="Compare texts shown as images",
        suite="mieb",
        categories=("Visual STS (en)",),
        multilingual=("Visual STS (cross & multi)",),
    ),
    "similarity": ModelUse(
        title="Tell which of two images is more similar to a third", suite="unisim-core", categories=("Img-2AFC",)
    ),
    "alignment": ModelUse(title="Tell which image fits a text", suite="unisim-core", categories=("IT-2AFC",)),
    "quality": ModelUse(title="Judge the quality of images", suite="unisim-core", categories=("IQA",)),
    "judge": ModelUse(title="Rate pairs with a vision-language model", suite="pairbench"),
}


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What a model must meet. Unknown sizes, licences and weights meet no condition."""

    language: str = ""  # any, MANY, or the code or name of one
    max_parameters: float | None = None  # millions
    license: str = ""  # licences or kinds of them, commas between; empty: any, also an unknown one
    open_weights: bool = False

    @property
    def licenses(self) -> frozenset[str]:
        """The licences and kinds of them, one of which a model must have; none: any."""
        return frozenset(filter(None, map(str.strip, self.license.lower().split(","))))

    def check(self, models: pd.DataFrame) -> None:
        """Raises BadInput for a licence that no model of the table of models has."""
        known = {STATED, UNKNOWN, PERMITS} | set(models["license"].dropna().str.lower())
        for license in sorted(self.licenses - known):
            raise BadInput(
                f"No model has the license {shortened(license)!r}.{suggestion(license, known)} Give {PERMITS}, "
                f"{STATED}, {UNKNOWN}, or licences such as apache-2.0,mit"
            )

    def unmet(self, facts: Mapping[str, Any]) -> frozenset[str]:
        """Those of size, license and weights that a row of the table of models does not meet."""
        size, license = facts["parameters_m"], "" if blank(facts["license"]) else facts["license"].lower()
        kinds = {license or UNKNOWN, STATED if license else "", PERMITS if license in PERMISSIVE else ""}
        is_open = not blank(facts["open_weights"]) and facts["open_weights"]
        failed = {
            "size": self.max_parameters and (blank(size) or size > self.max_parameters),
            "license": self.licenses and not self.licenses & kinds,
            "weights": self.open_weights and not is_open,
        }
        return frozenset(name for name, fails in failed.items() if fails)


@dataclass(frozen=True, kw_only=True)
class ShortlistedModel:
    """A model of the shortlist. Means and differences are in shown units; NaN where they are not known."""

    facts: pd.Series  # its row of the table of models
    row: str  # its id on the board
    rank: int  # among all models that are ranked by these tasks
    mean: float
    difference: float  # from the best that fits, over the tasks that both have; NaN for the best itself
    low: float  # of its 95% interval
    high: float
    shared: int  # tasks behind the difference
    verdict: Literal["best", "not worse", "worse", "untested"]  # worse: significantly
    trained: bool  # on the data of a task behind its mean


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """The models, and what the evidence behind them cannot say."""

    table: BoardTable
    tasks: frozenset[str]
    choices: tuple[ShortlistedModel, ...] = ()
    runner_up: ShortlistedModel | None = None  # the next by its mean of those that fit, also if significantly worse
    origin: str = ""  # of the scores
    ranked: int = 0  # models with a rank on these tasks
    fitting: int = 0  # of these, the ones that meet every condition
    unknown_size: int = 0  # excluded because their size is not stated, though they meet the other conditions
    unknown_license: int = 0
    ties: int = 0  # fitting models not significantly worse than the best, itself among them
    untested: int = 0  # fitting models with too few scores in common with the best
    suspect: int = 0  # scores of the shortlist in doubt
    digits: int = 1


def shortlist(suite_cache: SuiteCache, *, need: str, conditions: Conditions) -> Shortlist:
    """The models for one of NEEDS under conditions.

    The best is the fitting model with the highest mean. Those that are not significantly worse, as the ranking of all
    models on these tasks has it, follow by their rank, at the same rank by licence and size; then, as far as there is
    room, those that cannot be compared, by their mean. The difference of each from the best is tested by itself, which
    decides where the ranking does not know. Raises BadInput for a need, language or kind of licence that is not known.
    """
    language = conditions.language and code_of(conditions.language)
    for noun, key, known in (("need", need, tuple(NEEDS)), ("language", language, ("", MANY, *NAMES))):
        if key not in known:
            listed = "" if noun == "language" else f" Give one of {', '.join(filter(None, known))}"
            raise BadInput(f"No {noun} {key!r}.{suggestion(key, known)}{listed}")
    about, scope = NEEDS[need], WHOLE
    table = suite_cache.table(about.suite)
    conditions.check(table.models)
    if language not in ("", MANY):
        if language not in table.choices.languages:
            return Shortlist(table=table, tasks=frozenset())
        scope = Scope(language=language)
        table = suite_cache.table(about.suite, scope)
    tasks = about.tasks(table, language=language)
    try:
        ranked = suite_cache.ranked(about.suite, (), tasks, scope=scope) if tasks else None
    except BadInput:
        ranked = None
    if ranked is None or not (ranked.rank > 0).any():
        return Shortlist(table=table, tasks=tasks)
    origin, rows = ranked_rows(table, ranked)
    facts = {row: _size_and_license(table, row) for row in rows}
    unmet = {row: conditions.unmet(table.models.loc[table.rows[row].model]) for row in rows}
    fitting = [row for row in rows if not unmet[row]]
    models = {row: _model(table, ranked, row, best=fitting[0]) for row in fitting}
    ties, untested = (
        [row for row in fitting if models[row].verdict == verdict] for verdict in ("not worse", "untested")
    )
    # By the mean first: over few tasks a model far behind is not significantly worse either.
    ties.sort(key=lambda row: (ranked.rank[row], *_openness(*facts[row])))
    picked = [*fitting[:1], *ties, *untested][:MOST]
    counted = np.array([column.task in tasks for column in table.columns])
    return Shortlist(
        table=table,
        tasks=tasks,
        choices=tuple(models[row] for row in picked),
        runner_up=models[fitting[1]] if len(fitting) > 1 else None,
        origin=origin,
        ranked=len(rows),
        fitting=len(fitting),
        unknown_size=sum(np.isinf(facts[row][0]) and unmet[row] == {"size"} for row in rows),
        unknown_license=sum(not facts[row][1] and unmet[row] == {"license"} for row in rows),
        ties=len(ties) + len(fitting[:1]),
        untested=len(untested),
        suspect=int((table.marks[np.ix_(picked, counted)] & SUSPECT > 0).sum()) if picked else 0,
        digits=table.category_columns[0].digits,
    )


def _size_and_license(table: BoardTable, row: int) -> tuple[float, str]:
    """A row's number of parameters in millions and its licence; infinite and empty where they are not stated."""
    model = table.models.loc[table.rows[row].model]
    size, license = model["parameters_m"], model["license"]
    return np.inf if blank(size) else float(size), "" if blank(license) else str(license)


def _openness(parameters: float, license: str) -> tuple[int, float]:
    """What models are ordered by: permissive licences first, unstated last; then the small ones, unknown sizes last."""
    return (0 if license in PERMISSIVE else 1 if license else 2), parameters


def _model(table: BoardTable, ranked: Ranking, row: int, *, best: int) -> ShortlistedModel:
    """A row among those that fit, compared with the best over the tasks that both have a score of, in categories where
    these are two or more."""
    shared = ranked.table.chosen & ~np.isnan(table.scores.values[row]) & ~np.isnan(table.scores.values[best])
    shared &= np.bincount(table.scores.codes[shared], minlength=table.scores.codes.max() + 1)[table.scores.codes] > 1
    difference = low = high = np.nan
    if row != best and shared.sum() >= FEWEST:
        pair = replace(table.scores, task_weights=shared.astype(float)).rows([row, best])
        result = compared(pair, 0, 1)
        difference, low, high = result.difference, result.low, result.high
    tested = ranked.better[best, row] if not np.isnan(ranked.p[best, row]) else high < 0
    scale = table.category_columns[0].scale
    return ShortlistedModel(
        facts=table.models.loc[table.rows[row].model],
        row=table.rows[row].id,
        rank=int(ranked.rank[row]),
        mean=float(ranked.mean[row]) * scale,
        difference=difference * scale,
        low=low * scale,
        high=high * scale,
        shared=int(shared.sum()),
        verdict="best" if row == best else "untested" if np.isnan(high) else "worse" if tested else "not worse",
        trained=bool((table.marks[row, ranked.table.chosen] & TRAINED).any()),
    )
