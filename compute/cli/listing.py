"""likeness list: the catalogue, one line a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from compute.cli.workspace import Results, warn
from compute.engine.workspace import catalog_with_own
from compute.rounding import parameters_text
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.catalog import Catalog
    from compute.types import Model

NOUNS = ("models", "tasks", "suites", "metrics", "datasets", "options")


def show(
    noun: Annotated[str, typer.Argument(help="models, tasks, suites, metrics, datasets or options")],
    suite: Annotated[str, typer.Option(help="Only tasks of this suite.")] = "",
    results: Results = None,
):
    """Prints the catalogue, one line a row, with the suites of your data in the results folder."""
    for line in lines(catalog_with_own(results, warn=warn), noun=noun, suite=suite):
        typer.echo(line)


def lines(catalog: Catalog, *, noun: str, suite: str = "") -> Iterator[str]:
    """One aligned line a row: key, title, then what distinguishes rows of this noun; of tasks those of a suite, where
    one is named. Raises BadInput, UnknownKey."""
    if noun not in NOUNS:
        raise BadInput(f"There is no list of {noun!r}. Choose from: {', '.join(NOUNS)}")
    if suite and noun != "tasks":
        raise BadInput(f"--suite chooses among tasks, not among {noun}: likeness list tasks --suite {suite}")
    if noun == "options":
        yield from _options(catalog)
        return
    rows = getattr(catalog, noun)
    if suite:
        chosen = catalog.suite(suite).key
        rows = [task for task in rows if chosen in task.suites]
    details = {
        "models": lambda model: f"{model.kind}, {_size(model.parameters_m)}{_remark(model)}",
        "tasks": lambda task: (
            f"{task.category}, {task.metrics[0] if task.metrics else '-'}, "
            f"{task.n_items if task.n_items else '?'} items, {' '.join(task.suites) or 'no suite'}"
        ),
        "suites": lambda suite: f"{sum(suite.key in task.suites for task in catalog.tasks)} tasks, {suite.aggregate}",
        "metrics": lambda metric: (
            f"{'higher' if metric.higher_is_better else 'lower'} is better{f', {metric.unit}' if metric.unit else ''}"
        ),
        "datasets": lambda dataset: dataset.license or "licence unknown",
    }
    width = max(len(row.key) for row in rows)
    for row in rows:
        yield f"{row.key:<{width}}  {row.title}  ({details[noun](row)})"


def _remark(model: Model) -> str:
    """Why a model cannot be computed, or what to know before running it; empty for most."""
    if reason := model.options.get("not_computable"):
        return f", not computable: {reason}"
    return f", caution: {model.options['caution']}" if model.options.get("caution") else ""


def _size(millions: float | None) -> str:
    if millions is None:
        return "size unknown"
    return f"{parameters_text(millions)} parameters"


def _options(catalog: Catalog) -> Iterator[str]:
    """Every option of a run: its values, the default first, and the procedures or tasks that have it.

    Families with another default are named next to it.
    """
    from compute import tasks
    from compute.engine.plan import defaults
    from compute.procedures import PROCEDURES

    owners: dict[tuple[str, tuple], list[str]] = {}
    for procedure in PROCEDURES:
        for name, values in procedure.options.items():
            owners.setdefault((name, tuple(values)), []).append(procedure.key)
    for task in catalog.tasks:
        for name, values in (tasks.options_of(task) if tasks.computable(task) else {}).items():
            owners.setdefault((name, tuple(values)), []).append(task.key)
    width = max(len(name) for name, _ in owners)
    rows = [row for row in catalog.models if row.adapter]
    for (name, values), keys in owners.items():
        others = {
            (str(usual), row.adapter) for row in rows if (usual := defaults(row, {name: values})[name]) != values[0]
        }
        own = "".join(f"; {adapter} takes {usual} by default" for usual, adapter in sorted(others))
        yield f"{name:<{width}}  {', '.join(map(str, values))}  ({', '.join(keys)}{own})"
