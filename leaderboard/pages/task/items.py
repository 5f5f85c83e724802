"""Single items of computed runs: which are shown, in which order, and the answers of one or two models."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from compute.engine.checking.labels import doubts
from compute.engine.checking.resolution import baselines
from compute.procedures import LABELLED, PROCEDURES, VIEWS
from compute.procedures.evidence import ItemView
from compute.types import Undefined, UnknownKey, suggestion
from leaderboard.data.database import Database, shared
from leaderboard.html.formatting import blank, number
from leaderboard.html.labels import is_synthetic
from leaderboard.pages.task.item_parts import answered, drawn
from leaderboard.pages.task.protocols import EXPLAINED

PER_PAGE = 24
LABELS = "labels"  # probes of items with several labels, which have their own score and no margin
NOTHING = pd.DataFrame({"why": [], "doubt": []})


@partial(shared, most=16)
def prepared(site: Any, run: str, task: str, kind: str) -> pd.DataFrame:
    """Returns the items of a run."""
    return with_margins(site.db.query("items", run=run, task=task), view=VIEWS[kind])


@partial(shared, most=16)
def doubtful(site: Any, task: str) -> pd.DataFrame:
    """Returns the task's items whose label may be wrong: `why` in words, and `doubt`, 0 for the most certain."""
    runs = site.db.query("computed_runs", task=task, model="")
    runs = runs[runs["main"] & ~runs["model"].isin(baselines())]
    try:
        found, models = doubts({run: site.db.query("items", run=run, task=task) for run in runs["id"]})
    except Undefined:
        return NOTHING
    why = [f"Label to look at: {row.votes} of {len(models)} models answer {row.answer}" for row in found.itertuples()]
    return pd.DataFrame({"why": why, "doubt": range(len(why))}, index=found.index)


def listing(
    site: Any,
    *,
    task: str,
    models: Sequence[str] = (),
    show: str = "",
    order: str = "",
    subset: str = "",
    part: int = 1,
    every: bool = False,
) -> dict[str, Any]:
    """Returns one page of items of `site.db`, ready to draw; parameters that do not fit the task get their defaults.

    `every`: also items without pictures, where others have some. Raises UnknownKey for a task that is not there.
    """
    db = site.db
    about = db.query("task", key=task)
    if about.empty:
        raise UnknownKey("task", task, db.query("listed_tasks")["key"])
    about = about.iloc[0]
    runs = db.query("computed_runs", task=task, model="")
    runs = runs[runs["main"] & (runs["items"] > 0)]
    if runs.empty:
        return {"task": task, "runs": [], **how_to(db, about)}
    runs = runs.sort_values("value", ascending=not bool(runs["higher"].iloc[0]), kind="stable").set_index("model")
    chosen = [key for key in dict.fromkeys(models) if key in runs.index][:2]
    missing = [key[:80] for key in models if key not in chosen][:3]
    notes = (f"No computed run of {key!r} has stored items.{suggestion(key, runs.index)}" for key in missing)
    page: dict[str, Any] = {
        "task": task,
        "title": str(about["title"]),
        "note": " ".join(notes),
        "runs": [_run(key, row) for key, row in runs.iterrows()],
        "chosen": chosen,
    }
    if models and not chosen:  # no other model is shown in its place
        return page
    own = runs.loc[chosen or [runs.index[0]]]
    kind = kind_of(about)
    view = VIEWS[kind]
    joined = beside([prepared(site, run, task, kind) for run in own["id"]])
    partly = 0 < joined["pictured"].sum() < len(joined)
    pool = joined[joined["pictured"]] if partly and not every else joined
    subsets = list(dict.fromkeys(joined["subset"]))
    subset = subset if subset in subsets and len(subsets) > 1 else ""
    if subset:
        pool = pool[pool["subset"] == subset]
    shows = filters(pool, titles=own["title"].astype(str).tolist(), view=view)
    is_drawn = is_synthetic(about["benchmark"])
    pool = pool.join(doubtful(site, task) if kind in LABELLED and not is_drawn else NOTHING)
    if (doubted := pool["doubt"].notna().to_numpy()).any():
        shows["doubtful"] = ("Labels to look at", doubted)
    filled = (key for key, (_, mask) in shows.items() if mask.any())
    show = show if show in shows else next(filled, next(iter(shows)))
    reference = "the truth" if is_drawn else "people"
    orders = {**(view.orders_of_two if len(own) == 2 else {}), **view.orders}
    if view.margin is None and not pool["margin"].notna().any():
        orders = {}
    if show == "doubtful":
        orders = {"doubt": "Most certain first"}
    order = order if order in orders else next(iter(orders), "worst")
    matches = sort(pool[shows[show][1]], order=order, apart=show == "disagree" or order == "apart")
    parts = max(1, math.ceil(len(matches) / PER_PAGE))
    part = min(max(part, 1), parts)
    explained = EXPLAINED.get(kind, "").format(reference=reference)
    if show == "doubtful":
        explained = (
            "Models that are better than chance agree on another answer, so the label may be wrong. " + explained
        )
    if is_drawn:
        explained = explained.removeprefix("Right means what the data set labels so. ")
    if len(own) == 2 and view.graded:
        explained += " Two models' margins are compared in each one's standard deviations."
    total = own["total"].iloc[0]
    return page | {
        "synthetic": is_drawn,
        "scored": view.graded,
        "expected": view.expected[is_drawn],
        "chosen": own.index.tolist(),
        "shows": [{"key": key, "title": title, "count": int(mask.sum())} for key, (title, mask) in shows.items()],
        "show": show,
        "order": order,
        "orders": [{"key": key, "title": title.format(reference=reference)} for key, title in orders.items()],
        "subsets": subsets if len(subsets) > 1 else [],
        "subset": subset,
        "every": every,
        "pictured": int(joined["pictured"].sum()) if partly else None,
        "stored": len(joined),
        "whole": None if blank(total) else int(total),
        "part": part,
        "parts": parts,
        "per": PER_PAGE,
        "count": len(matches),
        "explained": explained.strip(),
        "items": _items(db, matches.iloc[(part - 1) * PER_PAGE : part * PER_PAGE], about=about, runs=own),
    }


