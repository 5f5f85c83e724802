"""What a page is and what it gets: its controls tied to the address, its heading, its citation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from starlette.routing import Route

from compute.eyes.folder import StudyFolder
from leaderboard.data.database import Database
from leaderboard.data.memo import shared
from leaderboard.data.payload import compressed
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.host.hub_data import HubData
from leaderboard.html.components import scripted
from leaderboard.html.templates import macro, render
from leaderboard.live.live import Live
from leaderboard.web.errors import Handler, explain, guarded
from leaderboard.web.parameters import Parameter, parse, renewed

SITE = "Likeness"
BAR = ("Board", "Choose", "Compare", "Try", "Your eyes", "Insights", "Docs")  # entries of the bar; each lists its pages
UNREADABLE = "?"
ESCAPED = (("\\", "&#92;"), ("`", "&#96;"), ("${", "&#36;{"), ("{{", "&#123;&#123;"))  # signs of Gradio's templates
FILLED = "() => { window.likenessFirst?.filled(); }"  # what is to be filled when the page is opened, is
MOST_LISTED = 60  # entries of a list before its table is there
UNANSWERED = "The server could not answer"
Listed = Callable[[], list[tuple[str, str]]]  # titles and keys to choose from


@dataclass(frozen=True, kw_only=True)
class Site:
    """What a page needs to draw itself."""

    db: Database
    suite_cache: SuiteCache
    blocks: gr.Blocks
    assets: str  # address of the scripts' folders, relative to the app's root
    live: Live  # what visitors try
    data: HubData | None = None  # the data set of the hub that the database comes from
    study: StudyFolder | None = None  # the host's own, which the page Your eyes asks about
    study_key: str = ""  # without which visitors do not get it; empty: nobody else reaches the app
    ahead: list[Callable[[], Any]] = field(default_factory=list)  # what is made before the first visitor needs it

    def guard(self, answer: Handler) -> Handler:
        """A route's handler whose errors are sentences, and whose answer comes from one file of the database."""
        return guarded(answer, snapshot=self.db.snapshot)

    def packed(self, make: Callable[..., dict[str, Any]], *, key: str = "") -> Handler:
        """A route's handler that answers with what is made and compressed once a database file, ahead of the first
        visitor unless it takes a `key`: the query parameter that `make` is called with."""
        return self.guard(compressed(self.db, make, key=key, ahead=self.ahead))

    def table(self, name: str, make: Callable[..., dict[str, Any]], *, key: str = "") -> Route:
        """The route `/data/<name>` of a table, as `packed`."""
        return Route(f"/data/{name}", self.packed(make, key=key))


@dataclass(frozen=True, kw_only=True)
class View:
    """A page of the app: `draw` builds it from the site it belongs to. `key` is its path, empty for the first.

    `sentence` says what it shows. Of a page about one thing, `subject` gives that thing's name and what it is, by the
    key that the query has under `about`, by default the page's own key; None where there is no such thing. `group` is
    the entry of the bar that it is under, of BAR, or empty; `listed` whether the bar has a link to it.
    """

    key: str
    title: str
    draw: Callable[[Site], None]
    sentence: str = ""
    about: str = ""
    subject: Callable[[Site, str], tuple[str, str] | None] = lambda site, key: None
    group: str = ""
    listed: bool = True
    figures: bool = False  # draws figures as soon as it opens
    routes: Callable[[Site], list[Route]] = lambda site: []  # what its scripts fetch


def heading(*, title: str, sentence: str, cite: str = "", copy: bool = True, inline: bool = False) -> None:
    """A page's title, what it shows, and how to cite it; with a button that copies the address of the view.

    inline: the sentence is next to the title, where there is room for both.
    """
    name = f"{title} · {SITE}" if title != SITE else SITE
    static_html(
        macro("heading")(title, sentence, cite, copy, inline),
        js=f"const own = {json.dumps(name)};{TITLE}",
    )


