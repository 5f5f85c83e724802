"""Each page's head, heading and sentence; nothing of what a query holds."""

import re
from html import unescape
from types import SimpleNamespace
from urllib.parse import quote

import httpx
import pytest

from leaderboard.pages import VIEWS
from leaderboard.web.access import Access, public_root
from tests.serving import whole

ANY, LOCAL = Access(), Access(hosts=frozenset({"localhost", "board.example"}))


def head_of(text):
    return text.partition("<head>")[2].partition("</head>")[0]


def meta(text):
    """The contents of the elements that name a page, by name or property."""
    found = re.findall(
        r'<(?:meta (?:name|property)="([^"]+)" content|link rel="(canonical)" href)="([^"]*)"', head_of(text)
    )
    out = {"title": [unescape(title) for title in re.findall(r"<title>(.*?)</title>", head_of(text))]}
    for name, link, content in found:
        out.setdefault(name or link, []).append(unescape(content))
    return out


def get(app, path, **headers):
    return httpx.get(app.url + path, headers=headers, timeout=60)


HEADING = r'<div id="first".*?<h1>[^<]+(<span[^<]*</span>)?</h1><p>[^<]{20,}[.]</p>'
ASKED = r'rel="stylesheet"|<link[^>]*modulepreload|<script [^>]*src="./assets|gradio_config'


def test_every_page_has_one_title_an_icon_and_nothing_of_gradios_before_its_heading_and_its_sentence(app):
    """Fonts apart, which are shown once they are there; scripts follow what is shown, and no style sheet is fetched."""
    titles, pictures = set(), set()
    for view in VIEWS:
        text = get(app, view.key).text
        facts, before = meta(text), text.partition("<noscript")[0]
        assert re.search(HEADING, before, re.DOTALL) and not re.search(ASKED, before), view.key
        assert "{url}" not in head_of(text) and "@Gradio" not in text and 'content="Gradio"' not in text
        assert all(len(values) == 1 for values in facts.values()), facts
        assert facts["title"] == facts["og:title"] and facts["og:url"] == [app.url + view.key]
        titles |= {*facts["title"]}
        pictures |= {httpx.get(*facts["og:image"], timeout=60).content}
    assert len(titles) == len(pictures) == len(VIEWS)
    assert {(one[:4], len(one) < 40_000) for one in pictures} == {(b"\x89PNG", True)}


@pytest.mark.parametrize(
    "path, title, canonical",
    [
        (
            "model?model=openai/clip-vit-large-patch14&by=task",
            "CLIP ViT-L/14",
            "model?model=openai/clip-vit-large-patch14",
        ),
        ("task?task=unisim/imagenet-ooo", "ImageNet-OOO", "task?task=unisim/imagenet-ooo"),
        ("board?suite=pairbench&sort=mean", "PairBench", "board?suite=pairbench"),
        ("board?suite=nowhere&sort=mean", "Board", "board"),
        (
            "compare?models=tiny,conse&suite=mini",
            "Tiny CLIP (bundled) and ConSE (EfficientNet-Lite0, WordLlama)",
            "compare?models=tiny,conse",
        ),
        ("compare?models=tiny", "Compare", "compare"),
        ("choose?size=3b&need=documents&__theme=dark", "Find pages and documents", "choose?need=documents&size=3b"),
    ],
)
def test_a_page_about_one_thing_has_its_name(app, path, title, canonical):
    facts = meta(get(app, path).text)
    assert facts["title"] == [f"{title} · Likeness"] and facts["canonical"] == [app.url + canonical]
    drawn = httpx.get(*facts["og:image"], timeout=60).content
    assert (drawn == get(app, f"picture.png?page={path.partition('?')[0]}").content) == ("?" not in canonical)


@pytest.mark.parametrize("text", ['x"><script>alert(1)</script>', "</script><b>", "{{7*7}}${7*7}", "\x00\ud800"])
@pytest.mark.parametrize("address", ["model?model=", "board?suite=", "sql?q="])
def test_what_a_query_holds_is_not_in_the_head_and_elsewhere_it_is_text(app, address, text):
    """A hostile title of a model: tests/browser/test_board.py."""
    plain = get(app, address.partition("?")[0])
    hostile = get(app, address + quote(text, errors="surrogatepass"))
    assert hostile.status_code == 200 and meta(hostile.text) == meta(plain.text)
    assert "<script>alert" not in hostile.text and "</script><b>" not in hostile.text


# ---- under which address


@pytest.mark.parametrize(
    "access, host, more, root",
    [
        (ANY, "a.example:80", {}, "http://a.example:80/"),
        (ANY, "a.example", {"root_path": "/likeness"}, "http://a.example/likeness/"),
        (ANY, "in", {"forwarded": "a.example, b", "proto": "https"}, "https://a.example/"),
        (ANY, "a.example", {"root_path": "https://b.example/x/"}, "https://b.example/x/"),
        (ANY, "a", {"app": SimpleNamespace(root_path="https://b.example/likeness")}, "https://b.example/likeness/"),
        (LOCAL, "localhost:1", {"forwarded": "board.example"}, "http://board.example/"),
        (LOCAL, "127.0.0.1", {"root_path": "/a", "forwarded": "other.example"}, "http://other.example/a/"),
        (LOCAL, "localhost:1", {"forwarded": "a b"}, ""),
        (LOCAL, "evil.example", {}, ""),
        (ANY, 'a"><script>', {}, ""),
        (ANY, "a.example/x", {}, ""),
        (ANY, "user@a.example", {}, ""),
        (ANY, "[::1]:7860", {}, "http://[::1]:7860/"),
        (ANY, "a", {"proto": "javascript"}, "http://a/"),
        (ANY, "", {}, ""),
    ],
)
def test_the_root_has_a_host_that_the_app_answers_under(access, host, more, root):
    names = {"host": host, "x-forwarded-host": more.get("forwarded", ""), "x-forwarded-proto": more.get("proto", "")}
    headers = [(name.encode(), value.encode()) for name, value in names.items() if value]
    scope = {"type": "http", "scheme": "http", "headers": headers, "root_path": "", **more}
    assert public_root(scope, access)[0] == root


def test_one_visitors_host_is_in_no_other_answer(app):
    whole(app.url + "board?suite=mieb")
    evil = get(app, "board?suite=mieb", **{"x-forwarded-host": "evil.example"})
    mine = get(app, "board?suite=mieb")
    assert "evil.example" not in head_of(mine.text)
    assert (evil.headers["cache-control"], mine.headers["cache-control"]) == ("no-store", "private, no-cache")
    assert "evil.example" in head_of(evil.text) and "x-forwarded-host" in evil.headers["vary"]


def test_robots_may_read_every_page(app):
    text = get(app, "robots.txt").text
    assert "Disallow: /export/" in text and "Disallow: /\n" not in text
