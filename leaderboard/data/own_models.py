"""What pages say of an own model: what it came from, its digest, and how to run it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from compute.catalog.own.models import MARK
from compute.models.own.own_model import FROM_ENDPOINT, FROM_FILE, FROM_FOLDER, FROM_HUB, FROM_SESSION, NOTE

WORDS = {
    FROM_FOLDER: "a checkpoint in a folder",
    FROM_HUB: "a checkpoint of the hub",
    FROM_ENDPOINT: "a judge behind an endpoint",
    FROM_FILE: "what a function in a file makes",
    FROM_SESSION: "an object of a Python session",
}


def own_facts(options: str | None) -> dict[str, str] | None:
    """source, words and digest of a model's options as JSON; None for one of the catalogue."""
    note = _note(options)
    if note is None:
        return None
    return {"source": note["source"], "words": WORDS[note["source"]], "digest": str(note.get("digest", ""))}


def commands(options: str | None, *, title: str, suites: Sequence[str]) -> list[str]:
    """How to run an own model again, a command for each suite that it was run on; none for one of the catalogue.

    `title`: the recorded one, which is the name that an object of a session was evaluated under.
    """
    note = _note(options)
    return [] if note is None else [_command(note, title=title, suite=suite) for suite in suites]


def _note(options: str | None) -> dict[str, Any] | None:
    note: Any = json.loads(options or "{}").get(NOTE)
    return note if isinstance(note, dict) and note.get("source") in WORDS else None


def _command(note: Mapping[str, Any], *, title: str, suite: str) -> str:
    source, name = note["source"], str(note.get("name", ""))
    if source in (FROM_FILE, FROM_SESSION):
        called = MARK.sub("", title)
        named = "" if called == name else f", name={json.dumps(called, ensure_ascii=False)}"
        others = "".join(f", {argument}=..." for argument in note.get("arguments", ()))
        return f'compute.evaluate(model, suite="{suite}"{named}{others})  # model: {name}'
    served, _, host = name.rpartition("@")
    # A record is shown without its path.
    named, where = {
        FROM_FOLDER: (f"FOLDER/{name}", "  # FOLDER: the one that holds it"),
        FROM_HUB: (f"hub:{name}", ""),
        FROM_ENDPOINT: (f"endpoint:{served}", f"  # LIKENESS_ENDPOINT at {host}"),
    }[source]
    return f"likeness run --suite {suite} --models {shlex.quote(named)}{where}"