def subject_heading(*, title: str, sentence: str) -> gr.HTML:
    """The heading of a page about one thing, to be filled with that thing's; the tab is named after it."""
    start = macro("heading")(title, sentence)
    name = f"const own = {json.dumps(f'{title} · {SITE}')};"
    return gr.HTML(start, apply_default_css=False, js_on_load=f"{name}{TITLE}{NAMED}")


def citations(site: Site) -> str:
    """BibTeX of the papers."""
    return "\n\n".join(filter(None, site.db.query("benchmarks")["bibtex"]))


# The tab has the title that the page was sent with, as long as the address names the same view; then the page's own.
TITLE = """
const sent = document.querySelector('meta[property="og:title"]')?.content;
const view = new URLSearchParams(document.querySelector('link[rel=canonical]')?.href.split('?')[1]);
const retitle = () => {
  const query = new URLSearchParams(location.search);
  document.title = sent && [...view].every(([key, value]) => query.get(key) === value) ? sent : own;
};
window.navigation?.addEventListener('currententrychange', () => {
  if ([own, sent].includes(document.title)) retitle(); // else what is shown has named it
});
retitle();
window.likenessFirst?.mounted();
"""
NAMED = """
new MutationObserver(() => {
  const title = element.querySelector('h1')?.firstChild.textContent.trim(); // without a badge
  if (title) document.title = `${title} · Likeness`;
}).observe(element, {childList: true, subtree: true, characterData: true});
"""


def static_html(markup: str, *, js: str | None = None) -> gr.HTML:
    """Markup that never changes. Data in it must be escaped already; template signs are defused here."""
    safe = str(markup)
    for sign, escaped in ESCAPED:
        safe = safe.replace(sign, escaped)
    return gr.HTML(value="", html_template=safe, js_on_load=js, apply_default_css=False)


def payload_of(event: gr.EventData) -> dict[str, Any]:
    """What a script sent with its event; empty for anything but an object."""
    return event._data if isinstance(event._data, dict) else {}


def script_json(facts: Mapping[str, Any]) -> str:
    """A component's value as JSON for its script, in which Gradio reads no markup."""
    return json.dumps(facts, ensure_ascii=False).replace("<", "\\u003c")


def fill(
    site: Site,
    *,
    section: str,
    outputs: list[gr.HTML],
    make: Callable[[], list[str]],
    rendered: Sequence[gr.HTML] = (),
) -> None:
    """Fills outputs with what `make` returns, whenever the page is opened. `section` names what they are, as the start
    of a sentence.

    Where `make` fails or the server refuses the event, outputs that were `rendered` with the page stay as they are; the
    first of the others says so with a link that tries again, and the rest are empty. Where the server is gone, Gradio
    says so and reloads the page once it is back. What is made comes from one file of the database.
    """
    waiting = [output for output in outputs if output not in rendered]

    def failed(sentence: str) -> list[str]:
        return [macro("failed")(section, sentence), *[""] * (len(waiting) - 1)]

    def load() -> Any:
        try:
            with site.db.snapshot():
                values = make()
        except Exception as error:
            messages = iter(failed(explain(error, action=f"Filling {section}")))
            values = [gr.skip() if output in rendered else next(messages) for output in outputs]
        return _by_output(values)

    how = {"show_progress": "hidden", "api_visibility": "private"}
    opened = site.blocks.load(load, outputs=outputs, queue=False, **how)
    for over in (opened.success, opened.failure):
        over(None, js=FILLED, **how)
    if waiting:
        values = json.dumps(_by_output(failed(UNANSWERED)))
        opened.failure(None, outputs=waiting, js=f"() => ({values})", **how)


def _by_output(values: list[Any]) -> Any:
    """What a handler returns for its outputs: a single one's value stands alone."""
    return values[0] if len(values) == 1 else values


def waiting() -> gr.HTML:
    """What is filled when the page is opened."""
    return gr.HTML("<p class='pg-waiting pg-quiet'>Loading …</p>", apply_default_css=False)


