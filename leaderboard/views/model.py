"""Everything known about one model: facts, ranks, its scores against the field, models like it, remarks."""

from __future__ import annotations

import html
from urllib.parse import quote

import gradio as gr
import numpy as np
import pandas as pd

from compute.types import View
from leaderboard import profiles, queries, queries_pages, ui
from leaderboard.board.data import lazy_tables
from leaderboard.board.table import DISPUTED, SUSPECT, TRAINED, Table
from leaderboard.figures import model as figures
from leaderboard.markup import NOTHING, blank, facts, lazy_table, number, section, span, table, text, to_model, to_task
from leaderboard.state import Choice

SENTENCE = ("One model: what it is, where it ranks and how surely, on which tasks it stands out from the others, which "
            "models are like it, and every score with its source.")
KINDS = {"encoder": "encoder (image or image-text embeddings)", "metric": "perceptual or preference metric",
         "mllm": "multimodal language model", "generator": "text-to-image generator",
         "distribution": "distribution metric (rates generators by sets of images)"}
LEADS = "mieb"  # the default model leads this suite
SHOWN = 6  # strengths, weaknesses
NEAR = 8
SIGNS = ((TRAINED, "<abbr title='trained on this data set'>†</abbr>"), (SUSPECT, "<abbr title='suspect figure'>?</abbr>"),
         (DISPUTED, "<abbr title='another table prints another number'>‡</abbr>"))


def draw(site: ui.Site) -> None:
    """Controls, the figure, and two blocks of text around it."""
    ui.heading(site, title="Models", sentence=SENTENCE)
    listed = queries_pages.listed_models(site.db)
    suites = queries.suites(site.db)
    parameters = (Choice(key="model", default=_leader(site, listed), choices=tuple(listed["key"])),
                  Choice(key="suite", default="", choices=("", *suites["key"])),
                  Choice(key="by", default="category", choices=("category", "task")))
    with gr.Row(elem_classes="lk-controls"):
        which = gr.Dropdown([(_label(row), row.key) for row in listed.itertuples()], value=None, label="Model (type to search)", scale=3)
        suite = gr.Dropdown([("Its fullest suite", ""), *zip(suites["title"], suites["key"], strict=True)], value="",
                            label="Against the field of", scale=2)
        by = gr.Radio([("Categories", "category"), ("Tasks", "task")], value="category", label="A line is", scale=1)
    head = gr.HTML("<p class='lk-quiet'>Gathering what is known …</p>", apply_default_css=False)
    figure = gr.Plot(show_label=False, container=False)
    rest = gr.HTML("", apply_default_css=False)
    lazy_tables(site.assets)
    ui.bind(site, parameters=parameters, controls=[which, suite, by], outputs=[head, figure, rest],
            draw=lambda model, suite, by: page(site, model=model, suite=suite, by=by))


def page(site: ui.Site, *, model: str, suite: str, by: str) -> tuple:
    """The three outputs for one model: facts and ranks, the strip figure (none without a suite), and the rest."""
    every = queries.suites(site.db)
    known = profiles.suites_of(site.boards, model=model, suites=list(every["key"]))
    about = queries.model(site.db, key=model).iloc[0]
    head = f"<h2 class='lk-name'>{text(about['title'])}</h2><div class='lk-two'>{_facts(site, about)}{_ranks(site, model, known)}</div>"
    foot = _all(site, about)
    if not known:
        where = ("This model judges generators; how far it agrees with people stands on the page "
                 "<a href='generators'>Generators</a>." if about["kind"] in ("distribution", "metric")
                 else "No suite has a row of this model.")
        return head + f"<p class='lk-quiet'>{where}</p>", None, foot
    note = ""
    if suite and suite not in known:
        note = f"<p class='lk-quiet'>It has no score in {text(every.set_index('key').loc[suite, 'title'])}; shown is another suite.</p>"
    chosen = suite if suite in known else _fullest(site, model, known)
    shown = profiles.field(site.boards, suite=chosen, model=model)
    return head + note + _strip_title(shown), strip(shown, ranked=site.boards.ranked(chosen), by=by), _apart(shown) + foot


