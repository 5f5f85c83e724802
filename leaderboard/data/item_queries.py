"""The SELECTs behind single items, run details, thumbnails and maps of images; as queries.py, in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database


def computed_runs(db: Database, *, task: str = "", model: str = "") -> pd.DataFrame:
    """Computed runs of one task, one model or both, with the number of its items and its headline.

    One row a run: id, model, title, task, task_title, benchmark, benchmark_title, variant, main, status, device, dtype,
    seconds, started, coverage, tied (share), items (stored), total (of the task), value, metric, scale, digits, higher;
    those on the board first.
    """
    return db.ask(
        """
        SELECT runs.id, runs.model, models.title, runs.task, tasks.title AS task_title, tasks.benchmark,
               benchmarks.title AS benchmark_title, coalesce(runs.settings->>'$.variant', '') AS variant, runs.main,
               runs.status, runs.device, runs.dtype,
               runs.seconds, runs.started, try_cast(runs.settings->>'$.coverage' AS DOUBLE) AS coverage,
               try_cast(runs.settings->>'$.tied' AS DOUBLE) AS tied,
               (SELECT count(*) FROM items WHERE items.run = runs.id) AS items,
               try_cast(runs.settings->>'$.items' AS BIGINT) AS total,
               (SELECT coalesce(any_value(value) FILTER (subset = 'default'), avg(value)) FROM scores
                WHERE scores.run = runs.id AND scores.metric = tasks.metrics[1]) AS value,
               metrics.title AS metric, metrics.scale, metrics.digits, metrics.higher_is_better AS higher
        FROM runs JOIN models ON models.key = runs.model JOIN tasks ON tasks.key = runs.task
        JOIN benchmarks ON benchmarks.key = tasks.benchmark LEFT JOIN metrics ON metrics.key = tasks.metrics[1]
        WHERE runs.origin = 'computed' AND runs.task = coalesce(nullif(?, ''), runs.task)
          AND runs.model = coalesce(nullif(?, ''), runs.model)
        ORDER BY runs.main DESC, tasks.position, lower(models.title), runs.id""",
        [task, model],
    )


def run(db: Database, *, key: str) -> pd.DataFrame:
    """One run with its model's and task's titles, as a frame of at most one row."""
    return db.ask(
        """SELECT runs.*, models.title AS model_title, tasks.title AS task_title, tasks.benchmark,
                  (SELECT count(*) FROM items WHERE items.run = runs.id) AS items
           FROM runs JOIN models ON models.key = runs.model JOIN tasks ON tasks.key = runs.task WHERE runs.id = ?""",
        [key],
    )


def run_scores(db: Database, *, key: str) -> pd.DataFrame:
    """Every score of one run with its metric's facts, the headline first."""
    return db.ask(
        """SELECT scores.*, metrics.title, metrics.scale, metrics.digits, metrics.lower, metrics.upper,
                  metrics.proportion
           FROM scores JOIN metrics ON metrics.key = scores.metric JOIN runs ON runs.id = scores.run
           JOIN tasks ON tasks.key = runs.task
           WHERE scores.run = ? ORDER BY list_position(tasks.metrics, scores.metric), scores.subset""",
        [key],
    )


def items(db: Database, *, run: str, task: str) -> pd.DataFrame:
    """The items of a run without their details: item, subset, expected, answer, correct, value, replied, pictured.

    `replied`: it is a judge's reply. `pictured`: it shows no image, or every image it shows has a thumbnail.
    """
    return db.ask(
        """
        WITH shown AS (
            SELECT item, unnest(from_json(detail->'$.images', '["VARCHAR"]')) AS image FROM items WHERE run = ?
        ),
        incomplete AS (
            SELECT DISTINCT shown.item FROM shown
            LEFT JOIN thumbnails ON thumbnails.task = ? AND thumbnails.image = shown.image
            WHERE shown.image <> '' AND thumbnails.image IS NULL
        )
        SELECT item, subset, expected, answer, correct, value, (detail->>'$.reply') IS NOT NULL AS replied,
               item NOT IN (SELECT item FROM incomplete) AS pictured
        FROM items WHERE run = ? ORDER BY item""",
        [run, task, run],
    )


def details(db: Database, *, run: str, names: list[str]) -> dict[str, str]:
    """The details of some items of a run as JSON text, by item; items without one are skipped."""
    frame = db.ask(
        "SELECT item, detail FROM items WHERE run = ? AND item IN (SELECT unnest(?)) AND detail IS NOT NULL",
        [run, names],
    )
    return dict(zip(frame["item"], frame["detail"], strict=True))


def pictured(db: Database, *, task: str, images: list[str]) -> set[str]:
    """Which of these images have a thumbnail."""
    frame = db.ask("SELECT image FROM thumbnails WHERE task = ? AND image IN (SELECT unnest(?))", [task, images])
    return set(frame["image"])


def thumbnail(db: Database, *, task: str, image: str) -> bytes | None:
    """One thumbnail as WebP, None if missing."""
    frame = db.ask("SELECT webp FROM thumbnails WHERE task = ? AND image = ?", [task, image])
    return bytes(frame["webp"].iloc[0]) if len(frame) else None


def item_maps(db: Database, *, task: str) -> pd.DataFrame:
    """The maps of a task's images: model, title, settings."""
    return db.ask(
        """SELECT item_maps.model AS model, models.title AS title, any_value(item_maps.settings) AS settings
           FROM item_maps JOIN models ON models.key = item_maps.model WHERE item_maps.task = ?
           GROUP BY ALL ORDER BY title, model""",
        [task],
    )


def item_map(db: Database, *, task: str, model: str) -> pd.DataFrame:
    """The points of one map: image, label, x, y, pictured."""
    return db.ask(
        """SELECT item_maps.image, item_maps.label, item_maps.x, item_maps.y, thumbnails.image IS NOT NULL AS pictured
           FROM item_maps LEFT JOIN thumbnails
             ON thumbnails.task = item_maps.task AND thumbnails.image = item_maps.image
           WHERE item_maps.task = ? AND item_maps.model = ? ORDER BY item_maps.label, item_maps.image""",
        [task, model],
    )


def runnable(db: Database, *, task: str, text: bool) -> pd.DataFrame:
    """The smallest model of public weights that can be run and has a score on the task: key; at most one row.

    With `text` only models that take texts too, for tasks that show some.
    """
    return db.ask(
        """SELECT DISTINCT models.key, models.parameters_m FROM models JOIN runs ON runs.model = models.key
           WHERE runs.task = ? AND models.adapter <> '' AND models.weights <> '' AND models.open_weights
             AND list_contains(models.abilities, 'embed_image')
             AND (NOT ? OR list_contains(models.abilities, 'embed_text'))
           ORDER BY models.parameters_m NULLS LAST, models.key LIMIT 1""",
        [task, text],
    )
