"""What a page is and what it gets: its controls tied to the address, its heading, its citation."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from starlette.routing import Route

from leaderboard.data import suite_queries
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.host.hub_data import HubData
from leaderboard.html import markup
from leaderboard.live.panel import Panel
from leaderboard.web.errors import FAILED as FAILED  # until all event handlers use `caught`
from leaderboard.web.errors import Handler, explain, guarded
from leaderboard.web.parameters import Parameter, parse, renewed

SITE = "Likeness"
Listed = Callable[[], list[tuple[str, str]]]  # titles and keys to choose from


@dataclass(frozen=True, kw_only=True)
class Site:
    """What a page needs to draw itself."""

    db: Database
    suite_cache: SuiteCache
    blocks: gr.Blocks
    assets: str  # address of the scripts' folders, relative to the app's root
    panel: Panel  # what visitors try live
    data: HubData | None = None  # the data set of the hub that the database comes from

    def guard(self, answer: Handler) -> Handler:
        """A route's handler whose errors are sentences, and whose answer comes from one file of the database."""
        return guarded(answer, snapshot=self.db.snapshot)


@dataclass(frozen=True, kw_only=True)
class View:
    """A page of the app: `draw` builds it from the site it belongs to. `key` is its path, empty for the first."""

    key: str
    title: str
    draw: Callable[[Site], None]
    figures: bool = False  # draws figures as soon as it opens
    routes: Callable[[Site], list[Route]] = lambda site: []  # what its scripts fetch


def heading(site: Site, *, title: str, sentence: str, cite: str = "", copy: bool = True) -> None:
    """A page's title, what it shows, and how to cite it; with a button that copies the address of the view."""
    citation = (
        f"<details class='pg-cite'><summary>How to cite</summary><pre tabindex='0'>{html.escape(cite)}</pre></details>"
        if cite
        else ""
    )
    button = "<button type='button' class='pg-copy'>Copy link</button>" if copy else ""
    name = f"{title} · {SITE}" if title != SITE else SITE
    static_html(
        f"<header class='pg-heading'><h1>{html.escape(title)}</h1><p>{html.escape(sentence)}</p>"
        f"<div class='pg-heading-tools'>{button}{citation}</div>"
        "</header>",
        js=f"document.title = {json.dumps(name)};{COPY_LINK if copy else ''}",
    )


def citations(site: Site) -> str:
    """BibTeX of the papers."""
    return "\n\n".join(filter(None, suite_queries.benchmarks(site.db)["bibtex"]))


# For a gr.HTML whose first heading names what the page is about: the tab is named after it.
NAMED = """
const name = () => {
  const title = element.querySelector('h2')?.textContent;
  if (title) document.title = `${title} · Likeness`;
};
new MutationObserver(name).observe(element, {childList: true, subtree: true, characterData: true});
name();
"""
COPY_LINK = """
const button = element.querySelector('.pg-copy');
button.addEventListener('click', async () => {
  try { await navigator.clipboard.writeText(location.href); button.textContent = 'Link copied'; }
  catch { window.prompt('Copy this address', location.href); }
  setTimeout(() => { button.textContent = 'Copy link'; }, 2000);
});
"""


def static_html(markup: str, *, js: str | None = None) -> gr.HTML:
    """Markup that never changes. Data in it must be escaped already; template signs are defused here."""
    safe = (
        str(markup).replace("\\", "&#92;").replace("`", "&#96;").replace("${", "&#36;{").replace("{{", "&#123;&#123;")
    )
    return gr.HTML(value="", html_template=safe, js_on_load=js, apply_default_css=False)


def remember(parameters: tuple[Parameter, ...], *, presets: bool = False) -> str:
    """JavaScript that writes the controls' values to the address, defaults left out, and passes them on.

    With `presets`, the one that the page was opened with gives way to the values themselves.
    """
    facts = [{"key": parameter.key, "default": parameter.write(parameter.default)} for parameter in parameters]
    return f"""(...values) => {{
  const query = new URLSearchParams(location.search);
  {"query.delete('preset');" if presets else ""}
  {json.dumps(facts)}.forEach(({{key, default: usual}}, place) => {{
    const value = values[place] ?? '';
    const text = Array.isArray(value) ? value.join(',') : String(value);
    if (text === usual) query.delete(key); else query.set(key, text);
  }});
  const text = query.toString().replaceAll('%2F', '/').replaceAll('%2C', ',').replaceAll('%3A', ':');
  history.replaceState(history.state, '', location.pathname + (text ? `?${{text}}` : ''));
  return values;
}}"""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some of a page's controls that redraw only some of its outputs: `draw` takes all parameters all the same."""

    keys: tuple[str, ...]
    outputs: list[gr.components.Component]
    draw: Callable[..., tuple]


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What `bind` made, for events that are not a control's own."""

    listen: Callable[..., None]  # listen(event, part=None): redraws on a Gradio event such as `button.click`
    parameters: Callable[[], tuple[Parameter, ...]]  # with the keys that the database has now


