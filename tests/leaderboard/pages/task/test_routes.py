"""The addresses of single items, small pictures and run details."""

import io
import re
from urllib.parse import quote

import pytest
from PIL import Image

from tests.leaderboard.served import client as client_of


@pytest.fixture(scope="module")
def client(stand_in_suite_cache):
    return client_of(stand_in_suite_cache)


def test_a_small_picture_is_an_image_that_never_changes(client):
    page = client.get("/data/items?task=unisim/imagenet-ooo").json()
    key = page["items"][0]["parts"][0]["image"]
    answer = client.get(f"/thumbnails/unisim/imagenet-ooo/{key}.webp")
    assert answer.status_code == 200 and answer.headers["content-type"] == "image/webp"
    assert "immutable" in answer.headers["cache-control"]
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert max(picture.size) <= 64


def test_a_cell_of_the_board_leads_to_its_run(client):
    def cell(row, task="imagenet-ooo", suite="ood"):
        return client.get(f"/data/cell/unisim-{suite}?row={row}&column=unisim/{task}").json()

    found = cell("example/eye~computed")
    (source,) = found["sources"]
    assert source["run"].startswith("computed/example/eye/unisim/imagenet-ooo/") and found["items"] is True
    assert client.get(f"/data/run?id={quote(source['run'])}").json()["id"] == source["run"]
    (judge,) = cell("example/judge~computed")["sources"]
    assert re.fullmatch(r"60.0% of the items; at least \d+\.\d if the rest count as wrong", judge["coverage"])
    printed = cell("dreamsim-ensemble~published", task="nights", suite="core")
    assert not any(source["run"] or source["items"] for source in printed["sources"]) and not printed["items"]