def catalogue(
    *,
    key: str,
    sentence: str,
    rows: Callable[[SuiteCache], dict[str, Any]],
    summary: Callable[[Database], dict[str, Any]],
    rest: Callable[[Site], None] = lambda site: None,
) -> View:
    """A page that lists every model or task: its `summary` in a sentence, the list with its search and filters, and
    what `rest` draws below.

    The list's own script, in the page's folder, keeps its state in the page's address.
    """
    title = key.capitalize()

    @shared
    def answer(site: Site) -> str:
        return render(f"pages/{key}/answer.html", **summary(site.db))

    @shared
    def first(site: Site) -> str:
        data = rows(site.suite_cache)
        at = [data["fields"].index(name) for name in ("title", "key")]
        one = key.removesuffix("s")
        return instead(f"{one}?{one}=", [tuple(row[index] for index in at) for row in data["rows"][:MOST_LISTED]])

    def draw(site: Site) -> None:
        heading(title=title, sentence=sentence)
        lead = gr.HTML(answer(site), apply_default_css=False)
        fill(site, section=f"The summary of {title}", outputs=[lead], make=lambda: [answer(site)], rendered=[lead])
        mount = f"module.mount(target, 'data/{key}');"
        scripted(
            site.assets,
            script=f"pages/{key}/{key}.js",
            run=mount,
            css_class="likeness-board pg-listing",
            data=f"data/{key}",
            rows=lambda query: first(site),
        )
        rest(site)

    return View(
        key=key,
        title=title,
        sentence=sentence,
        group="Docs",
        draw=draw,
        routes=lambda site: [site.table(key, lambda: rows(site.suite_cache))],
    )


def remember(parameters: tuple[Parameter, ...], *, presets: bool = False) -> str:
    """JavaScript that writes the controls' values to the address, without defaults, and passes them on.

    With `presets`, the preset that the page was opened with is replaced by the values themselves.
    """
    facts = []
    for each in parameters:  # `empty`: what a control without a value says, as in `typed`
        usual = each.write(each.default)
        facts.append({"key": each.key, "default": usual, "empty": "" if getattr(each, "noun", "") else usual})
    return f"""(...values) => {{
  const query = new URLSearchParams(location.search);
  {"query.delete('preset');" if presets else ""}
  {json.dumps(facts)}.forEach(({{key, default: usual, empty}}, index) => {{
    const value = values[index] ?? empty;
    const text = Array.isArray(value) ? value.join(',') : String(value);
    if (text === usual) query.delete(key); else query.set(key, text);
  }});
  const text = query.toString().replaceAll('%2F', '/').replaceAll('%2C', ',').replaceAll('%3A', ':');
  history.replaceState(history.state, '', location.pathname + (text ? `?${{text}}` : ''));
  return values;
}}"""


def typed(parameters: tuple[Parameter, ...], inputs: Sequence[Any]) -> dict[str, str]:
    """The values of a page's controls as a query; a control without one says that nothing is chosen, or its default.

    Values of another kind than the control's become a text that no parameter takes.
    """
    return {
        parameter.key: "" if value is None else _text(parameter, value)
        for parameter, value in zip(parameters, inputs, strict=True)
        if value is not None or getattr(parameter, "noun", "")
    }


def _text(parameter: Parameter, value: Any) -> str:
    try:
        return parameter.write(value)
    except (TypeError, ValueError, OverflowError):
        return UNREADABLE


@dataclass(frozen=True, kw_only=True)
class PartialRedraw:
    """Some of a page's controls that redraw only some of its outputs; `draw` still takes all parameters."""

    keys: tuple[str, ...]
    outputs: list[gr.components.Component]
    draw: Callable[..., tuple]


def instead(address: str, listed: Sequence[tuple[str, str]]) -> str:
    """What can be chosen where an address names something that is not there: titles, each key after the address."""
    return macro("index")([("", [(title, f"{address}{key}") for title, key in listed])])


def message_box() -> gr.HTML:
    """Where a page shows an error; a class on the component itself would draw the box twice."""
    return gr.HTML("", visible=False, apply_default_css=False)


