"""cFreD by pairs of backbones: how well each pair follows a known order or people, and what carries the difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd

from compute.analysis.generators import backbone_effects
from compute.analysis.generators.backbone_effects import AttributeEffect, BackboneEffects
from compute.analysis.generators.preference import FEWEST
from compute.arrays import Floats
from compute.engine.generators.backbones import JOIN
from compute.tasks.mini.generators import FAULTS
from compute.types import Undefined
from leaderboard.data import heatmap_queries, model_queries
from leaderboard.data.memo import memoised
from leaderboard.html.formatting import parameters_text
from leaderboard.html.templates import render
from leaderboard.page import Site, bind
from leaderboard.pages.lens.study import Study
from leaderboard.web.parameters import Choice

METRIC, STUDY = "cfred", "study"
WIDE = 8  # text backbones above which cells are small and the titles above them stand upright
SIZES_M = (25, 100, 400, 1000)  # limits of groups of parameters, in millions


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """Something the catalogue knows of backbones: `value` of its row, None where unknown, and `label`, its group.

    `printed` is what the text of the paper says of it for Parti-Prompts, section 5.
    """

    key: str
    title: str
    value: Callable[[Mapping[str, Any]], float | str | None]
    label: Callable[[Any], str]
    printed: str
    sides: tuple[str, ...] = ("image", "text")


@dataclass(frozen=True, kw_only=True)
class BackboneSet:
    """The agreement of cFreD on one set of generators, (images, texts), its draws or why there are none, and what it
    is an agreement with, in words."""

    title: str
    benchmark: str
    images: tuple[str, ...]
    texts: tuple[str, ...]
    cells: Floats
    draws: Floats | None
    order: str
    reason: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NamedEffect:
    """An attribute of one side with the agreement by its values."""

    attribute: Attribute
    side: str
    effect: AttributeEffect


def _size_label(millions: float) -> str:
    low, high = (
        max((limit for limit in SIZES_M if limit <= millions), default=0),
        min((limit for limit in SIZES_M if limit > millions), default=math.inf),
    )
    if not low:
        return f"below {parameters_text(high)}"
    return (
        f"{parameters_text(low)} and more" if math.isinf(high) else f"{parameters_text(low)} to {parameters_text(high)}"
    )


def _known(name: str) -> Callable[[Mapping[str, Any]], float | None]:
    """A numeric column of the catalogue."""
    return lambda row: None if pd.isna(row[name]) else float(row[name])


ATTRIBUTES = (
    Attribute(
        key="trained_on",
        title="Training data",
        value=lambda row: ", ".join(row["trained_on"]) or None,
        label=str,
        printed="By images in training: about 10 M 0.78, 100 M 0.73, 2 B 0.76, 5 B 0.73, 10 B 0.79.",
    ),
    Attribute(
        key="image_size",
        title="Resolution",
        value=_known("image_size"),
        label=lambda value: f"{value:g} px",
        printed="224 px 0.719, 256 px 0.701, 299 px 0.760, 518 px 0.743, 896 px 0.680, 1,024 px 0.559.",
        sides=("image",),
    ),
    Attribute(
        key="parameters_m",
        title="Parameters",
        value=_known("parameters_m"),
        label=_size_label,
        printed="Small 0.755, Base 0.776, Large 0.785, Huge 0.786, SO 0.724, Giant 0.755.",
    ),
    Attribute(
        key="embed_dim",
        title="Embedding width",
        value=_known("embed_dim"),
        label=lambda value: f"{value:g}",
        printed="Highest at 1,024 (0.79); 256 0.67, 1,536 0.75.",
    ),
    Attribute(
        key="zero_shot",
        title="Zero-shot accuracy on ImageNet",
        value=_known("zero_shot"),
        label=lambda value: f"{math.floor(20 * value) * 5} to {math.floor(20 * value) * 5 + 5}%",
        printed="Higher accuracy mostly goes with higher agreement, between 51.53% and 81.37%; no means are printed.",
    ),
)


def draw(site: Site, study: Callable[[], Study]) -> None:
    """The answer with the heatmap, the control, then the marginal effects."""
    sets = memoised(lambda key: load(site, study(), key=key), of=site.db)

    def listed() -> list[tuple[str, str]]:
        return choices(site, study())

    offered = listed() or [("No set of generators", STUDY)]
    parameters = (Choice(key="pairs", default=offered[0][1], choices=tuple(key for _, key in offered), noun="set"),)
    head = gr.HTML("<p class='pg-quiet'>Comparing backbones …</p>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        chosen = gr.Dropdown(offered, value=offered[0][1], label="Agreement with", scale=1, min_width=260)
    rest = gr.HTML("", apply_default_css=False)
    bind(
        site,
        parameters=parameters,
        controls=[chosen],
        outputs=[head, rest],
        draw=lambda pairs: section(site, sets(pairs)),
        blank=lambda **_: ("", ""),
        lists={"pairs": listed},
    )


def choices(site: Site, study: Study) -> list[tuple[str, str]]:
    """Sets to choose from, (title, key): the study's order over all faults and by fault, and own generators that people
    rated."""
    known = []
    if len(_pairs(study)) > 1:
        known = [("Known order of strengths, all faults (synthetic)", STUDY)]
        known += [
            (f"Known order of strengths: {FAULTS[key].title.lower()} (synthetic)", f"{STUDY}-{key}")
            for key in study.faults
        ]
    rated = set(heatmap_queries.ratings(site.db)["suite"])
    cells = heatmap_queries.cells(site.db)
    for key, part in cells[cells["suite"].isin(rated)].groupby("suite", sort=False):
        if part["subset"].nunique() > 1 and part["model"].nunique() > 2:
            known.append((f"People: {part['title'].iloc[0]}", str(key)))
    return known


def load(site: Site, study: Study, *, key: str) -> BackboneSet | None:
    """A set of `choices`; None where there is none or no agreement is defined."""
    try:
        if key == STUDY or key.startswith(f"{STUDY}-"):
            return _of_study(study, fault=key.removeprefix(STUDY).removeprefix("-"))
        return _of_people(site, suite=key)
    except Undefined:
        return None


def section(site: Site, grid: BackboneSet | None) -> tuple[str, str]:
    """The two outputs: the answer with the heatmap, and the marginal effects."""
    if grid is None:
        return render("pages/lens/heatmap_none.html"), ""
    effects = backbone_effects.effects(grid.cells, images=grid.images, texts=grid.texts, draws=grid.draws)
    rows = catalogue(site)
    titles = {key: rows[key]["title"] if key in rows else key for key in (*grid.images, *grid.texts)}
    order = [
        sorted(range(len(keys)), key=lambda at, side=side, keys=keys: -side.means[keys[at]].mean)
        for keys, side in ((grid.images, effects.image), (grid.texts, effects.text))
    ]
    images, texts = [grid.images[at] for at in order[0]], [grid.texts[at] for at in order[1]]
    head = render(
        "pages/lens/heatmap.html",
        grid=grid,
        effects=effects,
        verdict=verdict(effects),
        titles=titles,
        images=images,
        texts=texts,
        cells=grid.cells[np.ix_(*order)].tolist(),
        wide=len(texts) > WIDE,
        fewest=FEWEST,
    )
    rest = render(
        "pages/lens/effects.html",
        grid=grid,
        named=[each for side in ("image", "text") for each in named_effects(grid, rows, side=side)],
        attributes=ATTRIBUTES,
        titles=titles,
        few=backbone_effects.FEW,
        moving=backbone_effects.MOVING,
    )
    return head, rest


def verdict(effects: BackboneEffects) -> str:
    """Which side's backbones carry the difference, as far as it is proven: `image`, `text`, `both`, `none`, or
    `unknown` without intervals."""
    gaps = {"image": effects.image.gap, "text": effects.text.gap}
    if all(gap is None or gap.difference.low is None for gap in gaps.values()):
        return "unknown"
    apart = [side for side, gap in gaps.items() if gap is not None and gap.apart]
    return "both" if len(apart) == 2 else apart[0] if apart else "none"


def named_effects(grid: BackboneSet, rows: Mapping[str, Mapping[str, Any]], *, side: str) -> list[NamedEffect]:
    """Every attribute of one side's backbones of which the catalogue knows any."""
    keys = grid.images if side == "image" else grid.texts
    cells = grid.cells if side == "image" else grid.cells.T
    draws = grid.draws if side == "image" or grid.draws is None else grid.draws.transpose(0, 2, 1)
    known = [attribute for attribute in ATTRIBUTES if side in attribute.sides]
    values = {
        attribute.title: {
            key: value for key in keys if key in rows and (value := attribute.value(rows[key])) is not None
        }
        for attribute in known
    }
    return [
        NamedEffect(
            attribute=attribute,
            side=side,
            effect=backbone_effects.attribute_effect(
                cells,
                backbones=keys,
                values=values[attribute.title],
                labels={key: attribute.label(value) for key, value in values[attribute.title].items()},
                others={title: other for title, other in values.items() if title != attribute.title},
                draws=draws,
            ),
        )
        for attribute in known
    ]


