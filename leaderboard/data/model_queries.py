"""The SELECTs on models: long frames in stored units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from leaderboard.data.database import Database
from leaderboard.html.formatting import blank

HUB = "https://huggingface.co/"
PERMISSIVE = frozenset({"apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "apache-2.0 and mit"})  # licences
# Licences under which a product may use the weights: the permissive ones, and those that restrict what it may do but
# not that it is sold. Others forbid it, limit it by revenue, or are terms of one model that nobody here has read.
COMMERCIAL = PERMISSIVE | {
    "creativeml-openrail-m",
    "deepseek-model-license",
    "gemma",
    "https://www.nvidia.com/en-us/agreements/enterprise-software/nvidia-open-model-license/",
    "openrail++",
}


def is_usable(open_weights: bool | None, license: str | None) -> bool:
    """Whether a product may use a model: its weights are open, and its licence is stated and allows commercial use."""
    return open_weights is True and (license or "").lower() in COMMERCIAL


def facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """What programs get of a model, from its row of the table of models; None or empty where it is not stated."""
    return {
        "parameters": None if blank(row["parameters_m"]) else round(row["parameters_m"] * 1e6),
        "dimension": None if blank(row["embed_dim"]) else int(row["embed_dim"]),
        "open_weights": None if blank(row["open_weights"]) else bool(row["open_weights"]),
        "license": row["license"] or "",
        "released": row["released"] or "",
    }


def with_facts(db: Database, rows: list[dict[str, Any]], *, key: str) -> list[dict[str, Any]]:
    """The records with the facts of the model under `key`; as they are where that is not in the table of models."""
    frame = models(db)
    return [row | facts(frame.loc[row[key]]) if row[key] in frame.index else row for row in rows]


def license_kind(license: str) -> str:
    """permissive, stated or unknown (empty)."""
    return "permissive" if license.lower() in PERMISSIVE else "stated" if license else "unknown"


def hub_id(weights: object) -> str:
    """The id of a model's weights on the Hub; empty for weights in a package or a file, and for none."""
    text = "" if blank(weights) else str(weights)
    return "" if text.startswith(("assets/", "package:", ".", "/")) or text.count("/") != 1 else text


def models(db: Database) -> pd.DataFrame:
    """Every model with the number of its runs, indexed by key."""
    return db.ask("""SELECT models.*, (SELECT count(*) FROM runs WHERE model = models.key) AS runs
                     FROM models ORDER BY key""").set_index("key", drop=False)


def model(db: Database, *, key: str) -> pd.DataFrame:
    """One model as a frame of at most one row."""
    return db.ask("SELECT * FROM models WHERE key = ?", [key])


def listed_models(db: Database) -> pd.DataFrame:
    """Models that have a run, for a list to choose from: key, title, kind."""
    return db.ask("""SELECT key, title, kind FROM models WHERE key IN (SELECT model FROM runs)
                     ORDER BY lower(title), key""")


def spellings(db: Database) -> pd.DataFrame:
    """How the papers spell the models: model, printed."""
    return db.ask("SELECT DISTINCT model, printed FROM aliases ORDER BY model, printed")


def scored_tasks(db: Database) -> pd.DataFrame:
    """How many tasks of each benchmark a model has scores on: model, benchmark, tasks."""
    return db.ask("""SELECT runs.model, tasks.benchmark, count(DISTINCT tasks.key) AS tasks
                     FROM runs JOIN tasks ON tasks.key = runs.task
                     WHERE EXISTS (SELECT 1 FROM scores WHERE scores.run = runs.id)
                     GROUP BY ALL ORDER BY ALL""")


def catalogue(db: Database) -> pd.DataFrame:
    """Every model, for a list to choose from: key, title, kind, scored (whether it has a run)."""
    return db.ask("""SELECT key, title, kind, key IN (SELECT model FROM runs) AS scored FROM models
                     ORDER BY lower(title), key""")


def model_scores(db: Database, *, model: str) -> pd.DataFrame:
    """Every score of one model, with its task and metric: one row a score."""
    return db.ask(
        """
        SELECT tasks.benchmark, tasks.category, tasks.key AS task, tasks.title, tasks.dataset, tasks.chance,
               tasks.metrics[1] AS headline, scores.subset, scores.metric, metrics.title AS metric_title, metrics.scale,
               metrics.digits, metrics.lower, metrics.upper, metrics.proportion, scores.value, scores.printed,
               scores.n, scores.stderr, scores.coverage, scores.lower_bound, scores.low, scores.high,
               scores.bias,
               runs.origin, runs.source, runs.main
        FROM scores JOIN runs ON runs.id = scores.run JOIN tasks ON tasks.key = runs.task
        JOIN metrics ON metrics.key = scores.metric
        WHERE runs.model = ? ORDER BY tasks.position, runs.main DESC, runs.origin, scores.metric, scores.subset""",
        [model],
    )


