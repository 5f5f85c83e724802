"""A page is rendered once; a person reads an error as a page with a way on, a program as JSON; every answer has the
security headers, and a page's policy names exactly the inline scripts that it was sent with."""

import asyncio
import base64
import hashlib
import html
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import quote, urljoin

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.html.error_page import error_page
from leaderboard.pages import MOVED, VIEWS
from leaderboard.web.access import HUB
from leaderboard.web.pages import CSP, FIXED, Answers, Pages, policy, script_hashes
from leaderboard.web.responses import refusal
from tests.golden.site import Site


def answers(app, **options):
    return Answers(app, **{"page": lambda path, *_: f"page of {path}", "fetched": ["data"], **options})


FETCHED = ("/data/nothing", "/export/nothing", "/gradio_api/nothing", "/static/x/nothing.js", "/assets/nothing.js")


def test_an_address_without_a_page_is_a_page_with_a_way_on(app):
    leads_to = set()
    for path, root in (("nosuchpage", "./"), ("nosuchpage/", "../"), ("boards", "./"), ("model/openai/clip", "../../")):
        address = f"{app.url}{path}"
        answer = httpx.get(f"{address}?__theme=dark", timeout=60)
        assert answer.status_code == httpx.head(address).status_code == 404
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        assert ('Did you mean <a href="./board">' in answer.text) == (path == "boards")
        links = re.findall(r'href="([^"]*)"', answer.text)
        assert all(link.startswith(root) for link in links)
        leads_to |= {urljoin(address, link) for link in links}
    assert {httpx.get(address, timeout=60).status_code for address in leads_to} == {200}


NONSENSE = (
    "suite=nowhere&model=no/body&task=x/y&method=guess&metric=%3Cscript%3Ewindow.harmed=1%3C/script%3E&paper=none"
    "&set=%22%3E%3Cimg%20src=x%20onerror=window.harmed=1%3E&q=%00&n=1e999&page=-7&claim=nothing&pair=a,b&point=%00"
    "&models=nobody/nothing&select=%3Cscript%3Ewindow.harmed=1%3C/script%3E&w=IQA:1e9,Nope:2,IQA:nan&coverage=7"
    "&sort=-%3Cimg%20src=x%20onerror=window.harmed=1%3E&columns=__proto__,constructor&released=9999-&kind=spoon"
)
FAILED = r"Traceback|Exception|\bError:|undefined|\bNaN\b|\[object|Something failed"


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.key)
def test_nonsense_in_the_address_shows_every_page_all_the_same(app, view):
    lines = [line for part in Site(app.url).page(view.key, NONSENSE) if isinstance(part, list) for line in part]
    assert not [line for line in lines if line.startswith("<img src=x") or re.search(FAILED, line)]


@pytest.mark.parametrize("path", FETCHED)
def test_what_programs_fetch_keeps_its_own_404(app, path):
    answer = httpx.get(app.url.rstrip("/") + path, timeout=60)
    assert answer.status_code == 404 and "<!doctype" not in answer.text
    if path.startswith(("/data", "/export", "/gradio_api")):
        assert answer.json()


def test_a_path_is_shown_as_text_and_cut(app):
    text = httpx.get(f"{app.url}{quote('<script>x</script>' + 'y' * 500)}", timeout=60).text
    assert "<script>x" not in text and "&lt;script&gt;x" in text and "y" * 100 not in text


def test_only_a_visitors_404_is_replaced():
    def answer(request):
        return Response("own", status_code=int(request.path_params["status"]))

    app = answers(Starlette(routes=[Route("/{status:int}", answer, methods=["GET", "POST"])]))
    client = TestClient(app)
    assert client.get("/404").text == "page of /404" and client.get("/200").text == client.get("/500").text == "own"
    assert client.post("/404").text == "own" and client.get("/data/404").text == "Not Found"
    assert client.get("/").text == "page of /"
    below = TestClient(app, root_path="/here")
    assert below.get("/here/none").text == "page of /none" and below.get("/hereafter").text == "page of /hereafter"


