"""How a board's mean is made: by the suite's own rule, or by what a visitor changed of it, in words."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.data.suite_table import SuiteTable

MOST_NAMES = 3  # tasks that are named; of more the number is given


def suite_rule(table: SuiteTable) -> str:
    """The suite's own rule, such as `Mean of 10 category means`."""
    ranked = sum(column.ranked for column in table.columns)
    rules = {
        "category-mean": f"Mean of {len(table.categories)} category means",
        "task-mean": f"Mean of {ranked} tasks",
        "human": "Ranked by people",
    }
    return rules[table.suite["aggregate"]]


def changed_rule(
    table: SuiteTable,
    *,
    weights: Mapping[str, float] | None = None,
    tasks: frozenset[str] | None = None,
    coverage: float | None = None,
) -> str:
    """What a choice changes of the suite's own rule, such as `Retrieval 1, Clustering 1; 12 of 130 tasks`.

    Empty where it changes nothing; the parameters are those of `leaderboard.data.ranked.rank`.
    """
    if not table.categories:
        return ""
    parts = [_weights({name: (weights or {}).get(name, 1.0) for name in table.categories}), _tasks(table, tasks)]
    if coverage is not None and coverage != float(table.suite["minimum_coverage"]):
        parts.append(f"minimum coverage {_percent(coverage)}")
    return "; ".join(filter(None, parts))


def rule(table: SuiteTable, changed: str) -> str:
    """The rule behind a mean, `changed` being what `changed_rule` gives."""
    return f"Your mean: {changed}" if changed else suite_rule(table)


def _weights(weights: Mapping[str, float]) -> str:
    """The weights that differ: all that count, or the few that do not; empty where all are equal."""
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


def _tasks(table: SuiteTable, tasks: frozenset[str] | None) -> str:
    ranked = [column for column in table.columns if column.ranked]
    counted = [column.title for column in ranked if tasks is None or column.task in tasks]
    if len(counted) == len(ranked):
        return ""
    return f"only {', '.join(counted)}" if len(counted) <= MOST_NAMES else f"{len(counted)} of {len(ranked)} tasks"


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"
