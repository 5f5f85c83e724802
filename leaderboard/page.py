"""The parts of a page: controls tied to the address, its heading, its citation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

import gradio as gr
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.eyes.folder import StudyFolder
from leaderboard.data.database import Database, shared
from leaderboard.data.payload import encode
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.host.hub_data import HubData
from leaderboard.html.components import html, scripted
from leaderboard.html.templates import macro, render
from leaderboard.live.live import Live
from leaderboard.web.errors import Handler, explain, guarded
from leaderboard.web.parameters import Choice, Parameter, parse, renewed
from leaderboard.web.responses import compress, respond

SITE = "Likeness"
BAR = ("Board", "Choose", "Compare", "Try", "Your eyes", "Insights", "Docs")  # entries of the bar; each lists its pages
UNREADABLE = "?"
ESCAPED = (("\\", "&#92;"), ("`", "&#96;"), ("${", "&#36;{"), ("{{", "&#123;&#123;"))  # signs of Gradio's templates
FILLED = "() => { window.likenessFirst?.filled(); }"  # all that is filled when the page opens has been filled
QUIET = {"show_progress": "hidden", "api_visibility": "private"}  # of events
HIDDEN = gr.update(value=None, visible=False)  # a figure without anything to show
PAPERS = "papers"  # cites all of them
MOST_LISTED = 60  # entries of a list before its table is there
UNANSWERED = "The server could not answer"
Listed = Callable[[], list[tuple[str, str]]]  # titles and keys to choose from


@dataclass(frozen=True, kw_only=True)
class Site:
    """Everything that a page needs to draw itself."""

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
        """Returns a route's handler whose errors are sentences, and whose answer comes from one file of the
        database.
        """
        return guarded(answer, snapshot=self.db.snapshot)

    def packed(self, make: Callable[..., dict[str, Any]], *, key: str = "") -> Handler:
        """Returns a route's handler that answers with a result made and compressed once per database file. It is made
        before the first visitor unless the handler takes a `key`: the query parameter that `make` is called with.
        """
        packed = partial(shared(lambda db, *keys: compress(encode(make(*keys))), most=256), self.db)
        if not key:
            self.ahead.append(packed)

        def answer(request: Request) -> Response:
            content = packed(*([request.query_params.get(key, "")[:200]] if key else []))
            return respond(request, content, compressed=True)

        return self.guard(answer)

    def table(self, name: str, make: Callable[..., dict[str, Any]], *, key: str = "") -> Route:
        """Returns the route `/data/<name>` of a table, as `packed`."""
        return Route(f"/data/{name}", self.packed(make, key=key))


@dataclass(frozen=True, kw_only=True)
class View:
    """A page of the app: `draw` builds it, below its heading, from the site it belongs to. `key` is its path, empty for
    the first.

    `sentence` says what it shows; `heading` is its title there, where that is another; `cites` a benchmark, or PAPERS;
    `copied` whether a button copies the address of the view; `inline` whether the sentence is next to the title, where
    there is room for both. `about` are the parameters that say what the page is about, by default its own key;
    `subject` gives its name and what it is, by the first of them in the query, None if there is no such thing. `group`
    is the entry of the bar that it is under, of BAR, or empty; `listed` whether the bar has a link to it: one about a
    thing that has to be chosen first has none, and a heading of that thing's (`subject_heading`).
    """

    key: str
    title: str
    draw: Callable[[Site], None]
    sentence: str
    heading: str = ""
    cites: str = ""
    copied: bool = True
    inline: bool = False
    about: Sequence[str] = ()
    subject: Callable[[Site, str], tuple[str, str] | None] = lambda site, key: None
    group: str = ""
    listed: bool = True
    routes: Callable[[Site], list[Route]] = lambda site: []  # what its scripts fetch

    def build(self, site: Site) -> None:
        """Builds the page with its heading: its title, what it shows, and how to cite it."""
        if self.listed:
            papers = site.db.query("benchmarks")
            cited = papers["bibtex"][papers["key"].eq(self.cites) | (self.cites == PAPERS)]
            title = self.heading or self.title
            name = f"{title} · {SITE}" if title != SITE else SITE
            markup = macro("heading")(title, self.sentence, "\n\n".join(filter(None, cited)), self.copied, self.inline)
            static_html(markup, js=f"const own = {json.dumps(name)};{TITLE}")
        self.draw(site)


def subject_heading(view: View) -> gr.HTML:
    """Returns the heading of a page about one thing, which fills it later and also names the tab."""
    name = f"const own = {json.dumps(f'{view.title} · {SITE}')};"
    return html(macro("heading")(view.title, view.sentence), js_on_load=f"{name}{TITLE}{NAMED}")


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
    """Static markup. Data in it must already be escaped; template syntax is neutralised here."""
    safe = str(markup)
    for sign, escaped in ESCAPED:
        safe = safe.replace(sign, escaped)
    return html(html_template=safe, js_on_load=js)


def payload_of(event: gr.EventData) -> dict[str, Any]:
    """Returns what a script sent with its event; empty if it is not an object."""
    return event._data if isinstance(event._data, dict) else {}


def script_json(facts: Mapping[str, Any]) -> str:
    """Returns a component's value as JSON for its script, in a form that Gradio does not read as markup."""
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

    opened = _on_opening(site, load, outputs)
    if waiting:
        values = json.dumps(_by_output(failed(UNANSWERED)))
        opened.failure(None, outputs=waiting, js=f"() => ({values})", **QUIET)


