"""Each view's head: titles, descriptions and addresses from the database, and nothing of what a query holds."""

from __future__ import annotations

import re
from contextlib import nullcontext
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from starlette.applications import Starlette

from leaderboard.data import model_queries, suite_queries, task_queries
from leaderboard.data.database import Database
from leaderboard.data.languages import NAMES
from leaderboard.face.addresses import public_root
from leaderboard.face.heads import Heads
from leaderboard.page import Described, View
from leaderboard.pages import VIEWS
from leaderboard.pages.sql.routes import examples
from leaderboard.web.security.access import Access
from tests.leaderboard.web.launched import Served

HOSTILE = (
    'x"><script>alert(1)</script>',
    "</title><img src=x onerror=alert(1)>",
    "{{7*7}}${7*7}",
    "' OR 1=1 --",
    "\x00\ud800",
    "y" * 190,
)


def head_of(text: str) -> str:
    return text.partition("<head>")[2].partition("</head>")[0]


def meta(text: str) -> dict[str, list[str]]:
    """The contents of the elements that name a page, by name or property."""
    out: dict[str, list[str]] = {}
    for name, content in re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"', head_of(text)):
        out.setdefault(name, []).append(unescape(content))
    out["title"] = [unescape(title) for title in re.findall(r"<title>([^<]*)</title>", head_of(text))]
    out["canonical"] = [unescape(link) for link in re.findall(r'<link rel="canonical" href="([^"]*)"', head_of(text))]
    return out


def get(app: Served, path: str, **headers: str) -> httpx.Response:
    return httpx.get(app.url + path, headers=headers, timeout=60)


@pytest.mark.parametrize("key", [view.key for view in VIEWS], ids=[view.key or "overview" for view in VIEWS])
def test_every_page_has_one_title_and_nothing_of_gradios(app: Served, key: str) -> None:
    text = get(app, key).text
    facts = meta(text)
    assert "{url}" not in head_of(text) and "@Gradio" not in text and 'content="Gradio"' not in text
    assert all(len(values) == 1 for values in facts.values()), facts
    (title,), (sentence,) = facts["title"], facts["description"]
    assert title.endswith("Likeness") and title == facts["og:title"][0] == facts["twitter:title"][0]
    assert len(sentence) > 30 and sentence == facts["og:description"][0]
    assert facts["canonical"] == facts["og:url"] == [app.url + key]
    picture = httpx.get(facts["og:image"][0], timeout=60)
    assert picture.status_code == 200 and picture.headers["content-type"] == "image/png"


def test_no_two_pages_share_a_title(app: Served) -> None:
    titles = [meta(get(app, view.key).text)["title"][0] for view in VIEWS]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(
    ("path", "title", "words"),
    [
        ("board?suite=pairbench&sort=mean", "PairBench board", "highest mean"),
        ("board?suite=mieb", "MIEB board", "how certain its rank is, is not known"),
        ("board?suite=cfred-coco", "cFreD: COCO board", "COCO prompts"),
        ("model?model=openai/clip-vit-large-patch14&by=task", "CLIP ViT-L/14", "encoder, 428 M parameters. Ranked"),
        ("task?task=unisim/imagenet-ooo", "ImageNet-OOO", "UniSim-Bench"),
        ("generators?set=coco", "Which metrics follow people on COCO", "None of the 9 metrics is proved"),
        ("generators?set=hpdv2", "Which metrics follow people on HPDv2", "and 1 more that was trained on this set"),
        ("generators?metric=cfred", "cFreD on HPDv2: follows people", "(95% interval 75 to 100)"),
        ("judges?suite=pairbench", "Judges on PairBench", "InternVL2.5-8B is the most symmetric"),
        ("judges?splits=images", "Judges on PairBench, two images", "agrees most with the truth"),
        ("judges?judge=gemini-1.5-flash", "Gemini 1.5 Flash as a judge", "MMScore 56.55%"),
        ("correlations?suites=pairbench", "Correlations: categories of PairBench", "Most alike are COCO and IN100"),
        ("correlations?preset=mieb-tasks", "Correlations: tasks of MIEB", "Least alike are"),
        ("map?of=models&colour=kind", "Map of the models of MIEB", "groups"),
        ("smaller-suite?suite=mieb", "A smaller MIEB", "130 tasks"),
        (
            "lens?pairs=study-blur",
            "Pairs of backbones of cFreD: Known order of strengths: blur (synthetic)",
            "2 text backbones: cFreD follows the known order",
        ),
        ("choose?need=search&page=3", "Search images by text or by image", "has the highest mean over 45 tasks"),
    ],
)
def test_a_view_is_named_by_its_figures(app: Served, path: str, title: str, words: str) -> None:
    facts = meta(get(app, path).text)
    assert facts["title"] == [f"{title} · Likeness"] and words in facts["description"][0]
    first = path.partition("&")[0]
    assert facts["canonical"] == [app.url + first], "only what names the view"
    page, _, query = first.partition("?")
    assert facts["og:image"] == [f"{app.url}share/{page}.png?{query}"]


