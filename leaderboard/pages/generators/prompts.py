"""On which prompts two generators of a computed set differ most, with their images side by side where stored or
drawn."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import gradio as gr
import numpy as np
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.analysis.generators.prompt_differences import PromptDifferences, prompt_differences
from compute.arrays import Floats
from compute.engine.generators.backbones import DISTANCE
from compute.tasks.mini import generators as drawn
from compute.tasks.mini.album import png
from compute.types import BadInput, Undefined, unknown
from leaderboard.data import generator_queries, item_queries, suite_queries
from leaderboard.data.database import Database
from leaderboard.data.memo import memoised
from leaderboard.html.templates import render
from leaderboard.page import Site
from leaderboard.pages.generators.computed import ComputedGenerator, ComputedSet, MetricColumn
from leaderboard.web.responses import CHECK, FOREVER, respond

SHOWN = 6  # prompts of each direction
DISTANCE_TITLE = "distance from the reference image"
REFERENCE = "reference"
MOST_PICTURES = 1024  # of drawn images, cached in memory, about 5 MB


@dataclass(frozen=True, kw_only=True)
class PromptValues:
    """What a run stores by prompt. `values` (n,) by kind; `images` are the keys of each prompt's pictures."""

    items: tuple[str, ...]
    texts: tuple[str, ...]
    values: Mapping[str, Floats]
    images: tuple[tuple[str, ...], ...]


Values = Callable[[str, tuple[str, ...]], PromptValues]  # of a run and the kinds that it stores


def read(db: Database, run: str, kinds: tuple[str, ...]) -> PromptValues:
    """The values of one run of these kinds, the first in the column `value`."""
    frame = generator_queries.prompts(db, run=run)
    details = [json.loads(text) if text else {} for text in frame["detail"].where(frame["detail"].notna(), "")]
    values: dict[str, Floats] = {}
    for at, kind in enumerate(kinds):
        if at == 0:
            values[kind] = frame["value"].to_numpy(float)
        else:
            values[kind] = np.array([_score(detail, kind) for detail in details])
    expected = frame["expected"].fillna("")
    return PromptValues(
        items=tuple(frame["item"]),
        texts=tuple(str(detail.get("prompt") or text) for detail, text in zip(details, expected, strict=True)),
        values=values,
        images=tuple(tuple(map(str, detail.get("images") or ())) for detail in details),
    )


def _score(detail: Mapping[str, Any], kind: str) -> float:
    kinds, scores = detail.get("metrics") or [], detail.get("scores") or []
    score = dict(zip(kinds, scores, strict=False)).get(kind)
    return float("nan") if score is None else float(score)


def pair(column: MetricColumn, computed: ComputedSet, *, first: str, second: str) -> tuple[str, str, str]:
    """The keys of two generators, and a sentence where the address names others: by default the first two in rank."""
    known = [computed.generators[row].key for row in column.order]
    note = " ".join(unknown("generator", key, known) for key in (first, second) if key and key not in known)
    first = first if first in known else next((key for key in known if key != second), "")
    second = second if second in known else next((key for key in known if key != first), "")
    return first, second, note


def section(
    site: Site,
    computed: ComputedSet,
    column: MetricColumn,
    *,
    first: str,
    second: str,
    values: Values,
) -> tuple[Markup, Any, Any]:
    """The section on two generators, and their controls."""
    first, second, note = pair(column, computed, first=first, second=second)
    generators = {generator.key: generator for generator in computed.generators}
    listed = [(generators[key].title, key) for key in (computed.generators[row].key for row in column.order)]
    controls = (gr.update(choices=listed, value=first or None), gr.update(choices=listed, value=second or None))
    try:
        markup = _compared(site, computed, column, generators.get(first), generators.get(second), note, values)
    except (BadInput, Undefined) as error:
        markup = render("pages/generators/no_prompts.html", reason=str(error), note=note)
    return markup, *controls


def _compared(
    site: Site,
    computed: ComputedSet,
    column: MetricColumn,
    first: ComputedGenerator | None,
    second: ComputedGenerator | None,
    note: str,
    values: Values,
) -> Markup:
    if first is None or second is None:
        raise Undefined("Two generators with a figure are needed")
    if first.key == second.key:
        raise BadInput(f"{first.title} is chosen twice: choose two different generators")
    if not computed.paired:
        raise Undefined("The images are not paired by prompt, so that no prompt has two values to compare")
    kind = next((kind for kind in (column.metric, DISTANCE) if kind in first.kinds and kind in second.kinds), "")
    if not kind or first.kinds[kind] != second.kinds[kind]:
        raise Undefined("The stored runs have no values of single prompts by this metric: run likeness frechet again")
    left, right = (values(each.run, tuple(each.kinds)) for each in (first, second))
    rows_left, rows_right = _shared(left, right, kind)
    x, y = left.values[kind][rows_left], right.values[kind][rows_right]
    metrics = suite_queries.metrics(site.db)
    about = metrics.loc[kind] if kind in metrics.index else None
    differences = prompt_differences(
        first=x,
        second=y,
        higher=about is not None and bool(about.higher_is_better),
        prompts=[left.texts[row] for row in rows_left],
    )
    directions = _directions(
        site.db, computed, (first, second), (left, right), (rows_left, rows_right), differences, kind
    )
    return render(
        "pages/generators/prompts.html",
        first=first,
        second=second,
        note=note,
        column=column,
        kind=DISTANCE_TITLE if about is None else about.title,
        of_metric=kind == column.metric,
        backbone=first.kinds[kind].replace("|", " and "),
        differences=differences,
        prompts=len(x),
        every=computed.images,
        directions=directions,
        equal=int((differences.difference == 0).sum()),
        scale=1.0 if about is None else float(about.scale),
        digits=_digits(np.concatenate([x, y]), scale=1.0 if about is None else float(about.scale)),
        significant=bool(differences.low > 0 or differences.high < 0),
    )


