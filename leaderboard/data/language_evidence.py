"""What is known of models in single languages: scores of that language alone, and the models' order by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.variance import SAME
from compute.analysis.table import ScoreTable
from leaderboard.data import language_queries, model_queries
from leaderboard.data.board_table import origins_in_order
from leaderboard.data.database import Database
from leaderboard.data.languages import WHOLE, codes_of, language_of_score, language_of_subset, name_of

BENCHMARK = "mieb"  # the only one whose tasks ask the same in several languages
FIRST, WORSE, LEVEL, UNTESTED = "first", "worse", "level", "untested"  # a model beside the highest mean
COUNTS_FROM = 0.5  # share of the models that must have a score for it to enter the mean


@dataclass(frozen=True, kw_only=True)
class LanguageScore:
    """What is measured in a language: a task, or its subset in that language. Values are shown times `scale`."""

    task: str
    subset: str  # empty: the task is in this language alone
    dataset: str
    title: str
    category: str
    metric: str
    scale: float
    digits: int
    higher: bool
    counts: bool  # in the mean


@dataclass(frozen=True, kw_only=True)
class ModelInLanguage:
    """A model with scores in a language. Means are of category means, in stored units; NaN without all that count."""

    model: str
    title: str
    values: tuple[float, ...]  # of each score, NaN where there is none
    have: int  # scores that count
    suspect: bool  # one of its figures is in doubt
    mean: float
    rank: int  # -1 without a mean
    low: float  # 95% interval of the mean, NaN where it is not known
    high: float
    beside: str  # FIRST, WORSE: significantly worse, LEVEL: not, UNTESTED: not known; empty without a rank
    categories: tuple[float, ...]  # means of the categories that count


@dataclass(frozen=True, kw_only=True)
class LanguageModels:
    """The models of one origin in one language, those with a rank first, best first."""

    code: str
    name: str
    origin: str
    scores: tuple[LanguageScore, ...]
    categories: tuple[str, ...]  # that count
    models: tuple[ModelInLanguage, ...]
    unknown: str  # why some models cannot be compared with the first; empty where all can

    @property
    def ranked(self) -> tuple[ModelInLanguage, ...]:
        """The models with a mean."""
        return tuple(each for each in self.models if each.rank > 0)

    @property
    def counted(self) -> tuple[LanguageScore, ...]:
        """The scores that enter the mean."""
        return tuple(each for each in self.scores if each.counts)

    @property
    def first(self) -> ModelInLanguage:
        """The model with the highest mean."""
        return self.models[0]

    @property
    def leaders(self) -> tuple[ModelInLanguage, ...]:
        """The models that share the highest mean; none where no model has a mean."""
        return tuple(each for each in self.models if each.beside == FIRST)

    @property
    def worse(self) -> tuple[ModelInLanguage, ...]:
        """The models that are proved worse than every leader."""
        return tuple(each for each in self.models if each.beside == WORSE)

    @property
    def level(self) -> tuple[ModelInLanguage, ...]:
        """The models behind the leaders that are not proved worse."""
        return tuple(each for each in self.models if each.beside == LEVEL)

    @property
    def untested(self) -> tuple[ModelInLanguage, ...]:
        """The models behind the leaders of which it is not known whether they are worse."""
        return tuple(each for each in self.models if each.beside == UNTESTED)


@dataclass(frozen=True, kw_only=True)
class LanguageEvidence:
    """Every language of the benchmark's tasks: its rankings by origin, and what its tasks do not say of it alone."""

    names: dict[str, str]  # by code, in the order of the names
    rankings: dict[tuple[str, str], LanguageModels]  # by code and origin
    tasks: dict[str, list[Any]]  # by code: rows of `language_queries.tasks` with a subset in it
    pairs: dict[str, int]  # by code: subsets of two languages, one of which it is
    means: dict[str, frozenset[str]]  # by code: origins with a mean over several languages of a task that has it
    unreadable: dict[str, Any]  # by code: reason, models and title of the task with most figures that cannot be read

    def origins(self, code: str) -> list[str]:
        """The origins with scores in a language, the one that is shown first."""
        return origins_in_order(origin for own, origin in self.rankings if own == code)

    def ranking(self, code: str, origin: str = "") -> LanguageModels | None:
        """The ranking in a language of one origin, or of the first that it has; None where there is no score."""
        return self.rankings.get((code, origin or next(iter(self.origins(code)), "")))

    def has_mean(self, code: str, origin: str = "") -> bool:
        """Whether a mean over several languages, one of which this is, is stored: of an origin, or of any."""
        stored = self.means.get(code, frozenset())
        return origin in stored if origin else bool(stored)

    def without_score(self, code: str, ranking: LanguageModels | None) -> list[Any]:
        """The tasks that have a subset in a language, of whose data a ranking holds no score in it."""
        known = {score.dataset for score in ranking.scores} if ranking else set()
        return [task for task in self.tasks.get(code, ()) if task.dataset not in known]