def computed_suites(db: Database, *, model: str) -> list[str]:
    """The suites that hold a model's computed runs, in the catalogue's order; of a task in several, its first."""
    return db.ask(
        """SELECT suite FROM leaderboard_scores JOIN suites ON suites.key = suite
           WHERE model = ? AND origin = 'computed' GROUP BY suite ORDER BY any_value(suites.position)""",
        [model],
    )["suite"].tolist()


def aliases(db: Database, *, model: str) -> pd.DataFrame:
    """How the papers spell a model: benchmark_title, printed, certainty, note."""
    return db.ask(
        """SELECT benchmarks.title AS benchmark_title, printed, certainty, note
                     FROM aliases JOIN benchmarks ON benchmarks.key = aliases.benchmark
                     WHERE model = ? ORDER BY benchmarks.key, printed""",
        [model],
    )


def model_notes(db: Database, *, model: str) -> pd.DataFrame:
    """Remarks on one model, once each: note, specific (on single scores), tasks (titles; none: on the model)."""
    return db.ask(
        """
        SELECT notes.note, bool_or(notes.specific) AS specific,
               coalesce(list(DISTINCT tasks.title ORDER BY tasks.title) FILTER (tasks.title IS NOT NULL), []) AS tasks
        FROM notes LEFT JOIN tasks ON tasks.key = notes.task
        WHERE notes.model = ? AND (notes.task = '*' OR EXISTS (
            SELECT 1 FROM runs WHERE runs.model = ? AND runs.task = notes.task))
        GROUP BY notes.note ORDER BY specific DESC, notes.note""",
        [model, model],
    )


def differing_facts(db: Database) -> pd.DataFrame:
    """Where the catalogue keeps another fact of a model than its public model_meta.json: model, title, note."""
    return db.ask(
        """SELECT model, title, note FROM notes JOIN models ON models.key = notes.model
           WHERE notes.task = '*' AND notes.metric <> '' ORDER BY title, note"""
    )


def benchmarks_of(db: Database, *, model: str) -> pd.DataFrame:
    """The benchmarks in which a model has a run: title, bibtex."""
    return db.ask(
        """SELECT DISTINCT benchmarks.key, benchmarks.title, benchmarks.bibtex
                     FROM runs JOIN tasks ON tasks.key = runs.task JOIN benchmarks ON benchmarks.key = tasks.benchmark
                     WHERE runs.model = ? ORDER BY benchmarks.key""",
        [model],
    )


def trained_tasks(db: Database, *, model: str) -> pd.DataFrame:
    """The tasks whose data sets a model saw in training: task."""
    return db.ask("SELECT task FROM trained_tasks WHERE model = ?", [model])


def calibrations(db: Database) -> pd.DataFrame:
    """Every model's own distributions of scores, a row a model, domain and pairing: the fields of a `Reference`."""
    return db.ask("""SELECT model, pairing, unrelated, matching, n_unrelated, n_matching, separation, source, synthetic,
                            domain, scenes
                     FROM calibrations ORDER BY model, pairing, domain""")


def calibration_domains(db: Database) -> pd.DataFrame:
    """The domains of these distributions, one row a model, domain and modality: record, as analysis.domain has it."""
    return db.ask("SELECT model, domain, modality, record FROM calibration_domains ORDER BY ALL")


def image_times(db: Database) -> pd.DataFrame:
    """How long models took to encode an image in computed runs, a row a model and device: model, title, device, images,
    ms (a single image, over all passes).

    A pass over the items of several tasks is recorded with the run of each, and counts once. Of several dtypes on one
    device, the one with most images.
    """
    return db.ask("""
        WITH passes AS (
            SELECT DISTINCT runs.model, runs.device, coalesce(runs.dtype, '') AS dtype, t.pass.encoded AS images,
                   t.pass.seconds
            FROM runs, unnest(from_json(runs.settings->'$.encodings',
                '[{"title": "VARCHAR", "encoded": "BIGINT", "seconds": "DOUBLE"}]')) AS t(pass)
            WHERE runs.origin = 'computed' AND runs.device <> '' AND t.pass.title = runs.model || ', image'
              AND t.pass.encoded > 0 AND t.pass.seconds > 0
        )
        SELECT model, any_value(title) AS title, device, CAST(sum(images) AS BIGINT) AS images,
               1000 * sum(seconds) / sum(images) AS ms
        FROM passes JOIN models ON models.key = model GROUP BY model, device, dtype
        QUALIFY row_number() OVER (PARTITION BY model, device ORDER BY sum(images) DESC, dtype) = 1
        ORDER BY model, device""")
