"""The documentation in the app: every page is found, links lead to pages and headings that exist."""

import re
from pathlib import Path

import pytest
import yaml
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaderboard.html import docs_page


@pytest.fixture(scope="module")
def client():
    bar = Markup("<header>the bar</header>")
    return TestClient(Starlette(routes=[docs_page.route(site="Likeness", bar=lambda root: bar, look="p {}")]))


@pytest.mark.parametrize("name", docs_page.pages())
def test_links_lead_to_pages_and_headings(client, name):
    page = client.get(f"/docs/{name}").text
    assert len(re.findall(r"<h1[ >]", page)) == 1
    for address in re.findall(r'<a href="([^":#]+#?[^":]*)"', page[page.index("<article>") :]):
        other, _, heading = address.partition("#")
        assert other in docs_page.pages(), address
        assert not heading or f'id="{heading}"' in docs_page.markup(other), address
    for link in re.findall(r"<a [^>]*://[^>]*>", page):
        assert 'target="_blank"' in link and 'rel="noopener noreferrer"' in link


def test_markup_in_a_page_is_text_and_an_unknown_page_is_not_found(client):
    assert "<torch>" not in client.get("/docs/commands").text
    unknown = client.get("/docs/nothing<b>")
    assert unknown.status_code == 404 and "quickstart" in unknown.text and "<b>" not in unknown.text


def test_the_pages_are_those_of_the_site_that_mkdocs_builds():
    site = yaml.safe_load((Path(__file__).parents[3] / "mkdocs.yml").read_text(encoding="utf-8"))
    files = [name for entry in site["nav"] for name in entry.values() if isinstance(name, str)]  # without notebooks
    assert files == [f"{name}.md" for name in docs_page.NAMES]
