"""What judges said of single pairs: by judge, split and condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from compute.metrics.judge import CONDITIONS

Evidence = Mapping[str, Mapping[str, pd.DataFrame]]  # split -> condition -> pairs


def by_split(frame: pd.DataFrame) -> Evidence:
    """One judge's pairs by split and condition; only splits with both conditions."""
    parts = {
        str(task): {str(condition): pairs for condition, pairs in rows.groupby("condition", sort=False, observed=True)}
        for task, rows in frame.groupby("task", sort=False, observed=True)
    }
    return {task: conditions for task, conditions in parts.items() if set(CONDITIONS) <= set(conditions)}


def by_judge(frame: pd.DataFrame, *, tasks: Iterable[str]) -> dict[str, Evidence]:
    """The evidence of every judge that has some of all of these splits."""
    required = list(tasks)
    judges = {
        str(model): by_split(rows[rows["task"].isin(required)])
        for model, rows in frame.groupby("model", sort=False, observed=True)
    }
    return {model: evidence for model, evidence in judges.items() if set(evidence) == set(required)}


def flat(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Split and condition as one key."""
    return {f"{task} {condition}": evidence[task][condition] for task in sorted(evidence) for condition in CONDITIONS}
