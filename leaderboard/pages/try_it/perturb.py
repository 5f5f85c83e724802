"""The Try page's section Perturb: one image at increasing strengths of a change, and each model's score."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr
import plotly.graph_objects as go

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference, place
from compute.analysis.figures.style import PALETTE, plain
from compute.live import changes
from compute.live.changes import ChangedPair
from compute.live.inputs import Input, thumbnail
from compute.live.questions import LiveQuestion, medians
from compute.tasks.perturb import PERTURBATIONS
from compute.types import LETTERS, BadInput, Model
from leaderboard.html.components import folded, html
from leaderboard.html.formatting import number
from leaderboard.html.templates import macro, render
from leaderboard.live.live import QUEUE
from leaderboard.page import HIDDEN, QUIET, Site, controls, static_html
from leaderboard.pages.try_it import ratings
from leaderboard.web.errors import caught

if TYPE_CHECKING:
    from compute.live.changes import Curve

SENTENCE = (
    "Change one image by one of PairBench's transformations (the paper gives no parameters; these are ours). The "
    "curves show where each model's score falls on its own scale: a model whose curve stays high does not notice the "
    "change. Rate shows how a judge would rate the image and its changed copy. A judge in words is asked four "
    "questions, which take seconds or cost the host."
)
ITSELF = "itself, unchanged"
PAUSE = 0.4  # seconds between two updates of the ratings
DASHES = ("solid", "dash", "dot", "dashdot")  # with the colours, so that lines differ not only in colour


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page about the last comparison, renewed when it is opened.

    `renew(question, payload)` gives values for some of `components`, which are in `body`; `message` shows what failed.
    `shown` is the payload that it was last renewed for.
    """

    key: str
    accordion: gr.Accordion
    body: gr.Column
    message: gr.HTML
    components: list[Any]
    renew: Callable[[LiveQuestion, dict[str, Any]], dict[Any, Any]]
    shown: gr.JSON = field(default_factory=lambda: gr.JSON({}, visible=False))

    @property
    def outputs(self) -> list[Any]:
        """Returns the components for which `renewed` has values."""
        return [self.accordion, self.body, self.shown, self.message, *self.components]

    def renewed(self, question: LiveQuestion, payload: dict[str, Any]) -> dict[Any, Any]:
        """Returns the section about a question."""
        return {**self.renew(question, payload), self.body: gr.update(visible=True), self.shown: payload}

    def on_opening(self, site: Site, sent: gr.JSON) -> None:
        """Renews it when it is opened, unless it already shows what was last `sent`."""

        @caught(lambda sentence: {self.body: gr.update(visible=True), self.message: macro("message")(sentence)})
        def opened(payload: dict[str, Any], shown: dict[str, Any]) -> dict[Any, Any]:
            if payload == shown:
                return {self.body: gr.update(visible=True)}
            return self.renewed(site.live.read(payload)[0], payload)

        inputs = [sent, self.shown]
        self.accordion.expand(opened, inputs=inputs, outputs=self.outputs, queue=False, preprocess=False, **QUIET)


