"""What a view of the judges is about: one judge's four metrics, or who leads each metric of a suite."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from leaderboard.data import judge_queries, suite_queries
from leaderboard.html.formatting import number
from leaderboard.html.labels import choice_title
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.judges import drawing
from leaderboard.pages.judges.comparison import ALL, BEST, SPLITS, Comparison, Lead, Value
from leaderboard.pages.judges.judging import judging_of

USUAL = "pairbench"
CAPTION = "The four metrics of judges, 95% intervals where known"


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The judge or the suite that the query names; without any the default suite, None where nothing is known of it."""
    suites = judge_queries.suites(site.db).set_index("key", drop=False)
    suite = query.get("suite", "")
    suite = suite if suite in suites.index else ""
    chosen = suite or (USUAL if USUAL in suites.index else "")
    if not chosen:
        return None
    splits = query.get("splits", ALL)
    splits = splits if splits in SPLITS else ALL
    comparison = judging_of(site).compare(chosen, splits)
    title = choice_title(suites.loc[chosen, "title"], suites.loc[chosen, "benchmark"])
    metrics = suite_queries.metrics(site.db)
    if splits != ALL:
        title = f"{title}, {SPLITS[splits].lower()}"
    named = (*((("suite", suite),) if suite else ()), *((("splits", splits),) if splits != ALL else ()))
    row = comparison.row(query.get("judge", ""))
    if row is not None:
        return Described(
            title=f"{row.title} as a judge",
            sentence=f"How far {row.title} can be trusted to rate how alike two items are, on {title}: "
            + "; ".join(
                f"{metrics.loc[metric, 'title']} {_text(value, metrics.loc[metric])}"
                for metric, value in row.values.items()
            )
            + ".",
            query=(("judge", row.model), *named),
            rows=tuple(
                _row(metrics.loc[metric, "title"], metrics.loc[metric], value) for metric, value in row.values.items()
            ),
            caption=CAPTION,
        )
    return Described(
        title=f"Judges on {title}" if named else "Judges",
        sentence=_answer(comparison, metrics, title=title),
        query=named,
        rows=tuple(
            _row(
                f"{metrics.loc[lead.metric, 'title']}: {', '.join(row.title for row in lead.rows)}",
                metrics.loc[lead.metric],
                lead.rows[0].values[lead.metric],
            )
            for lead in comparison.leads
        ),
        caption="Who leads each metric, 95% intervals where known",
    )


def _answer(comparison: Comparison, metrics: pd.DataFrame, *, title: str) -> str:
    """Who leads the symmetry and the agreement with the truth, and how sure that is."""
    leads: dict[str, Lead] = {lead.metric: lead for lead in comparison.leads}
    chosen = [leads[metric] for metric in ("relax_sym", "mmscore") if metric in leads]
    sentences = []
    for lead in chosen:
        names, metric = ", ".join(row.title for row in lead.rows), metrics.loc[lead.metric]
        figure = f"{metric['title']} {_text(lead.rows[0].values[lead.metric], metric)}"
        does = BEST[lead.metric][0 if len(lead.rows) == 1 else 1]
        sentences += [f"Of {lead.of} judges on {title} {names} {does} ({figure}).", lead.reading]
    if len({lead.reading for lead in chosen}) == 1:
        sentences = [*sentences[::2], sentences[-1]]  # it holds for both
    return " ".join(sentences) or f"No judge has a figure on {title}."


def _text(value: Value, metric: pd.Series) -> str:
    unit = "%" if metric["scale"] == 100 else " nats" if metric["key"] == "smoothness" else ""
    return number(value.value, digits=int(metric["digits"]), scale=float(metric["scale"])) + unit


def _row(label: str, metric: pd.Series, value: Value) -> DescribedRow:
    axis = drawing.axis(str(metric["key"]), [value.value])
    low, high = (None if end is None else axis.at(end) / 100 for end in (value.low, value.high))
    return DescribedRow(label=label, text=_text(value, metric), value=axis.at(value.value) / 100, low=low, high=high)
