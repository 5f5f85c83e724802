"""`leaderboard.serve`: an evaluated model on its suite's board, in the process that evaluated it."""

import json
import socket
import urllib.error
import urllib.request
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import compute
import leaderboard
from compute import paths
from compute.types import BadInput


class Thumbnail:
    """An image is what is left of it at 4 x 4 pixels."""

    def encode_image(self, images):
        return np.stack([np.asarray(image.convert("RGB").resize((4, 4)), np.float32).ravel() for image in images])


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    return compute.evaluate(
        Thumbnail(),
        version="1",
        tasks=["mini/image-choice"],
        results=tmp_path_factory.mktemp("results"),
        progress=False,
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_row_is_on_the_board_until_it_is_stopped(scores):
    before = sorted(paths.ASSETS.rglob("*"))
    port = free_port()
    served = leaderboard.serve(scores, port=port, open_browser=False, block=False)
    try:
        address = urlsplit(served.address)
        assert (address.netloc, address.path) == (f"127.0.0.1:{port}", "/board")
        query = parse_qs(address.query)
        assert query == {"suite": ["mini"], "origin": ["all"], "select": ["own/thumbnail~computed"]}
        with urllib.request.urlopen(served.address, timeout=60) as page:
            assert page.status == 200
        with urllib.request.urlopen(f"http://{address.netloc}/data/board/mini", timeout=60) as answer:
            payload = json.load(answer)
        row = next(row for row in payload["rows"] if row["id"] == query["select"][0])
        assert row["title"] == "Thumbnail (own)" and {"tiny~computed"} < {row["id"] for row in payload["rows"]}
        with pytest.raises(BadInput, match=f"Port {port} is taken"):
            leaderboard.serve(scores, port=port, open_browser=False, block=False)
    finally:
        served.stop()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(served.address, timeout=5)
    assert sorted(paths.ASSETS.rglob("*")) == before and scores.database().parent == scores.results


def test_nothing_to_show_is_said(scores):
    with pytest.raises(BadInput, match="DataFrame cannot be served: give what compute.evaluate returns"):
        leaderboard.serve(scores.frame())
    with pytest.raises(BadInput, match="no score on mini"):
        leaderboard.serve(replace(scores, outcomes=()))
