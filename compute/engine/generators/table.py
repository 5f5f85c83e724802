"""The figures of a comparison as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from compute.engine.generators.people import People
from compute.engine.generators.record import GeneratorFigure
from compute.metrics import METRICS
from compute.rounding import rounded
from compute.tables import padded

FORMATS = ("text", "csv", "json")
_ROWS = {metric.key: metric for metric in METRICS}
NOT_SHOWN = ("left_out", "block_sizes")  # what only a test of differences needs
COLUMNS = tuple(field.name for field in fields(GeneratorFigure) if field.name not in ("parts", "warnings", *NOT_SHOWN))


def text(figures: Sequence[GeneratorFigure], *, warnings: Sequence[str] = ()) -> list[str]:
    """A Markdown table, a row a metric and backbone, a column a generator; then why cells are empty, and warnings."""
    generators = list(dict.fromkeys(row.generator for row in figures))
    cells = {(row.metric, row.backbone, row.generator): row for row in figures}
    keys = list(dict.fromkeys((row.metric, row.backbone) for row in figures))
    rows = [["metric", "features", "n", *generators]]
    for metric, backbone in keys:
        row = [cells.get((metric, backbone, name)) for name in generators]
        arrow = "↑" if _ROWS[metric].higher_is_better else "↓"
        counts = sorted({cell.n for cell in row if cell is not None})
        n = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}-{counts[-1]:,}"
        shown = backbone.replace("|", " x ")  # which would end the cell
        rows.append([f"{_ROWS[metric].title} {arrow}", shown, n, *(_cell(cell) for cell in row)])
        if any(cell is not None and cell.limit is not None for cell in row):
            rows.append([f"{_ROWS[metric].title} at infinite N {arrow}", shown, "∞", *map(_limit, row)])
    head, *drawn = padded(rows)
    lines = [f"| {' | '.join(row)} |" for row in (head, ["-" * len(cell) for cell in head], *drawn)]
    if any(row.low is not None for row in figures):
        lines += ["", "In brackets: 95% interval over prompts or images."]
    reasons: dict[str, list[str]] = {}
    for row in figures:
        if row.value is None:
            reasons.setdefault(row.reason, []).append(f"{_ROWS[row.metric].title} of {row.generator}")
    lines += [f"No {_listed(names)}: {reason}" for reason, names in reasons.items()]
    noted: dict[str, list[str]] = {}
    for row in figures:
        for warning in row.warnings:
            noted.setdefault(warning, []).append(f"{_ROWS[row.metric].title}, {row.backbone}")
    lines += [f"Warning: {line}" for line in warnings]
    lines += [f"Warning: {', '.join(dict.fromkeys(names))}: {line}" for line, names in noted.items()]
    return lines


def as_csv(figures: Sequence[GeneratorFigure]) -> str:
    """A row a figure; empty cells where there is no number."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow((*COLUMNS, "warnings"))
    for row in figures:
        writer.writerow(
            (*("" if getattr(row, name) is None else getattr(row, name) for name in COLUMNS), "; ".join(row.warnings))
        )
    return stream.getvalue()


def as_json(figures: Sequence[GeneratorFigure], *, warnings: Sequence[str] = (), people: People | None = None) -> str:
    """`{"figures": [...], "warnings": [...], "people": {...}}`, numbers unrounded, null where there is none."""
    rows = [{name: value for name, value in asdict(row).items() if name not in NOT_SHOWN} for row in figures]
    content = {"figures": rows, "warnings": list(warnings)}
    if people is not None:
        content["people"] = _finite(asdict(people))
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def _finite(value: Any) -> Any:
    """The same with null for NaN, which JSON lacks."""
    match value:
        case dict():
            return {name: _finite(part) for name, part in value.items()}
        case list() | tuple():
            return [_finite(part) for part in value]
        case float():
            return value if math.isfinite(value) else None
    return value


def _cell(row: GeneratorFigure | None) -> str:
    if row is None or row.value is None:
        return "-"
    if row.low is None or row.high is None:
        return _number(row.value, row.metric)
    return f"{_number(row.value, row.metric)} ({_number(row.low, row.metric)} to {_number(row.high, row.metric)})"


def _limit(row: GeneratorFigure | None) -> str:
    if row is None or row.limit is None:
        return "-"
    if row.limit_low is None or row.limit_high is None:
        return _number(row.limit, row.metric)
    low, high = (_number(value, row.metric) for value in (row.limit_low, row.limit_high))
    return f"{_number(row.limit, row.metric)} ({low} to {high})"


def _number(value: float, metric: str) -> str:
    row = _ROWS[metric]
    shown = abs(value * row.scale)
    digits = row.digits if shown >= 0.1 or not shown else row.digits + 2  # distances of features of unit length
    return rounded(value, digits, scale=row.scale)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
