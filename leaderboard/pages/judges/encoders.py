"""Encoders and distances compared with VLMs, on the splits where a model without a prompt can do all that is
required."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd

from compute.metrics.judge import CONDITIONS

WITHOUT_PROMPT = ("encoder", "metric")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A judge's mean MMScore over the splits, by condition."""

    model: str
    title: str
    kind: str
    origin: str
    means: dict[str, float]

    @property
    def mean(self) -> float:
        """Over both conditions."""
        return sum(self.means.values()) / len(self.means)


@dataclass(frozen=True, kw_only=True)
class EncoderScores:
    """Judges of every kind on the same splits; empty where no model without a prompt was measured."""

    tasks: tuple[str, ...]  # titles of the splits
    rows: tuple[Measured, ...]  # the best first


def encoder_scores(scores: pd.DataFrame, tasks: pd.DataFrame, runs: pd.DataFrame) -> EncoderScores:
    """The judges with both conditions' MMScores on every split of two images that some model without a prompt was
    measured on in full: none of its transformations was omitted (PairBench section 4.2.2)."""
    images = tasks[tasks["ranked"] & tasks["images"]]
    without = scores[scores["kind"].isin(WITHOUT_PROMPT)]
    in_part = {
        row.task
        for row in runs.itertuples()
        if any(part.get("not applied") for part in (json.loads(row.settings or "{}").get("found") or {}).values())
    }
    usable = [key for key in images["key"] if key in set(without["task"]) and key not in in_part]
    own = scores[(scores["metric"] == "mmscore") & scores["subset"].isin(CONDITIONS) & scores["task"].isin(usable)]
    rows = []
    for (model, origin), part in own.groupby(["model", "origin"], sort=False):
        values = part.set_index(["task", "subset"])["value"]
        if len(values) < len(usable) * len(CONDITIONS):
            continue
        means = {condition: float(values.xs(condition, level="subset").mean()) for condition in CONDITIONS}
        first = part.iloc[0]
        rows.append(
            Measured(
                model=str(model), title=str(first["title"]), kind=str(first["kind"]), origin=str(origin), means=means
            )
        )
    rows.sort(key=lambda row: (-row.mean, row.title, row.origin))
    titles = images.set_index("key")["title"]
    return EncoderScores(tasks=tuple(titles[key] for key in usable), rows=tuple(rows))
