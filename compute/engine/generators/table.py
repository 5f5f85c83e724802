"""The figures of a comparison as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from compute.engine.generators.backbones import JOIN
from compute.engine.generators.people import People
from compute.engine.generators.record import GeneratorFigure
from compute.metrics import METRICS
from compute.rounding import rounded
from compute.tables import padded

FORMATS = ("text", "csv", "json")
LEADING, WIDTH = 3, 120  # columns before the generators'; characters of a line
_ROWS = {metric.key: metric for metric in METRICS}
NOT_SHOWN = ("left_out", "block_sizes")  # what only a test of differences needs
COLUMNS = tuple(field.name for field in fields(GeneratorFigure) if field.name not in ("parts", "warnings", *NOT_SHOWN))


def text(figures: Sequence[GeneratorFigure], *, warnings: Sequence[str] = ()) -> list[str]:
    """A Markdown table, a row a metric and backbone with a value, a column a generator; then why others have none, and
    warnings."""
    generators = list(dict.fromkeys(row.generator for row in figures))
    cells = {(row.metric, row.backbone, row.generator): row for row in figures}
    keys = list(dict.fromkeys((row.metric, row.backbone) for row in figures))
    rows = [["metric", "features", "n", *generators]]
    for metric, backbone in keys:
        row = [cells.get((metric, backbone, name)) for name in generators]
        if all(cell is None or cell.value is None for cell in row):
            continue
        title = _titled(metric)
        counts = sorted({cell.n for cell in row if cell is not None})
        n = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}-{counts[-1]:,}"
        shown = _shown(backbone)
        rows.append([title, shown, n, *(_cell(cell) for cell in row)])
        if any(cell is not None and cell.limit is not None for cell in row):
            rows.append([_titled(metric, " at infinite N"), shown, "∞", *map(_limit, row)])
    lines = []
    if len(rows) > 1:
        lines = _tables(padded(rows))
    if any(row.low is not None for row in figures):
        lines += ["", "In brackets: 95% interval over prompts or images."]
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in figures:
        if row.value is None:
            reasons.setdefault(row.reason, {}).setdefault(_ROWS[row.metric].title, []).append(row.generator)
    for reason, metrics in reasons.items():
        names = [
            title if set(names) == set(generators) else f"{title} of {_listed(list(dict.fromkeys(names)))}"
            for title, names in metrics.items()
        ]
        lines.append(f"No {', '.join(names)}: {reason}")
    noted: dict[str, list[str]] = {}
    for row in figures:
        for warning in row.warnings:
            noted.setdefault(warning, []).append(f"{_ROWS[row.metric].title} ({_shown(row.backbone)})")
    lines += [f"Warning: {line}" for line in warnings]
    lines += [f"Warning: {', '.join(dict.fromkeys(names))}: {line}" for line, names in noted.items()]
    return lines


def _tables(rows: Sequence[Sequence[str]]) -> list[str]:
    """Padded rows as Markdown, cut into tables of as many generators as WIDTH allows; the first columns are in each."""
    head, *body = rows
    tables = [list(range(LEADING))]
    for column in range(LEADING, len(head)):
        if len(tables[-1]) > LEADING and sum(len(head[at]) + 3 for at in (*tables[-1], column)) >= WIDTH:
            tables.append(list(range(LEADING)))
        tables[-1].append(column)
    lines: list[str] = []
    for columns in tables:
        lines += [""] if lines else []
        for row in (head, ["-" * len(cell) for cell in head], *body):
            lines.append(f"| {' | '.join(row[column] for column in columns)} |")
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
    return _with_interval(row.value, row.low, row.high, row.metric)


def _limit(row: GeneratorFigure | None) -> str:
    if row is None or row.limit is None:
        return "-"
    return _with_interval(row.limit, row.limit_low, row.limit_high, row.metric)


def _with_interval(value: float, low: float | None, high: float | None, metric: str) -> str:
    """The number, and its interval with as many digits."""
    row = _ROWS[metric]
    largest = max(abs(each * row.scale) for each in (value, low, high) if each is not None)
    digits = row.digits if largest >= 0.1 or not largest else row.digits + 2  # distances of features of unit length
    shown = [rounded(each, digits, scale=row.scale) for each in (value, low, high) if each is not None]
    return shown[0] if len(shown) < 3 else f"{shown[0]} ({shown[1]} to {shown[2]})"


def _titled(metric: str, suffix: str = "") -> str:
    """A metric's title with its unit, where that is no number alone, and the direction that is better."""
    row = _ROWS[metric]
    return f"{row.title}{suffix}{' (%)' if row.unit == '%' else ''} {'↑' if row.higher_is_better else '↓'}"


def _shown(backbone: str) -> str:
    """The name of a subset where a vertical bar would end a table's cell."""
    return backbone.replace(JOIN, " x ")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