def _shared(left: PromptValues, right: PromptValues, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the prompts that both runs have a value of, in the same order."""
    at = {item: row for row, item in enumerate(right.items) if np.isfinite(right.values[kind][row])}
    rows = [
        (row, at[item]) for row, item in enumerate(left.items) if item in at and np.isfinite(left.values[kind][row])
    ]
    return np.array([row for row, _ in rows], int), np.array([row for _, row in rows], int)


def _digits(values: Floats, *, scale: float) -> int:
    """Digits that distinguish single prompts: three significant ones of a usual value."""
    usual = float(np.median(np.abs(values))) * scale
    return 3 if usual <= 0 else int(np.clip(2 - np.floor(np.log10(usual)), 0, 6))


def _directions(
    db: Database,
    computed: ComputedSet,
    generators: tuple[ComputedGenerator, ComputedGenerator],
    runs: tuple[PromptValues, PromptValues],
    rows: tuple[np.ndarray, np.ndarray],
    differences: PromptDifferences,
    kind: str,
) -> list[dict[str, Any]]:
    chosen = (differences.first(SHOWN), differences.second(SHOWN))
    shown = [int(row) for part in chosen for row in part]
    keys = {key for run, own in zip(runs, rows, strict=True) for row in shown for key in run.images[own[row]]}
    stored = item_queries.pictured(db, task=computed.task, images=sorted(keys)) if keys else set()

    def card(row: int) -> dict[str, Any]:
        left, right = rows[0][row], rows[1][row]
        return {
            "text": runs[0].texts[left],
            "first": runs[0].values[kind][left],
            "second": runs[1].values[kind][right],
            "pictures": _pictures(computed, generators, runs, (left, right), stored),
        }

    return [
        {
            "better": generator.title,
            "count": int((sign * differences.difference > 0).sum()),
            "total": differences.total(first=sign > 0),
            "share": differences.share(part),
            "cards": tuple(card(int(row)) for row in part),
        }
        for generator, part, sign in zip(generators, chosen, (1, -1), strict=True)
    ]


def _pictures(
    computed: ComputedSet,
    generators: tuple[ComputedGenerator, ComputedGenerator],
    runs: tuple[PromptValues, PromptValues],
    rows: tuple[int, int],
    stored: set[str],
) -> list[tuple[str, str]]:
    """The reference's image of a prompt, then the two generators': what each is, and its address, empty where none is
    stored."""
    titles = ("Reference", *(generator.title for generator in generators))
    if all(generator.drawn for generator in generators):
        name = runs[0].items[rows[0]]
        if not name.isdecimal():
            return []
        keys = (REFERENCE, *(generator.drawn for generator in generators))
        return [
            (title, f"drawn/{drawn.VERSION}/{key}/{int(name)}.png") for title, key in zip(titles, keys, strict=True)
        ]
    images = [run.images[row] for run, row in zip(runs, rows, strict=True)]
    keys = [images[0][0] if images[0] else "", *(of[1] if len(of) > 1 else "" for of in images)]
    task = quote(computed.task, safe="/")
    return [
        (title, f"thumbnails/{task}/{key}.webp" if key in stored else "")
        for title, key in zip(titles, keys, strict=True)
    ]


def routes(site: Site) -> list[Route]:
    """The route of a drawn image; it never changes, since its address names the version of the drawings."""
    picture = memoised(image, most=MOST_PICTURES)

    def handle(request: Request) -> Response:
        version, row = request.path_params["version"], request.path_params["row"]
        content = picture(request.path_params["generator"][:40], row) if version == drawn.VERSION else None
        if content is None:
            return Response("Not found", status_code=404, headers={"cache-control": CHECK})
        return respond(request, content, media="image/png", cache=FOREVER)

    return [Route("/drawn/{version:int}/{generator}/{row:int}.png", site.guard(handle))]


def image(generator: str, row: int) -> bytes | None:
    """The image of a prompt by a drawn generator, or the prompt's reference, as PNG; None for one that is not there."""
    if not 0 <= row < drawn.PROMPTS:
        return None
    if generator == REFERENCE:
        return png(drawn.reference_image(row))
    return png(drawn.image(generator, row)) if generator in drawn.STRENGTHS else None
