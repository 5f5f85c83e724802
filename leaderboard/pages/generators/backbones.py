"""cFreD by pairs of backbones: how well each pair agrees with people or a known order, and what explains the
difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup

from compute.analysis.generators import backbone_effects
from compute.analysis.generators.agreement import FEWEST
from compute.analysis.generators.backbone_effects import BackboneEffects
from compute.arrays import Floats
from compute.engine.generators.features import JOIN, subset
from compute.engine.generators.people import HUMAN_METRICS
from compute.types import Undefined
from leaderboard.data.database import Database, shared
from leaderboard.html.labels import choice_title
from leaderboard.html.templates import render
from leaderboard.page import Canvas, Site, controls

WIDE = 8  # text backbones above which cells are small and the titles above them stand upright


@dataclass(frozen=True, kw_only=True, eq=False)
class BackboneSet:
    """The agreement of cFreD on one set of generators, `cells` (images, texts), with its draws if there are enough
    generators; `order` says in words what it agrees with.
    """

    benchmark: str
    cells: pd.DataFrame
    draws: Floats | None  # (draws, images, texts)
    order: str
    generators: int
    left_out: tuple[str, ...] = ()  # backbones that are not under every pair


def draw(site: Site) -> None:
    """Draws the control, then the section."""

    def listed() -> list[tuple[str, str]]:
        return choices(site.db) or [("No set of generators", "")]

    canvas = Canvas(site)
    with controls():
        facts = {"default": listed()[0][1], "noun": "set", "label": "Backbones compared on"}
        canvas.choose("pairs", listed, **facts, scale=1, min_width=260)
    canvas.html()
    canvas.bind(lambda pairs: [section(site.db, load(site.db, pairs))])


def choices(db: Database) -> list[tuple[str, str]]:
    """Returns suites to choose from, (title, key): those with at least three rated generators under several pairs of
    backbones.
    """
    cells = db.query("generator_pairs")
    rated = set(db.query("generator_ratings", metrics=list(HUMAN_METRICS))["suite"])
    return [
        (choice_title(part["title"].iloc[0], part["benchmark"].iloc[0]), str(key))
        for key, part in cells[cells["suite"].isin(rated)].groupby("suite", sort=False)
        if part["subset"].nunique() > 1 and part["model"].nunique() > 2
    ]


@shared
def load(db: Database, suite: str) -> BackboneSet | None:
    """Returns the agreement on a suite of `choices`; None if none is defined."""
    frames = (db.query("generator_pairs"), db.query("generator_ratings", metrics=list(HUMAN_METRICS)))
    cells, ratings = (frame[frame["suite"] == suite] for frame in frames)
    if cells.empty or ratings.empty:
        return None
    metric = ratings["metric"].iloc[0]
    human = ratings[ratings["metric"] == metric].set_index("model")["value"]
    wide = cells.pivot(index="model", columns="subset", values="value")
    wide = wide.loc[wide.index.intersection(human.index)].dropna(axis="columns")
    pairs = pd.DataFrame([key.partition(JOIN) for key in cells["subset"].unique()])
    every = pd.DataFrame(np.nan, index=pairs[0].unique(), columns=pairs[2].unique())
    have = every.apply(lambda of: np.where([subset(image, of.name) in wide for image in of.index], 0.0, np.nan))
    rows, columns = backbone_effects.complete(have)
    kept = have.loc[rows, columns]
    if not kept.size:
        return None
    known = metric == "strength"
    try:
        values, draws = backbone_effects.people_agreement(
            distances=wide[[subset(image, text) for image in kept.index for text in kept]].to_numpy(float),
            human=human.loc[wide.index].to_numpy(float) * (-1 if known or metric == "human_rank" else 1),
        )
    except Undefined:
        return None
    return BackboneSet(
        benchmark=cells["benchmark"].iloc[0],
        cells=pd.DataFrame(values.reshape(kept.shape), kept.index, kept.columns),
        draws=None if draws is None else draws.reshape(-1, *kept.shape),
        order=f"{'the known order' if known else 'people’s ratings'} of {len(wide)} generators",
        generators=len(wide),
        left_out=(*have.index[~rows], *have.columns[~columns]),
    )


def section(db: Database, grid: BackboneSet | None) -> Markup:
    """Returns the answer and the heatmap."""
    if grid is None:
        return render("pages/generators/backbones.html", grid=None)
    effects = backbone_effects.effects(grid.cells, draws=grid.draws)
    known = db.keyed("models")["title"]
    images, texts = (
        sorted(side.means, key=lambda key, side=side: -side.means[key].value) for side in (effects.image, effects.text)
    )
    return render(
        "pages/generators/backbones.html",
        grid=grid,
        effects=effects,
        verdict=verdict(effects),
        titles={key: known.get(key, key) for key in (*images, *texts)},
        images=images,
        texts=texts,
        cells=grid.cells.loc[images, texts].to_numpy().tolist(),
        wide=len(texts) > WIDE,
        fewest=FEWEST,
    )


def verdict(effects: BackboneEffects) -> str:
    """Returns on which side backbones differ significantly: `image`, `text`, `both`, `none`, or `unknown` without
    intervals.
    """
    sides = {"image": effects.image, "text": effects.text}
    if not any(side.gap and side.gap.known for side in sides.values()):
        return "unknown"
    apart = [name for name, side in sides.items() if side.apart]
    return "both" if len(apart) == 2 else apart[0] if apart else "none"