def kind_of(about: pd.Series) -> str:
    """Returns how a task's items are read: by its procedure, or LABELS."""
    headline = next(iter(about["metrics"]), "")
    return LABELS if about["procedure"] == "probe" and headline == "lrap" else str(about["procedure"])


def how_to(db: Database, about: pd.Series) -> dict[str, str]:
    """Returns what the page shows if no run of a task has items: why, and the command that would compute one."""
    if about["procedure"] == "cfred-grid":
        return {"empty": "Each score is over all prompts at once, so it has no single items.", "command": ""}
    # Only papers measure it, or it is a mean that one prints.
    if about["procedure"] not in {each.key for each in PROCEDURES} or not about["ranked"]:
        return {"empty": "Its items cannot be loaded, so it has only published scores.", "command": ""}
    suites = db.query("suites_of_task", task=about["key"])
    if suites.empty:
        return {"empty": "Not part of a suite, so it cannot be run.", "command": ""}
    options = f"--suite {suites['key'].iloc[0]} --tasks {about['key']} --models {model_for(db, about)}"
    return {
        "empty": "No computed run of this task yet. Make one, and its single items show here:",
        "command": f"likeness run {options}",
    }


def model_for(db: Database, about: pd.Series) -> str:
    """Returns a model to name in a command: the bundled one for drawn items, else the smallest with a score to
    compare.
    """
    if is_synthetic(about["benchmark"]):
        return "tiny"
    models = db.query("runnable", task=about["key"], text="text" in list(about["modalities"]))
    return str(models["key"].iloc[0]) if len(models) else "MODEL"


def with_margins(frame: pd.DataFrame, *, view: ItemView) -> pd.DataFrame:
    """Returns a run's items with `right` (True, False, None) and `margin` (NaN: none), by item."""
    out = frame.set_index("item")
    right = [None if blank(value) else bool(value) for value in out["correct"]]
    usual = {
        "right": right,
        # Of a reply in words 1 and -1 only repeat whether it was right.
        "margin": out["value"].astype(float).where(~out["replied"].to_numpy(bool)).to_numpy(),
        "off": np.full(len(out), np.nan),
        "answer_text": out["answer"].fillna("").astype(str),
    }
    read = usual | (view.read(out) if view.read else {})
    margin = np.asarray(read["margin"])
    spread = float(np.nanstd(margin)) if not view.one_scale and np.isfinite(margin).any() else 0.0
    right = pd.Series(read["right"], index=out.index, dtype=object)
    return out.assign(**read | {"right": right, "standard": margin / spread if spread > 0 else margin})