# ---- refusals

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
LONG = "x" * 5000
REFUSED = {
    f"data/board/{'x' * 900}": 400,
    "data/rank/mieb?w=x:y": 400,
    "gradio_api/file=/etc/passwd": 404,
    "gradio_api/call/nothing/unknown": 404,
}


@pytest.mark.parametrize("path, status", REFUSED.items(), ids=range(len(REFUSED)))
def test_a_refused_link_is_a_page_in_a_browser_and_json_in_a_program(app, path, status):
    answer, program = (httpx.get(f"{app.url}{path}", headers=headers, timeout=60) for headers in (BROWSER, {}))
    assert answer.status_code == program.status_code == status
    sentence = program.json()["error"]
    assert program.headers["content-type"] == "application/json" and answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "text/html; charset=utf-8" and answer.headers["vary"] == "accept"
    shown = html.unescape(re.sub(r"<[^>]*>", "", answer.text.partition("<main")[2]))
    assert sentence in shown and "Traceback" not in answer.text
    assert "x" * 201 not in answer.text and len(answer.text) < 40_000
    assert "'sha256-" in answer.headers["content-security-policy"]
    assert httpx.head(f"{app.url}{path}", headers=BROWSER).content == b""


def test_a_failure_is_a_page_and_keeps_when_to_try_again():
    def answer(request):
        kind = request.path_params["kind"]
        if kind == "text":
            return Response("no JSON", status_code=500)
        return refusal("Too many" if kind == "many" else f"<b>{LONG}</b>", 429, retry_after=7)

    page = partial(error_page, site="Site", pages=[("Board", "")], bar=lambda root: "", look="")
    client = TestClient(answers(Starlette(routes=[Route("/data/{kind}", answer)]), page=page))
    many = client.get("/data/many", headers=BROWSER)
    assert many.headers["retry-after"] == "7" and "<p>Too many.</p>" in many.text
    assert "<b>" not in client.get("/data/long", headers=BROWSER).text
    unexplained = client.get("/data/text", headers=BROWSER)
    assert unexplained.status_code == 500 and unexplained.text.startswith("<!doctype html>")
    assert client.get("/data/text").text == "no JSON"


# ---- headers


def test_scripts_of_any_site_may_read_the_api_and_nothing_else():
    client = TestClient(answers(refusal("Too many", 429)))
    for path, send, opened in (
        ("/api/v1/suites", client.get, True),
        ("/data/x", client.get, False),
        ("/api/v1/pair", client.post, False),
    ):
        headers = send(path).headers
        assert headers.get("access-control-allow-origin") == ("*" if opened else None)
        assert headers["cross-origin-resource-policy"] == ("cross-origin" if opened else "same-origin")


PAGE = '<script>let a = 1;</script><script type="module" src="./a.js"></script><SCRIPT data-mode>b()</SCRIPT >'


def hashed(script):
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def directives(text):
    return {name: sources for name, *sources in (part.split() for part in text.split(";"))}


async def fails(request):
    raise RuntimeError("not caught anywhere")


async def streamed(request):
    return StreamingResponse(iter([PAGE[:20], PAGE[20:60], PAGE[60:]]), media_type="text/html; charset=utf-8")


@pytest.fixture
def client():
    async def page(request):
        return HTMLResponse(PAGE)

    async def numbers(request):
        return JSONResponse({"script": PAGE}, headers={"x-content-type-options": "its own"})

    routes = [Route("/", page), Route("/streamed", streamed), Route("/numbers", numbers), Route("/fails", fails)]
    wrapped = answers(Starlette(routes=routes), frame_hosts=("https://hub.example",))
    return TestClient(wrapped, raise_server_exceptions=False)


