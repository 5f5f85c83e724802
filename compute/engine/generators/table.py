"""The scores of a comparison of generators and people's ratings of them, as text, CSV or JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from compute import arrays
from compute.analysis.generators.agreement import agree
from compute.analysis.intervals import Estimate
from compute.engine.generators.features import JOIN
from compute.engine.generators.people import People
from compute.io.tables import markdown
from compute.metrics import METRICS
from compute.pages.shown import Cell, ShownTable, ShowsItself
from compute.types import WHOLE, BadInput, Undefined

LEADING, ACROSS = 3, 4  # columns before the generators'; generators per table, others go into further tables
INTERVALS = "In brackets: 95% interval over prompts or images."
MOST = 60  # rows of a printed table; CSV and JSON have all, which for a grid is about two thousand
_METRICS = {metric.key: metric for metric in METRICS}
NOT_SHOWN = ("left_out", "block_sizes")  # needed only for tests of differences


# A row of a table with these columns is one metric of one generator over one backbone. If undefined, `value` is missing
# and `reason` says why. `low` to `high` is a 95% interval over images or prompts. `limit` is the value extrapolated to
# infinitely many images, with its own interval. `parts` are further results of the metric. `left_out` are its values
# without each block of prompts or images, and `block_sizes` the block sizes; generators of one comparison share the
# blocks.
NUMBERS = ("low", "high", "stderr", "limit", "limit_low", "limit_high")
FIGURE: dict[str, Any] = {
    **{"generator": "", "metric": "", "backbone": "", "value": None, "n": 0},
    **dict.fromkeys(NUMBERS),
    **{"left_out": (), "block_sizes": (), "parts": {}, "warnings": (), "reason": ""},
}


def framed(figures: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Returns score rows as one table, NaN for missing numbers."""
    return pd.DataFrame(figures, columns=list(FIGURE)).astype(dict.fromkeys(("value", *NUMBERS), float))


def of_record(record: Any, parts: Sequence[str]) -> dict[str, Any]:
    """Returns the fields of a metric's record: value, interval, warnings, and these parts."""
    numbers = {name: getattr(record, name) for name in ("value", "low", "high", "stderr")}
    return numbers | {"warnings": record.warnings, "parts": {name: float(getattr(record, name)) for name in parts}}


