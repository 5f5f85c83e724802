"""The Compare page's part Perturb: one image changed by sliders, and each model's score as it is changed more."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference, place
from compute.types import LETTERS, BadInput, LikenessError, Model
from leaderboard import page
from leaderboard.html.markup import message, text, webp
from leaderboard.html.markup import section as titled
from leaderboard.live.live import QUEUE
from leaderboard.pages.compare import figures

if TYPE_CHECKING:
    from compute.live.answers import Asked

# As compute.tasks.perturb has them; a test holds both together.
SLIDERS = {
    "colorjitter": "Colour jitter",
    "rotate": "Rotation",
    "gaussianblur": "Gaussian blur",
    "perspective": "Perspective",
    "elastic": "Elastic",
}
SENTENCE = (
    "Move a slider to change one image by one of PairBench's transformations (its parameters are ours: the "
    "paper gives none). The curves show where each model's score falls on its own scale: one that stays high "
    "does not notice the change."
)
ITSELF = "itself, unchanged"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Part:
    """What the page renews when a comparison is made: `renew` gives one value for each of `components`."""

    components: list[Any]
    renew: Any


def section(site: page.Site, payload: gr.JSON) -> Part:
    """Builds the part. It opens with what was last compared."""
    with gr.Accordion("Perturb: is a model sensitive to what you care about?", open=False, visible=False) as around:
        page.static_html(f"<p class='pg-quiet'>{SENTENCE}</p>")
        with gr.Row(elem_classes="pg-controls"):
            which = gr.Dropdown([], value=None, label="Change")
            beside = gr.Dropdown([(ITSELF, "")], value="", label="Compare it with")
        with gr.Row(elem_classes="pg-controls cp-sliders"):
            sliders = {
                kind: gr.Slider(0, 1, value=0, step=0.125, label=title, min_width=140)
                for kind, title in SLIDERS.items()
            }
        preview = gr.HTML("", apply_default_css=False)
        figure = gr.Plot(show_label=False, container=False, visible=False)
        said = gr.HTML("", apply_default_css=False)

    def renew(asked: Asked, _: dict[str, Any]) -> list[Any]:
        images = [
            (name, str(at))
            for at, (name, one) in enumerate(zip(names(asked), asked.inputs, strict=True))
            if one.modality == "image"
        ]
        others = [(ITSELF, ""), *((name, str(at)) for at, name in enumerate(names(asked)))]
        there = bool(images)
        return [
            gr.update(visible=there),
            gr.update(choices=images, value=images[0][1] if there else None),
            gr.update(choices=others, value=""),
            *blank(),
            *[0] * len(sliders),
        ]

    def blank() -> list[Any]:
        return ["", gr.update(value=None, visible=False), ""]

    for kind, slider in sliders.items():

        def moved(
            strength: float,
            at: str | None,
            other: str | None,
            asked_for: dict[str, Any],
            request: gr.Request,
            kind: str = kind,
        ) -> list[Any]:
            found = changed(
                site, asked_for, request, kind=kind, strength=float(strength), at=at or "", other=other or ""
            )
            return [*found, *(gr.skip() if one == kind else 0 for one in sliders)]  # one change at a time

        # `input` hears the keyboard too, and with `always_last` a drag costs two drawings at most.
        slider.input(
            moved,
            inputs=[slider, which, beside, payload],
            outputs=[preview, figure, said, *sliders.values()],
            concurrency_id=QUEUE,
            show_progress="minimal",
            show_progress_on=[preview],
            trigger_mode="always_last",
            api_visibility="private",
        )
    for choice in (which, beside):
        choice.input(
            blank, outputs=[preview, figure, said], queue=False, show_progress="hidden", api_visibility="private"
        )
    return Part(components=[around, which, beside, preview, figure, said, *sliders.values()], renew=renew)


def names(asked: Asked) -> list[str]:
    """What the inputs are called on the page."""
    if asked.mode == "choice":
        return ["the reference", *LETTERS[: len(asked.inputs) - 1]]
    return list(LETTERS[: len(asked.inputs)])


def changed(
    site: page.Site, payload: dict[str, Any], request: Any, *, kind: str, strength: float, at: str, other: str
) -> list[Any]:
    """The changed image, the curves, and what they say. Faults become a sentence in the image's place."""
    try:
        site.panel.admit(request)
        asked, rows = site.panel.live.read(payload)
        image = _chosen(asked, at)
        if image is None or image.modality != "image":
            raise BadInput("Choose an image to change first")
        beside = _chosen(asked, other) if other else None
        shown = site.panel.live.perturbed(image, kind=kind, strength=strength)
        caption = f"{SLIDERS[kind]} at {strength:g}"
        preview = (
            f"<figure class='cp-preview'><img alt='{caption}' src='{webp(shown)}'>"
            f"<figcaption>{caption}</figcaption></figure>"
        )
        pairing = "-".join(sorted((image.modality, (beside or image).modality)))
        references = site.panel.references()
        curves, lines = [], []
        session = str(payload.get("session", ""))
        for row, found in site.panel.live.curves(image, beside, rows, kind=kind, session=session):
            reference = references.get((row.key, pairing))
            if isinstance(found, str):
                lines.append(f"{text(row.title)}: {text(found)}")
            elif reference is None:
                lines.append(f"{text(row.title)}: not calibrated, so it has no curve here.")
            else:
                curves.append((row.title, [place(reference, score).percentile for score in found]))
                lines.append(_fall(row, reference, found))
        drawn = figures.curves(curves, chosen=strength, x=f"{SLIDERS[kind]}: strength") if curves else None
        listed = "".join(f"<li>{line}</li>" for line in lines)
        return [
            preview,
            gr.update(value=drawn, visible=drawn is not None),
            titled("What the curves say", f"<ul class='pg-list'>{listed}</ul>"),
        ]
    except LikenessError as error:
        return [message(str(error)), gr.skip(), gr.skip()]
    except Exception:
        log.exception("A perturbation failed")
        return [message(page.FAILED), gr.skip(), gr.skip()]


def _chosen(asked: Asked, at: str) -> Any:
    return asked.inputs[int(at)] if at.isdigit() and int(at) < len(asked.inputs) else None


def _from(readings: Sequence[str], holds: Callable[[str], bool]) -> float | None:
    """The strength from which on a reading holds to the end; None where it does not hold at the end."""
    length = next((at for at, one in enumerate(reversed(readings)) if not holds(one)), len(readings))
    return (len(readings) - length) / (len(readings) - 1) if length else None


def _fall(row: Model, reference: Reference, scores: Sequence[float]) -> str:
    """From what strength on, to the end, the changed image is no longer scored as a matching pair is."""
    readings = [place(reference, score).reading for score in scores]
    first, gone = _from(readings, lambda one: one != MATCHING), _from(readings, lambda one: one == UNRELATED)
    name, some = f"<b>{text(row.title)}</b>", sum(one != MATCHING for one in readings)
    if not some:
        ends = [f"{place(reference, score).percentile:.0f}" for score in (scores[0], scores[-1])]
        return f"{name} scores it as a matching pair at every strength, from percentile {ends[0]} down to {ends[1]}."
    if readings[0] != MATCHING:
        return f"{name} does not score the unchanged pair as a matching one, so there is little to lose."
    if first is None:
        return f"{name} scores it as a matching pair but for {some} of {len(readings)} strengths in between."
    end = f", and scores it as an unrelated one from {gone:g} on" if gone is not None else ""
    return f"{name} no longer scores it as a matching pair from {first:g} on{end}."
