"""The Try page's section Perturb: one image changed by a slider, and each model's score as it is changed more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr
import plotly.graph_objects as go

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference, place
from compute.analysis.figures.style import PALETTE, plain
from compute.live import changes
from compute.live.inputs import Input, thumbnail
from compute.live.questions import LiveQuestion, medians
from compute.tasks.data import CONDITIONS
from compute.tasks.perturb import PERTURBATIONS
from compute.types import LETTERS, BadInput, Model
from leaderboard.html.components import folded, html, scripted
from leaderboard.html.formatting import number
from leaderboard.html.templates import macro, render
from leaderboard.live.live import QUEUE
from leaderboard.page import QUIET, Site, controls, payload_of, static_html
from leaderboard.pages.try_it import ratings
from leaderboard.pages.try_it.ratings import ShownChange
from leaderboard.web.errors import caught, explain

if TYPE_CHECKING:
    from compute.live.changes import Curve

SENTENCE = (
    "Move a slider to change one image by one of PairBench's transformations (the paper gives no parameters; these are "
    "ours). The curves show where each model's score falls on its own scale: a model whose curve stays high does not "
    "notice the change. The table shows how a judge would rate the image and its changed copy."
)
ITSELF = "itself, unchanged"
FAST = ("sensitive",)  # it takes one changed image, the other condition ten
PAUSE = 0.4  # seconds between two updates of the ratings
STEP = 0.5  # of a slider, in degrees, pixels or percent
DASHES = ("solid", "dash", "dot", "dashdot")  # with the colours, so that lines differ not only in colour
JUDGING_READY = "() => document.querySelector('.likeness-judging')?.likenessJudging?.ready()"


@dataclass(frozen=True, kw_only=True)
class Section:
    """Part of the page about what was last compared, renewed when it is opened.

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
        """All that `renewed` has values for."""
        return [self.accordion, self.body, self.shown, self.message, *self.components]

    def renewed(self, question: LiveQuestion, payload: dict[str, Any]) -> dict[Any, Any]:
        """The section about a question."""
        return {**self.renew(question, payload), self.body: gr.update(visible=True), self.shown: payload}

    def on_opening(self, site: Site, sent: gr.JSON) -> None:
        """Has it renewed when it is opened, unless it shows what was `sent` last."""

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
            other = gr.Dropdown([(ITSELF, "")], value="", label="Compare it with")
        with gr.Row(elem_classes="pg-controls cp-sliders"):
            sliders = {
                kind: gr.Slider(
                    0, 1, value=0, step=STEP, label=f"{perturbation.title} ({perturbation.unit})", min_width=140
                )
                for kind, perturbation in PERTURBATIONS.items()
            }
        with gr.Row():
            with gr.Column(scale=1, min_width=240):
                preview = html()
            with gr.Column(scale=3, min_width=300):
                rated_by = gr.Dropdown([], value=[], multiselect=True, label="Rated by", visible=False)
                table = html(elem_id="rated")
                # Its value is the JSON of ratings.state. Its events: `ask` {view, judge, turn, pressed}, `pressed` true
                # for a visitor's own press, `settle` once a drag rests, and `restore` {view} for what the address of
                # the page shows. It is mounted once the section is shown, after its value has come.
                judging = scripted(
                    site.assets,
                    script="pages/try_it/judging.js",
                    css_class="likeness-judging lk-try",
                    events=("ask", "settle", "restore"),
                    run="const view = module.mount(target, { trigger: fire });"
                    " gradio.then(({ props, watch }) => {"
                    " const show = () => { if (props.value) view.show(JSON.parse(props.value)); };"
                    " watch('value', show); show(); });",
                )
        figure = gr.Plot(show_label=False, container=False, visible=False)
        summary = html()
    changed = [preview, figure, summary, rated_by, table, judging, *sliders.values()]

    def renew(question: LiveQuestion, payload: dict[str, Any]) -> dict[Any, Any]:
        titles = [(title, str(index)) for index, title in enumerate(names(question))]
        images = [title for title, each in zip(titles, question.inputs, strict=True) if each.modality == "image"]
        ticked = [key for name in ("models", "judges") if isinstance(payload.get(name), list) for key in payload[name]]
        choices, chosen = ratings.models(site, ticked)
        first = images[0][1] if images else None
        return {
            **blank(),
            **at_zero(question, first),
            # Opened for a link, which shows a change in it.
            **({accordion: gr.update(visible=True, open=True)} if payload.get("change") is True else {}),
            image: gr.update(choices=images, value=first),
            other: gr.update(choices=[(ITSELF, ""), *titles], value=""),
            rated_by: gr.update(choices=choices, value=chosen, visible=False),
        }

    def no_curves() -> dict[Any, Any]:
        return {preview: "", figure: gr.update(value=None, visible=False), summary: ""}

    def blank() -> dict[Any, Any]:
        return {**no_curves(), rated_by: gr.update(visible=False), table: "", judging: ratings.state(None)}

    def at_zero(question: LiveQuestion, image: Any) -> dict[Any, Any]:
        """All sliders at zero, up to what is the most for this image: a pixel is more of a small one."""
        chosen = _chosen(question, image)
        if chosen is None or chosen.modality != "image":
            return dict.fromkeys(sliders.values(), 0)
        return {slider: gr.update(value=0, maximum=ratings.largest(kind, chosen)) for kind, slider in sliders.items()}

    failed = caught(lambda sentence: {preview: macro("message")(sentence)})

    @failed
    def turned(image: Any, payload: dict[str, Any]) -> dict[Any, Any]:
        return blank() | at_zero(site.live.read(payload)[0], image)

    def drawn(
        view: ShownChange, other: Any, models: Any, payload: dict[str, Any], controls: dict[Any, Any]
    ) -> Iterator[dict[Any, Any]]:
        """The preview, the curves and `controls` first, then the ratings that are fast: the others follow once a drag
        rests."""
        rows = ratings.rows(site, models)
        curves = perturbed(site, payload, view=view, other=other)
        yield (
            dict(zip((preview, figure, summary), curves, strict=True)) | {rated_by: gr.update(visible=True)} | controls
        )
        for markup, facts in rated(site, payload, view=view, rows=rows, conditions=FAST):
            yield {table: markup, judging: facts}

    inputs = [image, other, rated_by, payload]
    run = {
        "preprocess": False,  # the choices, and the most of a slider, are those of the question
        "concurrency_id": QUEUE,
        "show_progress": "minimal",
        "show_progress_on": [preview],
        "api_visibility": "private",
    }
    for kind, slider in sliders.items():

        @failed
        def moved(
            amount: Any,
            image: Any,
            other: Any,
            models: Any,
            payload: dict[str, Any],
            request: gr.Request,
            kind: str = kind,
        ) -> Iterator[dict[Any, Any]]:
            site.live.admit(request)
            view = ShownChange.read({"image": _index(image), "by": kind, "amount": amount})
            others = {each: 0 for name, each in sliders.items() if name != kind}  # one change at a time
            yield from drawn(view, other, models, payload, others)

        # `input` also fires for the keyboard, and with `always_last` a drag costs two drawings at most.
        drag = slider.input(moved, inputs=[slider, *inputs], outputs=changed, trigger_mode="always_last", **run)
        # Also where it failed, as at the limit of requests: then what was shown before still is.
        drag.then(None, js=JUDGING_READY, api_visibility="private")

    @failed
    def restored(
        other: Any, models: Any, payload: dict[str, Any], event: gr.EventData, request: gr.Request
    ) -> Iterator[dict[Any, Any]]:
        """What the address of the page names."""
        site.live.admit(request)
        question, _ = site.live.read(payload)
        view = ShownChange.read(payload_of(event).get("view"))
        most = {kind: ratings.largest(kind, view.image_of(question)) for kind in sliders}
        view = replace(view, amount=min(view.amount, most[view.kind]))
        controls = {
            slider: gr.update(value=view.amount if kind == view.kind else 0, maximum=most[kind])
            for kind, slider in sliders.items()
        }
        opened = {accordion: gr.update(open=True), image: gr.update(value=str(view.image))}
        yield from drawn(view, other, models, payload, controls | opened)

    judging.restore(restored, inputs=[other, rated_by, payload], outputs=[*changed, accordion, image], **run)

    @caught(lambda sentence: {table: macro("message")(sentence)})
    def rerated(
        shown: Any, models: Any, image: Any, payload: dict[str, Any], request: gr.Request, *amounts: Any
    ) -> Iterator[dict[Any, Any]]:
        """The image that is shown, under all conditions."""
        site.live.admit(request)
        view = ShownChange.current(shown, image=_index(image), amounts=dict(zip(sliders, amounts, strict=True)))
        for markup, facts in rated(site, payload, view=view, rows=ratings.rows(site, models)):
            yield {table: markup, judging: facts}

    run |= {"show_progress": "hidden"}
    shown = [judging, rated_by, image, payload, *sliders.values()]
    rated_by.input(rerated, inputs=shown, outputs=[table, judging], trigger_mode="always_last", **run)
    judging.settle(rerated, inputs=shown, outputs=[table, judging], trigger_mode="always_last", **run)

    def ask(models: Any, payload: dict[str, Any], event: gr.EventData, request: gr.Request) -> dict[Any, Any]:
        """One judge of those that a visitor's press asks."""
        fields = payload_of(event)
        turn = fields.get("turn")
        turn = turn if isinstance(turn, int) else 0
        try:
            markup, facts = asked(site, payload, request, fields=fields, keys=models, turn=turn)
        except Exception as error:
            return {judging: ratings.state(None, turn=turn, message=explain(error, action="A judge"))}
        return {table: markup, judging: facts}

    # The next turn starts while this one is still ending.
    judging.ask(ask, inputs=[rated_by, payload], outputs=[table, judging], trigger_mode="multiple", **run)
    image.input(turned, inputs=[image, payload], outputs=changed, preprocess=False, queue=False, **QUIET)
    other.input(no_curves, outputs=[preview, figure, summary], queue=False, **QUIET)
    return Section(
        key="perturb", accordion=accordion, body=body, message=preview, components=[image, other, *changed], renew=renew
    )