@pytest.mark.parametrize("path, status", [("/", 200), ("/numbers", 200), ("/none", 404), ("/fails", 500)])
def test_every_answer_has_every_header_once(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    for name, value in FIXED.items():
        own = path == "/numbers" and name == "x-content-type-options"
        assert answer.headers.get_list(name) == ["its own" if own else value]
    assert len(answer.headers.get_list(CSP)) == 1


@pytest.mark.parametrize("path", ["/", "/streamed"])
def test_a_page_may_run_the_scripts_it_came_with(client, path):
    answer = client.get(path)
    assert answer.text == PAGE
    scripts = directives(answer.headers[CSP])["script-src"]
    assert scripts == ["'self'", "'unsafe-eval'", hashed("let a = 1;"), hashed("b()")]
    assert directives(client.get("/numbers").headers[CSP])["script-src"] == ["'self'", "'unsafe-eval'"], "no page"
    assert directives(client.head("/").headers[CSP])["frame-ancestors"] == ["'self'", "https://hub.example"]


def test_lines_are_hashed_as_browsers_read_them():
    assert script_hashes(b"<script>\r\na()\r\n</script>") == [hashed("\na()\n")]


def test_the_policy_forbids_what_is_not_needed():
    on_a_space = directives(policy(frame_hosts=[HUB]))
    assert HUB in on_a_space["connect-src"] and HUB in on_a_space["img-src"], "Gradio asks it whose Space this is"
    sources = directives(policy())
    assert sources["default-src"] == ["'self'"] and sources["connect-src"] == ["'self'"]
    assert sources["object-src"] == sources["frame-src"] == ["'none'"]
    assert sources["base-uri"] == sources["form-action"] == sources["frame-ancestors"] == ["'self'"]
    assert "'unsafe-inline'" not in sources["script-src"]
    assert not any("*" in source or source in ("http:", "https:") for each in sources.values() for source in each)


def test_old_browsers_read_who_may_frame_where_that_can_be_said():
    def framed(*hosts):
        return TestClient(answers(Starlette(), frame_hosts=hosts)).get("/").headers.get("x-frame-options")

    assert framed() == "SAMEORIGIN" and framed("https://hub.example") is None


# ---- rendered once


@pytest.fixture
def rendered():
    """What Gradio's part of the app was asked to render."""
    return []


@pytest.fixture
def site(rendered):
    """Pages around what names each request that it renders."""

    async def page(request):
        rendered.append(str(request.url))
        await asyncio.sleep(0.01)
        return HTMLResponse(f"<p>{request.url}</p>{PAGE}", 503 if "refused" in str(request.url) else 200)

    async def complete(request, key, markup):
        return f"{markup}<i>{request.query_params.get(key, '')}</i>", True

    pages = Middleware(
        Pages,
        keys=("", "board", "model", "refused"),
        complete=complete,
        version=lambda: "1",
        opens_on="board?suite=own",
        by_query=["docs/hosting"],
        moved=MOVED | {"model": ("board", ("mode", "inputs"))},
    )
    routes = [Route(f"/{path}", page) for path in ("", "board", "model", "config", "refused")]
    with TestClient(Starlette(routes=routes, middleware=[pages])) as client:  # one event loop
        yield client


def test_a_page_is_rendered_once_whatever_its_query(site, rendered):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: site.get(f"/board?x={number}&deep_link=y&page=nowhere"), range(40)))
    assert {answer.status_code for answer in found} == {200} and rendered == ["http://likeness.invalid/board"]
    assert "http://testserver/board</p>" in found[0].text
    assert site.head("/board").status_code == 200 and len(rendered) == 1
    assert "<i>clip</i>" in site.get("/model?model=clip").text and "<i></i>" in site.get("/model?q=1").text
    assert len(rendered) == 2


