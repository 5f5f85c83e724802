"""Measurements of the same weights on the same data by several laboratories, and whether their orders agree."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pandas as pd

from compute.analysis import replication
from compute.analysis.figures.ranked import strip
from compute.types import WHOLE
from leaderboard.data import replication as data_of
from leaderboard.data.database import Database
from leaderboard.html.labels import origin_title
from leaderboard.html.templates import macros
from leaderboard.page import HIDDEN, Canvas, Site, View, controls

MODEL, DATA, PAIR = "openai/clip-vit-large-patch14", "imagenet-1k", "imported,imported:open_clip"


def draw(site: Site) -> None:
    """Draws one model on one data set, then two laboratories on all that they share."""
    db, texts, canvas = site.db, macros("pages/replication/page.html"), Canvas(site)

    def models() -> list[tuple[str, str]]:
        titles = db.keyed("catalogue")["title"]
        return sorted((titles[key], key) for key in data_of.pairs(db)["model"].unique() if key in titles)

    def sets() -> list[tuple[str, str]]:
        found = data_of.pairs(db).drop_duplicates("data")
        return sorted(zip(found["title"], found["data"], strict=True))

    with controls():
        canvas.choose("model", models, default=MODEL, noun="model", label="A model (type to search)", scale=3)
        canvas.choose("data", sets, default=DATA, noun="data", label="on a data set", scale=3)
        canvas.choose("pair", lambda: laboratories(db), default=PAIR, noun="pair", label="Two laboratories", scale=3)
    canvas.html()
    figure = canvas.figure(elem_classes="pg-figure-420")
    canvas.html()

    def page(*, model: str, data: str, pair: str) -> tuple:
        a, b = pair.split(",")
        frames = data_of.agreement(db), data_of.pairs(db), data_of.means(db)
        rows, first, mean = (frame[(frame["a"] == a) & (frame["b"] == b)] for frame in frames)
        whole = rows[rows["subset"] == WHOLE].sort_values("tau")
        causes = {row.data: data_of.causes(db, row) for row in first.drop_duplicates("data").itertuples()}
        drawn = whole[whole["low"].notna()][::-1]
        return (
            texts.answer(**one(db, model, data)),
            gr.update(value=orders(drawn), visible=True) if len(drawn) else HIDDEN,
            texts.sets(
                whole.to_dict("records"),
                who=(origin_title(a), origin_title(b)),
                mean=mean.to_dict("records"),
                causes=causes,
                reasons=data_of.reasons,
                rule=replication,
            ),
        )

    canvas.bind(page, instead=lambda **_: {figure: HIDDEN})


def laboratories(db: Database) -> list[tuple[str, str]]:
    """Returns every two origins that measured the same, those with most data first."""
    counts = data_of.pairs(db).groupby(["a", "b"]).size().sort_values(ascending=False)
    return [(f"{origin_title(a)} and {origin_title(b)}", f"{a},{b}") for a, b in counts.index]


def one(db: Database, model: str, data: str) -> dict[str, Any]:
    """Returns all measurements of a model on a data set, and how each compares with the first."""
    values = data_of.measured(db, model=model, data=data)
    found = []
    if values:
        found = data_of.others(db, model=model, **{name: values[0][name] for name in ("origin", "task", "metric")})
    titles = data_of.pairs(db).drop_duplicates("data").set_index("data")["title"]
    return {
        "about": db.keyed("catalogue").loc[model],
        "data": titles[data],
        "values": values,
        "others": found,
    }


def orders(rows: pd.DataFrame) -> Any:
    """Plots Kendall's tau of two laboratories' orders with its interval, a line per data set."""
    return strip(
        names=rows["title"].tolist(),
        **{end: rows[name].to_numpy(float) for end, name in (("value", "tau"), ("low", "low"), ("high", "high"))},
        groups=rows["verdict"].tolist(),
        notes=[f"{row.models} models, {row.changed:.1%} of {row.orders} orders differ" for row in rows.itertuples()],
        x="Kendall's τ of the two orders",
    )


REPLICATION = View(
    key="replication",
    title="Replication",
    sentence="What several laboratories measured for the same weights on the same data, why their numbers differ, and "
    "which orders of models stay the same.",
    group="Insights",
    draw=draw,
)
