"""One metric of one generator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DISTANCE = "distance"  # kind of a prompt's value: the squared distance of its image's features from the reference's


@dataclass(frozen=True, kw_only=True)
class GeneratorFigure:
    """One metric of one generator over one backbone; `value` None where undefined, with the `reason`.

    `low` to `high` is a 95% interval over images or prompts; `limit` the value extrapolated to infinitely many images,
    with its own interval. `parts` are what the metric reports beside its value. `left_out` are its values without
    each block of prompts or images, `block_sizes` the number in each: generators of one comparison share the blocks.
    """

    generator: str
    metric: str
    backbone: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    stderr: float | None = None
    limit: float | None = None
    limit_low: float | None = None
    limit_high: float | None = None
    left_out: tuple[float, ...] = ()
    block_sizes: tuple[int, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    reason: str = ""