def load(db: Database) -> LanguageEvidence:
    """What a database holds of each language."""
    tasks = language_queries.tasks(db, benchmark=BENCHMARK)
    frame = language_queries.scores(db, benchmark=BENCHMARK)
    frame["language"] = [
        language_of_score(subset, subsets=subsets, languages=languages)
        for subset, subsets, languages in zip(frame["subset"], frame["subsets"], frame["languages"], strict=True)
    ]
    titles = model_queries.models(db)["title"]
    one = _once(frame[frame["language"] != ""])
    rankings = {
        (str(code), str(origin)): ranking_of(rows.to_dict("records"), titles=titles, code=str(code), origin=str(origin))
        for (code, origin), rows in one.groupby(["language", "origin"], sort=False)
    }
    codes = {code for languages in tasks["languages"] for code in codes_of(languages)} | {code for code, _ in rankings}
    names = {code: name_of(code) for code in sorted(codes, key=lambda code: name_of(code).casefold())}
    inside: dict[str, list[Any]] = {}
    pairs: dict[str, int] = {}
    for task in tasks[tasks["listed"]].itertuples():
        for code in sorted({language_of_subset(subset) for subset in task.subsets} - {""}):
            inside.setdefault(code, []).append(task)
        for subset in task.subsets:
            both = codes_of(subset.split("-")) & names.keys()
            for code in both if len(both) == 2 else ():
                pairs[code] = pairs.get(code, 0) + 1
    means: dict[str, set[str]] = {}
    whole = frame[(frame["language"] == "") & frame["subset"].isin(WHOLE)]
    for row in whole.drop_duplicates(["task", "origin"]).itertuples():
        for code in (codes_of(row.languages) | {language_of_subset(subset) for subset in row.subsets}) - {""}:
            means.setdefault(code, set()).add(row.origin)
    gaps = language_queries.unreadable(db, benchmark=BENCHMARK).sort_values("models")
    gaps["title"] = gaps["task"].map(tasks.set_index("key")["title"])
    return LanguageEvidence(
        names=names,
        rankings=rankings,
        tasks=inside,
        pairs=pairs,
        means={code: frozenset(origins) for code, origins in means.items()},
        unreadable={
            code: row for row in gaps.dropna(subset="title").itertuples() if (code := language_of_subset(row.subset))
        },
    )


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """Without the scores of tasks in no suite where tasks of one have scores of the same data in the same language.

    An aggregate and the task that it is made of share their data, which must not count twice.
    """
    same = ["dataset", "language", "origin"]
    in_suites = set(frame.loc[frame["listed"], same].itertuples(index=False, name=None))
    twice = [row in in_suites for row in frame[same].itertuples(index=False, name=None)]
    return frame[frame["listed"] | ~np.array(twice, bool)]


