"""An app as hosts start it, all at once: behind a proxy under a path, with judges that cost, a hub, an own suite and an
own model."""

import csv
import os
import re
import subprocess
import sys
import threading
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from compute import tasks
from compute.catalog import shipped
from compute.tasks.source import Source
from leaderboard.pages import VIEWS
from tests.browser.conftest import CONTENT, framed, in_thread, serving, settle
from tests.compute.models import checkpoints, model_hub
from tests.compute.models.chat_server import running
from tests.serving import ROOT

PREFIX = "/likeness"
SUITE = """
title = "Field notes"
aggregate = "category-mean"
weights = { "Shapes" = 3 }
[[tasks]]
file = "choices.csv"
title = "Nearest drawing"
category = "Shapes"
[[tasks]]
task = "mini/odd-one-out"
"""
ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")
JUDGES = "gpt-4o-2024-11-20,gemini-1.5-pro"
DONE, TRAY = ".cp-result[data-done=yes]", ".likeness-tray[data-ready=true][data-busy=false]"
TABLE = ".likeness-board[data-ready=true]"


def proxy(target):
    """Passes everything below the prefix on to `target`, without the prefix, and nothing else."""
    client = httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_keepalive_connections=0))

    async def forward(request):
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "accept-encoding")}
        sent = client.build_request(
            request.method,
            f"{target}{request.path_params['path']}",
            params=request.query_params,
            content=await request.body(),
            headers=headers | {"x-forwarded-host": request.headers["host"], "x-forwarded-proto": "http"},
        )
        found = await client.send(sent, stream=True)
        dropped = ("content-length", "transfer-encoding", "connection")
        kept = {name: value for name, value in found.headers.items() if name not in dropped}
        return StreamingResponse(found.aiter_raw(), status_code=found.status_code, headers=kept)

    return Starlette(routes=[Route(PREFIX + "/{path:path}", forward, methods=["GET", "HEAD", "POST", "DELETE"])])


