"""A ranking in one language out of a few scores."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.language_evidence import LanguageModels, ranking_of


def small(scores: list[tuple[str, str, float, float]]) -> LanguageModels:
    """The ranking in German out of computed (model, task, value, standard error)."""
    facts = {
        "subset": "de",
        "category": "Retrieval",
        "metric_title": "nDCG@10",
        "scale": 100,
        "digits": 1,
        "higher": True,
        "lower": 0.0,
        "upper": 1.0,
        "suspect": False,
        "n": 100,
        "proportion": False,
    }
    rows = [
        {"model": model, "task": task, "dataset": task, "title": task, "value": value, "stderr": error, **facts}
        for model, task, value, error in scores
    ]
    titles = pd.Series({model: model for model, *_ in scores})
    return ranking_of(rows, titles=titles, code="deu", origin="computed")
