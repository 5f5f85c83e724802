"""A section of a model's card: means and ranks of suites, and a table of tasks with their intervals.

It is enclosed by two marks, so that writing it again replaces it without changing the rest of the card. The card's
metadata is not changed: the hub reads results from `.eval_results`, and calls results in the metadata legacy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jinja2 import Environment, StrictUndefined

from compute.analysis.intervals import interval
from compute.analysis.table import HUMAN, ScoreTable, of_scores
from compute.catalog import Catalog
from compute.catalog.hub_tasks import PERCENT
from compute.catalog.own.suite import BENCHMARKS, SYNTHETIC_BENCHMARKS
from compute.engine import run_folders
from compute.engine.run_folders import StoredRun
from compute.interface.standing import RankedModel, mean_of, mixed, rank_of, unlike
from compute.rounding import rounded
from compute.sharing.computed_runs import SharedRun, SharedRuns
from compute.types import BadInput, Metric, Suite

BEGIN, END = "<!-- likeness results: begin -->", "<!-- likeness results: end -->"
TITLE, ANCHOR = "Evaluation with Likeness", "evaluation-with-likeness"

SECTION = """{{ begin }}
## {{ heading }}

Scores of {{ name|cell }} computed by {{ "[Likeness](" ~ about ~ ")" if about else "Likeness" }}, with 95% intervals.
{{- " " ~ date }}

{% if suites %}
| suite | tasks | mean | 95% interval | rank among published rows |
| --- | ---: | ---: | ---: | --- |
{% for row in suites %}
| {{ row.title|cell }} | {{ row.tasks }} | {{ row.mean }} | {{ row.interval }} | {{ row.rank|cell }} |
{% endfor %}

{% endif %}
{% if ranked %}
Published rows are what the benchmark's paper prints. The metrics are the same, but others computed them, in other
versions and settings; the range of a rank says what the tasks' scores can tell apart.
{{- " Where these runs depart from the catalogue's protocol, the rank says so." if unlike else "" }}

{% endif %}
<details>
<summary>{{ "All %d tasks"|format(tasks|length) if tasks|length > 1 else "The task" }}</summary>

| task | metric | score | 95% interval | guessing | items | remarks |
| --- | --- | ---: | ---: | ---: | ---: | --- |
{% for row in tasks %}
| {{ row.title|cell }} | {{ row.metric|cell }} | {{ row.value }} | {{ row.interval }} | {{ row.chance }} | {{ row.n }} |
{{- " " ~ row.remarks|cell }} |
{% endfor %}

</details>

{{ made }}
{{ end }}
"""


def suites_of(shared: SharedRuns, *, catalog: Catalog) -> list[Suite]:
    """Returns the suites of the runs that may be shown with them and that have a mean."""
    keys = {suite for run in shared.runs for suite in run.task.suites} & shared.suites
    counting = {suite for task in catalog.tasks if task.ranked for suite in task.suites}
    return [suite for suite in catalog.suites if suite.key in keys & counting and suite.aggregate != HUMAN]


def suite_rows(
    shared: SharedRuns, *, published: Callable[[Sequence[str]], Sequence[ScoreTable]], catalog: Catalog
) -> list[dict[str, Any]]:
    """Returns the card's row for each suite: the mean by its rule, and the rank among the rows of the papers.

    `published` returns these rows for some suites. User data and drawn items have no published rows, hence no rank.
    """
    suites = suites_of(shared, catalog=catalog)
    keys = [suite.key for suite in suites if suite.benchmark not in (*SYNTHETIC_BENCHMARKS, *BENCHMARKS)]
    of_papers = dict(zip(keys, published(keys) if keys else (), strict=True))
    metrics = {metric.key: metric for metric in catalog.metrics}
    scores = {run.task.key: run_folders.headline(run.stored) for run in shared.runs}
    scores = {key: score for key, score in scores.items() if score.metric == catalog.task(key).metrics[0]}
    runs = {run.task.key: run.stored for run in shared.runs if run.task.key in scores}
    rows = []
    for suite in suites:
        mine = of_scores(suite, {shared.model.key: scores}, tasks=catalog.tasks, metrics=metrics)
        tasks, others = [catalog.task(key) for key in mine.tasks], of_papers.get(suite.key)
        found = mean_of(mine) if others is None else rank_of(mine, others, origin="published")
        counting = {task.key: runs[task.key] for task in tasks if task.key in runs}
        rows.append(_suite_row(suite, found, counting, metrics[tasks[0].metrics[0]]))
    return rows


def _suite_row(suite: Suite, found: RankedModel, runs: Mapping[str, StoredRun], metric: Metric) -> dict[str, Any]:
    """Returns a suite's cells; `ranked` if there is a rank, `unlike` if its runs deviate from the protocol."""
    departures = unlike(runs)
    synthetic = suite.benchmark in SYNTHETIC_BENCHMARKS and "synthetic" not in suite.title.lower()
    row = {
        "title": f"{suite.title} (synthetic)" if synthetic else suite.title,
        "tasks": f"{found.tasks} of {found.of_tasks}",
        "mean": "—",
        "interval": "—",
        "ranked": found.others is not None and found.rank is not None,
        "unlike": bool(departures),
    }
    if found.mean is None:
        return {**row, "rank": f"no mean: {found.reason}"}
    row["mean"] = _shown(found.mean, metric)
    if found.mean_low is not None and found.mean_high is not None:
        row["interval"] = _range((found.mean_low, found.mean_high), metric)
    rank = "compares with no published row" if found.others is None else found.reason
    if row["ranked"]:
        span = f" ({found.rank_low} to {found.rank_high})" if found.rank_low is not None else ""
        rank = f"{found.rank}{span} of {found.of}"
    remarks = [*departures, *mixed(runs)]
    return {**row, "rank": " ".join((f"{rank}.", *remarks)) if remarks else rank}


