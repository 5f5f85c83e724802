"""A comparison of two sets in words: a table of metrics, what few images mean for it, and what the sets hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compute.engine.generators.backbones import DISTANCES
from compute.live.measured_sets import GENERATED, SPLITS_AT_INFINITY, MetricOfSets
from compute.live.two_sets import ROLES, Repeats, SetsComparison
from compute.metrics import METRICS
from compute.metrics.distribution.intervals import FEWEST_PROMPTS
from compute.metrics.distribution.permutation import SPLITS
from compute.rounding import rounded
from leaderboard.html.formatting import NOTHING, number, span

LISTED = 20  # names and reasons of a list
_ROWS = {metric.key: metric for metric in METRICS}


def report(comparison: SetsComparison, *, synthetic: bool) -> dict[str, Any]:
    """As JSON: `heads` and `rows` of the table, sentences above and below it, and lists that fold."""
    return {
        "about": about(comparison, synthetic=synthetic),
        "heads": ["Metric", "Value", "95% interval", "At infinite N", "If the sets were alike"],
        "rows": [cells(metric) for metric in comparison.metrics],
        "notes": notes(comparison),
        "lists": lists(comparison),
    }


def about(comparison: SetsComparison, *, synthetic: bool) -> str:
    """What was compared, by which features."""
    counts = " and ".join(f"{count(comparison.counts[role], f'{role} image')}" for role in ROLES)
    drawn = "Synthetic: scenes drawn by this program, the generated ones blurred. " if synthetic else ""
    return f"{drawn}{counts}, {comparison.dimension:,} features an image by {comparison.encoder.title}."


def cells(metric: MetricOfSets) -> list[str]:
    """A row of the table: numbers in shown units, with a dash where there is none."""
    figure, row = metric.figure, _ROWS[metric.figure.metric]
    times = " × 1000" if row.scale == 1000 else " %" if row.scale == 100 else ""
    title = f"{row.title}{times} {'↑' if row.higher_is_better else '↓'}"
    if figure.value is None:
        return [title, NOTHING, NOTHING, NOTHING, NOTHING]
    form = {"digits": digits(metric), "scale": row.scale}
    limit = NOTHING if figure.limit is None else number(figure.limit, **form)
    if figure.limit_low is not None:
        limit += f" ({span(figure.limit_low, figure.limit_high, **form)})"
    alike = span(metric.alike_low, metric.alike_high, **form)
    return [title, number(figure.value, **form), span(figure.low, figure.high, **form), limit, alike]


def digits(metric: MetricOfSets) -> int:
    """Decimals of a row's numbers: the metric's own, and two more where those would show a digit or none."""
    row = _ROWS[metric.figure.metric]
    shown = abs(metric.figure.value or 0) * row.scale
    return row.digits if shown * 10**row.digits >= 10 or not shown or row.scale == 100 else row.digits + 2


def notes(comparison: SetsComparison) -> list[str]:
    """What to know before a number is believed, the most important first."""
    lines = [*_undefined(comparison), *_differences(comparison), *_bias(comparison), *_copies(comparison)]
    if any(metric.figure.low is not None for metric in comparison.metrics):
        lines.append(
            "An interval is for what the metric gives on average over sets of as many images. It covers the choice of "
            "the images on both sides, not the bias of few images"
        )
    if comparison.metrics[0].figure.metric == "fd":
        lines.append(
            "FID is this distance with Inception-v3's features, FD-DINOv2 with DINOv2's. Distances of other features "
            "are on another scale and are not comparable with published ones"
        )
    return [f"{line}." for line in dict.fromkeys(lines)]


def lists(comparison: SetsComparison) -> list[dict[str, Any]]:
    """Warnings, skipped files and repeated images: a title, the first LISTED lines, and how many more there are."""
    out = []
    warned: dict[str, list[str]] = {}
    for metric in comparison.metrics:
        for line in metric.figure.warnings:
            warned.setdefault(line, []).append(_ROWS[metric.figure.metric].title)
    if warned:
        out.append(
            _listed(
                "What the metrics warn of (real: the reference set)",
                [f"{_and(titles)}: {line}" for line, titles in warned.items()],
            )
        )
    for role in ROLES:
        skipped = comparison.skipped[role]
        if skipped:
            out.append(_listed(f"{count(len(skipped), 'file')} of the {role} set skipped", skipped))
    if comparison.shared.pairs:
        title = f"{count(len(comparison.shared.pairs), 'generated image')} with the pixels of a reference image"
        out.append(_listed(title, _pairs(comparison.shared)))
    for role in ROLES:
        repeats = comparison.repeats[role]
        if repeats.pairs:
            title = f"{count(len(repeats.pairs), 'image')} of the {role} set with the pixels of an earlier image"
            out.append(_listed(title, _pairs(repeats)))
    return out


def count(number: int, noun: str) -> str:
    """`1 file`, `3 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _undefined(comparison: SetsComparison) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for metric in comparison.metrics:
        if metric.figure.value is None:
            reasons.setdefault(metric.figure.reason, []).append(_ROWS[metric.figure.metric].title)
    return [f"No {_and(titles)}: {reason}" for reason, titles in reasons.items()]


def _differences(comparison: SetsComparison) -> list[str]:
    """Which metrics tell the two sets apart at these counts."""
    known = [metric for metric in comparison.metrics if metric.differs is not None]
    far = [_ROWS[metric.figure.metric].title for metric in known if metric.differs]
    nearer = [_ROWS[metric.figure.metric].title for metric in known if metric.is_nearer]
    near = [_ROWS[metric.figure.metric].title for metric in known if not metric.differs and not metric.is_nearer]
    splits = f"{SPLITS} random splits of all these images into two sets of the same sizes"
    lines = []
    if far:
        lines.append(
            f"The sets differ by {_and(far)}: beyond all of {splits}, which alike sets are in 1 of {SPLITS + 1} cases "
            "for each metric"
        )
    if near:
        lines.append(f"No difference shows by {_and(near)}: within {'those splits' if far else splits}")
    if nearer:
        lines.append(
            f"By {_and(nearer)} the sets are nearer than all of {'those splits' if far or near else splits}: nearer "
            "than two samples of one distribution, as sets with copies or of the same prompts are"
        )
    if 0 < min(comparison.counts.values()) < FEWEST_PROMPTS:
        lines.append(f"There is no interval below {FEWEST_PROMPTS} images a set: none would hold")
    return lines


def _bias(comparison: SetsComparison) -> list[str]:
    """How much of the Fréchet distance few images make, as measured on sets that are alike."""
    lines = []
    for metric in comparison.metrics:
        figure = metric.figure
        if figure.metric not in DISTANCES or figure.value is None or metric.alike is None:
            continue
        title, places = _ROWS[figure.metric].title, digits(metric)
        counts = " and ".join(f"{comparison.counts[role]:,}" for role in ROLES)
        lines.append(
            f"{title} is too high with few images: alike sets of {counts} of these images are "
            f"{rounded(metric.alike, places)} apart on average, where many images would give 0, and these sets "
            f"{rounded(figure.value, places)}"
        )
        if metric.alike_limits is not None:
            lines.append(
                f"At infinite N, extrapolated in the same way, {SPLITS_AT_INFINITY} of those splits come out from "
                f"{span(*metric.alike_limits, digits=places)}, where 0 is right: so far off is the extrapolation here"
            )
        if min(comparison.counts.values()) <= comparison.dimension:
            lines.append(
                f"There are no more images than the {comparison.dimension:,} dimensions of the features, so {title} "
                "sees only a part of how they vary. KID has no such bias where the two sets are drawn independently, "
                "and is the better distance here"
            )
    return lines


def _copies(comparison: SetsComparison) -> list[str]:
    lines = []
    if comparison.shared.pairs:
        lines.append(
            f"{_some(len(comparison.shared.pairs), comparison, GENERATED)} also in the reference set: copies raise "
            "precision, recall, density and coverage, and lower the distances"
        )
    for role in ROLES:
        if pairs := comparison.repeats[role].pairs:
            lines.append(
                f"{_some(len(pairs), comparison, role)} in the set before: a repeated image is its own nearest "
                "neighbour, which shrinks the neighbourhoods that precision, recall, density and coverage use"
            )
    return lines


def _some(number: int, comparison: SetsComparison, role: str) -> str:
    """`1 of 40 generated images is`."""
    return f"{number} of {count(comparison.counts[role], f'{role} image')} {'is' if number == 1 else 'are'}"


def _listed(title: str, lines: Sequence[str]) -> dict[str, Any]:
    return {"title": title, "lines": list(lines[:LISTED]), "more": max(0, len(lines) - LISTED)}


def _pairs(repeats: Repeats) -> list[str]:
    return [f"{name} = {earlier}" for name, earlier in repeats.pairs]


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