def own_suite(folder):
    """Drawings of a bundled task as files with a manifest, and the suite's file."""
    choices = tasks.load(shipped().task("mini/image-choice"), source=Source(offline=True))["default"]
    with (folder / "choices.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["reference", "alternative_1", "alternative_2", "answer"])
        for row in range(24):
            sides = {f"{at}-{row}.png": side for at, side in enumerate((choices.reference, *choices.alternatives))}
            for name, side in sides.items():
                (folder / name).write_bytes(side.read(row))
            rows.writerow([*sides, choices.answer[row] + 1])
    (folder / "suite.toml").write_text(SUITE)
    return folder / "suite.toml"


@pytest.fixture(scope="module")
def endpoint():
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub with the suggested model in small."""
    with model_hub.serving() as hub:
        published = checkpoints.open_clip(tmp_path_factory.mktemp("published") / "whole")
        hub.publish(ROW.weights, published, commit=ROW.revision)
        yield hub


@pytest.fixture(scope="module")
def site(endpoint, hub, tmp_path_factory):
    """The address that visitors use."""
    folder = tmp_path_factory.mktemp("host")
    suite, model = own_suite(folder), checkpoints.clip(folder / "my model")
    place = {"LIKENESS_RESULTS": str(folder / "results"), "LIKENESS_DATABASE": str(folder / "likeness.duckdb")}
    run = [sys.executable, "-m", "compute", "run", "--suite", str(suite), "--models", "tiny,tiny-random", "--offline"]
    done = subprocess.run(run, cwd=ROOT, env=os.environ | place, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    environment = {
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(folder / "hub"),
        "LIKENESS_ENDPOINT": endpoint.url,
        "LIKENESS_FRAME_HOSTS": "http://127.0.0.1:*",
    }
    options = ("--suite", str(suite), "--models", str(model), "--root-path", PREFIX)
    with (
        serving(folder / "likeness.duckdb", *options, environment=environment) as inner,
        in_thread(proxy(inner)) as outer,
    ):
        yield f"{outer}{PREFIX}/"


@pytest.mark.parametrize(
    "address, ready",
    [
        ("board?suite=mieb", TABLE),
        ("correlations?suites=mieb", "#correlations-figure [data-listens=pair]"),
        ("task?task=mini/photographs", ".js-plotly-plot .main-svg"),
    ],
    ids=["board", "correlations", "task"],
)
def test_everything_lies_below_the_path(visit, site, address, ready):
    page = settle(visit(address, site=site, ready=ready), ready)
    assert [path for path in page.watch.paths if path != "," and not path.startswith(f"{PREFIX}/")] == []
    links = page.locator("a[href]").evaluate_all("links => links.map(link => link.href)")
    inside = [urlsplit(link).path for link in links if urlsplit(link).netloc == urlsplit(site).netloc]
    assert inside and all(path.startswith(PREFIX) for path in inside)


def test_an_address_without_a_page_leads_on_and_another_site_is_refused(visit, site):
    page = visit("no/boards", site=site, expected="404")
    page.locator("main").get_by_role("link", name="Board", exact=True).click()
    page.wait_for_selector(TABLE)
    foreign = {"origin": "http://evil.example", "content-type": "application/json"}
    for path in ("gradio_api/queue/join", "live/input", "gradio_api/mcp/"):
        assert httpx.post(site + path, headers=foreign, content=b"{}", timeout=60).status_code == 403


def test_it_opens_on_the_board_of_ones_own_suite_by_its_weights(visit, site):
    page = visit("", site=site, ready=TABLE, dark=None)
    assert urlsplit(page.url).path == f"{PREFIX}/board" and "suite=own-field-notes" in page.url
    text = page.locator(".likeness-board").inner_text()
    assert "Own suite: Field notes" in text and "Weights in the mean: Shapes 3, OOO 1." in text
    payload = page.evaluate("fetch('data/board/own-field-notes').then((answer) => answer.json())")
    row, keys = [row["model"] for row in payload["rows"]].index("tiny"), [one["key"] for one in payload["columns"]]
    shapes, odd = (payload["cells"][row][keys.index(name)] / 10 for name in ("Shapes", "OOO"))  # sent as whole tenths
    assert payload["ranking"]["mean"][row] == pytest.approx((3 * shapes + odd) / 4, abs=0.1)
    page = visit("task?task=own/field-notes/nearest-drawing", site=site)
    page.get_by_text("Own suite: Field notes").first.wait_for()


def test_an_own_model_is_tried_beside_the_others(visit, site):
    page = visit("try?mode=pair&inputs=cat,cat-face&models=own/my-model,ssim", site=site, ready=DONE)
    assert page.locator(".tr-models .tr-pick").first.inner_text().strip() == "my model (own)"
    row = page.locator(".cp-row[data-model='own/my-model']")
    row.locator("summary").click()
    assert "The host's own model" in row.inner_text() and "No percentile: it is not calibrated" in row.inner_text()
    row.locator("a").last.click()
    page.get_by_text("Try it on your own images and texts").wait_for()
    assert "my model/" not in page.content(), "no folder of the machine"


KEYS = [*(view.key for view in VIEWS), "docs/hosting"]


@pytest.mark.parametrize("keys", [KEYS[:7], KEYS[7:14], KEYS[14:]], ids=["first", "second", "third"])
def test_frames_that_are_sized_by_their_page_settle_at_the_heights_of_their_pages(visit, site, keys):
    """As on the Hub, which opens a page by the query alone."""
    for key, frame in zip(keys, framed(visit, [f"{site}?page={k}&__theme=dark" for k in keys]), strict=True):
        assert urlsplit(frame.url).path == f"{PREFIX}/{key}"
        frame.wait_for_function(f"Math.abs({CONTENT} - innerHeight) <= Math.max(64, innerHeight / 20)", polling=100)
        if key == "try":
            height = frame.evaluate("innerHeight")
            frame.get_by_text("Many pairs at once: a CSV or ZIP").click()
            frame.wait_for_function(f"{CONTENT} > {height} && {CONTENT} <= innerHeight", polling=100)


def test_links_keep_the_theme_and_the_version_of_the_data_and_copied_ones_the_version_alone(visit, site):
    page = visit("about?data=1.3", site=site, dark=True)
    away = page.locator("main a[href^='https://']").first
    assert (away.get_attribute("target"), away.get_attribute("rel")) == ("_blank", "noopener noreferrer")
    page.locator(".site-bar").get_by_role("link", name="Choose", exact=True).click()
    page.wait_for_url("**/choose?data=1.3&__theme=dark")
    page.locator(".site-state", has_text="1.3").wait_for()
    page.get_by_role("button", name="Copy link").first.click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"{site}choose?data=1.3"
    page.locator(".site-bar-theme").click()
    page.wait_for_url("**/choose?data=1.3&__theme=light")
    page.locator(".site-state a").click()
    page.locator(".site-state").wait_for(state="hidden")
    today = page.locator(".site-state").get_attribute("data-version")
    page.get_by_role("button", name="Copy link").first.click()
    page.get_by_text("Copied").wait_for()
    assert today in parse_qs(urlsplit(page.evaluate("navigator.clipboard.readText()")).query)["data"]


def test_judges_are_asked_by_a_press_alone(visit, site, endpoint):
    """Neither by a link, nor by a script's click, nor in a frame of another site, nor by a table without its box."""
    before = endpoint.requests()
    link = f"try?mode=odd&inputs=heart-left,heart-left-moved,heart-right&models=ssim,{JUDGES}"
    frame = (
        f"<title>Other</title><link rel=icon href='data:,'><iframe width=1200 height=850 src='{site}{link}'></iframe>"
    )
    with in_thread(Starlette(routes=[Route("/", lambda request: HTMLResponse(frame))])) as other:
        framing = visit(site=other + "/", ready="iframe", expected="request to")
        framed = framing.frame_locator("iframe")
        framed.locator(TRAY).wait_for()
        page = visit(link, site=site, ready=DONE)
        assert [row.get_attribute("data-model") for row in page.locator(".cp-row").all()] == ["ssim"]
        cost = "2 judges: 4 requests to the host’s endpoint."
        assert f"Judges are asked only when you press Compare: {cost}" in page.locator(".tr-notice").inner_text()
        page.evaluate("document.querySelector('.tr-ask > .tr-primary').click()")
        page.get_by_text("Many pairs at once: a CSV or ZIP").click()
        box = page.get_by_label(f"For each pair, also ask {cost}")
        table = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"first,second\nexample:cat,example:cat-face\n"}
        page.locator(".likeness-batch input[type=file]").set_input_files(table)
        page.get_by_role("link", name="Download the scores (CSV)").wait_for()  # by now the others would have been asked
        assert framed.locator(".cp-result").count() == 0 and endpoint.requests() == before
        framed.get_by_role("button", name="Compare", exact=True).click()  # a press in the frame is one
        framed.locator(DONE).wait_for()
        assert endpoint.requests() == before + 4
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator(f"{DONE} .cp-row[data-model='gemini-1.5-pro']").wait_for()
    assert endpoint.requests() == before + 8
    box.check()
    page.locator(".likeness-batch input[type=file]").set_input_files(table)
    page.locator(".likeness-batch .pg-table", has_text="GPT-4o").wait_for()
    assert endpoint.requests() == before + 12


def test_a_download_shows_its_progress_and_can_be_stopped(visit, site, hub):
    hub.held, hub.asked = threading.Event(), []
    page = visit(f"try?mode=choice&inputs=cat,cat-face,cat-cheek&models=ssim,{ROW.key}", site=site, ready=TRAY)
    press = page.get_by_role("button", name="Compare", exact=True)
    press.click()
    page.locator(".cp-download", has_text=re.compile(f"Downloading {ROW.title}: 0 of 4 MB")).wait_for()
    page.get_by_role("button", name="Stop the download").click()
    page.locator(".pg-message", has_text="was stopped").wait_for()
    page.locator(DONE).wait_for()
    assert page.locator(".cp-row .cp-problem").count() == 1
    hub.held.set()
    press.click()
    page.locator(f".cp-row[data-model='{ROW.key}']", has_text="picks").wait_for()
    assert page.locator(".cp-download").count() == 0
