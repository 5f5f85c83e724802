"""What a page shows before any script runs: its own first parts, for the address that was asked for."""

import json
import re
from urllib.parse import quote

import httpx
import pytest

from leaderboard.pages import VIEWS

ASKS = 200  # a page that takes long is sent with its heading, and the rest is drawn meanwhile


def first(app, address, *, until=""):
    """The markup of the first screen, once it has this text."""
    for _ in range(ASKS):
        answer = httpx.get(app.url + address, timeout=60)
        found = re.search(r'<div id="first"(.*?)<noscript', answer.text, re.DOTALL)
        assert found, f"{address or 'the front page'} has no first screen"
        if until in found[1]:
            return found[1]
    raise AssertionError(f"The first screen of {address or 'the front page'} has no {until}")


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.key or "overview")
def test_every_page_is_sent_with_its_heading_and_its_sentence(app, view):
    markup = first(app, view.key)
    assert re.search(r"<h1>[^<]+(<span[^<]*</span>)?</h1><p>[^<]{20,}[.]</p>", markup)


@pytest.mark.parametrize(
    "address, shown",
    [
        ("model?model=openai/clip-vit-large-patch14", "CLIP ViT-L/14"),
        ("task?task=unisim/imagenet-ooo", "ImageNet-OOO"),
        ("board?suite=pairbench", 'href="model?model='),
        ("board?suite=nowhere", 'href="model?model='),
        ("claims", "claims?claim="),
        ("models", "model?model="),
        ("tasks", "task?task="),
        ("compare?models=google/siglip-so400m-patch14-384,quansun/eva02-clip-bige-14-plus", "bc-comparison"),
        ("choose?need=documents", "Find documents"),
        ("try?mode=pair&inputs=text-heart-left,cat", "a purple heart left of"),
    ],
)
def test_what_the_address_names_is_there(app, address, shown):
    first(app, address, until=shown)


def test_a_script_of_ours_starts_with_all_that_it_imports(app):
    answer = httpx.get(app.url + "board", timeout=60).text
    (folder,), (files,) = re.findall(r"preload\('(static/[^']+)' \+", answer), re.findall(r"files: (\[.*?\])", answer)
    listed = [f"{folder}{name}" for name in json.loads(files)]
    assert len(listed) > 20 and all(httpx.get(app.url + path).status_code == 200 for path in listed)
    assert re.search(r'data: "data/board/[\w-]+"', answer)


def test_nothing_is_asked_for_before_the_first_screen_and_its_look(app):
    """Fonts apart, which are shown once they are there; scripts follow what is shown, and no style sheet is fetched."""
    for view in VIEWS:
        before, _, _ = httpx.get(app.url + view.key, timeout=60).text.partition("<noscript")
        assert not re.search(
            r'rel="stylesheet"|<link[^>]*modulepreload|<script [^>]*src="./assets|gradio_config', before
        )


@pytest.mark.parametrize("text", ['"><script>alert(1)</script>', "</script><b>"])
@pytest.mark.parametrize("address", ["model?model=", "board?suite=", "sql?q="])
def test_what_a_query_holds_stays_text(app, address, text):
    markup = first(app, address + quote(text))
    assert "<script>alert" not in markup and "</script><b>" not in markup