def strip(shown: profiles.Field, *, ranked, by: str):
    """The strip figure of categories or tasks; a suite without categories shows what it measures, in field units."""
    sheet, own = shown.table, shown.place
    mixed = len({sheet.columns[column].scale for column in shown.columns}) > 1 or not sheet.categories
    lines: list[dict] = []
    names = [sheet.models.loc[sheet.rows[row].model, "title"] for row in shown.rows]
    if by == "category" and sheet.categories and len(sheet.categories) > 1 and ranked is not None:
        for at, column in enumerate(sheet.families):
            values = ranked.families[shown.rows, at] * column.scale
            lines += _line(column.title, names, values, own=shown.rows == own, chance=column.chance, scale=column.scale)
    else:
        for at, place in enumerate(shown.columns):
            column = sheet.columns[place]
            values = sheet.values[shown.rows, place] * column.scale
            if mixed:
                spread = np.nanstd(values)
                values = (values - np.nanmean(values)) / spread * (1 if column.higher else -1) if spread else values * 0
            note = "" if np.isnan(shown.standing.z[at]) else f"{shown.standing.z[at]:+.2f} SD from the others"
            lines += _line(column.title, names, values, own=shown.rows == own, note=note, scale=column.scale,
                           chance=None if mixed else column.chance)
    points = pd.DataFrame(lines)
    digits = sheet.columns[shown.columns[0]].digits
    x = "Standard deviations from the mean of all rows, right is better" if mixed else "Score, %"
    return figures.strip(points, name=names[int(np.flatnonzero(shown.rows == own)[0])], x=x, digits=digits)


def _line(title: str, names: list[str], values: np.ndarray, *, own: np.ndarray, chance: float | None, scale: float,
          note: str = "") -> list[dict]:
    have = ~np.isnan(values)
    if not (have & own).any():
        return []
    place = int((values[have & ~own] > values[own][0]).sum()) + 1
    return [{"line": title, "title": names[at], "value": float(values[at]), "own": bool(own[at]),
             "chance": np.nan if chance is None else chance * scale,
             "note": f"place {place} of {int(have.sum())}{'; ' + note if note else ''}"} for at in np.flatnonzero(have)]


def _leader(site: ui.Site, listed: pd.DataFrame) -> str:
    """The first of the papers' own rows in the suite that leads; the first model when nothing is ranked there."""
    if LEADS in set(queries.suites(site.db)["key"]):
        sheet, ranked = site.boards.table(LEADS), site.boards.ranked(LEADS)
        places = [at for at, row in enumerate(sheet.rows) if row.origin == "published" and ranked.rank[at] == 1]
        if places:
            return sheet.rows[places[0]].model
    return str(listed["key"].iloc[0])


def _label(row) -> str:
    return f"{row.title}  ·  {row.kind}" if row.kind != "encoder" else row.title


def _fullest(site: ui.Site, model: str, known: list[str]) -> str:
    """The suite with most of the model's scores; the earlier of equals."""
    def have(suite: str) -> int:
        sheet = site.boards.table(suite)
        return max(int((~np.isnan(sheet.values[at])).sum()) for at, row in enumerate(sheet.rows) if row.model == model)

    return max(known, key=have)


