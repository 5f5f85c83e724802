"""The scores of one split in a result file of the public MTEB results repository."""

from __future__ import annotations

from typing import Any

from compute.importing.figures import finite, outside, short
from compute.types import BadInput, Metric, Task

# The names under which result files of different ages hold a metric; otherwise its own key.
FIELDS = {
    "hit_rate_at_1": ("hit_rate_at_1", "cv_recall_at_1"),
    "hit_rate_at_3": ("hit_rate_at_3", "cv_recall_at_3"),
    "text_accuracy": ("text_acc",),
    "image_accuracy": ("image_acc",),
    "group_accuracy": ("accuracy",),
}


def read_split(rows: Any, *, split: str, task: Task, metric: Metric) -> tuple[dict[str, float], dict[str, Any]]:
    """Value a subset, and which field of the file they are read from.

    The field of the task's own metric wins over `main_score`: some old files put another metric there.
    """
    if not isinstance(rows, list) or not rows:
        raise BadInput(f"split {split!r} has no scores")
    values: dict[str, float] = {}
    fields: dict[str, Any] = {"field": "main_score"}
    for row in rows:
        if not isinstance(row, dict):
            raise BadInput(f"split {split!r} holds something that is not a set of scores")
        subset = subset_key(row.get("hf_subset", "default"), task)
        if subset in values:
            raise BadInput(f"split {split!r} has subset {subset!r} twice")
        main = finite(row.get("main_score"))
        if main is None:
            raise BadInput(f"main_score of {split}/{subset} is {short(row.get('main_score'))}, not a finite number")
        for field in FIELDS.get(metric.key, (metric.key,)):
            named = finite(row.get(field))
            if named is not None:
                fields["field"] = field
                if abs(named - main) > 1e-6:
                    fields["main_score"] = main
                main = named
                break
        if reason := outside(main, metric):
            raise BadInput(f"main_score of {split}/{subset}: {reason}")
        values[subset] = main
    return values, fields


def subset_key(name: Any, task: Task) -> str:
    """Our name of a file's subset: an aggregate's `default` over several subsets is their `average`."""
    if name == "default":
        return "average" if len(task.subsets) > 1 else name
    if name not in task.subsets:
        raise BadInput(f"the task has no subset {short(name)}")
    return name