def rated(
    site: Site, payload: dict[str, Any], *, view: ShownChange, rows: list[Model], conditions: Sequence[str] = CONDITIONS
) -> Iterator[tuple[Any, Any]]:
    """The table of ratings as they come, and at last the state of the buttons; no judge in words is asked.

    Raises LikenessError.
    """
    live, updated, scores = site.live, time.perf_counter(), {}
    pair = view.pair(live.read(payload)[0])
    amount = PERTURBATIONS[view.kind].amount(pair.strength, changes.size(pair.image))
    session = str(payload.get("session", ""))
    for row, condition, rating in live.ratings(pair, rows, session=session, conditions=conditions):
        scores.setdefault(row.key, {})[condition] = rating
        if condition == CONDITIONS[-1] and row is not rows[-1] and time.perf_counter() - updated > PAUSE:
            updated = time.perf_counter()
            yield ratings.table(pair, rows, scores, amount=amount), gr.skip()
    facts = ratings.state(view, rows, complete=set(conditions) == set(CONDITIONS))
    yield ratings.table(pair, rows, scores, amount=amount), facts


def asked(
    site: Site, payload: dict[str, Any], request: Any, *, fields: Mapping[str, Any], keys: Any, turn: int
) -> tuple[Any, str]:
    """One judge's answers, in the table of all: `fields` are {view, judge, pressed}. Raises LikenessError."""
    live = site.live
    live.admit(request)
    view, rows = ShownChange.read(fields.get("view")), ratings.rows(site, keys)
    judges = live.judges(request, pressed=fields.get("pressed"))
    chosen = [row for row in rows if row.key == fields.get("judge")]
    if not chosen or judges is None:
        raise BadInput("Choose a judge under Rated by, and press Ask the judges")
    pair, session = view.pair(live.read(payload)[0]), str(payload.get("session", ""))
    for _ in live.ratings(pair, chosen, session=session, judges=judges):
        pass  # what it answers stays in the session, where the table finds it
    *_, (markup, _) = rated(site, payload, view=view, rows=rows)
    return markup, ratings.state(view, rows, turn=turn)


