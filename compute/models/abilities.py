"""What a model can score, as its row and its family say: one answer for plans, calibrations and live questions."""

from __future__ import annotations

from compute.models.registry import ADAPTERS
from compute.types import Model

LATE = "many vectors per item (late interaction), which only retrieval compares"


def pairing_of(first: str, second: str) -> str:
    """Two modalities as one word, in either order: `image-image`, `image-text`, `text-text`."""
    return "-".join(sorted((first, second)))


def compares(row: Model, pairing: str) -> bool:
    """Whether the model's own comparison takes the pairing: it is of two images."""
    return "compare" in row.abilities and pairing == "image-image"


def bounds(row: Model) -> tuple[float, float] | None:
    """The lowest and the highest score that the model's own comparison gives; None where it has no such bounds."""
    return ADAPTERS[row.adapter].bounds if row.adapter in ADAPTERS else None


def embeds(row: Model, pairing: str) -> bool:
    """Whether the model has one vector for both sides of the pairing."""
    return not row.late_interaction and all(f"embed_{side}" in row.abilities for side in pairing.split("-"))


def scores(row: Model, pairing: str) -> bool:
    """Whether the model says how similar two items are: by their vectors, or by its own comparison."""
    return embeds(row, pairing) or compares(row, pairing)


def embeds_jointly(row: Model) -> bool:
    """Whether the model embeds an image with its text in one prompt; a row's own prompts may have none for both."""
    family = ADAPTERS.get(row.adapter)
    return family is not None and family.joint and "pair" in row.options.get("prompts", ("pair",))


def learned_vectors(row: Model) -> list[str]:
    """The modalities that the model has vectors of; of images only those that it has learned, not of their pixels."""
    family = ADAPTERS.get(row.adapter)
    learned = family is None or bool(family.weights or family.needs)
    return [kind for kind in ("image", "text") if f"embed_{kind}" in row.abilities and (learned or kind == "text")]


def not_computable(row: Model) -> str:
    """Why nothing here loads the model, as a clause; empty where an adapter does."""
    if row.adapter:
        return ""
    reason = row.options.get("not_computable")
    return f"published scores only. {reason}" if reason else "published scores only: nothing here loads it"
