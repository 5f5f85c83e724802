"""The scope of a table: one language, or one metric and condition that the suite's tasks share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import pandas as pd

from compute.tasks.pairbench.splits import SPLITS, split_of
from compute.types import BadInput
from leaderboard.data.languages import codes_in, name_of

LONGEST_KEY = 100  # characters of a condition's or metric's key
MOST_LANGUAGES = 6  # at once
MOST_SUBSETS = 4  # more are languages or sizes of items, which nobody ranks by


@dataclass(frozen=True, kw_only=True)
class Scope:
    """A subset of every task, a metric and languages; empty: the whole task, its main metric, and all languages.

    Raises BadInput for more than MOST_LANGUAGES.
    """

    subset: str = ""
    metric: str = ""
    language: str = ""  # its code, or of several with commas between

    def __post_init__(self) -> None:
        if (count := len(self.language.split(","))) > MOST_LANGUAGES:
            raise BadInput(f"{count} languages are too many for one ranking: choose at most {MOST_LANGUAGES}")

    def __bool__(self) -> bool:
        return bool(self.suffix)

    @property
    def suffix(self) -> str:
        """Returns a suffix for names, such as `-relax_sym-sensitive`; empty for the whole."""
        return "".join(f"-{part}" for part in (self.metric, self.subset, self.language) if part)


WHOLE = Scope()


def scope_of(query: str) -> Scope:
    """Returns the condition, metric and language of a query string; the table checks whether the suite has them."""
    params = {key: values[-1][:LONGEST_KEY] for key, values in parse_qs(query[:8000]).items()}
    languages = codes_in(params.get("language", ""))
    return Scope(subset=params.get("condition", ""), metric=params.get("metric", ""), language=languages)


@dataclass(frozen=True, kw_only=True)
class ScopeChoices:
    """The scopes of a suite; empty if its tasks do not share several.

    `metrics` are those with scores, the headline first, each with the subsets that it has scores of; `splits` have a
    key, a title and the tasks that ask the same of other data; `languages` is the number of tasks with scores of a
    language alone, by code.
    """

    subsets: tuple[str, ...]
    metrics: dict[str, frozenset[str]]
    splits: tuple[dict[str, Any], ...]
    languages: Mapping[str, int] = field(default_factory=dict)

    def check(self, scope: Scope) -> None:
        """Raises BadInput for a scope that the suite does not have."""
        for noun, key, known in (
            ("condition", scope.subset, self.subsets),
            ("metric", scope.metric, self.metrics),
            *(("language", code, self.languages) for code in scope.language.split(",")),
        ):
            if key and key not in known:
                there = f"there are: {', '.join(known)}" if known else "it cannot be ranked by one"
                raise BadInput(f"The suite has no {noun} {key!r}; {there}")
        if scope.subset and scope.metric and scope.subset not in self.metrics[scope.metric]:
            raise BadInput(f"{scope.metric} has no scores of the {scope.subset} condition alone. Choose one of the two")


def scope_choices(
    tasks: pd.DataFrame, subset_metrics: pd.DataFrame, *, human: bool, parts: pd.DataFrame | None
) -> ScopeChoices:
    """Returns the scopes shared by the ranked tasks among some tasks. `subset_metrics` lists existing scores: task,
    metric, subset; `parts` lists their languages, as `languages.parts`.

    A suite that people rank (`human`) has no other ranking.
    """
    if human:
        return ScopeChoices(subsets=(), metrics={}, splits=())
    ranked = tasks[tasks["ranked"].astype(bool)]
    subsets, metrics = _shared(ranked["subsets"]), _shared(ranked["metrics"])
    subsets = subsets if 1 < len(subsets) <= MOST_SUBSETS else ()
    known = subset_metrics[subset_metrics["task"].isin(ranked["key"])].groupby("metric")["subset"].agg(frozenset)
    scored = {key: known.get(key, frozenset()) for key in metrics if key in known.index or key == metrics[0]}
    spoken = {} if parts is None else parts.groupby("language")["task"].nunique().to_dict()
    return ScopeChoices(
        subsets=subsets,
        metrics=scored if len(scored) > 1 else {},
        splits=_splits(ranked),
        languages={code: spoken[code] for code in sorted(spoken, key=name_of)} if len(spoken) > 1 else {},
    )


def _shared(values: pd.Series) -> tuple[str, ...]:
    """Returns what all rows have in common; empty if they differ."""
    distinct = {tuple(value) for value in values}
    return distinct.pop() if len(distinct) == 1 else ()


def _splits(tasks: pd.DataFrame) -> tuple[dict[str, Any], ...]:
    """Returns PairBench's splits of the tasks, in order; empty unless there are several."""
    of = [split_of(key, split=split or "") for key, split in zip(tasks["key"], tasks["split"], strict=True)]
    splits = tuple(
        {
            "key": key,
            "title": split.title,
            "tasks": [task for task, own in zip(tasks["key"], of, strict=True) if own == key],
        }
        for key, split in SPLITS.items()
        if key in of
    )
    return splits if len(splits) > 1 else ()