def names(question: LiveQuestion) -> list[str]:
    """The inputs' names on the page."""
    if question.mode == "choice":
        return ["the reference", *LETTERS[: len(question.inputs) - 1]]
    return list(LETTERS[: len(question.inputs)])


def perturbed(site: Site, payload: dict[str, Any], *, view: ShownChange, other: Any) -> list[Any]:
    """The changed image, the curves, and their summary in words. Raises LikenessError."""
    live = site.live
    question, rows = live.read(payload)
    pair, perturbation = view.pair(question), PERTURBATIONS[view.kind]
    in_units = partial(perturbation.amount, size=changes.size(pair.image))
    curves, lines = [], []
    session = str(payload.get("session", ""))
    for row, curve in live.curves(pair.image, _chosen(question, other), rows, kind=view.kind, session=session):
        if isinstance(curve, str):
            lines.append((row.title, False, curve))
        elif curve.domain.reference is None or curve.domain.reference.alone:
            why = curve.domain.why or "not calibrated"
            lines.append((row.title, False, f"no curve, since nothing says what its scores mean here: {why}."))
        else:
            curves.append((row.title, curve))
            lines.append((row.title, True, summary(curve.domain.reference, curve.scores, in_units=in_units)))
    drawn = None
    if curves:
        most = ratings.largest(view.kind, pair.image)
        drawn = drawing(*scaled(curves), view=replace(view, amount=most * pair.strength), most=most)
    caption = f"{perturbation.title}: {f'{perturbation.what} {in_units(pair.strength)}'.strip()}"
    return [
        render("pages/try_it/perturbed.html", caption=caption, thumbnail=thumbnail(pair.sides[1].content)),
        gr.update(value=drawn, visible=drawn is not None),
        render("pages/try_it/perturb.html", lines=lines),
    ]


