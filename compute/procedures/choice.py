"""Choosing among k alternatives: the one nearest to a reference, or the one with more of a quality (UniSim-Bench 2AFC,
IQA, PAA).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.content.items import Column, texts
from compute.features.subject import Subject
from compute.models import model_rows
from compute.procedures.evidence import Evidence, Procedure, contents_of
from compute.procedures.shared import replies
from compute.procedures.shared.similarity import against, embeds
from compute.tasks.data import Choices
from compute.types import CannotDo

# One prompt per quality. The paper gives the one for `quality` (Appendix B, evaluation setup), which the benchmark's
# public code hyphenates; the others are only in the public code.
PROMPTS = {
    "paper": {
        "quality": "A high quality photo.",
        "brightness": "A bright photo.",
        "colorfulness": "A very colorful photo.",
        "contrast": "A high contrast photo.",
        "sharpness": "A very sharp photo",
    },
}
PROMPTS["code"] = PROMPTS["paper"] | {"quality": "A high-quality photo."}
# Two opposite prompts per quality (CLIP-IQA), as in the paper and the public code.
OPPOSITES = {
    "quality": ("Good photo.", "Bad photo."),
    "brightness": ("Bright photo.", "Dark photo."),
    "colorfulness": ("Colorful photo.", "Dull photo"),
    "contrast": ("High contrast photo.", "Low contrast photo."),
    "sharpness": ("Sharp photo.", "Blurry photo."),
}
LOGIT_SCALE = {"clip-iqa": 1.0, "clip-iqa-tempered": 100.0}  # cosines are multiplied by it before the softmax


def run(subject: Subject, data: Choices, options: Mapping[str, Any]) -> Evidence:
    """Measures the accuracy of choices, by embeddings if possible, else by comparisons, else by questions in words.
    Ties count as in `credit`.

    An encoder judges quality by prompts: `quality` selects the method, `wording` the source of the prompts. `value` is
    the margin of the correct alternative. Raises CannotDo if the model lacks the ability.
    """
    columns = ([] if data.reference is None else [data.reference]) + list(data.alternatives)
    details = contents_of(columns)
    if _asks(subject, data):
        return replies.ask(subject, data, right=data.answer, details=details)
    if data.reference is not None:
        scores = against(subject, data.reference, data.alternatives)
    else:
        how = {"question": data.question, "quality": options["quality"], "wording": options["wording"]}
        scores = np.stack([judged(subject, column, **how) for column in data.alternatives], axis=1)
    return Evidence.of_picks(names=data.names, right=data.answer, scores=scores, details=details)


def _asks(subject: Subject, data: Choices) -> bool:
    """Returns whether the model gets questions in words: it can answer them and has no numbers to offer."""
    if data.reference is None:
        return subject.can("choose") and not (embeds(subject, *data.alternatives) and subject.can("embed_text"))
    numbers = subject.can("compare") or embeds(subject, data.reference, *data.alternatives)
    return subject.can("choose") and not numbers


def judged(
    subject: Subject, images: Column, *, question: str, quality: str = "prompt", wording: str = "paper"
) -> Floats:
    """Returns (n,) how much of a quality (one of QUESTIONS except `reference`) each single image has; higher is more.

    `quality` and `wording` are as in the options of `run`. Raises CannotDo for a model that takes no prompt.
    """
    if not model_rows.embeds(subject.row, "image-text"):
        raise CannotDo(f"{subject.row.key} cannot judge {question}: it compares no image with a prompt")
    if quality == "prompt":
        return _prompted(subject, images, PROMPTS[wording][question])
    good, bad = (_prompted(subject, images, prompt) for prompt in OPPOSITES[question])
    # The logarithm of the softmax, because the softmax itself would round to 1 at a large scale and create ties. With
    # two prompts it increases with their difference at any scale: the scale changes margins, never the order.
    return -np.logaddexp(0, -LOGIT_SCALE[quality] * (good - bad))


def _prompted(subject: Subject, images: Column, prompt: str) -> Floats:
    repeated = texts([prompt], of="the prompt of a quality").take(np.zeros(len(images), dtype=np.int64))
    return against(subject, repeated, [images])[:, 0]


PROCEDURE = Procedure(
    key="choice",
    needs=({"embed_image"}, {"embed_text"}, {"compare"}, {"choose"}),
    run=run,
    options={"quality": ("prompt", "clip-iqa", "clip-iqa-tempered"), "wording": ("paper", "code")},
)