def test_a_page_is_checked_before_it_is_sent_again(site):
    first = site.get("/board")
    assert first.headers["cache-control"] == "private, no-cache"
    again = site.get("/board", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers[CSP] == first.headers[CSP] and hashed("b()") in first.headers[CSP]
    packed = site.get("/board", headers={"accept-encoding": "br"})
    assert packed.headers["content-encoding"] == "br" and packed.text == first.text
    assert "content-encoding" not in site.get("/board", headers={"accept-encoding": "gzip"}).headers


def test_each_host_has_a_page_of_its_own(site, rendered):
    own = site.get("/board").text
    assert "evil.example" in site.get("/board", headers={"host": "evil.example"}).text
    behind = site.get("/board", headers={"x-forwarded-host": "other.example", "x-forwarded-proto": "https"})
    assert "https://other.example/board</p>" in behind.text and behind.headers["cache-control"] == "no-store"
    assert site.get("/board").text == own and "testserver" in own and len(rendered) == 1


def test_a_page_and_its_store_read_the_same_name(app):
    """One thing and an empty name: the page of the empty name, stored for all who name nothing, is about nothing."""
    titles = [
        re.search("<title>(.*?)</title>", httpx.get(f"{app.url}task{query}", timeout=60).text)[1]
        for query in ("?task=unisim/imagenet-ooo&task=", "?task=", "?task=unisim/imagenet-ooo")
    ]
    assert titles[0] == titles[1] != titles[2]


def test_the_configuration_is_that_of_a_page_or_of_all(site, rendered):
    for query, asked in (("?page=board", "?page=board"), ("?page=", "?page="), ("?page=nowhere&x=1", ""), ("", "")):
        assert f"/config{asked}</p>" in site.get(f"/config{query}").text
    assert len(rendered) == 3


@pytest.fixture(params=["", "/below"])
def ask(request, site):
    """An answer at an address below the app's root, its status and where it leads to."""
    root, client = request.param, TestClient(site.app, root_path=request.param)

    def asked(address, headers=None):
        answer = client.get(f"{root}/{address}", headers=headers, follow_redirects=False)
        return answer, (answer.status_code, answer.headers.get("location", f"{root}/").removeprefix(f"{root}/"))

    return asked


def test_an_address_that_moved_leads_on_with_its_query(ask):
    for old, new in (
        ("model?models=a&inputs=b%20c", "board?models=a&inputs=b%20c"),
        ("compare?models=a&mode=pair", "try?models=a&mode=pair"),
        ("docs", "docs/quickstart"),
        ("lens?pairs=grid-rated", "generators?pairs=grid-rated"),
        ("languages?language=swa", "board?suite=mieb&language=swa"),
        ("languages", "board?suite=mieb"),
    ):
        assert ask(old)[1] == (301, new)
    for address in ("model?models=a", "board?inputs=b"):
        assert ask(address)[1] == (200, "")


def test_a_failure_is_not_stored(site, rendered):
    for _ in range(2):
        assert site.get("/refused").status_code == 503
    assert len(rendered) == 2


def test_a_visitor_who_opens_the_app_comes_to_the_page_it_opens_on(ask):
    typed = {"sec-fetch-site": "none"}
    answer, led = ask("", typed)
    assert led == (307, "board?suite=own") and answer.headers["cache-control"] == "no-store"
    stays = ("", {"sec-fetch-site": "same-origin"}), ("", {}), ("?q=1", typed), ("board", typed)
    others = ((f"?page={page}", {}) for page in ("", "nowhere", "/other.example", "https://other.example"))
    for address, headers in (*stays, *others):
        assert ask(address, headers)[1] == (200, ""), address
    for query, leads_to in (
        ("page=board&suite=mieb&__theme=dark", "board?suite=mieb&__theme=dark"),
        ("q=a/b%20c&page=docs%2Fhosting", "docs/hosting?q=a/b%20c"),
        ("page=model", "model"),
    ):
        assert ask(f"?{query}", typed)[1] == (307, leads_to)
