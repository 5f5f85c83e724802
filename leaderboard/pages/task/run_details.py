"""What one computed run was made with, in words: settings, versions, device, time, coverage, where its files are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import pandas as pd

from compute.analysis.intervals import bias_note
from compute.types import TIES_SHOWN, BadInput
from leaderboard.data.database import Database
from leaderboard.data.scores import answered, shown_interval
from leaderboard.html.formatting import blank, number, percent, span
from leaderboard.html.labels import SETTINGS

MOST_LISTED = 12  # entries of a long list that are written out
# Of a model's settings: these have their own lines, device and dtype with the run.
SHOWN = ("adapter", "version", "weights", "revision", "options", "packages", "device", "dtype")

Line = dict[str, str]


def details(db: Database, *, key: str) -> dict[str, Any]:
    """Groups of lines, ready to show, and the settings as stored. Raises BadInput for an unknown run."""
    runs = db.query("run", key=key)
    if runs.empty or runs["origin"].iloc[0] != "computed":
        raise BadInput("There is no computed run of that name. Reload the page: the database may have changed")
    run = runs.iloc[0]
    settings = json.loads(run["settings"]) if run["settings"] else {}
    how = settings.get("procedure") or {}
    groups = [
        ("Scores", _scores(db.query("run_scores", key=key))),
        ("Run", _run(run, settings)),
        ("Time", _time(run, settings)),
        ("Model", _model(settings)),
        ("Items", _items(run, settings)),
        (
            "Procedure",
            _lines(
                [
                    ("Procedure", f"{_word(str(run['procedure']))}{_version(how)}"),
                    ("Options", how.get("options")),
                    ("Packages", _versions(how.get("packages") or {}, settings)),
                ]
            ),
        ),
        ("Results", _selected(settings)),
    ]
    task, model = (quote(run[name], safe="/:~") for name in ("task", "model"))
    items = [("Its single items", f"task?task={task}&items={model}")] if run["items"] and run["main"] else []
    links = [*items, ("The task", f"task?task={task}"), ("The model", f"model?model={model}")]
    return {
        "id": run["id"],
        "title": f"{run['model_title']} on {run['task_title']}",
        "links": [{"text": text, "address": address} for text, address in links],
        "groups": [{"title": title, "lines": lines} for title, lines in groups if lines],
        "settings": json.dumps(settings, indent=1, sort_keys=True, ensure_ascii=False),
    }


def _scores(scores: pd.DataFrame) -> list[Line]:
    out = []
    for score in scores.to_dict("records"):
        low, high = shown_interval(score)
        digits, more = int(score["digits"]), []
        if low is not None and high is not None:
            more.append(f"95% interval {span(low, high, digits=digits)}")
        if not blank(score["n"]):
            more.append(f"n\u00a0=\u00a0{int(score['n']):,}")
        if note := bias_note(score["value"], score["bias"], digits=digits, scale=float(score["scale"])):
            more.insert(0, note)
        more += [coverage] if (coverage := answered(score, score)) else []
        part = "" if score["subset"] == "default" else f", {score['subset']}"
        shown = number(score["value"], digits=digits + 1, scale=float(score["scale"]))
        out.append(_line(f"{score['title']}{part}", "; ".join([shown, *more])))
    rest = len(out) - MOST_LISTED
    return out if rest <= 1 else [*out[:MOST_LISTED], _line("and", f"{rest} more in the table of all scores")]


def _run(run: pd.Series, settings: Mapping[str, Any]) -> list[Line]:
    state = {"complete": "whole", "partial": "partial: some items have no answer"}.get(run["status"], run["status"])
    return _lines(
        [
            ("Way of asking", settings.get("variant")),
            ("State", state if run["main"] else f"{state}; the board shows another run of it"),
            ("Problem", run["error"]),
            ("Coverage", _coverage(settings)),
            ("Exact ties", _ties(settings)),
            ("Device", run["device"]),
            ("Precision", run["dtype"]),
            ("Seed", None if blank(run["seed"]) else int(run["seed"])),
            ("Fingerprint", run["fingerprint"]),
            ("Code", run["code"]),
            ("Folder", run["source"]),
        ]
    )


def _coverage(settings: Mapping[str, Any]) -> str:
    share, total = settings.get("coverage"), settings.get("items")
    if share is None:
        return ""
    whole = "all" if share >= 1 else f"{percent(share, digits=1)} of"
    return f"{whole} {total:,} items" if isinstance(total, int) else percent(share, digits=1)


def _ties(settings: Mapping[str, Any]) -> str:
    """The share of items that exact ties decide, where it is large enough to matter."""
    share = settings.get("tied")
    return f"decide {percent(share, digits=1)} of items" if share is not None and share > TIES_SHOWN else ""


def _time(run: pd.Series, settings: Mapping[str, Any]) -> list[Line]:
    timings = settings.get("timings") or {}
    named = {"items": "Loading items", "encode": "Encoding"}
    return _lines(
        [
            ("Started", str(run["started"]).replace("T", " ").replace("+00:00", " UTC")),
            ("In all", None if blank(run["seconds"]) else f"{number(run['seconds'], digits=1)} s"),
            *((named.get(stage, stage), f"{number(seconds, digits=1)} s") for stage, seconds in timings.items()),
        ]
    )


def _model(settings: Mapping[str, Any]) -> list[Line]:
    model = settings.get("model") or {}
    loaded = {key: value for key, value in (settings.get("adapter") or {}).items() if key != "revision"}
    return _lines(
        [
            ("Adapter", f"{model.get('adapter', '')}{_version(model)}"),
            ("Weights", model.get("weights")),
            ("Revision", model.get("revision")),
            ("Options", model.get("options")),
            ("As loaded", loaded),
            *((_word(key), value) for key, value in model.items() if key not in SHOWN),
            ("Packages", _versions(model.get("packages", {}), settings)),
        ]
    )


def _items(run: pd.Series, settings: Mapping[str, Any]) -> list[Line]:
    data, left = settings.get("data") or {}, settings.get("left_out") or []
    return _lines(
        [
            *((_word(key), value) for key, value in data.items() if value != ["default"]),
            ("Items in the catalogue", settings.get("catalogue_items")),
            ("Contents", settings.get("contents")),
            ("Left out", left),
            ("Stored for pages", f"{int(run['items']):,}" if run["items"] else "none"),
        ]
    )


def _selected(settings: Mapping[str, Any]) -> list[Line]:
    """What the procedure counted or fitted, a subset at a time; of many subsets the first few."""
    selected = settings.get("found") or {}
    out = []
    for subset, part in list(selected.items())[:MOST_LISTED]:
        lead = "" if subset == "default" else f"{subset}: "
        out += [(f"{lead}{_word(key)}", value) for key, value in part.items() if value not in (None, {}, [])]
    if len(selected) > MOST_LISTED:
        out.append(("and", f"{len(selected) - MOST_LISTED} more subsets"))
    return _lines(out)


def _lines(pairs: Iterable[tuple[str, Any]]) -> list[Line]:
    """Those that say something."""
    written = [(label, _text(value)) for label, value in pairs]
    return [_line(label, text) for label, text in written if text]


def _line(label: str, text: str) -> Line:
    return {"label": label[:1].upper() + label[1:], "text": text}


def _text(value: Any) -> str:
    """A setting in words: mappings as `name value`, lists with commas, numbers short."""
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


def _version(settings: Mapping[str, Any]) -> str:
    version = settings.get("version")
    return "" if version is None else f", version {version}"


def _versions(packages: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """Packages with the exact versions that the run was made with; its fingerprint has major and minor ones."""
    exact = settings.get("versions") or {}
    return ", ".join(f"{name} {exact.get(name, version)}" for name, version in packages.items())