def _facts(site: ui.Site, about: pd.Series) -> str:
    sets = queries_pages.datasets(site.db)
    trained = [text(sets.loc[key, "title"] if key in sets.index else key) for key in about["trained_on"]]
    size = NOTHING if blank(about["parameters_m"]) else (
        f"{about['parameters_m'] / 1000:.3g} billion" if about["parameters_m"] >= 1000 else f"{about['parameters_m']:.3g} million")
    openness = {True: "open weights", False: "closed: reached through a service only"}
    is_open = None if blank(about["open_weights"]) else bool(about["open_weights"])
    spelled = queries_pages.aliases(site.db, model=about["key"])
    names = "<br>".join(
        f"{text(row.printed)} <span class='lk-quiet'>in {text(row.benchmark_title)}</span>"
        + (f" <strong class='lk-guess'>guess</strong>{': ' + text(row.note) if row.note else ''}" if row.certainty == "guess"
           else "") for row in spelled.itertuples())
    hub = NOTHING
    if about["weights"]:
        hub = f"<a href='https://huggingface.co/{quote(about['weights'], safe='/')}' rel='noreferrer'>{text(about['weights'])}</a>"
        hub += f" <span class='lk-quiet'>at {text(about['revision'][:12])}</span>" if about["revision"] else ""
    return facts([
        ("Kind", text(KINDS.get(about["kind"], about["kind"]))), ("Organisation", text(about["organisation"])),
        ("Family", text(about["family"])), ("Parameters", size), ("Embedding", _unit(about["embed_dim"], "dimensions")),
        ("Image size", _unit(about["image_size"], "pixels")), ("Takes", text(", ".join(about["modalities"]))),
        ("Availability", text(openness.get(is_open))), ("Licence", text(about["license"])),
        ("Released", text(about["released"])), ("Weights", hub),
        ("Trained on", ", ".join(trained) or "<span class='lk-quiet'>not stated by our sources</span>"),
        ("Key", f"<code>{text(about['key'])}</code>"), ("Printed as", names or NOTHING)])


def _unit(value: float, unit: str) -> str:
    return NOTHING if blank(value) or pd.isna(value) else f"{int(value)} {unit}"


def _ranks(site: ui.Site, model: str, known: list[str]) -> str:
    rows = []
    for suite in known:
        sheet, ranked = site.boards.table(suite), site.boards.ranked(suite)
        for at, row in enumerate(sheet.rows):
            if row.model != model:
                continue
            name = f"<a href='board?suite={text(suite)}&amp;select={text(quote(row.id, safe='/:~'))}'>{text(sheet.suite['title'])}</a>"
            rows.append([name, text(row.origin), *_rank_cells(sheet, ranked, at)])
    heads = ["Suite", "Origin", "Rank", "95% interval", "Tie class", "Mean", "95% interval"]
    legend = ("<p class='lk-quiet'>Ranks hold among rows of the same origin. The interval says how far the rank moves when the "
              "tasks of each category are drawn again and the scores move by their noise. Models of one tie class cannot be told "
              "from the leader of their class.</p>")
    return f"<div>{table(heads, rows, numeric=(2, 3, 5, 6), empty='It is in no suite.')}{legend if rows else ''}</div>"


def _rank_cells(sheet: Table, ranked, at: int) -> list[str]:
    if ranked is None:
        people = next((c for c, column in enumerate(sheet.columns) if column.group == "People"), None)
        values = sheet.values[:, people] if people is not None else np.full(len(sheet.rows), np.nan)
        if np.isnan(values[at]):
            return [NOTHING] * 5
        column = sheet.columns[people]
        place = int((values > values[at]).sum()) + 1
        return [f"{place} of {int((~np.isnan(values)).sum())} by people", "<span class='lk-quiet'>votes not printed</span>", NOTHING,
                number(values[at], digits=column.digits, scale=column.scale), NOTHING]
    if ranked.rank[at] <= 0:
        return [f"<span class='lk-quiet'>{text(ranked.why[at])}</span>", *[NOTHING] * 4]
    digits, scale = sheet.families[0].digits, sheet.families[0].scale
    same = [row.origin == sheet.rows[at].origin for row in sheet.rows]
    of = int(((ranked.rank > 0) & np.array(same)).sum())
    interval = NOTHING if ranked.rank_low[at] <= 0 else f"{ranked.rank_low[at]} to {ranked.rank_high[at]}"
    return [f"{ranked.rank[at]} of {of}", interval, text(ranked.ties[at]), number(ranked.mean[at], digits=digits, scale=scale),
            span(ranked.mean_low[at], ranked.mean_high[at], digits=digits, scale=scale)]


