"""The Try page's section Perturb: one image changed by a slider, and each model's score as it is changed more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference, place
from compute.analysis.domain import too_few
from compute.live import curves as curves_of
from compute.live.inputs import Input, thumbnail
from compute.live.question import LiveQuestion
from compute.tasks.perturb import PERTURBATIONS
from compute.types import LETTERS, BadInput
from leaderboard.html.formatting import number
from leaderboard.html.templates import macro, render
from leaderboard.live.calibrated import medians
from leaderboard.live.live import QUEUE
from leaderboard.page import Site, static_html
from leaderboard.pages.compare import figures
from leaderboard.web.errors import caught

if TYPE_CHECKING:
    from compute.live.curves import Curve

SENTENCE = (
    "Move a slider to change one image by one of PairBench's transformations (the paper gives no parameters; these are "
    "ours). The curves show where each model's score falls on its own scale: a model whose curve stays high does not "
    "notice the change."
)
ITSELF = "itself, unchanged"
STEP = 0.5  # of a slider, in degrees, pixels or percent


@dataclass(frozen=True, kw_only=True)
class Section:
    """Part of the page that a comparison renews: `renew(question, payload)` gives a value for each of `components`."""

    components: list[Any]
    renew: Callable[[LiveQuestion, dict[str, Any]], list[Any]]


def section(site: Site, payload: gr.JSON) -> Section:
    """Builds the section, which opens with what was last compared."""
    with gr.Accordion("Perturb: is a model sensitive to what you care about?", open=False, visible=False) as accordion:
        static_html(f"<p class='pg-quiet'>{SENTENCE}</p>")
        with gr.Row(elem_classes="pg-controls"):
            image = gr.Dropdown([], value=None, label="Change")
            other = gr.Dropdown([(ITSELF, "")], value="", label="Compare it with")
        with gr.Row(elem_classes="pg-controls cp-sliders"):
            sliders = {
                kind: gr.Slider(
                    0, 1, value=0, step=STEP, label=f"{perturbation.title} ({perturbation.unit})", min_width=140
                )
                for kind, perturbation in PERTURBATIONS.items()
            }
        preview = gr.HTML("", apply_default_css=False)
        figure = gr.Plot(show_label=False, container=False, visible=False)
        summary = gr.HTML("", apply_default_css=False)

    def renew(question: LiveQuestion, _: dict[str, Any]) -> list[Any]:
        titles = [(title, str(index)) for index, title in enumerate(names(question))]
        images = [title for title, each in zip(titles, question.inputs, strict=True) if each.modality == "image"]
        return [
            gr.update(visible=bool(images)),
            gr.update(choices=images, value=images[0][1] if images else None),
            gr.update(choices=[(ITSELF, ""), *titles], value=""),
            *blank(),
            *at_zero(question, images[0][1] if images else ""),
        ]

    def blank() -> list[Any]:
        return ["", gr.update(value=None, visible=False), ""]

    def at_zero(question: LiveQuestion, image: str) -> list[Any]:
        """All sliders at zero, up to what is the most for this image: a pixel is more of a small one."""
        chosen = _chosen(question, image)
        if chosen is None or chosen.modality != "image":
            return [gr.update(value=0)] * len(sliders)
        return [gr.update(value=0, maximum=_largest(kind, chosen)) for kind in sliders]

    @caught(lambda sentence: [macro("message")(sentence), *[gr.skip()] * (2 + len(sliders))])
    def turned(image: str | None, payload: dict[str, Any]) -> list[Any]:
        return [*blank(), *at_zero(site.panel.live.read(payload)[0], str(image or ""))]

    for kind, slider in sliders.items():

        @caught(lambda sentence: [macro("message")(sentence), *[gr.skip()] * (2 + len(sliders))])
        def moved(
            amount: float,
            image: str | None,
            other: str | None,
            payload: dict[str, Any],
            request: gr.Request,
            kind: str = kind,
        ) -> list[Any]:
            number = float(amount) if isinstance(amount, int | float) else 0.0
            chosen = {"image": str(image or ""), "other": str(other or "")}
            drawn = perturbed(site, payload, request, kind=kind, amount=number, **chosen)
            return [*drawn, *(gr.skip() if each == kind else 0 for each in sliders)]  # one change at a time

        # `input` hears the keyboard too, and with `always_last` a drag costs two drawings at most.
        slider.input(
            moved,
            inputs=[slider, image, other, payload],
            outputs=[preview, figure, summary, *sliders.values()],
            preprocess=False,  # the choices, and the most of a slider, are those of the question
            concurrency_id=QUEUE,
            show_progress="minimal",
            show_progress_on=[preview],
            trigger_mode="always_last",
            api_visibility="private",
        )
    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    changed = [preview, figure, summary, *sliders.values()]
    image.input(turned, inputs=[image, payload], outputs=changed, preprocess=False, **quiet)
    other.input(blank, outputs=[preview, figure, summary], **quiet)
    return Section(components=[accordion, image, other, preview, figure, summary, *sliders.values()], renew=renew)


def names(question: LiveQuestion) -> list[str]:
    """The inputs' names on the page."""
    if question.mode == "choice":
        return ["the reference", *LETTERS[: len(question.inputs) - 1]]
    return list(LETTERS[: len(question.inputs)])