def ranking_of(rows: list[dict[str, Any]], *, titles: pd.Series, code: str, origin: str) -> LanguageModels:
    """The models' order by the mean of category means over the scores that count.

    rows: as `language_queries.scores` has them, of one language and origin, in the order of the tasks; titles: of the
    models, by key.
    """
    facts = list({(row["task"], row["subset"]): row for row in rows}.values())
    columns = {(row["task"], row["subset"]): at for at, row in enumerate(facts)}
    keys = list(dict.fromkeys(row["model"] for row in rows))
    values, errors, items = (np.full((len(keys), len(facts)), np.nan) for _ in range(3))
    for row in rows:
        cell = keys.index(row["model"]), columns[row["task"], row["subset"]]
        values[cell], errors[cell] = row["value"], row["stderr"]
        items[cell] = row["n"] if row["proportion"] else np.nan
    errors = sampling_errors(values=values, stderr=errors, share_of=items)
    known = ~np.isnan(values)
    counts = known.mean(axis=0) >= COUNTS_FROM
    if not counts.any():
        counts = known.sum(axis=0) == known.sum(axis=0).max()
    counting = [fact for fact, counted in zip(facts, counts, strict=True) if counted]
    categories = tuple(dict.fromkeys(fact["category"] for fact in counting))
    ranking = Ranking.of(
        ScoreTable(
            models=tuple(keys),
            values=values[:, counts],
            stderr=errors[:, counts],
            categories=categories,
            codes=np.array([categories.index(fact["category"]) for fact in counting]),
            higher=np.array([bool(fact["higher"]) for fact in counting]),
            scales=tuple(str(fact["scale"]) for fact in counting),
            lower=np.array([_bound(fact["lower"], -np.inf) for fact in counting]),
            upper=np.array([_bound(fact["upper"], np.inf) for fact in counting]),
        )
    )
    states = _beside(ranking)
    suspect = {row["model"] for row in rows if row["suspect"]}
    ranked = ranking.rank > 0
    models = [
        ModelInLanguage(
            model=model,
            title=titles[model],
            values=tuple(values[row]),
            have=int(ranking.scored[row]),
            suspect=model in suspect,
            mean=float(ranking.mean[row]),
            rank=int(ranking.rank[row]),
            low=float(ranking.mean_low[row]),
            high=float(ranking.mean_high[row]),
            beside=states[row],
            categories=tuple(ranking.category_means[row].tolist()) if ranked[row] else (),
        )
        for row, model in enumerate(keys)
    ]
    models.sort(key=lambda each: (each.rank < 0, each.rank, -each.have, each.title.casefold()))
    return LanguageModels(
        code=code,
        name=name_of(code),
        origin=origin,
        scores=tuple(
            LanguageScore(
                task=fact["task"],
                subset="" if fact["subset"] in WHOLE else fact["subset"],
                dataset=fact["dataset"],
                title=fact["title"],
                category=fact["category"],
                metric=fact["metric_title"],
                scale=float(fact["scale"]),
                digits=int(fact["digits"]),
                higher=bool(fact["higher"]),
                counts=bool(counted),
            )
            for fact, counted in zip(facts, counts, strict=True)
        ),
        categories=categories,
        models=tuple(models),
        unknown=_why_untested(ranking, states),
    )


def _beside(ranking: Ranking) -> list[str]:
    """How each model stands beside the highest; where several share it, worse is worse than each. Empty: no rank."""
    leaders = np.flatnonzero(ranking.rank == 1)
    states = []
    for at, rank in enumerate(ranking.rank):
        if rank <= 1:
            states.append(FIRST if rank == 1 else "")
        elif np.isnan(ranking.p[at, leaders]).any():
            states.append(UNTESTED)
        else:
            states.append(WORSE if ranking.better[leaders, at].all() else LEVEL)
    return states


def _why_untested(ranking: Ranking, states: list[str]) -> str:
    """Why models cannot be compared with the first: the first's own reason before theirs; empty where all can be."""
    untested = [at for at, state in enumerate(states) if state == UNTESTED]
    if not untested:
        return ""
    reasons = [ranking.unknown[at] for at in (*np.flatnonzero(ranking.rank == 1), *untested)]
    return next(filter(None, reasons), SAME)


def _bound(end: Any, missing: float) -> float:
    return missing if pd.isna(end) else float(end)
