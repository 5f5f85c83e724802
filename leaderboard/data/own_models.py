"""What pages say of an own model: what it came from, its digest, and how to run it again."""

from __future__ import annotations

import json
import shlex
from typing import Any

from compute.models.own.own_model import FROM_FILE, FROM_FOLDER, FROM_HUB, FROM_SESSION, NOTE

WORDS = {
    FROM_FOLDER: "a checkpoint in a folder",
    FROM_HUB: "a checkpoint of the hub",
    FROM_FILE: "what a function in a file makes",
    FROM_SESSION: "an object of a Python session",
}


def own_facts(options: str | None) -> dict[str, str] | None:
    """source, words, digest and again (a command) of a model's options as JSON; None for one of the catalogue."""
    note: Any = json.loads(options or "{}").get(NOTE)
    if not isinstance(note, dict) or note.get("source") not in WORDS:
        return None
    source, name, digest = (str(note.get(part, "")) for part in ("source", "name", "digest"))
    return {"source": source, "words": WORDS[source], "digest": digest, "again": _again(source, name)}


def _again(source: str, name: str) -> str:
    if source == FROM_SESSION:
        return f'compute.evaluate(model, suite="mini")  # model: {name}'
    named = {FROM_FOLDER: f"./{name}", FROM_HUB: f"hub:{name}", FROM_FILE: name}[source]
    where = "" if source == FROM_HUB else "  # in the folder that holds it"  # a record is shown without its path
    return f"python -m compute run --suite mini --models {shlex.quote(named)}{where}"
