"""Maps the hub's evaluation results (`.eval_results/*.yaml`) to the catalogue's tasks, by data set and task id.

For MIEB and ViDoRe the ids are those of mteb: the task's name for the whole task, `<name>_<subset>_<split>` for a part,
both for the task's main metric. Other benchmarks have no ids of this kind: `<benchmark>_<task>` is used, followed by
the subset and the metric if they are not the task's first.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext

from compute.catalog.catalog import MTEB, Catalog
from compute.types import WHOLE, Metric, Task

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
EVAL_RESULTS = ".eval_results"  # the folder in a model's repository
DIGITS = 60  # of exact arithmetic: a float has at most 17, and a scale is a power of ten
PERCENT, AS_DEFINED, FRACTION = "%", "as defined", "fraction"


def dataset_id(task: Task, *, catalog: Catalog) -> str:
    """Returns the task's data set on the hub; empty if the hub does not have it, and for user data."""
    if task.benchmark in MTEB:
        return task.dataset if HUB_ID.fullmatch(task.dataset) else ""
    address = next((row.url for row in catalog.datasets if row.key == task.dataset), "")
    return address if HUB_ID.fullmatch(address) else ""


def task_id(task: Task, *, subset: str, metric: str) -> str:
    """Returns the id of one score of a task; empty if it has none."""
    if task.benchmark not in MTEB:
        parts = [task.key.replace("/", "_")]
        parts += [subset] if subset != whole_subset(task) else []
        parts += [metric] if metric != task.metrics[0] else []
        return "_".join(parts)
    if metric != task.metrics[0]:
        return ""
    if subset != whole_subset(task):
        return f"{task.title}_{subset}_{split(task)}"
    return task.title if "|" not in task.split else ""  # in mteb this is the mean over all splits


def whole_subset(task: Task) -> str:
    """Returns the subset whose score is that of the whole task."""
    return task.subsets[0] if len(task.subsets) == 1 else WHOLE


def split(task: Task) -> str:
    """Returns the split that runs of a task read: the last one in its row."""
    return task.split.split("|")[-1]


def table(catalog: Catalog) -> dict[tuple[str, str], tuple[Task, str, str]]:
    """Maps the data set and id of every possible score of the catalogue's tasks to its task, subset and metric."""
    rows = {}
    for task in catalog.tasks:
        dataset = dataset_id(task, catalog=catalog)
        if not dataset:
            continue
        for subset in dict.fromkeys((whole_subset(task), *task.subsets)):
            for metric in task.metrics:
                if name := task_id(task, subset=subset, metric=metric):
                    rows[dataset, name] = (task, subset, metric)
        if task.benchmark in MTEB and (dataset, task.title) in rows:  # mteb gives this score under both names
            rows[dataset, f"{task.title}_{WHOLE}_{split(task)}"] = rows[dataset, task.title]
    return rows


def unit(metric: Metric) -> str:
    """Returns the unit in which papers print a metric, in words: `%`, `nats`, `× 1000`."""
    if metric.unit == PERCENT or metric.scale == 1:
        return metric.unit or AS_DEFINED
    return f"{metric.unit} × {metric.scale:g}".strip()


def printed(value: float, metric: Metric) -> Decimal:
    """Returns a stored value in the unit that papers print, exactly: with as many digits as the float has."""
    with localcontext(prec=DIGITS):
        return Decimal(repr(float(value))) * Decimal(repr(metric.scale))


def stored(value: Decimal, metric: Metric) -> float:
    """Returns the stored value of a printed one; the inverse of `printed`."""
    with localcontext(prec=DIGITS):
        return float(value / Decimal(repr(metric.scale)))
