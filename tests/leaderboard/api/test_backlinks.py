"""What other sites may use: models, a table in a frame, a badge, the feed; and addresses of earlier versions."""

import re
import xml.etree.ElementTree as ET

import httpx
import pytest

from leaderboard.api import records


@pytest.fixture(scope="module")
def site(app):
    with httpx.Client(base_url=app.url, headers={"accept": "text/html"}, timeout=60) as client:
        yield client


def test_a_frame_shows_the_first_rows_or_one_model_without_scripts(site, suite_cache):
    rows = records.leaderboard(suite_cache, "mieb")
    answer = site.get("embed/board?limit=3&theme=dark")
    assert re.findall(r"model\?model=([^\"]+)", answer.text) == [row["model"] for row in rows[:3]]
    assert "<script" not in answer.text and '<html lang="en" class="dark">' in answer.text
    assert answer.headers["content-security-policy"].endswith("frame-ancestors 'self'")
    assert answer.headers["x-frame-options"] == "SAMEORIGIN", "other sites only as the host allows"
    one = site.get("embed/board", params={"suite": "mieb", "model": rows[4]["model"]}).text
    assert re.findall(r"model\?model=([^\"]+)", one) == [rows[4]["model"]]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("suite=mieb-light", "Did you mean"),
        ("model=%3Cscript%3E", "No model"),
        ("suite=pairbench&model=vqgan-clip", "has no scores in PairBench"),
    ],
)
def test_what_it_cannot_show_is_a_sentence(site, query, said):
    answer = site.get(f"embed/board?{query}", headers={"accept": "application/json"})
    assert answer.status_code == 400 and said in answer.json()["error"]


def test_a_badge_has_the_range_of_the_rank_and_other_sites_may_load_it(site, suite_cache):
    row = next(row for row in records.leaderboard(suite_cache, "mieb") if row["rank_low"] < row["rank_high"])
    answer = site.get(f"badge/mieb/{row['model']}.svg")
    texts = [node.text for node in ET.fromstring(answer.text).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "MIEB" and texts[1].startswith(f"{row['rank_low']}–{row['rank_high']} of ")
    assert answer.headers["content-type"] == "image/svg+xml" and "max-age" in answer.headers["cache-control"]
    assert all(
        site.get(path).headers["cross-origin-resource-policy"] == "cross-origin" for path in (answer.url, "embed.js")
    )
    assert site.get(answer.url, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    for path in ("badge/mieb/nobody/nothing.svg", "badge/nosuite/tiny.svg", "badge/mieb/%3Cscript%3E.svg"):
        assert site.get(path, headers={"accept": "application/json"}).status_code in (400, 404)


def test_the_feed_has_an_entry_a_version_with_the_page_it_tells_of(site, suite_cache):
    feed = ET.fromstring(site.get("moved.atom").text)
    atom = {"a": "http://www.w3.org/2005/Atom"}
    listed = [row["version"] for row in suite_cache.db.records("versions")]
    links = [entry.find("a:link", atom).get("href") for entry in feed.findall("a:entry", atom)]
    assert [link.partition("#v")[2] for link in links] == listed
    for node in (feed, *feed.findall("a:entry", atom)):
        assert all(node.find(f"a:{name}", atom).text for name in ("id", "title", "updated"))


def test_an_address_of_an_earlier_version_has_its_scores_and_says_so(site):
    """Version 1.3 had no suite of Multimodal RewardBench 2."""
    now, then = (site.get("api/v1/suites", params=params).json() for params in ({}, {"data": "1.3"}))
    assert then["data"] == "1.3" != now["data"]
    assert {row["key"] for row in now["result"]} - {row["key"] for row in then["result"]} >= {"mmrb2", "evalmuse"}
    page = site.get("board?suite=mieb&data=1.3").text
    assert re.search(r'class="site-state"[^>]*>[^<]*1\.3', page) and "data=1.3" in re.search(r"canonical[^>]*", page)[0]
    assert re.search(r'class="site-state"[^>]* hidden', site.get("board?suite=mieb").text)
    etags = {site.get("data/board/mieb", params=params).headers["etag"] for params in ({}, {"data": "1.3"})}
    assert len(etags) == 2


@pytest.mark.parametrize("data", ["0.9", "1.3'--", "../1.3", "9" * 5000, "%00", "1.3,1.4"])
def test_a_version_that_is_not_stored_is_refused(site, data):
    for path in ("board", "api/v1/suites", "data/board/mieb", "moved.atom"):
        answer = site.get(path, params={"data": data}, headers={"accept": "application/json"})
        assert answer.status_code == 404 and "1.3" in answer.text and "9" * 500 not in answer.text
