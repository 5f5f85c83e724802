"""The map of a task's images on its page: one mark an image, coloured by its label; pictures.js shows the pictures."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from compute.analysis.figures.style import GROUPS, SYMBOLS, UNGROUPED, plain_map
from leaderboard.data.database import Database
from leaderboard.html.templates import render
from leaderboard.pages.task import items

MOST = 21  # labels with their own mark: three shapes of every colour


def command(db: Database, about: pd.Series) -> str:
    """The command that makes a map of a task's images; empty for a task that can have none."""
    # Of rated pairs every image is there with its changed copies: a map would show those pairs alone.
    is_mapped = items.can_be_run(about) and about["procedure"] != "judging" and "image" in list(about["modalities"])
    if not is_mapped:
        return ""
    return f"likeness project --task {about['key']} --model {items.model_for(db, about)}"


def words(maps: pd.DataFrame, *, model: str) -> str:
    """What the map was made of and with, and how far it can be trusted."""
    row = maps.set_index("model").loc[model]
    made = json.loads(row["settings"])
    identity = made.get("model") or {}
    keys = [key for key in ("weights", "revision", "dtype", "device") if identity.get(key)]
    model_facts = [str(identity[key])[: 60 if key == "weights" else 12] for key in keys]
    return render("pages/task/image_map.html", made=made, title=row["title"], model=model_facts)


def figure(db: Database, *, task: str, model: str) -> go.Figure:
    """The figure of one map. Of many labels the most frequent have their own marks, the others are grey.

    Each point's customdata is its row among the points; the meta has what pictures.js needs to show pictures.
    """
    points = db.query("item_map", task=task, model=model)
    labels = points["label"].fillna("")
    names, counts = sorted(set(labels)), labels.value_counts()
    own = sorted(sorted(names, key=lambda label: (-counts[label], label))[:MOST])
    marks = [
        (label, labels == label, {"color": GROUPS[at % len(GROUPS)], "symbol": SYMBOLS[at // len(GROUPS)]})
        for at, label in enumerate(own)
    ]
    if len(names) > len(own):
        grey = {"color": UNGROUPED, "symbol": "circle-open"}
        marks.append((f"{len(names) - len(own)} more labels", ~labels.isin(own), grey))
    figure = go.Figure()
    for name, chosen, marker in marks:
        part = points[chosen]
        figure.add_scatter(  # not in WebGL, which not every browser has
            x=part["x"].to_numpy(np.float32),
            y=part["y"].to_numpy(np.float32),
            name=name.replace("<", "&lt;"),
            mode="markers",
            customdata=part.index.tolist(),
            marker={"size": 7 if len(points) <= 600 else 5, **marker},
            unselected={"marker": {"opacity": 0.12}},
            hoverinfo="none",
        )
    meta = {
        "task": task,
        "images": points["image"].where(points["pictured"], "").tolist(),
        "names": names,
        "labels": labels.map({name: index for index, name in enumerate(names)}).tolist(),
    }
    plain_map(figure, height=520, meta=meta, dragmode="zoom", legend=True)
    return figure.update_yaxes(scaleanchor="x", scaleratio=1)