def section(site: Site, payload: gr.JSON) -> Section:
    """Builds the section, which opens with what was last compared."""
    title = "Perturb: is a model sensitive to what you care about?"
    with folded(site.blocks, title, elem_id="perturb") as accordion, gr.Column(visible=False) as body:
        static_html(f"<p class='pg-quiet'>{SENTENCE}</p>")
        with controls():
            image = gr.Dropdown([], value=None, label="Change")
            kinds = [(each.title, key) for key, each in PERTURBATIONS.items()]
            kind = gr.Dropdown(kinds, value=kinds[0][1], label="By")
            strength = gr.Slider(0, 100, value=0, step=1, label="Strength, % of the most")
            other = gr.Dropdown([(ITSELF, "")], value="", label="Compare it with")
        with gr.Row():
            with gr.Column(scale=1, min_width=240):
                preview = html()
            with gr.Column(scale=3, min_width=300):
                figure = gr.Plot(show_label=False, container=False, visible=False)
        summary = html()
        with controls():
            rated_by = gr.Dropdown([], value=[], multiselect=True, label="Rated by", scale=4)
            rate = gr.Button("Rate", scale=0, min_width=120)
        table = html(elem_id="rated")
    drawings = [preview, figure, summary, table]

    def renew(question: LiveQuestion, payload: dict[str, Any]) -> dict[Any, Any]:
        titles = [(title, str(index)) for index, title in enumerate(names(question))]
        images = [title for title, each in zip(titles, question.inputs, strict=True) if each.modality == "image"]
        ticked = [key for name in ("models", "judges") if isinstance(payload.get(name), list) for key in payload[name]]
        choices, chosen = ratings.models(site, ticked)
        return {
            **dict.fromkeys((preview, summary, table), ""),
            figure: HIDDEN,
            image: gr.update(choices=images, value=images[0][1] if images else None),
            strength: 0,
            other: gr.update(choices=[(ITSELF, ""), *titles], value=""),
            rated_by: gr.update(choices=choices, value=chosen),
        }

    @caught(lambda sentence: {preview: macro("message")(sentence)})
    def drawn(
        image: Any, kind: Any, strength: Any, other: Any, payload: dict[str, Any], request: gr.Request
    ) -> dict[Any, Any]:
        site.live.admit(request)
        question, rows = site.live.read(payload)
        pair, fixed = chosen_change(question, image, kind, strength), _chosen(question, other)
        found = perturbed(site, pair, fixed, rows, session=str(payload.get("session", "")))
        return dict(zip(drawings, (*found, ""), strict=True))

    @caught(lambda sentence: {table: macro("message")(sentence)})
    def rated(
        image: Any, kind: Any, strength: Any, models: Any, payload: dict[str, Any], request: gr.Request
    ) -> Iterator[dict[Any, Any]]:
        """Yields the table of ratings as they come."""
        live, updated, scores = site.live, time.perf_counter(), {}
        live.admit(request)
        pair = chosen_change(live.read(payload)[0], image, kind, strength)
        rows = live.models(models) if isinstance(models, list) and models else []
        judges, session = live.judges(request, pressed=True), str(payload.get("session", ""))
        for row, condition, rating in live.ratings(pair, rows, session=session, judges=judges):
            scores.setdefault(row.key, {})[condition] = rating
            if time.perf_counter() - updated > PAUSE:
                updated = time.perf_counter()
                yield {table: ratings.table(pair, rows, scores)}
        yield {table: ratings.table(pair, rows, scores)}

    run = {
        "preprocess": False,  # the choices are those of the question
        "concurrency_id": QUEUE,
        "show_progress": "minimal",
        "api_visibility": "private",
    }
    inputs = [image, kind, strength]
    for control in (*inputs, other):  # of a slider `input` also fires for the keyboard
        # With `always_last` a drag costs two drawings at most.
        control.input(
            drawn,
            inputs=[*inputs, other, payload],
            outputs=drawings,
            trigger_mode="always_last",
            show_progress_on=[preview],
            **run,
        )
    rate.click(rated, inputs=[*inputs, rated_by, payload], outputs=[table], trigger_mode="once", **run)
    return Section(
        key="perturb",
        accordion=accordion,
        body=body,
        message=preview,
        components=[image, strength, other, rated_by, figure, summary, table],
        renew=renew,
    )


def chosen_change(question: LiveQuestion, image: Any, kind: Any, strength: Any) -> ChangedPair:
    """Returns what the controls of a page select: an image of the question and its changed copy. Raises BadInput."""
    chosen = _chosen(question, image)
    if chosen is None or chosen.modality != "image":
        raise BadInput("Choose an image to change first")
    if kind not in list(PERTURBATIONS):
        raise BadInput(f"There is no transformation {str(kind)[:40]!r}; there are: {', '.join(PERTURBATIONS)}")
    if not (isinstance(strength, int | float) and 0 <= strength <= 100):
        raise BadInput(f"The strength of a change is a number from 0 to 100; got {str(strength)[:40]!r}")
    return ChangedPair(image=chosen, kind=kind, strength=strength / 100)


def names(question: LiveQuestion) -> list[str]:
    """Returns the inputs' names on the page."""
    if question.mode == "choice":
        return ["the reference", *LETTERS[: len(question.inputs) - 1]]
    return list(LETTERS[: len(question.inputs)])


def perturbed(
    site: Site, pair: ChangedPair, other: Input | None, rows: Sequence[Model], *, session: str
) -> tuple[Any, Any, Any]:
    """Returns the changed image, the curves with `other` or the image itself, and their summary in words. Raises
    LikenessError."""
    perturbation, reduced = PERTURBATIONS[pair.kind], changes.size(pair.image)
    in_units = partial(perturbation.amount, size=reduced)
    curves, lines = [], []
    for row, curve in site.live.curves(pair.image, other, rows, kind=pair.kind, session=session):
        if isinstance(curve, str):
            lines.append((row.title, False, curve))
        elif curve.domain.reference is None or curve.domain.reference.alone:
            why = curve.domain.why or "not calibrated"
            lines.append((row.title, False, f"no curve, since nothing says what its scores mean here: {why}."))
        else:
            curves.append((row.title, curve))
            lines.append((row.title, True, summary(curve.domain.reference, curve.scores, in_units=in_units)))
    drawn = HIDDEN
    if curves:
        most = perturbation.largest(reduced)
        drawn = gr.update(
            value=drawing(*scaled(curves), kind=pair.kind, at=most * pair.strength, most=most), visible=True
        )
    caption = f"{perturbation.title}: {f'{perturbation.what} {in_units(pair.strength)}'.strip()}"
    return (
        render("pages/try_it/perturbed.html", caption=caption, thumbnail=thumbnail(pair.sides[1].content)),
        drawn,
        render("pages/try_it/perturb.html", lines=lines),
    )


