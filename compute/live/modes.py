"""The questions that a few inputs allow: which modes fit them, and which models can answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compute.models import abilities
from compute.types import BadInput, Model

MOST_INPUTS = 9  # a reference with 8 alternatives
ATTRIBUTES = {
    "quality": "Quality",
    "brightness": "Brightness",
    "colorfulness": "Colourfulness",
    "contrast": "Contrast",
    "sharpness": "Sharpness",
}


@dataclass(frozen=True, kw_only=True)
class Mode:
    """One kind of question. `least` to `most` inputs; `kinds` are the modalities it takes."""

    key: str
    title: str
    least: int
    most: int
    kinds: tuple[str, ...] = ("image", "text")


MODES: dict[str, Mode] = {
    mode.key: mode
    for mode in (
        Mode(key="pair", title="How alike are two", least=2, most=2),
        Mode(key="choice", title="Which is nearest", least=3, most=MOST_INPUTS),
        Mode(key="odd", title="Odd one out", least=3, most=8, kinds=("image",)),
        Mode(key="quality", title="Quality and attributes", least=1, most=8, kinds=("image",)),
    )
}


def problem(mode: str, kinds: Sequence[str]) -> str:
    """Why inputs of these modalities do not fit a mode, as a sentence; empty where they do. Raises BadInput."""
    if mode not in MODES:
        raise BadInput(f"There is no mode {mode!r}; there are: {', '.join(MODES)}")
    known = MODES[mode]
    if set(kinds) - set(known.kinds):
        return "It takes images only"
    if len(kinds) < known.least:
        return f"It takes at least {known.least} inputs"
    if len(kinds) > known.most:
        return f"It takes at most {known.most} inputs"
    if mode == "choice" and len(set(kinds[1:])) > 1:
        return "The alternatives must be all images or all texts"
    return ""


def natural(kinds: Sequence[str]) -> str:
    """The default mode for these inputs; empty where nothing fits yet."""
    order = ("quality", "pair", "choice", "odd") if len(kinds) == 1 else ("pair", "choice", "odd", "quality")
    return next((mode for mode in order if not problem(mode, kinds)), "")


def needs(kinds: Sequence[str]) -> str:
    """What to add or change before a question fits; empty where a mode fits."""
    if natural(kinds):
        return ""
    if not kinds:
        return "Add an image or a text to begin"
    if len(kinds) == 1:
        return "Add an image or another text to compare it with"
    if len(kinds) > MOST_INPUTS:
        return f"Remove some: at most {MOST_INPUTS} can be compared at once"
    return "After the first, all must be images or all texts"


def reference_first(kinds: Sequence[str]) -> int:
    """The default index of a choice's reference: the only text among images, the only image among texts."""
    for kind in ("text", "image"):
        if list(kinds).count(kind) == 1 and len(kinds) > 2:
            return list(kinds).index(kind)
    return 0


def cannot(row: Model, mode: str, kinds: Sequence[str]) -> str:
    """Why a model cannot answer for inputs of these modalities, as a sentence; empty where it can."""
    able = set(row.abilities)
    if row.kind in ("generator", "distribution"):
        return "It judges no single images"
    if mode == "quality":
        return (
            ""
            if abilities.scores_alone(row) or ("choose" in able and len(kinds) > 1)
            else "It has neither a prompt nor a score for one image"
        )
    for pairing in dict.fromkeys(abilities.pairing_of(kinds[0], other) for other in kinds[1:]):
        in_words = pairing != "text-text" and (("score_pair" if mode == "pair" else "choose") in able)
        if not in_words and not abilities.scores(row, pairing):
            return f"It compares no {pairing.replace('-', ' with ')}"
    return ""