def perturbed(
    site: Site, payload: dict[str, Any], request: Any, *, kind: str, amount: float, image: str, other: str
) -> list[Any]:
    """The changed image, the curves, and their summary in words; `amount` has the kind's unit. Raises LikenessError."""
    panel = site.panel
    panel.admit(request)
    question, rows = panel.live.read(payload)
    chosen, beside = _chosen(question, image), _chosen(question, other)
    if chosen is None or chosen.modality != "image":
        raise BadInput("Choose an image to change first")
    perturbation, most = PERTURBATIONS[kind], _largest(kind, chosen)
    in_units = partial(perturbation.amount, size=curves_of.size(chosen))
    strength = min(1.0, max(0.0, amount / most))
    picture = thumbnail(curves_of.changed(chosen, kind=kind, strength=strength).content)
    curves, lines = [], []
    session, calibrations = str(payload.get("session", "")), panel.calibrations()
    for row, curve in panel.live.curves(chosen, beside, rows, kind=kind, session=session, calibrations=calibrations):
        if isinstance(curve, str):
            lines.append((row.title, False, curve))
        elif curve.domain.reference is None or curve.domain.reference.alone:
            why = curve.domain.why or "not calibrated"
            lines.append((row.title, False, f"no curve, since nothing says what its scores mean here: {why}."))
        else:
            curves.append((row.title, curve))
            say = summary if curve.domain.has_percentile else direction_summary
            lines.append((row.title, True, say(curve.domain.reference, curve.scores, in_units=in_units)))
    drawn = None
    if curves:
        drawn = figures.curves(
            *scaled(curves), chosen=strength, title=perturbation.title, unit=perturbation.unit, most=most
        )
    caption = f"{perturbation.title}: {f'{perturbation.what} {in_units(strength)}'.strip()}"
    return [
        render("pages/compare/perturbed.html", caption=caption, thumbnail=picture),
        gr.update(value=drawn, visible=drawn is not None),
        render("pages/compare/perturb.html", lines=lines),
    ]


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


def _chosen(question: LiveQuestion, index: str) -> Input | None:
    return dict(zip(map(str, range(len(question.inputs))), question.inputs, strict=True)).get(index)


def _largest(kind: str, image: Input) -> float:
    """What a strength of 1 is for the image, in the kind's unit."""
    return PERTURBATIONS[kind].largest(curves_of.size(image))


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
        first, last = (number(place(reference, score).percentile, digits=0) for score in (scores[0], scores[-1]))
        return f"scores it as a matching pair at every strength; its percentile goes from {first} to {last}."
    if readings[0] != MATCHING:
        return "does not score even the unchanged pair as a matching one."
    if lost is None:
        return f"scores it as a matching pair except at {dips} of {len(readings)} strengths in between."
    end = f"; scores it as an unrelated one from {in_units(unrelated)}" if unrelated is not None else ""
    return f"no longer scores it as a matching pair from {in_units(lost)}{end}."


def direction_summary(reference: Reference, scores: Sequence[float], *, in_units: Callable[[float], str]) -> str:
    """The same without percentiles: from which strength its score is nearer to the median of unrelated pairs."""
    unrelated, matching = medians(reference)
    readings = [MATCHING if score > (matching + unrelated) / 2 else UNRELATED for score in scores]
    lost = _from(readings, lambda each: each == UNRELATED)
    note = f"A direction only: {too_few(reference)}."
    if readings[0] == UNRELATED:
        return f"scores even the unchanged pair nearer to its unrelated pairs. {note}"
    if lost is None:
        return f"stays nearer to its matching pairs up to the last strength. {note}"
    return f"is nearer to its unrelated pairs from {in_units(lost)}. {note}"
