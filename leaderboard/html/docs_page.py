"""The documentation as pages of the site: the Markdown files of `docs/`, in the app's style."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from compute.paths import DOCS
from leaderboard.html.templates import macro, render

# In the order of mkdocs.yml.
NAMES = (
    "quickstart",
    "your-model",
    "your-data",
    "eyes",
    "rank",
    "judges",
    "generators",
    "training",
    "results",
    "api",
    "hosting",
    "ranks",
    "audit",
    "significance",
    "extend",
    "architecture",
    "commands",
    "performance",
    "changes",
)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
SECTION = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>')
LINK = re.compile(r"\]\(([\w-]+)\.md(#[\w-]+)?\)")  # to another page


@cache
def pages() -> dict[str, str]:
    """Returns the titles of all pages by name."""
    return {name: TITLE.search((DOCS / f"{name}.md").read_text(encoding="utf-8"))[1] for name in NAMES}


@cache
def markup(name: str) -> Markup:
    """Returns the text of a page as markup; its headings can be linked to."""
    text = LINK.sub(r"](\1\2)", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", lambda _, tokens, at, *rest: macro("code")(tokens[at].content))
    tokens = parser.parse(text)
    for opening, inline in zip(tokens, tokens[1:], strict=False):
        if opening.type == "heading_open":
            opening.attrSet("id", re.sub(r"[^\w]+", "-", inline.content.lower()).strip("-"))
        if opening.type == "table_open":
            opening.attrSet("tabindex", "0")  # it scrolls where it is wider than the page
        for link in inline.children or ():
            if "://" in str(link.attrGet("href")):
                link.attrs |= {"target": "_blank", "rel": "noopener noreferrer"}
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def route(*, site: str, bar: Callable[[str], Markup], look: str) -> Route:
    """Returns the route `/docs/NAME`, which lists the pages for an unknown name. bar: the bar above every page, for the
    address of the app's root; look: the style sheet.
    """

    def answer(request: Request) -> HTMLResponse:
        name = request.path_params["name"]
        known = name in pages()
        return HTMLResponse(
            render(
                "html/docs_page.html",
                outline=[(anchor, Markup(words)) for anchor, words in SECTION.findall(markup(name))] if known else [],
                heading=pages().get(name, "Not found"),
                site=site,
                look=Markup(look),
                root="../",
                bar=bar("../"),
                pages=pages().items(),
                current=name,
                text=markup(name) if known else "There is no such page. These are the pages of the documentation.",
            ),
            status_code=200 if known else 404,
        )

    return Route("/docs/{name}", answer)
