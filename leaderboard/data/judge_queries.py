"""The SELECTs on judges of pairs: their suites, scores by condition, and ratings of single pairs; in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database

JUDGED = "tasks.procedure = 'judging'"  # the tasks of the page


def suites(db: Database) -> pd.DataFrame:
    """The suites that judges have scores in, in order: key, title, benchmark, description."""
    return db.ask(
        f"""SELECT key, title, benchmark, description FROM suites WHERE key IN (
                SELECT suite FROM suite_tasks JOIN tasks ON tasks.key = suite_tasks.task
                JOIN runs ON runs.task = tasks.key WHERE {JUDGED})
            ORDER BY position"""
    )


def judges(db: Database) -> pd.DataFrame:
    """Every judge with a figure: key, title, kind."""
    return db.ask(
        f"""SELECT DISTINCT models.key, models.title, models.kind FROM models JOIN runs ON runs.model = models.key
            JOIN tasks ON tasks.key = runs.task WHERE {JUDGED} ORDER BY lower(models.title), models.key"""
    )


def tasks(db: Database, *, suite: str) -> pd.DataFrame:
    """The splits of a suite in order: key, title, category, images (of two images each), ranked."""
    return db.ask(
        f"""SELECT tasks.key, tasks.title, tasks.category, tasks.modalities = ['image'] AS images, tasks.ranked
            FROM tasks JOIN suite_tasks ON suite_tasks.task = tasks.key
            WHERE suite_tasks.suite = ? AND {JUDGED} ORDER BY tasks.position""",
        [suite],
    )


def scores(db: Database, *, suite: str) -> pd.DataFrame:
    """Every shown figure of a suite's judges: model, title, kind, origin, task, subset, metric, value, stderr, low and
    high (ends of the metric's own 95% interval), bias."""
    return db.ask(
        f"""SELECT runs.model, models.title, models.kind, runs.origin, runs.task, scores.subset, scores.metric,
                   scores.value, scores.stderr, scores.low, scores.high, scores.bias
            FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
            JOIN tasks ON tasks.key = runs.task JOIN suite_tasks ON suite_tasks.task = runs.task
            WHERE suite_tasks.suite = ? AND runs.main AND {JUDGED}
            ORDER BY lower(models.title), runs.model, runs.origin, tasks.position, scores.metric, scores.subset""",
        [suite],
    )


def runs(db: Database, *, suite: str) -> pd.DataFrame:
    """The computed runs of a suite's judges: id, model, task, settings (JSON), seconds, total (pairs that it should
    rate), stored (pairs with ratings)."""
    return db.ask(
        f"""SELECT runs.id, runs.model, runs.task, runs.settings, runs.seconds,
                   try_cast(runs.settings->>'$.items' AS BIGINT) AS total, coalesce(counted.pairs, 0) AS stored
            FROM runs JOIN tasks ON tasks.key = runs.task JOIN suite_tasks ON suite_tasks.task = runs.task
            LEFT JOIN (SELECT run, count(*) AS pairs FROM ratings GROUP BY run) AS counted ON counted.run = runs.id
            WHERE suite_tasks.suite = ? AND runs.main AND runs.origin = 'computed' AND {JUDGED}
            ORDER BY runs.model, tasks.position""",
        [suite],
    )


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


def flips(db: Database, *, suite: str, model: str, tasks: list[str], most: int) -> pd.DataFrame:
    """The pairs that a page can open whose two scores are farthest apart, of one judge; the largest difference first.

    One row a pair: task, item, condition, type, expected_score, forward, reverse, detail (JSON).
    """
    return db.ask(
        f"""SELECT runs.task, items.item, items.subset AS condition, coalesce(items.detail->>'$.type', '') AS type,
                   try_cast(items.expected AS INTEGER) AS expected_score,
                   try_cast(split_part(items.answer, ' | ', 1) AS INTEGER) AS forward,
                   try_cast(split_part(items.answer, ' | ', 2) AS INTEGER) AS reverse, items.detail
            FROM items JOIN runs ON runs.id = items.run JOIN tasks ON tasks.key = runs.task
            JOIN suite_tasks ON suite_tasks.task = runs.task
            WHERE suite_tasks.suite = ? AND runs.main AND {JUDGED}
              AND runs.model = ? AND runs.task IN (SELECT unnest(?))
              AND items.value > 0 AND items.detail IS NOT NULL
              AND least(expected_score, forward, reverse) >= 1 AND greatest(expected_score, forward, reverse) <= 10
              AND forward IS NOT NULL AND reverse IS NOT NULL AND expected_score IS NOT NULL
            ORDER BY abs(forward - reverse) DESC, runs.task, items.item LIMIT ?""",
        [suite, model, tasks, most],
    )


def pictured(db: Database, *, suite: str) -> set[tuple[str, str]]:
    """The small pictures of a suite's pairs: (task, image)."""
    frame = db.ask(
        "SELECT task, image FROM thumbnails WHERE task IN (SELECT task FROM suite_tasks WHERE suite = ?)", [suite]
    )
    return set(zip(frame["task"], frame["image"], strict=True))
