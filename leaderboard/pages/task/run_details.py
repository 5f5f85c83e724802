"""How one computed run was made, in words: settings, versions, device, time, coverage, location of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from compute.analysis.intervals import bias_note
from compute.types import TIES_SHOWN, BadInput
from leaderboard.data.database import Database
from leaderboard.data.scores import answered, shown_interval
from leaderboard.html.formatting import number, percent, span
from leaderboard.html.labels import SETTINGS

MOST_LISTED = 12  # entries of a long list that are written out
PARTS = {  # of the stored settings, with the title of their group
    "timings": "Seconds",
    "model": "Model",
    "adapter": "As loaded",
    "data": "Items",
    "procedure": "Procedure",
    "versions": "Packages",
    "found": "Results",
}

Line = tuple[str, Any]  # its label, and what it says


def details(db: Database, *, key: str) -> dict[str, Any]:
    """Returns groups of lines, ready to show, and the settings as stored. Raises BadInput for an unknown run."""
    runs = db.records("run", key=key)
    if not runs or runs[0]["origin"] != "computed":
        raise BadInput("There is no computed run of that name. Reload the page: the database may have changed")
    run = runs[0]
    settings = json.loads(run["settings"]) if run["settings"] else {}
    groups = {"Scores": _scores(db.records("run_scores", key=key)), "Run": _run(run, settings)}
    groups |= {title: list((settings.get(name) or {}).items()) for name, title in PARTS.items()}
    lines = {
        title: [(_word(label), text) for label, value in each if (text := _text(value))]
        for title, each in groups.items()
    }
    task, model = (quote(run[name], safe="/:~") for name in ("task", "model"))
    items = [("Its single items", f"task?task={task}&items={model}")] if run["items"] and run["main"] else []
    links = [*items, ("The task", f"task?task={task}"), ("The model", f"model?model={model}")]
    return {
        "id": run["id"],
        "title": f"{run['model_title']} on {run['task_title']}",
        "links": [{"text": text, "address": address} for text, address in links],
        "groups": [
            {"title": title, "lines": [{"label": label[:1].upper() + label[1:], "text": text} for label, text in each]}
            for title, each in lines.items()
            if each
        ],
        "settings": json.dumps(settings, indent=1, sort_keys=True, ensure_ascii=False),
    }


def _scores(scores: list[dict[str, Any]]) -> list[Line]:
    out = []
    for score in scores:
        low, high = shown_interval(score)
        digits, scale, n = score["digits"], score["scale"], score["n"]
        said = [
            number(score["value"], digits=digits + 1, scale=scale),
            bias_note(score["value"], score["bias"], digits=digits, scale=scale),
            "" if low is None or high is None else f"95% interval {span(low, high, digits=digits)}",
            "" if n is None else f"n\u00a0=\u00a0{n:,}",
            answered(score, score),
        ]
        part = "" if score["subset"] == "default" else f", {score['subset']}"
        out.append((f"{score['title']}{part}", "; ".join(filter(None, said))))
    rest = len(out) - MOST_LISTED
    return out if rest <= 1 else [*out[:MOST_LISTED], ("and", f"{rest} more in the table of all scores")]


def _run(run: Mapping[str, Any], settings: Mapping[str, Any]) -> list[Line]:
    share, total, tied = (settings.get(name) for name in ("coverage", "items", "tied"))
    coverage = "" if share is None else percent(share, digits=1)
    if coverage and isinstance(total, int):
        coverage = f"{'all' if share >= 1 else f'{coverage} of'} {total:,} items"
    state = {"complete": "whole", "partial": "partial: some items have no answer"}.get(run["status"], run["status"])
    return [
        ("Way of asking", settings.get("variant")),
        ("State", state if run["main"] else f"{state}; the board shows another run of it"),
        ("Problem", run["error"]),
        ("Doubtful", "; ".join(settings.get("doubts") or ())),
        ("Coverage", coverage),
        # The share of items that exact ties decide, where it is large enough to matter
        ("Exact ties", f"decide {percent(tied, digits=1)} of items" if (tied or 0) > TIES_SHOWN else ""),
        ("Device", run["device"]),
        ("Precision", run["dtype"]),
        ("Seed", run["seed"]),
        ("Started", str(run["started"]).replace("T", " ").replace("+00:00", " UTC")),
        ("In all", None if run["seconds"] is None else f"{number(run['seconds'], digits=1)} s"),
        *((name, settings.get(name)) for name in ("contents", "left_out")),
        ("Stored for pages", f"{run['items']:,}" if run["items"] else "none"),
        *((name, run[name]) for name in ("fingerprint", "code", "source")),
    ]


def _text(value: Any) -> str:
    """Returns a setting in words: mappings as `name value`, lists with commas, numbers short."""
    if value is None or value in ("", {}, []):
        return ""
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}" if abs(value) >= 10_000 else str(value)
        case float():
            return f"{value:.4g}"
        case Mapping():
            return "; ".join(f"{_word(str(key))} {_text(entry) or 'none'}" for key, entry in value.items())
        case list() | tuple():
            listed = ", ".join(_text(entry) or "none" for entry in value[:MOST_LISTED])
            return listed if len(value) <= MOST_LISTED else f"{listed}, … ({len(value)})"
    return str(value)


def _word(key: str) -> str:
    return SETTINGS.get(key, key.replace("_", " "))
