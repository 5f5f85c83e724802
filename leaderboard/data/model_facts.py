"""What is known of models beside their scores: facts for programs, kinds of licences, ids on the Hub."""

from __future__ import annotations

from typing import Any

from leaderboard.data.memo import shared
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


@shared
def facts(owner: Any) -> dict[str, dict[str, Any]]:
    """What programs get of each model, by its key: parameters, dimension, open_weights, license and released; None or
    empty where it is not stated."""
    return {row.pop("key"): row for row in owner.db.records("model_facts")}


def license_kind(license: str) -> str:
    """permissive, stated or unknown (empty)."""
    return "permissive" if license.lower() in PERMISSIVE else "stated" if license else "unknown"


def hub_id(weights: object) -> str:
    """The id of a model's weights on the Hub; empty for weights in a package or a file, and for none."""
    text = "" if blank(weights) else str(weights)
    return "" if text.startswith(("assets/", "package:", ".", "/")) or text.count("/") != 1 else text
