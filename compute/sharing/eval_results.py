"""The hub's own form of results, `.eval_results/*.yaml` in a model's repository: one file a data set.

A value is in the unit that the benchmark prints, with all its digits; `notes` says the metric, the unit, the number of
items, the interval, and how the run was made. Source: https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import yaml

from compute.analysis.intervals import interval
from compute.catalog import hub_tasks
from compute.rounding import rounded
from compute.sharing.computed_runs import SharedRun
from compute.types import Metric, Score

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

NAME = "likeness"  # begins every file's name, so that no other program's file is replaced


def files(runs: Iterable[SharedRun], *, metrics: Mapping[str, Metric], source_url: str = "") -> dict[str, str]:
    """The YAML of every file by its path in the repository. Runs whose data set is not on the hub are in none."""
    by_dataset: dict[str, list[EvalResultEntry]] = {}
    for run in runs:
        for entry in entries(run, metrics=metrics, source_url=source_url):
            by_dataset.setdefault(entry.dataset_id, []).append(entry)
    return {
        f"{hub_tasks.EVAL_RESULTS}/{NAME}-{dataset.replace('/', '--')}.yaml": dump(entries)
        for dataset, entries in sorted(by_dataset.items())
    }


def entries(run: SharedRun, *, metrics: Mapping[str, Metric], source_url: str = "") -> list[EvalResultEntry]:
    """One run's scores that have their own id on the hub; the whole task's first."""
    from huggingface_hub import EvalResultEntry

    if not run.dataset:
        return []
    found = []
    for score in sorted(run.stored.scores, key=lambda score: score.subset != run.whole_subset):
        task_id = hub_tasks.task_id(run.task, subset=score.subset, metric=score.metric)
        if task_id:
            metric = metrics[score.metric]
            found.append(
                EvalResultEntry(
                    dataset_id=run.dataset,
                    task_id=task_id,
                    value=hub_tasks.printed(score.value, metric),
                    dataset_revision=run.data_revision or None,
                    date=run.stored.run.started or None,
                    source_url=source_url or None,
                    source_name="Likeness" if source_url else None,
                    notes=notes(run, score, metric),
                )
            )
    return found


def notes(run: SharedRun, score: Score, metric: Metric) -> str:
    """What a figure is and how it was made, as `name: value` parts that a reader and a program can take apart."""
    record, settings = run.stored.run, run.stored.run.settings
    procedure = settings.get("procedure") or {}
    options = {**(procedure.get("options") or {}), **((settings.get("data") or {}).get("options") or {})}
    ends = interval(score, metric) or ()
    chosen = ", ".join(f"{name}={value}" for name, value in sorted(options.items()) if isinstance(value, str | int))
    parts = {
        "metric": metric.key,
        "unit": hub_tasks.unit(metric),
        "n": score.n,
        "95% interval": " to ".join(rounded(end, metric.digits, scale=metric.scale) for end in ends),
        "standard error": None if score.stderr is None else f"{score.stderr * metric.scale:.4g}",
        "answered": None if score.coverage in (None, 1) else f"{100 * score.coverage:.2f}% of the items",
        "if all others were wrong": None
        if score.lower_bound is None
        else rounded(score.lower_bound, metric.digits, scale=metric.scale),
        "protocol": f"{record.procedure}{f' ({chosen})' if chosen else ''}",
        "variant": run.stored.variant,
        "weights": run.stored.short_revision,
        "dtype": record.dtype,
        "device": record.device,
        "code": f"Likeness {record.code}" if record.code else "",
    }
    texts = {name: re.sub(r"[;\s]+", " ", str(value)).strip() for name, value in parts.items() if value is not None}
    return "; ".join(f"{name}: {text}" for name, text in texts.items() if text)


def dump(entries: list[EvalResultEntry]) -> str:
    """Entries as the text of a file."""
    from huggingface_hub import eval_result_entries_to_yaml

    return yaml.dump(
        eval_result_entries_to_yaml(entries), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000
    )


class _Dumper(yaml.SafeDumper):
    """Plain YAML, with decimals as numbers of all their digits."""


def _decimal(dumper: _Dumper, value: Decimal) -> Any:
    text = format(value.normalize(), "f")
    return dumper.represent_scalar("tag:yaml.org,2002:float", text if "." in text else f"{text}.0")


_Dumper.add_representer(Decimal, _decimal)