def catalogue(site: Site) -> dict[str, dict[str, Any]]:
    """The catalogue's rows by key, with `zero_shot`: of the same weights too, as text towers are listed apart."""
    models = model_queries.models(site.db)
    accuracy = heatmap_queries.zero_shot(site.db).set_index("model")["value"]
    scored = {key: accuracy.get(key, accuracy.get(str(weights).lower())) for key, weights in models["weights"].items()}
    return {
        row["key"]: {**row, "trained_on": _listed(row["trained_on"]), "zero_shot": scored[row["key"]]}
        for row in models.to_dict("records")
    }


def _listed(values: Any) -> list[str]:
    return [] if values is None or np.ndim(values) == 0 else [str(value) for value in values]


def _pairs(study: Study) -> list[str]:
    return [subset for subset in study.subsets.get(METRIC, ()) if JOIN in subset]


def _sides(subsets: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    parts = [subset.partition(JOIN) for subset in subsets]
    return tuple(dict.fromkeys(image for image, _, _ in parts)), tuple(dict.fromkeys(text for _, _, text in parts))


def _of_study(study: Study, *, fault: str) -> BackboneSet | None:
    subsets = _pairs(study)
    faults = [key for key in study.faults if not fault or key == fault]
    if not subsets or not faults:
        return None
    values, draws = backbone_effects.order_agreement(study.runs.values(), metric=METRIC, subsets=subsets, faults=faults)
    order = (
        f"the known order of strengths of {FAULTS[fault].title.lower()}"
        if fault
        else (f"the known order of strengths (mean of {len(faults)} faults)")
    )
    return _arranged(subsets, values, draws, title="The study of known faults", benchmark="mini", order=order)


def _of_people(site: Site, *, suite: str) -> BackboneSet | None:
    cells, ratings = heatmap_queries.cells(site.db), heatmap_queries.ratings(site.db)
    cells, ratings = cells[cells["suite"] == suite], ratings[ratings["suite"] == suite]
    if cells.empty or ratings.empty:
        return None
    metric = ratings["metric"].iloc[0]
    human = ratings[ratings["metric"] == metric].set_index("model")["value"]
    wide = cells.pivot(index="model", columns="subset", values="value")
    wide = wide.loc[wide.index.intersection(human.index), list(dict.fromkeys(cells["subset"]))]
    images, texts = _sides(list(wide.columns))
    whole = {subset: bool(wide[subset].notna().all()) for subset in wide.columns}
    have = np.array([[whole.get(f"{image}{JOIN}{text}", False) for text in texts] for image in images])
    rows, columns = backbone_effects.complete(np.where(have, 0.0, np.nan))
    images, dropped = _split(images, rows)
    texts, more = _split(texts, columns)
    if not images or not texts:
        return None
    subsets = [f"{image}{JOIN}{text}" for image in images for text in texts]
    rating = human.loc[wide.index].to_numpy(float) * (-1 if metric == "human_rank" else 1)
    values, draws = backbone_effects.people_agreement(distances=wide[subsets].to_numpy(float), human=rating)
    return _arranged(
        subsets,
        values,
        draws,
        title=str(cells["title"].iloc[0]),
        benchmark=str(cells["benchmark"].iloc[0]),
        order=f"people's ratings of {len(wide)} generators",
        reason="" if draws is not None else f"{len(wide)} generators are too few for intervals, which take {FEWEST}",
        left_out=(*dropped, *more),
    )


def _arranged(
    subsets: Sequence[str],
    values: Floats,
    draws: Floats | None,
    *,
    title: str,
    benchmark: str,
    order: str,
    reason: str = "",
    left_out: tuple[str, ...] = (),
) -> BackboneSet:
    images, texts = _sides(subsets)
    at = [subsets.index(f"{image}{JOIN}{text}") for image in images for text in texts]
    shape = (len(images), len(texts))
    return BackboneSet(
        title=title,
        benchmark=benchmark,
        images=images,
        texts=texts,
        cells=values[at].reshape(shape),
        draws=None if draws is None else draws[:, at].reshape(-1, *shape),
        order=order,
        reason=reason,
        left_out=left_out,
    )


def _split(keys: tuple[str, ...], use: np.ndarray) -> tuple[tuple[str, ...], tuple[str, ...]]:
    parts: tuple[list[str], list[str]] = ([], [])
    for key, used in zip(keys, use, strict=True):
        parts[not used].append(key)
    return tuple(parts[0]), tuple(parts[1])
