"""The only Jinja2 environment: a page gathers values in Python, and its template writes the markup.

A template is next to its page (`pages/overview/page.html`) and is rendered with `render("pages/overview/page.html",
models=...)`. Every value is escaped unless it is `Markup` already; a name that was not passed is an error, not an empty
string. Templates import the shared pieces by `{% import "html/macros.html" as ui %}`; Python calls a single macro by
`macro("message")("...")`. Both return `Markup`, so pieces nest without being escaped twice. Beware: in Python `Markup +
"<p>"` escapes the right side; join pieces in a template, or in an f-string.

Filters:
    value|number(digits=1, scale=100, sign=True)   a number with a real minus sign, or a dash
    share|percent, share|percent(digits=1)         37%
    millions|parameters_text                       26 B, 3.1 k
    rate|rate_text                                 12,151, 25.5
    size|memory_text                               577 MB, 1.6 GB
    value|or_dash, value|or_dash("")               text, or the mark of a missing value
    count|thousands                                1,234
    key|model_url, key|task_url                    the address of a model's or task's page
    marks|signs                                    † ? ‡ after a number, each with its explanation
    title|plain_title(benchmark)                   a title without its "(synthetic)", where a badge says it
    text|described(benchmark)                      a description that says where items are synthetic
    kind|model_kind, kind|model_kind(count=2)      a kind of models in words
    title|hint                                     the words behind a short name
    data|webp                                      bytes of a picture as the address of an <img>
    key|shell                                      a word of a command, quoted where it needs be
Functions: interval(low, high, digits=1, scale=100). Tests: `is blank` (None, NaN, ""), `is synthetic` (a benchmark).
Extension: `{% do rows.append(...) %}`.

The markup goes into the *value* of a `gr.HTML`, or through `page.static_html`: never straight into an `html_template`,
which Gradio executes as a JavaScript template literal.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from compute.rounding import rate_text
from compute.types import TIES_SHOWN
from leaderboard.html import formatting, labels

FOLDER = Path(__file__).parents[1]  # leaderboard/


def _signs(marks: int) -> Markup:
    """Returns the signs of a score's marks, each with an explanation."""
    return Markup("").join(
        Markup(' <abbr title="{}">{}</abbr>').format(words, sign) for bit, sign, words in labels.SIGNS if marks & bit
    )


ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
    extensions=["jinja2.ext.do"],
)
ENVIRONMENT.filters |= {
    "number": formatting.number,
    "parameters_text": formatting.parameters_text,
    "rate_text": rate_text,
    "memory_text": formatting.memory_text,
    "percent": formatting.percent,
    "or_dash": formatting.or_dash,
    "thousands": "{:,}".format,
    "model_url": formatting.model_url,
    "task_url": formatting.task_url,
    "signs": _signs,
    "plain_title": labels.plain_title,
    "described": labels.described,
    "hint": labels.hint,
    "model_kind": labels.model_kind,
    "webp": formatting.webp,
    "who": labels.who,
    "shell": shlex.quote,
}
ENVIRONMENT.tests |= {"blank": formatting.blank, "synthetic": labels.is_synthetic}
ENVIRONMENT.globals |= {
    "interval": formatting.span,
    "SYNTHETIC": labels.SYNTHETIC_NOTE,
    "FAMILIES": labels.FAMILIES,
    "origin_title": labels.origin_title,
    "TIES_SHOWN": TIES_SHOWN,
}


def render(path: str, /, **values: object) -> Markup:
    """Renders a template. `path` is relative to the package; raises jinja2.UndefinedError for a name not passed."""
    return Markup(ENVIRONMENT.get_template(path).render(values))


def macro(name: str) -> Callable[..., Markup]:
    """Returns one of the shared macros, to be called from Python."""
    return getattr(macros("html/macros.html"), name)


@cache
def macros(path: str) -> Any:
    """Returns the macros of a template, to be called as its attributes."""
    return ENVIRONMENT.get_template(path).module