@pytest.mark.parametrize(
    ("path", "title", "words"),
    [
        (
            "",
            "Likeness",
            "UniSim-Bench core: UniSim ViT-L/14 leads, trained on some of these data sets, with no significant ",
        ),
        ("models?kind=encoder", "Models · Likeness", "models have scores"),
        ("tasks", "Tasks · Likeness", "tasks have published or computed scores"),
        ("about", "About · Likeness", " conflict with what is printed; version "),
        ("compare", "Try · Likeness", "Ask "),
    ],
)
def test_a_list_and_the_first_page_say_what_they_found(app: Served, path: str, title: str, words: str) -> None:
    facts = meta(get(app, path).text)
    assert facts["title"] == [title] and words in facts["description"][0]
    assert facts["canonical"] == [app.url + path.partition("?")[0]]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("generators?set=coco&metric=cfred&backbone=x&first=y", "set=coco&metric=cfred"),
        ("generators?metric=cfred&set=coco", "set=coco&metric=cfred"),
        ("judges?splits=images&suite=none", "splits=images"),
        ("judges?splits=x&suite=pairbench", "suite=pairbench"),
        ("judges?judge=gemini-1.5-flash&suite=pairbench&split=z", "judge=gemini-1.5-flash&suite=pairbench"),
        ("correlations?suites=mieb&level=tasks&minimum=7&models=tiny", "level=tasks"),
        ("map?suites=pairbench&of=models&seed=7&distance=0.2", "of=models&suites=pairbench"),
        ("smaller-suite?suite=mieb&size=7&hours=3", "suite=mieb"),
        ("choose?need=search&size=1b&hardware=x", "need=search&size=1b"),
    ],
)
def test_a_canonical_address_has_what_names_the_view_in_one_order(app: Served, path: str, query: str) -> None:
    """So there are only as many share pictures as views."""
    assert meta(get(app, path).text)["canonical"] == [app.url + path.partition("?")[0] + "?" + query]


def test_an_opened_pair_is_named_with_its_interval(app: Served) -> None:
    facts = meta(get(app, "correlations?pair=mieb:Retrieval,mieb:Compositionality").text)
    assert facts["title"] == ["Retrieval and Compositionality · Likeness"]
    assert facts["description"][0].startswith("Retrieval and Compositionality (Spearman ρ ")
    assert facts["canonical"] == [f"{app.url}correlations?pair=mieb%3ARetrieval%2Cmieb%3ACompositionality"] or (
        facts["canonical"] == [f"{app.url}correlations?pair=mieb:Retrieval%2Cmieb:Compositionality"]
    )


def test_an_example_in_sql_has_its_title_and_a_visitors_own_text_none(app: Served) -> None:
    example = examples()[1]
    facts = meta(get(app, f"sql?query={quote(example['sql'])}").text)
    assert facts["title"] == [f"{example['title']} · Likeness"]
    own = meta(get(app, f"sql?query={quote(example['sql'] + ' --')}").text)
    assert own == meta(get(app, "sql").text)


def test_a_claim_is_named_by_its_words(app: Served, database: Path) -> None:
    claim = suite_queries.claims(Database(database)).iloc[0]
    facts = meta(get(app, f"claims?claim={quote(claim['key'])}").text)
    assert facts["title"][0].startswith(f"{claim['paper']}: ") and claim["verdict"] in facts["description"][0].lower()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize(
    "name",
    [
        "board?suite=",
        "model?model=",
        "task?task=",
        "claims?claim=",
        "correlations?suites=",
        "correlations?preset=",
        "correlations?pair=",
        "map?suites=",
        "judges?judge=",
        "judges?suite=",
        "generators?set=",
        "generators?metric=",
        "lens?metric=",
        "smaller-suite?suite=",
        "sql?query=",
        "choose?need=",
    ],
)
def test_what_a_query_holds_is_not_in_the_head(app: Served, name: str, text: str) -> None:
    plain = get(app, name.partition("?")[0])
    hostile = get(app, name + quote(text, errors="surrogatepass"))
    assert hostile.status_code == 200 and meta(hostile.text) == meta(plain.text)
    assert text not in hostile.text


def heads_of(view: View) -> Heads:
    """The heads of a site of one page, without a database."""
    return Heads(SimpleNamespace(db=SimpleNamespace(snapshot=nullcontext)), [view])


