"""Result files in the layout of mteb 2.26, for MIEB's tasks: `results/<org>__<model>/<revision>/<Task>.json`.

A file holds only the splits, subsets and metrics that were computed. Fields of mteb's format that are unknown for these
runs (its version, emissions) are null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from compute.catalog import hub_tasks
from compute.catalog.catalog import MTEB
from compute.importing.mteb import FIELDS
from compute.io.nouns import parts
from compute.io.tables import read_csv
from compute.paths import CATALOG
from compute.sharing.computed_runs import SharedRun, SharedRuns
from compute.types import WHOLE, Task

FOLDER = "results"
META = "model_meta.json"
UNKNOWN = (  # fields of META that are not in the catalogue
    "public_training_code",
    "public_training_data",
    "similarity_fn_name",
    "use_instructions",
    "training_datasets",
    "loader",
)
NO_REVISION = "no_revision_available"  # mteb's placeholder
# Tasks that are a mean over another task's subsets: mteb stores only the mean.
AGGREGATES = ("VisualSTS17Eng", "VisualSTS17Multilingual", "VisualSTS-b-Eng", "VisualSTS-b-Multilingual")
METRICS = (
    "accuracy",
    "cosine_spearman",
    "hit_rate_at_1",
    "hit_rate_at_3",
    "hit_rate_at_10",
    "lrap",
    "map_at_5",
    "mrr_at_10",
    "ndcg_at_5",
    "ndcg_at_10",
    "nmi",
    "text_accuracy",
    "image_accuracy",
    "group_accuracy",
)


def files(shared: SharedRuns, *, name: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Returns the text of every file by its path, and why some runs on MIEB's tasks have no file. `name` is ORG/NAME,
    as in mteb.

    mteb's format cannot express that a score covers only part of the items, or follows another protocol than mteb's.
    """
    texts = {}
    left_out = []
    for run in shared.runs:
        if run.task.benchmark not in MTEB:
            continue
        coverage = min((score.coverage for score in run.stored.scores if score.coverage is not None), default=1.0)
        if coverage < 1:
            left_out.append(f"{run.task.title}: {100 * coverage:.1f}% of the items were answered")
        elif run.stored.variant:
            left_out.append(f"{run.task.title}: by another protocol than mteb's ({run.stored.variant})")
        elif not _subsets(run):
            left_out.append(f"{run.task.title}: no subset that mteb stores has {run.task.metrics[0]}, its main score")
        else:
            folder = f"{FOLDER}/{as_folder(name)}/{as_folder(run.stored.revision) or NO_REVISION}"
            texts[f"{folder}/{run.task.title}.json"] = as_text(task_result(run))
            texts[f"{folder}/{META}"] = as_text(model_meta(shared, name=name, revision=run.stored.revision))
    return texts, tuple(left_out)


def task_result(run: SharedRun) -> dict[str, Any]:
    """Returns the content of one task's file."""
    values = {}
    for score in run.stored.scores:
        if score.metric in METRICS:
            values.setdefault(score.subset, {})[score.metric] = score.value
    rows = [
        {
            **{FIELDS.get(metric, (metric,))[0]: value for metric, value in sorted(values[subset].items())},
            "main_score": values[subset][run.task.metrics[0]],
            "hf_subset": name,
            "languages": languages(run.task, subset),
        }
        for subset, name in _subsets(run)
    ]
    return {
        "dataset_revision": run.data_revision,
        "task_name": run.task.title,
        "mteb_version": None,
        "scores": {hub_tasks.split(run.task): rows},
        "evaluation_time": run.stored.run.seconds,
        "kg_co2_emissions": None,
        "date": run.stored.run.started or None,
    }


def _subsets(run: SharedRun) -> list[tuple[str, str]]:
    """Maps our subsets to mteb's names. Subsets without a main score are skipped because mteb requires one."""
    known = {score.subset for score in run.stored.scores if score.metric == run.task.metrics[0]}
    if run.task.title in AGGREGATES:
        whole = hub_tasks.whole_subset(run.task)
        return [(whole, WHOLE)] if whole in known else []
    return [(subset, subset) for subset in run.task.subsets if subset in known]


def languages(task: Task, subset: str) -> list[str]:
    """Returns the languages and scripts of a subset in mteb's notation; for a mean over subsets, those of all."""
    subsets = task.subsets if subset == WHOLE else (subset,)
    # Rendered STS benchmarks are in Mandarin by name, the captions in Chinese.
    names = {**_languages(), WHOLE: "eng-Latn"} | ({"zh": "cmn-Hans"} if task.procedure == "sts" else {})
    codes = [code for subset in subsets for code in subset.split("-")]
    return list(dict.fromkeys(name for code in codes for name in parts(names.get(code, ""))))


@cache
def _languages() -> dict[str, str]:
    """Returns mteb's languages of each subset: ISO 639-3 and ISO 15924; Norwegian has three."""
    return read_csv(CATALOG / "mteb_languages.csv").set_index("subset")["languages"].to_dict()


def model_meta(shared: SharedRuns, *, name: str, revision: str) -> dict[str, Any]:
    """Returns the content of model_meta.json: the catalogue's facts, and null for unknown fields."""
    model = shared.model
    return {
        "name": name,
        "revision": revision or NO_REVISION,
        "release_date": model.released if re.fullmatch(r"\d{4}-\d\d-\d\d", model.released) else None,
        "n_parameters": None if model.parameters_m is None else round(model.parameters_m * 1e6),
        "memory_usage_mb": model.memory_mb,
        "embed_dim": model.embed_dim,
        "max_tokens": model.max_tokens,
        "languages": list(model.languages) or None,
        "license": model.license.lower() or None,
        "open_weights": model.open_weights,
        "framework": [],
        "reference": f"https://huggingface.co/{shared.hub_id}" if shared.hub_id else None,
        "modalities": [part for part in ("image", "text") if part in model.modalities],
        **dict.fromkeys(UNKNOWN),
    }


def as_folder(name: str) -> str:
    """Returns a name as mteb writes it in a path, without characters that would leave the folder."""
    return re.sub(r"[^\w.-]", "_", name.replace("/", "__")).lstrip(".")


def as_text(content: Mapping[str, Any]) -> str:
    """Formats a record as readable JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
