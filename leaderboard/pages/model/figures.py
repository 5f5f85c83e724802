"""Figures of one model: its scores over those of the field."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from compute.analysis.field import standardised
from compute.analysis.figures.style import PALETTE, plain, unmarked
from compute.analysis.ranking import Ranking
from leaderboard.data.board_table import TRAINED
from leaderboard.html.formatting import number
from leaderboard.html.labels import explained_signs, signs
from leaderboard.pages.model.field import Field

ROW = 30  # pixels a category
THIN = 19  # pixels a task
MANY = 2500  # marks above which single ones cannot be pointed at
FIELD, OWN, CHANCE = "#8A94A3", PALETTE[1], PALETTE[0]


def strip(field: Field, *, ranked: Ranking | None, by: str) -> go.Figure:
    """A line a category or a task (`by`) with every model as a tick; without categories, tasks in standard deviations.

    So are tasks of different units.
    """
    table, columns = field.table, [field.table.columns[index] for index in field.columns]
    mixed = len({column.scale for column in columns}) > 1 or not table.scores.categories
    names = [table.rows[row].title for row in field.rows]
    if by == "category" and len(table.scores.categories) > 1 and ranked is not None:
        members = [table.scores.codes == code for code, _ in enumerate(table.category_columns)]
        lines = [
            (
                column.title,
                ranked.category_means[field.rows, code] * column.scale,
                np.bitwise_or.reduce(table.marks[np.ix_(field.rows, members[code])] & TRAINED, axis=1),
                None if column.chance is None else column.chance * column.scale,
                "",
            )
            for code, column in enumerate(table.category_columns)
        ]
    else:
        stored = table.scores.values[np.ix_(field.rows, field.columns)]
        standard = standardised(table.scores.turned[np.ix_(field.rows, field.columns)])
        lines = [
            (
                column.title,
                standard[:, at] if mixed else stored[:, at] * column.scale,
                table.marks[field.rows, field.columns[at]],
                None if mixed or column.chance is None else column.chance * column.scale,
                "" if np.isnan(z) else f"{number(z, digits=2, sign=True)} SD from the others",
            )
            for at, (column, z) in enumerate(zip(columns, field.standing.z, strict=True))
        ]
    points = []
    for line, values, marks, chance, note in lines:
        scored, own = np.flatnonzero(~np.isnan(values)), values[field.own]
        rank = f"rank {(values[scored] > own).sum() + 1} of {len(scored)}"
        points += [
            {
                "line": line,
                "title": f"{names[at]} {signs(marks[at])}".rstrip(),
                "value": float(values[at]),
                "own": at == field.own,
                "chance": np.nan if chance is None else chance,
                "note": "; ".join(filter(None, (rank, note, explained_signs(marks[at])))),
            }
            for at in scored
            if not np.isnan(own)  # a line without a score of the model itself says nothing of it
        ]
    x = "Standard deviations from the mean of all rows, right is better" if mixed else "Score, %"
    return _draw(pd.DataFrame(points), name=names[field.own], x=x, digits=columns[0].digits)


def _draw(points: pd.DataFrame, *, name: str, x: str, digits: int) -> go.Figure:
    """Every model as a tick of its line, this one as a diamond, chance as a bar.

    points: line, title (of the model), value, own (bool), chance (NaN: none), note; in shown units.
    """
    lines = list(dict.fromkeys(points["line"]))[::-1]
    figure = go.Figure()
    points = points.assign(y=points["line"].map({line: at for at, line in enumerate(lines)}).astype(np.int16))
    others, own = points[~points["own"]], points[points["own"]]
    if len(others) > MANY:
        figure.add_scatter(
            name="Other models",
            **_path(others),
            mode="lines",
            hoverinfo="skip",
            line={"width": 1.5, "color": FIELD},
            opacity=0.6,
        )
    else:
        figure.add_scatter(
            name="Other models",
            x=others["value"].to_numpy(np.float32),
            y=others["y"].to_numpy(),
            mode="markers",
            opacity=0.6,
            customdata=[f"{row.title}: {number(row.value, digits=digits)}" for row in others.itertuples()],
            marker={"symbol": "line-ns", "size": 11, "line": {"width": 1.5, "color": FIELD}},
            hovertemplate="%{customdata}<extra></extra>",
        )
    known = own[own["chance"].notna()]
    if len(known):
        figure.add_scatter(
            name="By chance",
            x=known["chance"],
            y=known["y"].to_numpy(),
            mode="markers",
            marker={"symbol": "line-ns", "size": 15, "line": {"width": 2, "color": CHANCE}},
            customdata=[number(chance, digits=digits) for chance in known["chance"]],
            hovertemplate="By chance: %{customdata}<extra></extra>",
        )
    figure.add_scatter(
        name=unmarked(name),
        x=own["value"],
        y=own["y"].to_numpy(),
        mode="markers",
        marker={"symbol": "diamond", "size": 10, "color": OWN},
        text=own["line"],
        customdata=[f"{number(row.value, digits=digits)}<br>{row.note}" for row in own.itertuples()],
        hovertemplate="%{text}: %{customdata}<extra></extra>",
    )
    per = ROW if len(lines) <= 30 else THIN
    plain(figure, height=70 + per * max(len(lines), 3), x=x, legend=True)
    figure.update_yaxes(
        tickvals=list(range(len(lines))),
        ticktext=[unmarked(line) for line in lines],
        showgrid=True,
        range=[-0.6, len(lines) - 0.4],
        tickfont={"size": 11 if per == ROW else 10},
    )
    return figure


def _path(points: pd.DataFrame) -> dict[str, np.ndarray]:
    """All ticks as one broken line, which a browser draws at once whatever their number."""
    x = np.repeat(points["value"].to_numpy(np.float32), 3)
    y = np.repeat(points["y"].to_numpy(np.float32), 3)
    y[0::3] -= 0.28
    y[1::3] += 0.28
    x[2::3] = y[2::3] = np.nan
    return {"x": x, "y": y}
