"""Facts about models besides their scores: records for programs, kinds of licences, ids on the Hub."""

from __future__ import annotations

import json
from typing import Any

from compute.models.own.own_model import FROM_ENDPOINT, FROM_FILE, FROM_FOLDER, FROM_HUB, FROM_SESSION, NOTE
from leaderboard.data.database import shared
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

WORDS = {
    FROM_FOLDER: "a checkpoint in a folder",
    FROM_HUB: "a checkpoint of the hub",
    FROM_ENDPOINT: "a judge behind an endpoint",
    FROM_FILE: "what a function in a file makes",
    FROM_SESSION: "an object of a Python session",
}


def is_usable(open_weights: bool | None, license: str | None) -> bool:
    """Returns whether a product may use a model: its weights are open, and its licence is stated and allows commercial
    use.
    """
    return open_weights is True and (license or "").lower() in COMMERCIAL


@shared
def facts(owner: Any) -> dict[str, dict[str, Any]]:
    """Returns the facts for programs by the model's key: parameters, dimension, open_weights, license and released;
    None or empty if not stated.
    """
    return {row.pop("key"): row for row in owner.db.records("model_facts")}


def license_kind(license: str) -> str:
    """Returns permissive, stated or unknown (empty)."""
    return "permissive" if license.lower() in PERMISSIVE else "stated" if license else "unknown"


def hub_id(weights: object) -> str:
    """Returns the id of a model's weights on the Hub; empty for weights in a package or a file, or without weights."""
    text = "" if blank(weights) else str(weights)
    return "" if text.startswith(("assets/", "package:", ".", "/")) or text.count("/") != 1 else text


def own_facts(options: str | None) -> dict[str, str] | None:
    """Returns source, words and digest from a model's options as JSON; None for a model of the catalogue."""
    note = own_note(options)
    if note is None:
        return None
    return {"source": note["source"], "words": WORDS[note["source"]], "digest": str(note.get("digest", ""))}


def own_note(options: str | None) -> dict[str, Any] | None:
    """Returns the source noted in a model's options as JSON; None for a model of the catalogue."""
    note: Any = json.loads(options or "{}").get(NOTE)
    return note if isinstance(note, dict) and note.get("source") in WORDS else None