def beside(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Returns the items that all runs have: `margin` and `apart` for sorting, `right0`, `right1`, `margin0`, ... a run
    each.

    Margins of two models are on different scales, so they are added and compared in units of their standard deviations.
    """
    first = frames[0]
    shared = first.index
    for other in frames[1:]:
        shared = shared.intersection(other.index)
    out = first.loc[shared, ["subset", "expected"]].copy()
    out["pictured"] = np.all([frame.loc[shared, "pictured"] for frame in frames], axis=0)
    for at, frame in enumerate(frames):
        for name in ("right", "margin", "off", "answer_text", "standard"):
            out[f"{name}{at}"] = frame.loc[shared, name]
    is_single = len(frames) == 1
    # A judge's replies have no margin: then the other model's decides.
    out["margin"] = out["margin0"] if is_single else out[["standard0", "standard1"]].sum(axis=1, min_count=1)
    out["off"] = out[[f"off{at}" for at in range(len(frames))]].sum(axis=1, min_count=1)
    out["apart"] = 0.0 if is_single else (out["standard0"] - out["standard1"]).abs()
    return out


def filters(pool: pd.DataFrame, *, titles: Sequence[str], view: ItemView) -> dict[str, tuple[str, np.ndarray]]:
    """Returns the filters: key -> title, and a mask of items; `unread` only if there are some."""
    every = np.ones(len(pool), bool)
    right, wrong = (
        [pool[f"right{at}"].map(lambda value, want=want: value is want).to_numpy(bool) for at in range(len(titles))]
        for want in (True, False)
    )
    unread = ~np.all([a | b for a, b in zip(right, wrong, strict=True)], axis=0) & every
    if view.filters is not None:
        found = dict(view.filters(pool[[f"margin{at}" for at in range(len(titles))]].to_numpy(float)))
    elif not view.graded:
        found = {}
    elif len(titles) == 1:
        found = {"wrong": ("Wrong", wrong[0]), "right": ("Right", right[0]), "unread": ("Unread or tied", unread)}
    else:
        found = {
            "disagree": ("They disagree", (right[0] & wrong[1]) | (wrong[0] & right[1])),
            "first": (f"Only {titles[0]} right", right[0] & wrong[1]),
            "second": (f"Only {titles[1]} right", wrong[0] & right[1]),
            "both-wrong": ("Both wrong", wrong[0] & wrong[1]),
            "both-right": ("Both right", right[0] & right[1]),
            "unread": ("Unread or tied", unread),
        }
    found["all"] = ("All", every)  # keeps its place if it has one
    return {key: shown for key, shown in found.items() if key != "unread" or shown[1].any()}


def sort(items: pd.DataFrame, *, order: str, apart: bool) -> pd.DataFrame:
    """Sorts items; those without a margin come last, ties are by name. With `apart`, the largest differences are the
    worst.
    """
    if order in ("far", "doubt"):
        worth = items["off" if order == "far" else order]
    else:
        worth = -items["apart"] if apart else items["margin"].abs() if order == "close" else items["margin"]
    if order == "best" or (order == "close" and apart):
        worth = -worth
    return items.assign(worth=worth).sort_values("worth", kind="stable", na_position="last")


def _run(model: str, row: pd.Series) -> dict[str, Any]:
    score = number(row["value"], digits=int(row["digits"]), scale=float(row["scale"]))
    return {"model": model, **row[["title", "id", "variant"]], "score": score}


def _items(db: Database, page: pd.DataFrame, *, about: pd.Series, runs: pd.DataFrame) -> list[dict[str, Any]]:
    kind, names, category = kind_of(about), [str(name) for name in page.index], str(about["category"])
    stored = (db.query("item_details", run=run, names=names).itertuples() for run in runs["id"])
    # A number of thousands of digits is one, and NaN none: neither must cost the page.
    read = partial(json.loads, parse_int=float, parse_constant=lambda name: None)
    details = [{row.item: read(row.detail) for row in rows} for rows in stored]
    images = {key for each in details for detail in each.values() for key in detail.get("images", []) if key}
    pictured = set(db.query("pictured", task=about["key"], images=sorted(images))["image"])
    out = []
    for name, row in zip(names, page.to_dict("records"), strict=True):
        own = [each.get(name, {}) for each in details]
        parts = drawn(kind, own[0], expected=str(row["expected"] or ""), category=category)
        verdicts = [
            {
                "model": model,
                "title": title,
                "right": row[f"right{at}"],
                "answer": row[f"answer_text{at}"],
                "margin": margin_text(row[f"margin{at}"], view=VIEWS[kind]),
                **answered(kind, detail, answer=row[f"answer_text{at}"]),
            }
            for at, (model, title, detail) in enumerate(zip(runs.index, runs["title"], own, strict=True))
        ]
        for part in (*parts, *(hit for verdict in verdicts for hit in verdict.get("hits", ()))):
            part["missing"] = bool(part["image"]) and part["image"] not in pictured
            part["image"] = "" if part["missing"] else part["image"]
        out.append(
            {
                # Among several subsets a run's items have the subset's name before theirs.
                "item": name.removeprefix(f"{row['subset']}/"),
                "subset": "" if row["subset"] == "default" else row["subset"],
                "expected": "" if blank(row["expected"]) else str(row["expected"]),
                "why": "" if blank(row["why"]) else row["why"],
                "parts": parts,
                "verdicts": verdicts,
            }
        )
    return out


def margin_text(value: float, *, view: ItemView) -> str:
    """Describes a margin; empty if missing."""
    if blank(value) or not math.isfinite(value):
        return ""
    if view.margin is not None:
        return view.margin(value)
    text = number(value, digits=3 if abs(value) < 10 else 1, sign=True)
    return f"margin {text if text[0] in '+−' else 0}"  # only zero has no sign