def _on_opening(site: Site, load: Callable[..., Any], outputs: Sequence[gr.components.Component]) -> Any:
    """Makes `load` fill the outputs whenever the page is opened, and registers this with the first screen."""
    opened = site.blocks.load(load, outputs=outputs, queue=False, **QUIET)
    for over in (opened.success, opened.failure):
        over(None, js=FILLED, **QUIET)
    return opened


def _by_output(values: list[Any]) -> Any:
    """Returns a handler's result in the form for its outputs: a single value is not wrapped."""
    return values[0] if len(values) == 1 else values


def controls() -> gr.Row:
    """Returns a row of controls."""
    return gr.Row(elem_classes="pg-controls")


def catalogue(
    *,
    key: str,
    sentence: str,
    rows: Callable[[SuiteCache], dict[str, Any]],
    summary: Callable[[Database], dict[str, Any]],
    rest: Callable[[Site], None] = lambda site: None,
) -> View:
    """Returns a page that lists every model or task: its `summary` in a sentence, the list with its search and filters,
    and what `rest` draws below.

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
        lead = html(answer(site))
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


def remember(parameters: Sequence[Parameter], *, presets: bool = False) -> str:
    """Returns JavaScript that writes the controls' values to the address, without defaults, and passes them on.

    With `presets`, the preset that the page was opened with is replaced by the values themselves.
    """
    facts = []
    for each in parameters:  # `empty`: what a control without a value says, as in `typed`
        usual = each.write(each.default)
        facts.append({"key": each.key, "default": usual, "empty": "" if each.noun else usual})
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


def typed(parameters: Sequence[Parameter], inputs: Sequence[Any]) -> dict[str, str]:
    """Returns the values of a page's controls as a query; a control without one says that nothing is chosen, or its
    default.

    Values of another kind than the control's become a text that no parameter takes.
    """
    return {
        parameter.key: "" if value is None else _text(parameter, value)
        for parameter, value in zip(parameters, inputs, strict=True)
        if value is not None or parameter.noun
    }


def _text(parameter: Parameter, value: Any) -> str:
    try:
        return parameter.write(value)
    except (TypeError, ValueError, OverflowError):
        return UNREADABLE


def instead(address: str, listed: Sequence[tuple[str, str]]) -> str:
    """Returns the choices to offer if an address names something that does not exist: titles, each with the key after
    the address.
    """
    return macro("index")([("", [(title, f"{address}{quote(key, safe='/:~')}") for title, key in listed])])


class PartialRedraw(NamedTuple):
    """Some of a page's controls, by key, that redraw only some of its outputs; `draw` still takes all parameters."""

    keys: tuple[str, ...]
    outputs: Sequence[gr.components.Component]
    draw: Callable[..., Sequence[Any]]


