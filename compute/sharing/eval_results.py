"""The hub's format of results, `.eval_results/*.yaml` in a model's repository: one file per data set.

A value has the unit printed by the benchmark and all its digits. `notes` gives the metric, the unit, the number of
items, the interval, and how the run was made. Source: https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import yaml

from compute.analysis.intervals import interval
from compute.catalog import hub_tasks
from compute.rounding import rounded
from compute.sharing.computed_runs import SharedRun
from compute.types import Metric, Score

NAME = "likeness"  # prefix of every file's name, so that other programs' files are not replaced


def files(
    runs: Iterable[SharedRun], *, metrics: Mapping[str, Metric], source_url: str = ""
) -> tuple[dict[str, str], int]:
    """Returns the YAML of every file by its path in the repository, and the number of scores. Scores need an id on the
    hub; a run's whole task comes first. Runs whose data set is not on the hub are skipped.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    by_dataset = {}
    for run in runs:
        for score in sorted(run.stored.scores, key=lambda score: score.subset != hub_tasks.whole_subset(run.task)):
            task_id = hub_tasks.task_id(run.task, subset=score.subset, metric=score.metric)
            if run.dataset and task_id:
                entry = EvalResultEntry(
                    dataset_id=run.dataset,
                    task_id=task_id,
                    value=hub_tasks.printed(score.value, metrics[score.metric]),
                    dataset_revision=run.data_revision or None,
                    date=run.stored.run.started or None,
                    source_url=source_url or None,
                    source_name="Likeness" if source_url else None,
                    notes=notes(run, score, metrics[score.metric]),
                )
                by_dataset.setdefault(run.dataset, []).append(entry)
    plain = {"Dumper": _Dumper, "sort_keys": False, "allow_unicode": True, "width": 10_000}
    return {
        f"{hub_tasks.EVAL_RESULTS}/{NAME}-{dataset.replace('/', '--')}.yaml": yaml.dump(
            eval_result_entries_to_yaml(entries), **plain
        )
        for dataset, entries in sorted(by_dataset.items())
    }, sum(map(len, by_dataset.values()))


def notes(run: SharedRun, score: Score, metric: Metric) -> str:
    """Describes a score and how it was computed as `name: value` parts, readable by people and programs."""
    ends = interval(score, metric) or ()
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
    }
    texts = {name: str(value) for name, value in parts.items() if value not in (None, "")} | made_how(run)
    return "; ".join(f"{name}: {text}" for name, text in texts.items())


def made_how(run: SharedRun) -> dict[str, str]:
    """Describes how a run was made, each fact on one line without `;`."""
    record, settings = run.stored.run, run.stored.run.settings
    procedure = settings.get("procedure") or {}
    options = {**(procedure.get("options") or {}), **((settings.get("data") or {}).get("options") or {})}
    chosen = ", ".join(f"{name}={value}" for name, value in sorted(options.items()) if isinstance(value, str | int))
    parts = {
        "protocol": f"{record.procedure}{f' ({chosen})' if chosen else ''}",
        "variant": run.stored.variant,
        "weights": run.stored.short_revision,
        "dtype": record.dtype,
        "device": record.device,
        "code": f"Likeness {record.code}" if record.code else "",
    }
    return {name: text for name, value in parts.items() if (text := re.sub(r"[;\s]+", " ", value).strip())}


class _Dumper(yaml.SafeDumper):
    """Plain YAML with decimals as numbers with all their digits."""


def _decimal(dumper: _Dumper, value: Decimal) -> Any:
    text = format(value.normalize(), "f")
    return dumper.represent_scalar("tag:yaml.org,2002:float", text if "." in text else f"{text}.0")


_Dumper.add_representer(Decimal, _decimal)
