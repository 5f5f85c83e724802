"""likeness list: prints the catalogue, one row per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from compute import models
from compute.catalog import Catalog
from compute.cli.workspace import Results, warn
from compute.engine.workspace import catalog_with_own
from compute.rounding import parameters_text
from compute.types import BadInput, Model, suggestion

NOUNS = ("models", "tasks", "suites", "metrics", "datasets", "options")
UNLOADED = "(nothing loads it)"


def listing(
    noun: Annotated[str, "models, tasks, suites, metrics, datasets or options"],
    *,
    suite: Annotated[str, "Only tasks of this suite."] = "",
    family: Annotated[str, "Only models of this family, or loaded as it."] = "",
    runnable: Annotated[bool, "Only models that run on this machine without a download."] = False,
    missing: Annotated[bool, "Only those that do not, each with the reason."] = False,
    results: Results = None,
) -> Iterator[str]:
    """Prints the catalogue, one line a row, with your own models and the suites of your data."""
    if noun not in NOUNS:
        raise BadInput(f"There is no list of {noun!r}. Choose from: {', '.join(NOUNS)}")
    if suite and noun != "tasks":
        raise BadInput(f"--suite chooses among tasks, not among {noun}: likeness list tasks --suite {suite}")
    if noun != "models" and (family or runnable or missing):
        raise BadInput(f"--family, --runnable and --missing choose among models, not among {noun}")
    catalog = catalog_with_own(results, warn=warn)
    if noun == "models":
        yield from model_lines(catalog.models, family=family, runnable=runnable, missing=missing)
        return
    if noun == "options":
        yield from _options(catalog)
        return
    rows = getattr(catalog, noun)
    if suite:
        chosen = catalog.suite(suite).key
        rows = [task for task in rows if chosen in task.suites]
    details = {
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


def model_lines(
    rows: Sequence[Model], *, family: str = "", runnable: bool = False, missing: bool = False
) -> Iterator[str]:
    """Yields a line per model: key, adapter, title, kind and size, and remarks about running it.

    `runnable` limits the list to models that can run here, `missing` to those that cannot, with the reason as remark.
    Raises BadInput.
    """
    families = sorted({row.family for row in rows} | {row.adapter for row in rows} - {""})
    if family and family not in families:
        near = suggestion(family, families)
        raise BadInput(f"No model has the family {family!r}.{near} There are: {', '.join(filter(None, families))}")
    chosen = []
    for row in rows:
        why = row.options.get("not_computable")
        remark = models.missing(row) if runnable or missing else f"not computable: {why}" if why else ""
        if family in ("", row.family, row.adapter) and (runnable == missing or missing == bool(remark)):
            size = "size unknown" if row.parameters_m is None else f"{parameters_text(row.parameters_m)} parameters"
            details = f"({row.kind}, {size}{f'; {remark}' if remark else ''})"
            chosen.append((row.key, row.adapter or UNLOADED, f"{row.title}  {details}"))
    key_width, width = (max((len(row[at]) for row in chosen), default=0) for at in (0, 1))
    for key, adapter, rest in chosen:
        yield f"{key:<{key_width}}  {adapter:<{width}}  {rest}"


def _options(catalog: Catalog) -> Iterator[str]:
    """Yields every option of a run: its values, the default first, and the procedures or tasks that have it.

    Families with a different default are named after them.
    """
    from compute import tasks
    from compute.engine.plan import defaults
    from compute.procedures import PROCEDURES

    owners = {}
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
