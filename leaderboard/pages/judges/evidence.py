"""What judges said of single pairs, as far as a database stores it: by judge, split and condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from compute.metrics.judge import CONDITIONS, SCALE
from leaderboard.data import judge_queries
from leaderboard.data.database import Database

Evidence = Mapping[str, Mapping[str, pd.DataFrame]]  # split -> condition -> pairs


def load(db: Database, *, suite: str) -> pd.DataFrame:
    """The stored pairs of a suite's judges: the columns of `judge_queries.ratings`, and `source`.

    What is no whole score from 1 to 10 is no score. Pairs without an expected score are left out.
    """
    frame = judge_queries.ratings(db, suite=suite)
    whole = np.arange(1, SCALE + 1)
    for side in ("forward", "reverse"):
        frame[side] = frame[side].where(frame[side].isin(whole))
    frame = frame[frame["expected_score"].isin(whole)].reset_index(drop=True)
    # A pair is named "<condition>/<source>/<type>".
    frame["source"] = [
        item.removeprefix(f"{condition}/").removesuffix(f"/{kind}")
        for item, condition, kind in zip(frame["item"], frame["condition"], frame["type"], strict=True)
    ]
    return frame


def by_split(frame: pd.DataFrame) -> Evidence:
    """One judge's pairs by split and condition; only splits with both conditions."""
    parts = {
        str(task): {str(condition): pairs for condition, pairs in rows.groupby("condition", sort=False)}
        for task, rows in frame.groupby("task", sort=False)
    }
    return {task: conditions for task, conditions in parts.items() if set(CONDITIONS) <= set(conditions)}


def by_judge(frame: pd.DataFrame, *, tasks: Iterable[str]) -> dict[str, Evidence]:
    """The evidence of every judge that has some of all of these splits."""
    required = list(tasks)
    judges = {
        str(model): by_split(rows[rows["task"].isin(required)]) for model, rows in frame.groupby("model", sort=False)
    }
    return {model: evidence for model, evidence in judges.items() if set(evidence) == set(required)}


def flat(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Split and condition as one key."""
    return {f"{task} {condition}": evidence[task][condition] for task in sorted(evidence) for condition in CONDITIONS}
