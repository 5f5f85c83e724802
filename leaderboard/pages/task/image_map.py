"""The map of a task's images on its page: which one is shown, what is said of it, and how to make one."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from leaderboard.data import item_queries
from leaderboard.data.database import Database
from leaderboard.html import synthetic
from leaderboard.html.markup import section, text
from leaderboard.pages.task import image_map_figure, items

SENTENCE = (
    "Images near each other are alike to the model, by the cosine of their embeddings. Only neighbourhoods "
    "mean something: how far apart two distant groups lie says nothing. Point at a mark to see its image."
)


def chosen(maps: pd.DataFrame, *, model: str) -> str:
    """The model whose map is shown: the one asked for, else the first; empty where there is none."""
    known = list(maps["model"])
    return model if model in known else (known[0] if known else "")


def heading(db: Database, about: pd.Series, maps: pd.DataFrame) -> str:
    """The section's title, with the command where there is no map; nothing where a task can have none."""
    title = f"Map of its images{synthetic.badge(about['benchmark'])}"
    if len(maps):
        return section(title, "", more=SENTENCE)
    if str(about["procedure"]) in items.WITHOUT or "image" not in list(about["modalities"]):
        return ""
    model = items.model_for(db, about)
    return section(
        title,
        "<p class='pg-quiet'>No map of its images yet. Make one:</p>"
        + command(f"python -m compute project --task {about['key']} --model {model}"),
    )


def command(line: str) -> str:
    """A command to copy."""
    return f"<pre class='pg-command' tabindex='0'>{text(line)}</pre>"


def figure(db: Database, *, task: str, model: str) -> Any:
    """The figure of one map; its meta has what figure.js needs to show pictures."""
    points = item_queries.item_map(db, task=task, model=model)
    labels = points["label"].fillna("")
    counts = labels.value_counts()
    meta = {
        "task": task,
        "images": [image if there else "" for image, there in zip(points["image"], points["pictured"], strict=True)],
        "names": sorted(counts.index),
        "labels": labels.map({name: at for at, name in enumerate(sorted(counts.index))}).tolist(),
    }
    return image_map_figure.images(points.assign(label=labels), meta=meta)


def words(maps: pd.DataFrame, *, model: str) -> str:
    """What the map was made of and with, and how far it can be believed."""
    row = maps.set_index("model").loc[model]
    how = json.loads(row["settings"])
    some = (
        f"{how['images']:,} images"
        if how["images"] == how["of"]
        else (f"{how['images']:,} of {how['of']:,} images, drawn by lot")
    )
    identity = how.get("model") or {}
    made_by = ", ".join(
        text(str(identity[key])[: 60 if key == "weights" else 12])
        for key in ("weights", "revision", "dtype", "device")
        if identity.get(key)
    )
    return (
        f"<p class='pg-settings'>{some} as {text(row['title'])} sees them{f' ({made_by})' if made_by else ''}. "
        f"Trustworthiness <b>{how['trustworthiness']:.3f}</b>: how far the nearest {how['trust_neighbors']} on the "
        f"map are near to the model too; 1 is best. UMAP (umap-learn {text(how['umap-learn'])}): n_neighbors "
        f"{how['n_neighbors']}, min_dist {how['min_dist']:g}, seed {how['seed']}, start {text(how['start'])}. "
        f"Colours: {text(how['labels'])}.</p>"
    )
