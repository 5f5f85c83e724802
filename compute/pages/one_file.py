"""Pages of one HTML file: style, script and pictures are embedded, nothing is loaded, and nothing else may run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
BASE = "base.css"  # colours, type and tables of all pages


def render(template: str, *, styles: Sequence[str], script: str = "", **values: Any) -> str:
    """Renders a template in this folder with its styles and script, which are file names in this folder. All values are
    escaped.

    Templates extend base.html, which gets `policy`, the content security policy, and the `style` and `script` to embed.
    """
    from markupsafe import Markup

    css = "".join(map(_text, (BASE, *styles)))
    code = _text(script) if script else ""
    allowed = ["default-src 'none'", f"style-src '{_digest(css)}'", "img-src data:"]
    allowed += [f"script-src '{_digest(code)}'"] if code else []
    policy = "; ".join([*allowed, "base-uri 'none'", "form-action 'none'"])
    return part(template, **values, policy=policy, style=Markup(css), script=Markup(code))


def part(template: str, **values: Any) -> str:
    """Renders a template in this folder that is a part of a page. All values are escaped."""
    return _environment().get_template(template).render(**values)


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Returns the hash that a browser compares an inline style or script with."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