def test_a_hostile_title_of_a_model_is_text() -> None:
    title = '"><script>alert(1)</script>'
    view = View(key="x", title="X", draw=lambda site: None, describe=lambda *_: Described(title=title, sentence=title))
    markup = heads_of(view).markup("x", "", root="http://a.example/")
    assert "<script" not in markup and meta(f"<head>{markup}</head>")["title"] == [f"{title} · Likeness"]


def test_long_words_are_cut() -> None:
    view = View(
        key="x", title="X", draw=lambda site: None, describe=lambda *_: Described(title="t" * 999, sentence="s" * 999)
    )
    described = heads_of(view).describe("x", "")
    assert len(described.title) <= 110 and len(described.sentence) <= 300


def test_a_failure_to_describe_leaves_the_page() -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no such table")

    described = heads_of(View(key="x", title="X", sentence="Its own.", draw=lambda site: None, describe=fail)).describe(
        "x", "a=b"
    )
    assert (described.title, described.sentence) == ("X", "Its own.")


# ---- under which address


def scope(*, root: str = "", scheme: str = "http", **headers: str) -> dict[str, Any]:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "scheme": scheme, "headers": raw, "root_path": root}


ANY, LOCAL = Access(), Access(hosts=frozenset({"localhost", "board.example"}))


@pytest.mark.parametrize(
    ("access", "request_scope", "root"),
    [
        (ANY, scope(host="a.example:80"), "http://a.example:80/"),
        (ANY, scope(host="a.example", root="/likeness"), "http://a.example/likeness/"),
        (ANY, scope(host="in", x_forwarded_host="a.example, b", x_forwarded_proto="https"), "https://a.example/"),
        (ANY, scope(host="a.example", root="https://b.example/x/"), "https://b.example/x/"),
        (LOCAL, scope(host="localhost:1", x_forwarded_host="board.example"), "http://board.example/"),
        (LOCAL, scope(host="localhost:1", x_forwarded_host="evil.example"), "http://localhost:1/"),
        (LOCAL, scope(host="evil.example"), ""),
        (ANY, scope(host='a"><script>'), ""),
        (ANY, scope(host="a.example/x"), ""),
        (ANY, scope(host="user@a.example"), ""),
        (ANY, scope(host="[::1]:7860"), "http://[::1]:7860/"),
        (ANY, scope(host="a", x_forwarded_proto="javascript"), "http://a/"),
        (ANY, scope(), ""),
    ],
)
def test_the_root_has_a_host_that_the_app_answers_under(access: Access, request_scope: dict, root: str) -> None:
    assert public_root(request_scope, access) == root


def test_a_root_path_of_the_app_counts() -> None:
    app = Starlette()
    app.root_path = "https://b.example/likeness"
    assert public_root({**scope(host="a"), "app": app}, ANY) == "https://b.example/likeness/"


def test_one_visitors_host_is_in_no_other_answer(app: Served) -> None:
    evil = get(app, "board?suite=mieb", **{"x-forwarded-host": "evil.example"})
    mine = get(app, "board?suite=mieb")
    assert "evil.example" not in head_of(mine.text)
    assert evil.headers.get("cache-control") == mine.headers.get("cache-control") == "private, no-cache"
    sitemap = get(app, "sitemap.xml", **{"x-forwarded-host": "evil.example"})
    assert "private" in sitemap.headers["cache-control"] and "evil.example" not in get(app, "sitemap.xml").text


# ---- sitemap


def test_the_sitemap_has_every_page_model_task_and_claim(app: Served, database: Path) -> None:
    db = Database(database)
    text = get(app, "sitemap.xml").text
    addresses = {unescape(address) for address in re.findall(r"<loc>([^<]*)</loc>", text)}
    assert text.startswith("<?xml") and all(address.startswith(app.url) for address in addresses)
    models, tasks = model_queries.catalogue(db)["key"], task_queries.listed_tasks(db)["key"]
    expected = {view.key for view in VIEWS if view.listed}
    expected |= {f"model?model={quote(key, safe='/:~')}" for key in models}
    expected |= {f"task?task={quote(key, safe='/:~')}" for key in tasks}
    expected |= {f"board?suite={key}" for key in suite_queries.suites(db)["key"]}
    expected |= {f"languages?language={code}" for code in NAMES}  # the catalogue's 38, no other
    expected |= {f"claims?claim={quote(key, safe='/:~')}" for key in suite_queries.claims(db)["key"]}
    assert addresses == {app.url + address for address in expected}
    for address in (f"{app.url}model?model={quote(models.iloc[0], safe='/:~')}", f"{app.url}claims"):
        assert address in addresses and meta(httpx.get(address, timeout=60).text)["canonical"] == [address]


def test_robots_lead_to_the_sitemap(app: Served) -> None:
    text = get(app, "robots.txt").text
    assert f"Sitemap: {app.url}sitemap.xml" in text and "Disallow: /\n" not in text