def drawing(lines: Sequence[tuple[str, Sequence[float]]], y: str, *, kind: str, at: float, most: float) -> go.Figure:
    """Returns a line per model: names and values, 0 to 100, at evenly spaced amounts from 0 to `most`, and one `at`
    what is shown."""
    figure, perturbation = go.Figure(), PERTURBATIONS[kind]
    for index, (name, values) in enumerate(lines):
        plain_name = name.replace("<", "‹").replace(">", "›").replace("%{", "% {")  # what plotly reads as markup
        colour, dash = PALETTE[index % len(PALETTE)], DASHES[index // len(PALETTE) % len(DASHES)]
        figure.add_scatter(
            x=[most * step / (len(values) - 1) for step in range(len(values))],
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": dash},
            marker={"size": 5},
            customdata=[number(value, digits=0) for value in values],
            hovertemplate=f"{plain_name}<br>%{{x:.3g}} {perturbation.unit}: %{{customdata}}<extra></extra>",
        )
    figure.add_vline(x=at, line={"width": 1, "dash": "dot", "color": "#7F7F7F"})
    plain(figure, height=360, x=f"{perturbation.title} ({perturbation.unit})", y=y, legend=True)
    values = [value for _, line in lines for value in line]
    low, high = min(0.0, *values), max(100.0, *values)
    figure.update_yaxes(range=[low - 0.02 * (high - low), high + 0.02 * (high - low)])
    figure.update_xaxes(range=[-0.02 * most, 1.02 * most])
    return figure


def scaled(curves: Sequence[tuple[str, Curve]]) -> tuple[list[tuple[str, list[float]]], str]:
    """Returns the curves on one axis, and its title: percentiles if all models have them, else positions between the
    medians of each model's unrelated (0) and matching pairs (100), which need no percentile.
    """
    if all(curve.domain.has_percentile for _, curve in curves):
        return [
            (title, [place(curve.domain.reference, score).percentile for score in curve.scores])
            for title, curve in curves
        ], "Percentile of its own scores"
    lines = []
    for title, curve in curves:
        unrelated, matching = medians(curve.domain.reference)
        if matching == unrelated:  # nothing to scale by: the model does not tell its own pairs apart
            continue
        lines.append((title, [100 * (score - unrelated) / (matching - unrelated) for score in curve.scores]))
    return lines, "0: its median unrelated pair<br>100: its median matching pair"


def _chosen(question: LiveQuestion, choice: Any) -> Input | None:
    """Returns the input of a dropdown's choice; None if nothing is chosen."""
    index = int(choice) if isinstance(choice, str) and choice.isdecimal() and len(choice) < 3 else -1
    return question.inputs[index] if 0 <= index < len(question.inputs) else None


def _from(readings: Sequence[str], holds: Callable[[str], bool]) -> float | None:
    """Returns the strength from which a reading holds to the end; None if it does not hold at the end."""
    length = next((count for count, each in enumerate(reversed(readings)) if not holds(each)), len(readings))
    return (len(readings) - length) / (len(readings) - 1) if length else None


def summary(reference: Reference, scores: Sequence[float], *, in_units: Callable[[float], str]) -> str:
    """Returns from which strength on the changed image no longer scores as a matching pair; follows the title.

    `in_units` writes a strength 0..1 with its unit.
    """
    readings = [place(reference, score).reading for score in scores]
    lost, unrelated = _from(readings, lambda each: each != MATCHING), _from(readings, lambda each: each == UNRELATED)
    dips = sum(each != MATCHING for each in readings)
    if not dips:
        return "scores it as a matching pair at every strength."
    if readings[0] != MATCHING:
        return "does not score even the unchanged pair as a matching one."
    if lost is None:
        return f"scores it as a matching pair except at {dips} of {len(readings)} strengths in between."
    end = f"; scores it as an unrelated one from {in_units(unrelated)}" if unrelated is not None else ""
    return f"no longer scores it as a matching pair from {in_units(lost)}{end}."