def message_box() -> gr.HTML:
    """Where a page says what it could not do; a class of the component itself would draw the box twice."""
    return gr.HTML("", visible=False, apply_default_css=False)


def bind(
    site: Site,
    *,
    parameters: tuple[Parameter, ...],
    controls: list[gr.components.Component],
    outputs: list[gr.components.Component],
    draw: Callable[..., tuple],
    parts: tuple[Part, ...] = (),
    presets: Mapping[str, Mapping[str, str]] | None = None,
    message: gr.HTML | None = None,
    blank: Callable[..., tuple] | None = None,
    lists: Mapping[str, Listed] | None = None,
) -> Bound:
    """Ties a page's controls to its address and its outputs.

    `draw` takes the parameters by name and returns one value an output; an error a visitor can cause is shown as a
    sentence above the page, with the outputs as they were. Controls stand in the parameters' order. `?preset=name`
    stands for a whole query string of `presets`, which single parameters beside it override. `message` is where the
    sentence stands; without it, here. `blank`, called as `draw`, gives the outputs of a page that opens with an error.
    `lists` gives, by parameter, the titles and keys of a control that lists what is in the database: a page that was
    built on another file is opened with those of today. Each answer is of one file.
    """
    message, built, lists = message or message_box(), site.db.version, lists or {}
    names = [parameter.key for parameter in parameters]
    whole = Part(keys=(), outputs=outputs, draw=draw)

    def answer(part: Part, values: dict[str, Any], note: str, *, opening: bool = False) -> list[Any]:
        drawn = None
        try:
            drawn = list(part.draw(**values))
        except Exception as error:
            note = f"{note} {explain(error, action=f'Drawing a page for {values}')}".strip()
        if drawn is None:
            drawn = list(blank(**values)) if opening and blank else [gr.skip()] * len(part.outputs)
        return [gr.update(value=markup.message(note) if note else "", visible=bool(note)), *drawn]

    def current() -> tuple[Parameter, ...]:
        return (
            parameters
            if site.db.version == built
            else tuple(
                renewed(one, [key for _, key in lists[one.key]()]) if one.key in lists else one for one in parameters
            )
        )

    def load(request: gr.Request) -> list[Any]:
        query = dict(request.query_params)
        named = query.get("preset", "")
        with site.db.snapshot():
            values, note = parse(current(), {**(presets or {}).get(named, {}), **query})
            if presets is not None and named and named not in presets:
                note = f"There is no ready-made view {named[:40]!r}; the default is shown instead. {note}".strip()
            listed = {} if site.db.version == built else {name: {"choices": make()} for name, make in lists.items()}
            return [
                *(gr.update(value=values[name], **listed.get(name, {})) for name in names),
                *answer(whole, values, note, opening=True),
            ]

    def listen(event: Callable[..., Any], *, part: Part = whole) -> None:
        def change(*given: Any) -> list[Any]:
            typed = {
                parameter.key: parameter.write(value)
                for parameter, value in zip(parameters, given, strict=True)
                if value is not None
            }
            with site.db.snapshot():
                return answer(part, *parse(current(), typed))

        event(
            change,
            inputs=controls,
            outputs=[message, *part.outputs],
            queue=False,
            show_progress="hidden",
            js=remember(parameters, presets=bool(presets)),
            api_visibility="private",
            trigger_mode="always_last",
        )

    site.blocks.load(
        load, outputs=[*controls, message, *outputs], queue=False, show_progress="hidden", api_visibility="private"
    )
    for name, control in zip(names, controls, strict=True):
        event = control.release if isinstance(control, gr.Slider) else control.input
        listen(event, part=next((part for part in parts if name in part.keys), whole))
    return Bound(listen=listen, parameters=current)
