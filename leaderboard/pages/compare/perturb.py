"""The Compare page's section Perturb: one image changed by a slider, and each model's score as it is changed more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference, place
from compute.live.inputs import Input, thumbnail
from compute.live.question import LiveQuestion
from compute.tasks.perturb import PERTURBATIONS
from compute.types import LETTERS, BadInput
from leaderboard.html.templates import macro, render
from leaderboard.live.live import QUEUE
from leaderboard.page import Site, static_html
from leaderboard.pages.compare import figures
from leaderboard.web.errors import caught

SENTENCE = (
    "Move a slider to change one image by one of PairBench's transformations (its parameters are ours: the "
    "paper gives none). The curves show where each model's score falls on its own scale: a model whose curve stays "
    "high does not notice the change."
)
ITSELF = "itself, unchanged"


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
                kind: gr.Slider(0, 1, value=0, step=0.125, label=perturbation.title, min_width=140)
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
            *[0] * len(sliders),
        ]

    def blank() -> list[Any]:
        return ["", gr.update(value=None, visible=False), ""]

    for kind, slider in sliders.items():

        @caught(lambda sentence: [macro("message")(sentence), *[gr.skip()] * (2 + len(sliders))])
        def moved(
            strength: float,
            image: str | None,
            other: str | None,
            payload: dict[str, Any],
            request: gr.Request,
            kind: str = kind,
        ) -> list[Any]:
            drawn = perturbed(
                site, payload, request, kind=kind, strength=float(strength), image=image or "", other=other or ""
            )
            return [*drawn, *(gr.skip() if each == kind else 0 for each in sliders)]  # one change at a time

        # `input` hears the keyboard too, and with `always_last` a drag costs two drawings at most.
        slider.input(
            moved,
            inputs=[slider, image, other, payload],
            outputs=[preview, figure, summary, *sliders.values()],
            concurrency_id=QUEUE,
            show_progress="minimal",
            show_progress_on=[preview],
            trigger_mode="always_last",
            api_visibility="private",
        )
    for dropdown in (image, other):
        dropdown.input(
            blank, outputs=[preview, figure, summary], queue=False, show_progress="hidden", api_visibility="private"
        )
    return Section(components=[accordion, image, other, preview, figure, summary, *sliders.values()], renew=renew)


def names(question: LiveQuestion) -> list[str]:
    """The inputs' names on the page."""
    if question.mode == "choice":
        return ["the reference", *LETTERS[: len(question.inputs) - 1]]
    return list(LETTERS[: len(question.inputs)])


def perturbed(
    site: Site, payload: dict[str, Any], request: Any, *, kind: str, strength: float, image: str, other: str
) -> list[Any]:
    """The changed image, the curves, and their summary in words. Raises LikenessError."""
    from compute.live.curves import changed

    panel = site.panel
    panel.admit(request)
    question, rows = panel.live.read(payload)
    chosen, beside = _chosen(question, image), _chosen(question, other)
    if chosen is None or chosen.modality != "image":
        raise BadInput("Choose an image to change first")
    picture = thumbnail(changed(chosen, kind=kind, strength=strength).content)
    title = PERTURBATIONS[kind].title
    pairing = "-".join(sorted((chosen.modality, (beside or chosen).modality)))
    references = panel.references()
    curves, lines = [], []
    for row, scores in panel.live.curves(chosen, beside, rows, kind=kind, session=str(payload.get("session", ""))):
        reference = references.get((row.key, pairing))
        if isinstance(scores, str):
            lines.append((row.title, False, scores))
        elif reference is None:
            lines.append((row.title, False, "not calibrated, so it has no curve here."))
        else:
            curves.append((row.title, [place(reference, score).percentile for score in scores]))
            lines.append((row.title, True, summary(reference, scores)))
    drawn = figures.curves(curves, chosen=strength, x=f"{title}: strength") if curves else None
    return [
        render("pages/compare/perturbed.html", caption=f"{title} at {strength:g}", thumbnail=picture),
        gr.update(value=drawn, visible=drawn is not None),
        render("pages/compare/perturb.html", lines=lines),
    ]


def _chosen(question: LiveQuestion, index: str) -> Input | None:
    return question.inputs[int(index)] if index.isdigit() and int(index) < len(question.inputs) else None


def _from(readings: Sequence[str], holds: Callable[[str], bool]) -> float | None:
    """The strength from which a reading holds to the end; None where it does not hold at the end."""
    length = next((count for count, each in enumerate(reversed(readings)) if not holds(each)), len(readings))
    return (len(readings) - length) / (len(readings) - 1) if length else None


def summary(reference: Reference, scores: Sequence[float]) -> str:
    """From which strength to the end the changed image no longer scores as a matching pair; follows the title."""
    readings = [place(reference, score).reading for score in scores]
    lost, unrelated = _from(readings, lambda each: each != MATCHING), _from(readings, lambda each: each == UNRELATED)
    dips = sum(each != MATCHING for each in readings)
    if not dips:
        first, last = (f"{place(reference, score).percentile:.0f}" for score in (scores[0], scores[-1]))
        return f"scores it as a matching pair at every strength, from percentile {first} down to {last}."
    if readings[0] != MATCHING:
        return "does not score the unchanged pair as a matching one, so there is little to lose."
    if lost is None:
        return f"scores it as a matching pair except at {dips} of {len(readings)} strengths in between."
    end = f", and scores it as an unrelated one from {unrelated:g} on" if unrelated is not None else ""
    return f"no longer scores it as a matching pair from {lost:g} on{end}."