def _strip_title(shown: profiles.Field) -> str:
    return (f"<section class='lk-section'><h2>Against the field: {text(shown.table.suite['title'])}</h2><p class='lk-quiet'>Each "
            f"line holds the {len(shown.rows) - 1} other rows of the same origin ({text(shown.origin)} figures) as ticks and this "
            "model as a diamond; where guessing has a known score, it is a blue bar.</p></section>")


def _apart(shown: profiles.Field) -> str:
    """Where it differs most from the field, and which rows are nearest."""
    sheet, z = shown.table, shown.standing.z
    order = [at for at in np.argsort(-np.nan_to_num(z, nan=0.0)) if not np.isnan(z[at])]
    best, worst = [at for at in order if z[at] > 0][:SHOWN], [at for at in order[::-1] if z[at] < 0][:SHOWN]

    def lines(places: list[int]) -> str:
        rows = []
        for at in places:
            place = shown.columns[at]
            column, marks = sheet.columns[place], sheet.marks[shown.place, place]
            signs = "".join(f" {sign}" for bit, sign in SIGNS if marks & bit)
            rows.append([to_task(column.task, column.title) + signs, number(sheet.values[shown.place, place], digits=column.digits,
                         scale=column.scale), f"{number(z[at], digits=2, sign=True)}",
                         f"{shown.standing.place[at]} of {shown.standing.others[at] + 1}"])
        return table(["Task", "Score", "SD", "Place"], rows, numeric=(1, 2, 3), empty="None: no task stands out this way.")

    near = profiles.nearest(shown)
    rows = []
    for at in np.argsort(near.distance)[:NEAR]:
        if np.isnan(near.distance[at]):
            continue
        row = sheet.rows[shown.rows[at]]
        pair = quote(f"{sheet.rows[shown.place].id},{row.id}", safe="/:~,")
        rows.append([to_model(row.model, sheet.models.loc[row.model, "title"]), number(near.distance[at], digits=2),
                     number(near.correlation[at], digits=2), str(near.shared[at]),
                     f"<a href='board?suite={text(sheet.suite['key'])}&amp;select={html.escape(pair)}&amp;compare=1'>compare</a>"])
    nearest = table(["Model", "Distance", "r", "Tasks", ""], rows, numeric=(1, 2, 3), empty="Too few shared tasks with any other model.")
    return ("<div class='lk-three'>"
            + section("Stands out above", lines(best), more="Score minus the mean of the others, in their standard deviations (SD).")
            + section("Stands out below", lines(worst), more="The same, where it is weakest against the field.")
            + section("Nearest models", nearest, more="Root mean square difference over the tasks both have, each task in standard "
                      "deviations over all models; r is their correlation on that scale.") + "</div>")


def _all(site: ui.Site, about: pd.Series) -> str:
    notes = queries_pages.model_notes(site.db, model=about["key"])
    lines = []
    for note in notes.itertuples():
        titles = list(note.tasks)
        where = f" <span class='lk-quiet'>({text(', '.join(titles[:6]))}{f' and {len(titles) - 6} more' if len(titles) > 6 else ''})</span>"
        lines.append(f"<li>{text(note.note)}{where if titles else ''}</li>")
    remarks = f"<ul class='lk-list'>{''.join(lines)}</ul>" if lines else "<p class='lk-quiet'>No remark on its figures.</p>"
    papers = queries_pages.benchmarks_of(site.db, model=about["key"])
    cites = "".join(f"<details class='lk-cite'><summary>How to cite {text(row.title)}</summary><pre tabindex='0'>{text(row.bibtex)}"
                    "</pre></details>" for row in papers.itertuples())
    return (section("All scores", lazy_table(f"data/model?model={quote(about['key'], safe='/')}", label="Its scores"),
                    more="In the units the papers print, with 95% intervals where the number of items is known. "
                    "† trained on this data set, ? suspect figure, ‡ another table prints another number. — means that the source "
                    "gives no such figure.")
            + section("Remarks", remarks) + section("Cite", f"{cites}<p class='lk-quiet'>Cite the paper whose figures you use.</p>"))


MODEL = View(key="model", title="Models", draw=draw)