def bind(
    site: Site,
    *,
    parameters: tuple[Parameter, ...],
    controls: list[gr.components.Component],
    outputs: list[gr.components.Component],
    draw: Callable[..., tuple],
    parts: tuple[PartialRedraw, ...] = (),
    presets: Mapping[str, Mapping[str, str]] | None = None,
    message: gr.HTML | None = None,
    blank: Callable[..., tuple] | None = None,
    lists: Mapping[str, Listed] | None = None,
    lists_at_start: bool = True,
) -> Callable[..., None]:
    """Ties a page's controls to its address and its outputs. Returns `listen(event, part=whole)`, which redraws on a
    Gradio event other than a control's own, such as `button.click`.

    `draw` takes the parameters by name and returns one value per output; an error is shown as a sentence in `message`
    (made here if not passed), and the outputs stay as they were. Controls come in the order of the parameters.
    `?preset=name` is short for a whole query string of `presets`; single parameters override it. `blank`,
    called like `draw`, gives the outputs of a page that opens with an error, or whose address names something that does
    not exist: that parameter is None then, and nothing is drawn in its place. `lists` gives, by parameter, the titles
    and keys of a control that lists what is in the database: a page built on an older file opens with today's. Without
    `lists_at_start` they take long to make: the controls were built empty, and are filled whenever the page is opened.
    Each answer comes from one file of the database.
    """
    message, lists = message or message_box(), lists or {}
    built = site.db.version if lists_at_start else ""
    names = [parameter.key for parameter in parameters]
    whole = PartialRedraw(keys=(), outputs=outputs, draw=draw)

    def answer(part: PartialRedraw, values: dict[str, Any], note: str, *, opening: bool = False) -> list[Any]:
        def instead() -> list[Any]:
            return list(blank(**values)) if opening and blank else [gr.skip()] * len(part.outputs)

        if any(value is None for value in values.values()):
            drawn = instead()
        else:
            try:
                drawn = list(part.draw(**values))
            except Exception as error:
                note = f"{note} {explain(error, action=f'Drawing a page for {values}')}".strip()
                drawn = instead()
        return [gr.update(value=macro("message")(note) if note else "", visible=bool(note)), *drawn]

    def current() -> tuple[Parameter, ...]:
        if site.db.version == built:
            return parameters
        return tuple(
            renewed(parameter, [key for _, key in lists[parameter.key]()]) if parameter.key in lists else parameter
            for parameter in parameters
        )

    def load(request: gr.Request) -> list[Any]:
        query = dict(request.query_params)
        preset = query.get("preset", "")
        with site.db.snapshot():
            values, note = parse(current(), {**(presets or {}).get(preset, {}), **query})
            if presets is not None and preset and preset not in presets:
                note = f"There is no ready-made view {preset[:40]!r}; the default is shown instead. {note}".strip()
            choices = {} if site.db.version == built else {name: {"choices": make()} for name, make in lists.items()}
            return [
                *(gr.update(value=values[name], **choices.get(name, {})) for name in names),
                *answer(whole, values, note, opening=True),
            ]

    def listen(event: Callable[..., Any], *, part: PartialRedraw = whole) -> None:
        def change(*inputs: Any) -> list[Any]:
            with site.db.snapshot():
                return answer(part, *parse(current(), typed(parameters, inputs)))

        event(
            change,
            inputs=controls,
            outputs=[message, *part.outputs],
            preprocess=False,  # `parse` checks the values, also against what is newer in the database than this page
            queue=False,
            show_progress="hidden",
            js=remember(parameters, presets=bool(presets)),
            api_visibility="private",
            trigger_mode="always_last",
        )

    how = {"show_progress": "hidden", "api_visibility": "private"}
    opened = site.blocks.load(load, outputs=[*controls, message, *outputs], queue=False, **how)
    for over in (opened.success, opened.failure):
        over(None, js=FILLED, **how)
    for name, control in zip(names, controls, strict=True):
        event = control.release if isinstance(control, gr.Slider) else control.input
        listen(event, part=next((part for part in parts if name in part.keys), whole))
    return listen
