"""Records of Every Eval Ever, a shared format of evaluation results: one file per suite, with one result per task.

Values are as stored, with proportions as fractions, and with direction, bounds, error, interval and number of items.
Source: https://github.com/evaleval/every_eval_ever, schema 0.3.0
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from compute.analysis.intervals import interval
from compute.catalog import Catalog, hub_tasks
from compute.engine import run_folders
from compute.sharing.computed_runs import SharedRun, SharedRuns
from compute.sharing.eval_results import made_how
from compute.sharing.mteb_results import as_folder, as_text
from compute.types import Metric

SCHEMA = "0.3.0"


def files(shared: SharedRuns, *, catalog: Catalog, evaluator: str, source_url: str = "") -> dict[str, str]:
    """Returns the text of every file by its path in that project's data set. `evaluator` is who ran the model.

    A file is named after the runs and their date, so that exporting the same runs replaces it.
    """
    model, id = shared.model, shared.hub_id or shared.model.key
    developer, _, name = id.rpartition("/")
    folder = f"{as_folder(developer or model.organisation) or 'unknown'}/{as_folder(name)}"
    metrics = {metric.key: metric for metric in catalog.metrics}
    texts = {}
    for suite in catalog.suites:
        runs = [run for run in shared.runs if suite.key in run.task.suites] if suite.key in shared.suites else ()
        if not runs:
            continue
        evaluation = f"likeness-{suite.key}/{model.key}/{max(run.stored.run.started for run in runs)}"
        digest = hashlib.sha256(evaluation.encode()).digest()
        record = {
            "schema_version": SCHEMA,
            "evaluation_id": evaluation,
            "retrieved_timestamp": str(time.time()),
            "source_metadata": {
                "source_name": suite.title,
                "source_type": "evaluation_run",
                "source_organization_name": evaluator,
                "evaluator_relationship": "first_party" if evaluator == model.organisation else "third_party",
                **_known(source_organization_url=source_url),
            },
            "eval_library": {
                "name": "Likeness",
                "version": ", ".join(sorted({run.stored.run.code for run in runs} - {""})) or "unknown",
            },
            "model_info": {
                "name": model.title,
                "id": id,
                "developer": model.organisation or "unknown",
                "additional_details": {
                    "deployment_type": "unknown" if model.adapter == "endpoint" else "self_deployed",
                    "model_availability": {True: "open_weights", False: "closed_weights", None: "unknown"}[
                        model.open_weights
                    ],
                },
            },
            "evaluation_results": [_result(run, metrics) for run in runs],
        }
        path = f"data/likeness-{as_folder(suite.key)}/{folder}/{UUID(bytes=digest[:16], version=4)}.json"
        texts[path] = as_text(record)
    return texts


def _result(run: SharedRun, metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """Returns the result of one task: the score of its first metric."""
    score = run_folders.headline(run.stored)
    metric = metrics[score.metric]
    ends = interval(score, metric)
    data = {"dataset_name": run.task.title, "source_type": "other"}
    if run.dataset:
        data = _known(
            dataset_name=run.dataset,
            source_type="hf_dataset",
            hf_repo=run.dataset,
            hf_split=hub_tasks.split(run.task),
            hf_revision=run.data_revision,
        )
    return {
        "evaluation_name": run.task.key,
        "source_data": data,
        "evaluation_timestamp": run.stored.run.started,
        "metric_config": {
            "evaluation_description": metric.description,
            "metric_id": metric.key,
            "metric_name": metric.title,
            "metric_unit": "proportion" if metric.unit == hub_tasks.PERCENT else metric.unit or hub_tasks.AS_DEFINED,
            "lower_is_better": not metric.higher_is_better,
            "score_type": "continuous",
            "min_score": "-Infinity" if metric.lower is None else metric.lower,
            "max_score": "Infinity" if metric.upper is None else metric.upper,
        },
        "score_details": {
            "score": score.value,
            "details": _known(
                answered="" if score.coverage in (None, 1) else str(score.coverage),
                if_all_others_were_wrong="" if score.lower_bound is None else str(score.lower_bound),
                synthetic="true" if run.synthetic else "",
            ),
            "uncertainty": _known(
                standard_error=None if score.stderr is None else {"value": score.stderr},
                confidence_interval=ends and {"lower": ends[0], "upper": ends[1], "confidence_level": 0.95},
                num_samples=score.n,
            ),
        },
        "generation_config": {"additional_details": made_how(run)},
    }


def _known(**fields: Any) -> dict[str, Any]:
    """Returns the fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, "")}
