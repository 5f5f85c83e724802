"""Small pieces of HTML as strings, every datum escaped: what pages without a template still use. It shrinks.

To pass one of these strings to a template, wrap it: `Markup(piece)`. In a template use `html/macros.html` instead.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import pandas as pd

from leaderboard.html.formatting import NOTHING, blank, model_url, number, span, task_url, webp

__all__ = ["NOTHING", "blank", "number", "span", "webp"]  # for pages that still take them from here


def text(value: object, *, missing: str = NOTHING) -> str:
    """A value as escaped text; `missing` for nothing."""
    return html.escape(str(value)) if not blank(value) else html.escape(missing)


def message(sentence: str) -> str:
    """What a page says it could not do, in the place of what was asked for."""
    return f"<p class='pg-message' role='status'>{html.escape(sentence)}</p>"


def link(address: str, label: object) -> str:
    """An anchor; the address is ours, relative to the app's root."""
    return f"<a href='{html.escape(address, quote=True)}'>{text(label)}</a>"


def to_model(key: str, label: object) -> str:
    """A link to a model's page."""
    return link(model_url(key), label)


def to_task(key: str, label: object) -> str:
    """A link to a task's page."""
    return link(task_url(key), label)


def facts(pairs: Iterable[tuple[str, str]], *, more: str = "") -> str:
    """A list of facts; labels are ours, values are markup already. `more` is a quiet line below."""
    lines = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in pairs)
    return f"<div><dl class='pg-facts'>{lines}</dl>{f'<p class=pg-quiet>{more}</p>' if more else ''}</div>"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numeric: Sequence[int] = (),
    over: Sequence[tuple[str, int]] = (),
    empty: str = "Nothing to show.",
) -> str:
    """A table of markup cells, the first of each row its heading; `numeric` are the places of right-aligned columns.

    `over` heads groups of columns: (title, how many), all columns in turn.
    """
    lines = list(rows)
    if not lines:
        return f"<p class='pg-quiet'>{html.escape(empty)}</p>"
    align = [" class='pg-num'" if place in numeric else "" for place in range(len(heads))]
    head = "".join(f"<th scope='col'{align[place]}>{name}</th>" for place, name in enumerate(heads))
    body = "".join(
        "<tr>"
        + "".join(
            f"<th scope='row'{align[place]}>{cell}</th>" if place == 0 else f"<td{align[place]}>{cell}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in lines
    )
    above = "".join(f"<th scope='colgroup' colspan='{count}' class='pg-over'>{name}</th>" for name, count in over)
    return (
        f"<div class='pg-wide' role='group' aria-label='Table' tabindex='0'><table class='pg-table'><thead>"
        f"{f'<tr>{above}</tr>' if above else ''}<tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def section(title: str, body: str, *, more: str = "") -> str:
    """A titled part of a page; `more` is a quiet sentence under the title."""
    note = f"<p class='pg-quiet'>{more}</p>" if more else ""
    return f"<section class='pg-section'><h2>{title}</h2>{note}{body}</section>"


def remarks(notes: pd.DataFrame, *, first: str = "") -> str:
    """Remarks as a list, each once, with its models. notes: note, model (`*`: all), title; `first` leads."""
    lines = [f"<li>{text(first)}</li>"] if first else []
    for note, group in notes.groupby("note", sort=False):
        models = [
            to_model(row.model, row.title) for row in group.drop_duplicates("model").itertuples() if row.model != "*"
        ]
        who = f" <span class='pg-quiet'>({', '.join(models)})</span>" if models else ""
        lines.append(f"<li>{text(note)}{who}</li>")
    return f"<ul class='pg-list'>{''.join(lines)}</ul>" if lines else "<p class='pg-quiet'>None.</p>"


def single_items(task: str) -> str:
    """A place that items.js fills with the single items of a task's computed runs."""
    return f"<div class='lk-items' data-task='{html.escape(task, quote=True)}'><p class='pg-quiet'>Loading …</p></div>"


def runs(frame: pd.DataFrame, *, of: str) -> str:
    """Computed runs, one a line that opens to what it was made with. frame: as `queries_items.computed_runs`.

    `of` is the column that names a line: `title` (of the model) or `task_title`.
    """
    lines = []
    for run in frame.to_dict("records"):
        score = (
            number(run["value"], digits=int(run["digits"]), scale=float(run["scale"]))
            if not blank(run["value"])
            else NOTHING
        )
        share = 1.0 if blank(run["coverage"]) else run["coverage"]
        facts = [
            text(run["variant"], missing=""),
            "" if run["main"] else "not the one on the board",
            "" if share >= 1 else f"{share:.1%} of items",
            text(f"{run['device']}, {run['dtype']}"),
            "" if blank(run["seconds"]) else f"{run['seconds']:.1f} s",
            text(str(run["started"])[:10]),
        ]
        lines.append(
            f"<details class='lk-run' data-run='{html.escape(run['id'], quote=True)}'><summary><span "
            f"class='pg-run'>{text(run[of])}</span> <b>{score}</b> <span class='pg-quiet'>"
            f"{' · '.join(filter(None, facts))}</span></summary></details>"
        )
    return f"<div class='pg-runs'>{''.join(lines)}</div>"


def lazy_table(source: str, *, label: str) -> str:
    """A place that data.js fills with a sortable table from `source` once it is in view."""
    return (
        f"<div class='lk-data' data-source='{html.escape(source, quote=True)}' data-label='"
        f"{html.escape(label, quote=True)}'><p class='pg-quiet'>Loading the table …</p></div>"
    )
