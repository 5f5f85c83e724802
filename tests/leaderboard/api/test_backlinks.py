"""What other sites may use: the list of models, and a table in a frame."""

import re

import httpx
import pytest

from leaderboard.api import records


@pytest.fixture(scope="module")
def site(app):
    with httpx.Client(base_url=app.url, headers={"accept": "text/html"}, timeout=60) as client:
        yield client


def test_every_model_has_a_page(site):
    answer = site.get("models.json", follow_redirects=True)
    siglip = next(row for row in answer.json()["result"] if row["key"] == "google/siglip-so400m-patch14-384")
    assert site.get(siglip["address"]).status_code == 200


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
