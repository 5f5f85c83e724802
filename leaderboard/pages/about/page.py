"""How the board works: method, sources, definitions, how to add to it, how to cite."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import gradio as gr

from leaderboard import page as ui
from leaderboard.data import suite_queries
from leaderboard.data.memo import memoised
from leaderboard.data.ranked import SEED
from leaderboard.html.abbreviations import ABBREVIATIONS
from leaderboard.html.markup import NOTHING, facts, link, number, section, table, text
from leaderboard.page import View

SENTENCE = (
    "How the numbers were taken from the papers, how the board ranks and how sure it is, what the words "
    "mean, and how to add "
    "a model, a task or a result."
)
PACKAGES = ("gradio", "duckdb", "pandas", "numpy", "scipy", "plotly")
METHOD = (
    (
        "Means",
        "A suite's mean is the mean of its category means, as in the paper, so that a category with many "
        "tasks does not weigh "
        "more than one with few; PairBench counts each of its 24 splits once. A task with languages is "
        "the mean of its subsets. Scores "
        "of unlike units or directions are never averaged.",
    ),
    (
        "Ranks and intervals",
        "Every mean is drawn again 1,000 times: within each category the tasks are drawn with replacement (would "
        "the order hold on other tasks of these kinds?), and each score moves by its own standard error "
        "where one is known (would it "
        "hold on other items?). All models meet the same draw. The 95% intervals are percentiles; the "
        f"seed is fixed ({SEED}), so a "
        "reload shows the same. A category with a single task and no known noise adds no uncertainty, so "
        "intervals are too narrow "
        "rather than too wide there.",
    ),
    (
        "Noise of a score",
        "A share of n independent items has the standard error √(p(1 − p)/n), the source of the ± in UniSim-Bench's "
        "Table 6. For other printed metrics (nDCG, Spearman, NMI, MMScore) none is known, and none is made up. A "
        "computed run has its items, and its noise is taken from them.",
    ),
    (
        "Live comparisons",
        "The page Compare runs models on what a visitor brings. A raw score is placed among the model's own scores of "
        "pairs known to match and pairs known not to, in equal parts: at 100 it is above all of them, and two models' "
        "places can be compared where their scores cannot. A score reads as that of a matching pair when it reaches "
        "what 97.5% of the matching pairs reach and exceeds what 97.5% of the unrelated ones do not. Images and texts "
        "are held in memory for the visit, at most half an hour after the last use, and are never written to a disk "
        "or shown to others; only judges that are asked through the host's endpoint are sent what is compared.",
    ),
    (
        "Tie classes",
        "From the best model downwards, a class holds the models whose difference from its leader is no "
        "larger than the "
        "draws explain, at 5% with Holm's correction for the number of comparisons. Two models of one "
        "class need not be equal; the "
        "evidence does not order them.",
    ),
    (
        "Missing scores",
        "A model needs a least share of a suite's tasks to be ranked (set on the board); a missing score is never "
        "counted as zero or filled in. A dash in a paper's table means not evaluated; an empty cell could "
        "not be read from our text. "
        "Both show as — with the reason.",
    ),
    (
        "Printed means",
        "Where single figures of a category were lost but the paper prints its mean, the ranking keeps to "
        "the printed "
        "mean. Nothing is shown as a task's score for it; the mean carries a mark.",
    ),
    (
        "Origins",
        "Published: printed in a paper. Imported: from public result files of others. Computed: made by "
        "this project's own "
        "runs. Each origin is ranked by itself, because the sources differ in versions and settings.",
    ),
    (
        "Computed runs",
        "A run keeps its items: what was asked, what the model answered, and by what margin. A task's page shows up to "
        "2,000 of them, drawn by the lowest digest of their names, so that every model shows the same ones. A run also "
        "keeps its settings, package versions, device, time and a fingerprint of all that decides its numbers.",
    ),
    (
        "Synthetic",
        "The mini suite is drawn by a program from fixed seeds. It shows that the whole pipeline works on any machine "
        "and how far a model is from its own random start and from guessing; it says nothing of photographs, and is "
        "marked wherever it is shown.",
    ),
    (
        "Marks",
        "† the model was trained on the task's data set, as far as the papers say. ? the figure is "
        "suspect: the remark says "
        "why. ‡ another table of the same paper prints another number; the claims page shows both.",
    ),
    (
        "The same model",
        "Rows of two papers are one model only where the weights are known to be the same. Where a paper "
        "does not pin "
        "the weights, the match is marked as a guess on the model's page.",
    ),
)
ADDING = """
<h3>A result</h3>
<p>Write a CSV with one row a score and bring it in; the database is rebuilt and the row shows as imported.</p>
<pre tabindex='0'>benchmark,model,task,metric,value,subset,n,stderr,source,printed
mieb,openai/clip-vit-base-patch32,mieb/stl10,accuracy,0.951,default,8000,,My run of May,95.1</pre>
<pre tabindex='0'>python -m compute import scores FILE.csv</pre>
<p>Needed are benchmark, model, task, metric and value; values are in stored units (proportions as
fractions, 0.851 for 85.1%). Every row is checked before any is kept, and an error names the line and what to do.</p>
<p>Result files of the public MTEB results repository come in as they are, from a folder or fetched:</p>
<pre tabindex='0'>python -m compute import mteb-results PATH
python -m compute import mteb-results</pre>
<h3>A computed score</h3>
<p>The compute layer makes what is missing, keeps what it encoded, and rebuilds the database; the row shows as
computed, its single items on the task's page. A map of a task's images takes one command more.</p>
<pre tabindex='0'>python -m compute run --suite SUITE --models MODEL --tasks TASK
python -m compute project --task TASK --model MODEL</pre>
<h3>A model</h3>
<p>For published or imported figures, a row of <code>assets/catalog/models.csv</code>, or in the CSV of
scores the columns <code>model_title</code> and <code>model_kind</code> (encoder, metric, mllm, generator,
distribution) on one of its rows.</p>
<h3>A task</h3>
<p>A row of <code>assets/catalog/tasks.csv</code>, or in the CSV of scores the columns <code>task_title</code>,
<code>task_category</code> and <code>higher_is_better</code>. Then <code>python -m compute build</code>, and
<code>python -m compute list tasks</code> shows it.</p>
"""


def draw(site: ui.Site) -> None:
    """One page of words; its figures are those of the database at the time it is opened."""
    ui.heading(site, title="About", sentence=SENTENCE, copy=False)
    whole = memoised(lambda: words(site), of=site.db)
    body = gr.HTML(whole(), apply_default_css=False)
    built = site.db.version

    def renew() -> Any:
        changed = site.db.version != built or site.data is not None  # how the data set stands may change by itself
        return whole() + standing(site) if changed else gr.skip()

    site.blocks.load(renew, outputs=body, queue=False, show_progress="hidden", api_visibility="private")


def words(site: ui.Site) -> str:
    """The whole page as markup."""
    return (
        "<div class='pg-prose'>"
        + section("Method", facts([(name, said) for name, said in METHOD]))
        + _sources(site)
        + section("Abbreviations", facts([(text(name), text(said)) for name, said in ABBREVIATIONS.items()]))
        + _metrics(site)
        + section("Add to the board", ADDING)
        + _cite(site)
        + _licence(site)
        + _versions(site)
        + "</div>"
    )


def standing(site: ui.Site) -> str:
    """Where the figures were fetched from and how current they are; empty for a database of this machine."""
    if site.data is None:
        return ""
    return f"<div class='pg-prose'>{section('Where the figures come from', f'<p>{text(site.data.status)}</p>')}</div>"


def _sources(site: ui.Site) -> str:
    rows = []
    for row in suite_queries.benchmark_sizes(site.db).itertuples():
        rows.append(
            [
                text(row.title),
                f"<a href='{text(row.url)}' rel='noreferrer'>{text(row.paper)}</a>",
                f"{row.models:,}",
                f"{row.tasks:,}",
                f"{row.scores:,}",
            ]
        )
    origins = ", ".join(f"{row.scores:,} {row.origin}" for row in suite_queries.origins(site.db).itertuples())
    claims = suite_queries.verdicts(site.db).groupby("verdict")["claims"].sum()
    checked, conflicts = int(claims.sum()), int(claims.get("conflict", 0))
    words = (
        "<p>The figures were taken from machine-read (OCR) texts of the papers, one CSV a printed table, "
        "digits as printed. "
        "Damage of the reading was repaired only where it can be proved: by an average, a rank, the same "
        "number in another table, or "
        "public result files of the same runs. What cannot be proved is left empty. "
        f"{link('published/CORRECTIONS.md', 'Every correction and every loss')} is listed with its "
        "reason. Numbers that the papers "
        "themselves print wrongly are kept as printed and marked.</p>"
        "<p>The papers' own averages, intervals, correlations and statements were then recomputed from "
        "these figures: "
        f"{checked:,} {link('claims', 'claims')}, of which {conflicts:,} conflict with what is printed.</p>"
    )
    return section(
        "Sources",
        table(["Benchmark", "Paper", "Models", "Tasks", "Scores"], rows, numeric=(2, 3, 4)) + words,
        more=f"Scores by origin: {origins}.",
    )


def _metrics(site: ui.Site) -> str:
    rows = []
    for metric in suite_queries.metrics(site.db).itertuples():
        if metric.key.endswith("_rank"):
            continue
        low = NOTHING if metric.lower != metric.lower else number(metric.lower, digits=0, scale=metric.scale)
        high = NOTHING if metric.upper != metric.upper else number(metric.upper, digits=0, scale=metric.scale)
        rows.append(
            [
                text(metric.title),
                text(metric.description),
                "higher" if metric.higher_is_better else "lower",
                f"{low} to {high}" if (low, high) != (NOTHING, NOTHING) else "unbounded",
                text(metric.unit),
            ]
        )
    return section(
        "Metrics",
        table(["Metric", "What it is", "Better", "Range as shown", "Unit"], rows),
        more="Proportions are stored as fractions and shown in percent, as the papers print them. — in a "
        "range: no bound.",
    )


def _cite(site: ui.Site) -> str:
    return section(
        "Cite",
        f"<p>Cite the paper whose figures you use.</p><pre tabindex='0'>{text(ui.citations(site))}</pre>",
    )


def _licence(site: ui.Site) -> str:
    return section(
        "Licences and data",
        "<p>The board shows figures and short facts about papers and data sets; it holds no image, text or "
        "weights of theirs. Every data set and model keeps its own licence: see its page, where — means "
        "that our sources "
        "state none. Imported result files come from the public MTEB results repository (CC0). Browsing "
        "makes no request "
        "beyond this site.</p>",
    )


def _versions(site: ui.Site) -> str:
    counts = suite_queries.counts(site.db).iloc[0]
    built = datetime.fromtimestamp(site.db.path.stat().st_mtime, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return section(
        "This version",
        facts(
            [
                ("Database fetched" if site.data and site.data.path == site.db.path else "Database built", built),
                (
                    "Holds",
                    f"{counts.models:,} models with scores, {counts.tasks:,} tasks, {counts.scores:,} scores, "
                    f"{counts.claims:,} claims",
                ),
                ("Runs on", text(packages)),
                (
                    "Take it",
                    f"{link('export/everything?format=duckdb', 'the database (DuckDB)')}, "
                    f"{link('export/everything?format=csv', 'all scores (CSV)')}, "
                    f"{link('export/everything?format=parquet', 'all scores (Parquet)')}",
                ),
            ]
        ),
    )


ABOUT = View(key="about", title="About", draw=draw)
