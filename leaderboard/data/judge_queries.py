"""The SELECTs on judges of pairs: their suites, scores by condition, and ratings of single pairs; in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database

JUDGED = "tasks.procedure = 'judging'"  # the tasks of the page


RATED = f"""(SELECT ratings.*, runs.model, runs.task FROM ratings JOIN runs ON runs.id = ratings.run
             JOIN tasks ON tasks.key = runs.task JOIN suite_tasks ON suite_tasks.task = runs.task
             WHERE suite_tasks.suite = ? AND runs.main AND {JUDGED})"""
TEXTS = ("model", "task", "subset", "source")  # columns that come as numbers: millions of rows share few texts


def ratings(db: Database, *, suite: str) -> pd.DataFrame:
    """Every pair that a suite's judges rated, as both orders were; texts are categories.

    One row a pair: model, task, condition, source, type, expected_score, forward, reverse (NaN: no score), template
    (NaN: of a model without a prompt), forward_problem, reverse_problem (NaN: a score, or a model without a prompt).
    """
    codes = {
        name: f"(SELECT {name}, row_number() OVER (ORDER BY {name}) - 1 AS code FROM {RATED} GROUP BY {name})"
        for name in TEXTS
    }
    with db.snapshot() as opened:
        texts = {name: opened.ask(f"{query} ORDER BY code", [suite])[name] for name, query in codes.items()}
        frame = opened.ask(
            f"""SELECT {", ".join(f"{name}_codes.code::INTEGER AS {name}" for name in TEXTS)}, rated.type,
                       rated.expected AS expected_score, rated.forward::FLOAT AS forward,
                       rated.reverse::FLOAT AS reverse, rated.template::FLOAT AS template, rated.forward_problem,
                       rated.reverse_problem
                FROM {RATED} AS rated
                {" ".join(f"JOIN {query} AS {name}_codes USING ({name})" for name, query in codes.items())}
                ORDER BY ALL""",
            [suite] * (1 + len(TEXTS)),
        )
    for name in TEXTS:
        frame[name] = pd.Categorical.from_codes(frame[name], categories=texts[name])
    return frame.rename(columns={"subset": "condition"})


def pictured(db: Database, *, suite: str) -> set[tuple[str, str]]:
    """The small pictures of a suite's pairs: (task, image)."""
    frame = db.ask(
        "SELECT task, image FROM thumbnails WHERE task IN (SELECT task FROM suite_tasks WHERE suite = ?)", [suite]
    )
    return set(zip(frame["task"], frame["image"], strict=True))