class Canvas:
    """A page under construction whose controls are tied to its address and redraw its outputs, both in the order of
    creation. An error is shown above the first output.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.message: gr.HTML | None = None
        self.parameters: list[Parameter] = []
        self.controls: list[gr.components.Component] = []
        self.outputs: list[gr.components.Component] = []
        self.lists: dict[str, Listed] = {}

    def output(self, component: gr.components.Component) -> Any:
        """Returns the component and registers it to be redrawn."""
        self.outputs.append(component)
        return component

    def html(self, value: str = "", **look: Any) -> gr.HTML:
        """Returns an output of markup."""
        # A class on the component itself would draw the box twice
        self.message = self.message or html(visible=False)
        return self.output(html(value, **look))

    def waiting(self, what: str = "Loading") -> gr.HTML:
        """Returns an output of markup with initial content."""
        return self.html(f"<p class='pg-waiting pg-quiet'>{what} …</p>")

    def figure(self, **look: Any) -> gr.Plot:
        """Returns an output that is a chart."""
        return self.output(gr.Plot(show_label=False, container=False, **look))

    def control(self, parameter: Parameter, component: gr.components.Component) -> Any:
        """Returns the component and registers it as the parameter's control."""
        self.parameters.append(parameter)
        self.controls.append(component)
        return component

    def choose(
        self,
        key: str,
        listed: Listed | Sequence[tuple[str, str]],
        *,
        default: str | tuple[str, ...] = "",
        noun: str = "",
        kind: type[gr.components.Component] = gr.Dropdown,
        rule: Mapping[str, Any] = {},  # noqa: B006 (never changed)
        **look: Any,
    ) -> Any:
        """Returns a control that chooses among titles and keys. A function returns those of the current database, so
        that a page built on an older file shows them. `noun` and `rule` are facts of the parameter, `look` of the
        component.
        """
        if callable(listed):
            self.lists[key] = listed
        offered = listed() if callable(listed) else list(listed)
        keys = tuple(each for _, each in offered)
        value = list(default) if isinstance(default, tuple) else default
        parameter = Choice(key=key, default=default, choices=keys, noun=noun, **rule)
        return self.control(parameter, kind(offered, value=value, **look))

    def bind(
        self,
        draw: Callable[..., Sequence[Any]],
        *,
        instead: Callable[..., dict[Any, Any]] = lambda **values: {},
        parts: Sequence[PartialRedraw] = (),
        presets: Mapping[str, Mapping[str, str]] = {},  # noqa: B006 (never changed)
    ) -> Callable[..., None]:
        """Ties controls, address and outputs together. Returns `listen(event, part=whole)`, which redraws on a Gradio
        event other than a control's own, such as `button.click`.

        `draw` takes the parameters by name and returns one value per output; an error is shown as a sentence, and the
        outputs stay as they were. `?preset=name` is short for a whole query string of `presets`; single parameters
        override it. On a page that opens with an error, or whose address names something that does not exist (that
        parameter is None then), nothing is drawn in its place: figures are hidden, and `instead`, called like `draw`,
        gives values by output. Each answer comes from one file of the database.
        """
        site, built = self.site, self.site.db.version
        whole = PartialRedraw((), self.outputs, draw)

        def answer(part: PartialRedraw, values: dict[str, Any], note: str, *, opening: bool = False) -> list[Any]:
            drawn: list[Any] | None = None
            if None not in values.values():
                try:
                    drawn = list(part.draw(**values))
                except Exception as error:
                    note = f"{note} {explain(error, action=f'Drawing a page for {values}')}".strip()
            if drawn is None:
                given: dict[Any, Any] = {}
                if opening:
                    given = {each: HIDDEN for each in part.outputs if isinstance(each, gr.Plot)} | instead(**values)
                drawn = [given.get(each, gr.skip()) for each in part.outputs]
            return [gr.update(value=macro("message")(note) if note else "", visible=bool(note)), *drawn]

        def today() -> dict[str, list[tuple[str, str]]]:
            """Returns the choices of lists, by parameter, if the file is newer than the page."""
            return {} if site.db.version == built else {key: listed() for key, listed in self.lists.items()}

        def read(query: Mapping[str, str], lists: Mapping[str, list[tuple[str, str]]]) -> tuple[dict[str, Any], str]:
            new = {key: [each for _, each in listed] for key, listed in lists.items()}
            return parse([renewed(each, new[each.key]) if each.key in new else each for each in self.parameters], query)

        def load(request: gr.Request) -> list[Any]:
            query = dict(request.query_params)
            preset = query.get("preset", "")
            with site.db.snapshot():
                lists = today()
                values, note = read({**presets.get(preset, {}), **query}, lists)
                if presets and preset and preset not in presets:
                    note = f"There is no ready-made view {preset[:40]!r}; the default is shown instead. {note}".strip()
                choices = {key: {"choices": listed} for key, listed in lists.items()}
                shown = [gr.update(value=value, **choices.get(key, {})) for key, value in values.items()]
                return [*shown, *answer(whole, values, note, opening=True)]

        def listen(event: Callable[..., Any], *, part: PartialRedraw = whole) -> None:
            def change(*inputs: Any) -> list[Any]:
                with site.db.snapshot():
                    return answer(part, *read(typed(self.parameters, inputs), today()))

            event(
                change,
                inputs=self.controls,
                outputs=[self.message, *part.outputs],
                preprocess=False,  # `parse` checks the values, also against a newer database
                queue=False,
                js=remember(self.parameters, presets=bool(presets)),
                trigger_mode="always_last",
                **QUIET,
            )

        _on_opening(site, load, [*self.controls, self.message, *self.outputs])
        for parameter, control in zip(self.parameters, self.controls, strict=True):
            event = control.release if isinstance(control, gr.Slider) else control.input
            listen(event, part=next((part for part in parts if parameter.key in part.keys), whole))
        return listen
