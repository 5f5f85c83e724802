"""The catalogue as lines of text for the command line."""

from __future__ import annotations

from collections.abc import Iterator

from compute.catalog import Catalog
from compute.types import BadInput

NOUNS = ("models", "tasks", "suites", "metrics", "datasets")


def lines(catalog: Catalog, *, noun: str) -> Iterator[str]:
    """One aligned line a row: key, title, then what tells rows of this noun apart. Raises BadInput."""
    if noun not in NOUNS:
        raise BadInput(f"There is no list of {noun!r}. Choose from: {', '.join(NOUNS)}")
    rows = getattr(catalog, noun)
    details = {
        "models": lambda model: f"{model.kind}, {_size(model.parameters_m)}",
        "tasks": lambda task: f"{task.category}, {task.metrics[0] if task.metrics else '-'}, "
                              f"{task.n_items if task.n_items else '?'} items, {' '.join(task.suites) or 'no suite'}",
        "suites": lambda suite: f"{sum(suite.key in task.suites for task in catalog.tasks)} tasks, {suite.aggregate}",
        "metrics": lambda metric: f"{'higher' if metric.higher_is_better else 'lower'} is better"
                                  f"{f', {metric.unit}' if metric.unit else ''}",
        "datasets": lambda dataset: dataset.license or "licence unknown",
    }
    width = max(len(row.key) for row in rows)
    for row in rows:
        yield f"{row.key:<{width}}  {row.title}  ({details[noun](row)})"


def _size(millions: float | None) -> str:
    if millions is None:
        return "size unknown"
    return f"{millions / 1000:.1f}B parameters" if millions >= 1000 else f"{millions:.0f}M parameters"
