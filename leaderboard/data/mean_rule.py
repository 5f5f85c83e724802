"""The rule of a board's mean in words: the suite's own, or with a visitor's changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qs

from compute.analysis.ranking import Ranking
from compute.types import BadInput
from leaderboard.data.board_table import BoardTable
from leaderboard.data.languages import name_of
from leaderboard.data.scope import WHOLE, Scope, scope_of
from leaderboard.html.labels import CONDITIONS
from leaderboard.web.parameters import Number

OF_A_LANGUAGE = (
    "A task counts by the mean of its parts in this language, of several languages if it has parts in each; a pair of "
    "languages counts for both."
)
WEIGHT = Number(key="w", default=1, low=0, high=100)
COVERAGE = Number(key="coverage", default=0, low=0, high=1)
MOST_NAMES = 3  # tasks that are named; of more the number is given


class RankChoice(NamedTuple):
    """A visitor's changes of a suite's ranking; equal choices compare equal."""

    weights: tuple[tuple[str, float], ...] = ()  # by category, sorted
    tasks: frozenset[str] | None = None  # that count; None: all
    coverage: float | None = None
    scope: Scope = WHOLE
    sound: bool = False  # without doubtful scores


def choice(query: str) -> RankChoice:
    """Returns the choice of a query string. Raises BadInput."""
    params = {key: values[-1] for key, values in parse_qs(query[:8000]).items()}
    weights = []
    for part in filter(None, params.get("w", "").split(",")):
        name, _, text = part.rpartition(":")
        if (weight := WEIGHT.read(text)) is None:
            raise BadInput(f"The weight of {name!r} is {text!r}, not a number from 0 to 100")
        weights.append((name, weight))
    tasks = frozenset(filter(None, params.get("tasks", "").split(","))) or None
    coverage = COVERAGE.read(params["coverage"]) if "coverage" in params else None
    if "coverage" in params and coverage is None:
        raise BadInput("The minimum coverage is a number from 0 to 1")
    return RankChoice(tuple(sorted(weights)), tasks, coverage, scope_of(query), params.get("doubtful") == "hide")


def with_estimates(query: str) -> bool:
    """Returns whether a query string asks for estimates of incomplete models."""
    return parse_qs(query[:8000]).get("estimates") == ["show"]


def suite_rule(table: BoardTable) -> str:
    """Returns the suite's own rule, such as `Mean of 10 category means`; for a scope: `Mean of 24 tasks, sensitive
    condition`.
    """
    ranked = sum(column.ranked for column in table.columns)
    weights = _weights(table.weights())
    rules = {
        "category-mean": f"Mean of {len(table.scores.categories)} category means{weights and f' ({weights})'}",
        "task-mean": f"Mean of {ranked} tasks{weights and f' ({weights})'}",
        "human": "Ranked by people",
    }
    return ", ".join(filter(None, [rules[table.suite["aggregate"]], scope_in_words(table)]))


def description(table: BoardTable) -> str:
    """Describes a suite; for a scope, what it shows instead, such as `Sensitive condition. The judge is told that
    ...`.
    """
    words = scope_in_words(table)
    if not words:
        return str(table.suite["description"] or "")
    note = OF_A_LANGUAGE if table.scope.language else CONDITIONS.get(table.scope.subset, "")
    return f"{words[0].upper()}{words[1:]}. {note}".strip()


def scope_in_words(table: BoardTable) -> str:
    """Returns the scope of a table, such as `Smoothness, sensitive condition`; empty for the whole suite."""
    scope = table.scope
    parts = (
        next((column.metric_title for column in table.columns if column.metric == scope.metric), ""),
        scope.subset and f"{scope.subset} condition",
        scope.language and f"{name_of(scope.language)} alone",
    )
    return ", ".join(filter(None, parts))


def changed_rule(table: BoardTable, ranked: Ranking | None) -> str:
    """Returns a ranking's changes of the suite's rule, such as `Retrieval 1, Clustering 1; 12 of 130 tasks`; empty if
    there are none.
    """
    if ranked is None:
        return ""
    own, least = table.weights(), ranked.table.least
    chosen = dict(zip(table.scores.categories, ranked.table.weights.tolist(), strict=True))
    parts = ["" if _same(chosen, own) else _weights(chosen) or "equal weights", _tasks(table, ranked)]
    if table.left_out:
        parts.append("without doubtful scores")
    if least != table.scores.least:
        parts.append(f"minimum coverage {100 * least:.4g}%")
    return "; ".join(filter(None, parts))


def rule(table: BoardTable, changed: str) -> str:
    """Returns the rule behind a mean; `changed` is the result of `changed_rule`."""
    if not changed:
        return suite_rule(table)
    return f"Your mean: {'; '.join(filter(None, [changed, scope_in_words(table)]))}"


def _same(weights: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Returns whether two weightings give the same mean because they are proportional."""
    first, second = (sum(each.values()) for each in (weights, others))
    return all(abs(weight * second - others[name] * first) < 1e-9 * first * second for name, weight in weights.items())


def _weights(weights: Mapping[str, float]) -> str:
    """Returns the weights that differ: all that count, or only the deviating ones if they are few; empty if all are
    equal.
    """
    counting = {name: weight for name, weight in weights.items() if weight > 0}
    left_out = [name for name in weights if name not in counting]
    equal = len(set(counting.values())) < 2
    if equal and not left_out:
        return ""
    if equal and len(left_out) < len(counting):
        return f"without {', '.join(left_out)}"
    if left_out:
        return ", ".join(f"{name} {weight:g}" for name, weight in counting.items())
    listed = [f"{name} {weight:g}" for name, weight in counting.items() if weight != 1]
    return ", ".join(listed if len(listed) == len(counting) else [*listed, "others 1"])


def _tasks(table: BoardTable, ranked: Ranking) -> str:
    own = [column for column in table.columns if column.ranked]
    counted = [column for column, chosen in zip(table.columns, ranked.table.chosen, strict=True) if chosen]
    if len(counted) == len(own):
        return ""
    for category in table.scores.categories:
        if counted == [column for column in own if column.group == category]:
            return f"only {category}"
    titles = [column.title for column in counted]
    return f"only {', '.join(titles)}" if len(titles) <= MOST_NAMES else f"{len(titles)} of {len(own)} tasks"
