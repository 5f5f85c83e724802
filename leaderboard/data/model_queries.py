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
