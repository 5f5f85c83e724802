"""How each kind of task is run, in plain words: `protocols.toml` next to this file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compute.io.files import words_beside

WORDS = words_beside(__file__)
EXPLAINED: dict[str, str] = WORDS.pop("items")  # what right, wrong and margin mean
# A benchmark that draws after others, or continues one, is run as they are.
LIKE = {
    "vidore": ("mieb",),
    "datacomp": ("mieb",),
    "mmeb": ("mieb",),
    "mini": ("mini", "mieb", "unisim", "pairbench"),
    "own": ("own", "pairbench", "mieb"),
    "own-synthetic": ("own", "pairbench", "mieb"),
}
SETTINGS = {
    "samples_per_label": "{} images a class to learn from",
    "n_experiments": "{} draws",
    "max_score": "people's ratings run to {}",
}


def sentence(procedure: str, benchmark: str) -> str:
    """Returns the protocol in plain words; empty if none is written down."""
    known = (WORDS.get(name, {}).get(procedure, "") for name in LIKE.get(benchmark, (benchmark,)))
    return next(filter(None, known), "")


def settings(task: Mapping[str, Any]) -> str:
    """Returns what a task's own settings change, in words; settings that do not concern a reader are omitted."""
    parts = [words.format(task[key]) for key, words in SETTINGS.items() if key in task]
    if task.get("skip_first_result"):
        parts.append("the first hit is dropped, taken to be the query itself")
    if "KNeighbors" in str(task.get("evaluator_model", "")):
        parts.append("five nearest neighbours instead of a regression")
    return "; ".join(parts)