def section(
    shared: SharedRuns, *, suites: Sequence[Mapping[str, Any]], metrics: Mapping[str, Metric], about: str
) -> str:
    """Returns the Markdown of the section, including marks. `suites`: rows of `suite_rows`; `about`: a URL that shows
    the evaluation, or empty.
    """
    environment = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True, keep_trailing_newline=True)
    environment.filters["cell"] = cell
    ranked = [row for row in suites if row["ranked"]]
    days = sorted({run.stored.run.started[:10] for run in shared.runs} - {""})
    facts = {  # facts that differ between runs are listed
        "Weights": {run.stored.short_revision for run in shared.runs},
        "numbers": {run.stored.run.dtype for run in shared.runs},
        "device": {run.stored.run.device for run in shared.runs},
        "code": {run.stored.run.code for run in shared.runs},
    }
    known = {name: sorted(values - {""}) for name, values in facts.items()}
    last = f" to {days[-1]}" if len(days) > 1 else ""
    return environment.from_string(SECTION).render(
        begin=BEGIN,
        end=END,
        heading=TITLE,
        name=shared.model.title,
        about=about,
        date=f"Computed {'from' if last else 'on'} {days[0]}{last}." if days else "",
        suites=suites,
        ranked=bool(ranked),
        unlike=any(row["unlike"] for row in ranked),
        tasks=[_task_row(run, metrics) for run in shared.runs],
        made="; ".join(f"{name} {cell(', '.join(values))}" for name, values in known.items() if values) + ".",
    )


def insert(card: str, section: str) -> str:
    """Inserts the section into the card, between the marks or else at the end. All other text is unchanged.

    Raises BadInput if the marks are not one pair in order.
    """
    ending = "\r\n" if "\r\n" in card else "\n"
    section = section.replace("\n", ending)
    begins, ends = card.count(BEGIN), card.count(END)
    if begins == ends == 0:
        if not card.strip():
            return section
        gap = "" if card.endswith(ending * 2) else ending if card.endswith(ending) else ending * 2
        return f"{card}{gap}{section}"
    if begins != 1 or ends != 1 or card.index(BEGIN) > card.index(END):
        raise BadInput(
            f"The card has {begins} times {BEGIN} and {ends} times {END}, which must be one pair in this order: "
            "correct README.md, or remove both marks and the text between them"
        )
    before, rest = card.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{section.removesuffix(ending)}{after}"


def cell(text: object) -> str:
    """Escapes a text for a cell of a Markdown table: one line without active Markdown or HTML characters."""
    line = re.sub(r"\s+", " ", str(text)).strip()
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\|`*_\[\]!#])", r"\\\1", line)


def _task_row(run: SharedRun, metrics: Mapping[str, Metric]) -> dict[str, object]:
    score, settings = run_folders.headline(run.stored), run.stored.run.settings
    metric = metrics[score.metric]
    ends, known = interval(score, metric), settings.get("catalogue_items")
    remarks = [
        "synthetic: a program drew the items" if run.synthetic else "",
        "own data" if run.own else "",
        f"{100 * score.coverage:.1f}% of the items were answered" if score.coverage not in (None, 1) else "",
        f"{settings['items']:,} items here, {known:,} in the catalogue" if known else "",
        run.stored.variant,
        f"data at {run.data_revision[:7]}" if run.data_revision else "",
    ]
    return {
        "title": run.task.title,
        "metric": f"{metric.title}, {metric.unit}" if metric.unit else metric.title,
        "value": _shown(score.value, metric, unit=False),
        "interval": "—" if ends is None else _range(ends, metric),
        "chance": "—" if run.task.chance is None else _shown(run.task.chance, metric, unit=False),
        "n": "—" if score.n is None else f"{score.n:,}",
        "remarks": "; ".join(part for part in remarks if part),
    }


def _shown(value: float, metric: Metric, *, unit: bool = True) -> str:
    text = rounded(value, metric.digits, scale=metric.scale)
    return f"{text}%" if unit and metric.unit == PERCENT else text


def _range(ends: tuple[float, float], metric: Metric) -> str:
    return " to ".join(_shown(end, metric, unit=False) for end in ends)