def stored_figures(generator: str, scores: Iterable[Any], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the rows of a stored run, from its scores (with subset, metric, value and n) and settings, without
    limits.
    """
    figures = []
    for score in scores:
        if score.subset != WHOLE:
            found = settings.get("found", {}).get(score.subset, {}).get(score.metric, {})
            known = {key: value for key, value in found.items() if key in FIGURE and not key.startswith("limit")}
            about = {"metric": score.metric, "backbone": score.subset, "value": score.value, "n": score.n}
            figures.append(FIGURE | known | about)
    for metric, reasons in settings.get("undefined", {}).items():
        figures += [FIGURE | {"metric": metric, "backbone": key, "reason": why} for key, why in reasons.items()]
    return [figure | {"generator": generator} for figure in figures]


@dataclass(frozen=True, kw_only=True, repr=False)
class GeneratorTable(ShowsItself):
    """All scores of a comparison, general warnings, and people's ratings if given."""

    figures: pd.DataFrame  # with the columns of FIGURE
    warnings: tuple[str, ...] = ()
    people: People | None = None

    def beside(self, rated: People, *, scores: Mapping[str, Mapping[str, np.ndarray]]) -> GeneratorTable:
        """Returns the table with people's ratings, and every metric's agreement with them.

        `scores[metric][generator]` (n,) are per-image scores on the same prompts in the same order. Such metrics are
        ranked by the mean rank of a generator's images among all images of their prompt, as the paper lists them.
        """
        found, undefined = {}, []
        for key, rows in self.figures.groupby(["metric", "backbone"], sort=False):
            own = rows.set_index("generator")["value"].reindex(rated.names).tolist()
            images, ranks = scores.get(key[0]), None
            if images is not None:
                ranks = arrays.ranks(arrays.ranks(-np.array([images[name] for name in rated.names])).mean(axis=1))
            try:
                if np.isnan(own).any():
                    raise Undefined(f"{rated.names[int(np.isnan(own).argmax())]} has no value")
                higher = _METRICS[key[0]].higher_is_better
                sides = {"human": rated.ratings, "human_ranks": rated.ranks}
                found[key] = agree(scores=own, higher=higher, ranks=ranks, **sides)
            except Undefined as error:
                undefined.append(f"{_title(*key)}: {error}")
        agreements = {"metrics": tuple(found), "agreements": tuple(found.values()), "undefined": tuple(undefined)}
        return replace(self, people=replace(rated, **agreements))

    @property
    def generators(self) -> list[str]:
        """The distinct names of generators."""
        return self.figures["generator"].unique().tolist()

    def frame(self) -> pd.DataFrame:
        """Returns a row per score: generator, metric, backbone, value, n, low, high and the rest of the record."""
        return self.figures.copy()

    def value(self, metric: str, generator: str) -> float:
        """Returns the metric's first score of a generator. Raises BadInput with the reason if there is none."""
        rows = self.figures.query("metric == @metric and generator == @generator")
        if rows.empty:
            known = ", ".join(dict.fromkeys(self.figures["metric"] + " of " + self.figures["generator"]))
            raise BadInput(f"No {metric} of {generator}. There are: {known}")
        if reason := rows["reason"].iloc[0]:
            raise BadInput(f"No {metric} of {generator}: {reason}")
        return float(rows["value"].iloc[0])

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *self.people_lines()])

    __repr__ = __str__

    @property
    def _by_metric(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Rows by metric and backbone, then by generator, if any generator has a value."""
        return {
            key: {row.generator: row for row in rows.itertuples()}
            for key, rows in self.figures.groupby(["metric", "backbone"], sort=False)
            if rows["value"].notna().any()
        }

    def shown_table(self) -> ShownTable:
        """Returns a row per generator and a column per metric and backbone, each with its own axis."""
        shown = self._by_metric
        return ShownTable(
            heads=("generator", *(f"{_head(metric)} ({features_of(backbone)})" for metric, backbone in shown)),
            rows=[
                (
                    name,
                    *(
                        Cell(text=_cell(row), marks=[(row.low, row.value, row.high)])
                        for row in map(itemgetter(name), shown.values())
                    ),
                )
                for name in self.generators
            ],
            below=self._notes(),
            plain=self.people_lines(),
        )

    def plot(self, metric: str = "", backbone: str = "") -> Any:
        """Returns a plotly figure of the generators by one metric, the best first, with 95% intervals; by default the
        first metric.

        Raises BadInput for a metric or backbone without values.
        """
        from compute.analysis.figures.ranked import strip

        shown = self._by_metric
        key = next((key for key in shown if metric in ("", key[0]) and backbone in ("", key[1])), None)
        if key is None:
            known = ", ".join(f"{metric} on {backbone}" for metric, backbone in shown)
            raise BadInput(f"No values of {metric or 'a metric'} on {backbone or 'any features'}. There are: {known}")
        about = _METRICS[key[0]]
        rows = pd.DataFrame(shown[key].values()).dropna(subset="value")
        rows = rows.sort_values("value", ascending=not about.higher_is_better, kind="stable")
        return strip(
            names=rows["generator"].tolist(),
            **{name: (rows[name] * about.scale).to_numpy() for name in ("value", "low", "high")},
            groups=("all",) * len(rows),
            notes=[_cell(row) for row in rows.itertuples()],
            x=f"{_title(*key)}, {'higher' if about.higher_is_better else 'lower'} is better",
        )

    def lines(self) -> list[str]:
        """Returns a Markdown table, a row per metric and backbone with a value, a column per generator; then reasons
        for missing values, and warnings.
        """
        rows = []
        for (metric, backbone), cells in self._by_metric.items():
            least, most = (choose(cell.n for cell in cells.values()) for choose in (min, max))
            n = f"{least:,}" if least == most else f"{least:,}-{most:,}"
            rows.append([_head(metric), features_of(backbone), n, *map(_cell, cells.values())])
            if not all(math.isnan(cell.limit) for cell in cells.values()):
                limits = (_cell(cell, ("limit", "limit_low", "limit_high")) for cell in cells.values())
                rows.append([_head(metric, " at infinite N"), features_of(backbone), "∞", *limits])
        text: list[str] = []
        for start in range(0, len(self.generators) if rows else 0, ACROSS):
            part = slice(LEADING + start, LEADING + start + ACROSS)
            head = ["metric", "features", "n", *self.generators]
            text += [""] * bool(start) + _table([[*row[:LEADING], *row[part]] for row in (head, *rows)])
        notes = self._notes()
        return text + [""] * notes[:1].count(INTERVALS) + notes

    def _notes(self) -> list[str]:
        """Returns the meaning of brackets, reasons for missing values, and warnings."""
        lines = [INTERVALS] if self.figures["low"].notna().any() else []
        for reason, part in self.figures[self.figures["reason"] != ""].groupby("reason", sort=False):
            named = []
            for metric, own in part.groupby("metric", sort=False):
                names = own["generator"].unique()
                more = f" and {len(names) - 3} more" if len(names) > 3 else ""
                whose = f" of {', '.join(names[:3])}{more}" if len(names) < len(self.generators) else ""
                named.append(_METRICS[metric].title + whose)
            lines.append(f"No {', '.join(named)}: {reason}")
        lines += [f"Warning: {line}" for line in self.warnings]
        noted = self.figures.explode("warnings").dropna(subset="warnings")
        for line, part in noted.groupby("warnings", sort=False):
            titles = dict.fromkeys(map(_title, part["metric"], part["backbone"]))
            lines.append(f"Warning: {', '.join(titles)}: {line}")
        return lines

    def people_lines(self) -> list[str]:
        """Returns the agreement as a Markdown table, then warnings; empty without people's ratings."""
        people = self.people
        if people is None:
            return []
        title = {"human_rate": "rate", "elo": "Elo", "human_rank": "rank"}[people.metric]
        rated = []
        for row, (name, value) in enumerate(zip(people.names, people.ratings, strict=True)):
            shown = f"{name} {abs(value) if people.metric == 'human_rank' else value:.4g}"
            rated.append(shown + " ({:.4g} to {:.4g})".format(*people.intervals[row]) if people.intervals else shown)
        head = ["metric", "features", "r", "ρ²", "Spearman", "rank accuracy", "p", "way"]
        rows, reasons = [head], {}
        for (metric, backbone), row in zip(people.metrics, people.agreements, strict=True):
            estimates = (row.pearson, row.rho_squared, row.spearman, row.accuracy)
            shown = [each.text(2) for each in estimates]
            rows.append(
                [
                    _METRICS[metric].title,
                    features_of(backbone),
                    *shown,
                    f"{row.p:.2g}",
                    "right" if row.right_way else "wrong",
                ]
            )
            reasons |= dict.fromkeys(each.reason for each in estimates if each.reason)
        text = ["", f"People ({title}): {', '.join(rated)}"]
        if len(rows) > 1:
            text += _table(rows)
            text.append("r keeps its sign: below 0 is right for a distance. In brackets: 95% interval over generators.")
        text += [f"No interval: {reason}" for reason in reasons]
        text += [f"No agreement of {line}" for line in people.undefined]
        return text + [f"Warning: {line}" for line in people.warnings]

    @property
    def notes(self) -> list[str]:
        """Content that CSV cannot represent: warnings, and people's ratings."""
        return [*(f"Warning: {line}" for line in self.warnings), *self.people_lines()]

    def csv(self) -> str:
        """Returns one row per score; cells are empty if a number is missing."""
        frame = self.figures.drop(columns=["parts", *NOT_SHOWN])
        warnings = frame.pop("warnings").map("; ".join)
        return frame.assign(warnings=warnings).to_csv(index=False, lineterminator="\n")

    def json(self) -> str:
        """Returns `{"figures": [...], "warnings": [...], "people": {...}}` with unrounded numbers, null if missing."""
        rows = finite(self.figures.drop(columns=list(NOT_SHOWN)).to_dict("records"))
        content: dict[str, Any] = {"figures": rows, "warnings": list(self.warnings)}
        if self.people is not None:
            content["people"] = finite(asdict(self.people))
        return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns a Markdown table of the first MOST rows, and how many more there are."""
    more = len(rows) - 1 - MOST
    return markdown(rows[: MOST + 1]) + [f"... and {more:,} more rows: --format csv or json"] * (more > 0)


def _head(metric: str, which: str = "") -> str:
    """Returns the metric's title with unit and direction."""
    about = _METRICS[metric]
    return f"{about.title}{which}{' (%)' if about.unit == '%' else ''} {'↑' if about.higher_is_better else '↓'}"


def _title(metric: str, backbone: str) -> str:
    return f"{_METRICS[metric].title} ({features_of(backbone)})"


def features_of(backbone: str) -> str:
    """Returns the backbone, or both joined without a vertical bar, which would end a table cell."""
    return backbone.replace(JOIN, " x ")


def _cell(row: Any, names: Sequence[str] = ("value", "low", "high")) -> str:
    """Returns the value, or the limit, and its interval with the same number of digits."""
    value, low, high = (getattr(row, name) for name in names)
    if math.isnan(value):
        return "-"
    about = _METRICS[row.metric]
    largest = max(abs(each * about.scale) for each in (value, low, high) if not math.isnan(each))
    digits = about.digits if largest >= 0.1 or not largest else about.digits + 2  # features of unit length
    return Estimate(value=value, low=low, high=high).text(digits, scale=about.scale)


def finite(value: Any) -> Any:
    """Returns the value with null for NaN, which JSON does not have."""
    return json.loads(json.dumps(value), parse_constant=lambda name: None)