def drawing(lines: Sequence[tuple[str, Sequence[float]]], y: str, *, view: ShownChange, most: float) -> go.Figure:
    """A line a model: names and values, 0 to 100, at evenly spaced amounts from 0 to `most`, and one at what is
    shown."""
    figure, perturbation = go.Figure(), PERTURBATIONS[view.kind]
    for at, (name, values) in enumerate(lines):
        plain_name = name.replace("<", "‹").replace(">", "›").replace("%{", "% {")  # what plotly reads as markup
        figure.add_scatter(
            x=[most * step / (len(values) - 1) for step in range(len(values))],
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": PALETTE[at % len(PALETTE)], "width": 2, "dash": DASHES[at // len(PALETTE) % len(DASHES)]},
            marker={"size": 5},
            customdata=[number(value, digits=0) for value in values],
            hovertemplate=f"{plain_name}<br>%{{x:.3g}} {perturbation.unit}: %{{customdata}}<extra></extra>",
        )
    figure.add_vline(x=view.amount, line={"width": 1, "dash": "dot", "color": "#7F7F7F"})
    plain(figure, height=360, x=f"{perturbation.title} ({perturbation.unit})", y=y, legend=True)
    values = [value for _, line in lines for value in line]
    low, high = min(0.0, *values), max(100.0, *values)
    figure.update_yaxes(range=[low - 0.02 * (high - low), high + 0.02 * (high - low)])
    figure.update_xaxes(range=[-0.02 * most, 1.02 * most])
    return figure


def scaled(curves: Sequence[tuple[str, Curve]]) -> tuple[list[tuple[str, list[float]]], str]:
    """The curves on one axis, and its title: percentiles where all models have them, else between the medians of each
    model's unrelated (0) and matching pairs (100), which takes no percentile."""
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


def _chosen(question: LiveQuestion, image: Any) -> Input | None:
    index = _index(image)
    return question.inputs[index] if 0 <= index < len(question.inputs) else None


def _index(image: Any) -> int:
    """Of a dropdown's choice; -1 where nothing is chosen."""
    return int(image) if isinstance(image, str) and image.isdecimal() and len(image) < 3 else -1


def _from(readings: Sequence[str], holds: Callable[[str], bool]) -> float | None:
    """The strength from which a reading holds to the end; None where it does not hold at the end."""
    length = next((count for count, each in enumerate(reversed(readings)) if not holds(each)), len(readings))
    return (len(readings) - length) / (len(readings) - 1) if length else None


def summary(reference: Reference, scores: Sequence[float], *, in_units: Callable[[float], str]) -> str:
    """From which strength to the end the changed image no longer scores as a matching pair; follows the title.

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
