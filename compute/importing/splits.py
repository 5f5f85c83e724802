"""The scores of one split in a result file of the public MTEB results repository."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from compute.importing.figures import outside
from compute.io.files import short, validated
from compute.types import BadInput, Metric, Task

# The names under which result files of different ages hold a metric; otherwise its own key.
FIELDS = {
    "hit_rate_at_1": ("hit_rate_at_1", "cv_recall_at_1"),
    "hit_rate_at_3": ("hit_rate_at_3", "cv_recall_at_3"),
    "text_accuracy": ("text_acc",),
    "image_accuracy": ("image_acc",),
    "group_accuracy": ("accuracy",),
}


class SplitRow(BaseModel):
    """The scores of one subset; every other metric is an extra field."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    main_score: float | None = None  # some files have their metrics alone
    hf_subset: str = "default"


def read_split(
    rows: Sequence[Any], *, split: str, task: Task, metric: Metric
) -> tuple[dict[str, float], dict[str, Any]]:
    """Value a subset, and which field of the file they are read from.

    The field of the task's own metric wins over `main_score`: some old files put another metric there.
    """
    values: dict[str, float] = {}
    fields: dict[str, Any] = {"field": "main_score"}
    try:
        checked = [validated(row, SplitRow) for row in rows]
    except ValueError as error:
        raise BadInput(f"split {split!r}: {error}") from error
    if not checked:
        raise BadInput(f"split {split!r} has no scores")
    for row in checked:
        subset = subset_key(row.hf_subset, task)
        if subset in values:
            raise BadInput(f"split {split!r} has subset {subset!r} twice")
        value = row.main_score
        for field in FIELDS.get(metric.key, (metric.key,)):
            named = getattr(row, field, None)
            if type(named) in (int, float) and abs(named) < 1e300:
                fields["field"] = field
                if value is not None and abs(named - value) > 1e-6:
                    fields["main_score"] = value
                value = float(named)
                break
        if value is None:
            raise BadInput(f"split {split!r} has neither main_score nor {metric.key}")
        if reason := outside(value, metric):
            raise BadInput(f"main_score of {split}/{subset}: {reason}")
        values[subset] = value
    return values, fields


def subset_key(name: str, task: Task) -> str:
    """Our name of a file's subset: an aggregate's `default` over several subsets is their `average`."""
    if name == "default":
        return "average" if len(task.subsets) > 1 else name
    if name not in task.subsets:
        raise BadInput(f"the task has no subset {short(name)}")
    return name
