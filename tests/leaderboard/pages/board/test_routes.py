"""What the browser fetches beside Gradio, bytes compressed once, plain errors, files; and a board's first rows."""

import errno
import os
import re

import pytest

from compute.types import BadInput
from leaderboard.data.database import Database
from leaderboard.data.mean_rule import RankChoice, choice
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.board.page import MOST_ROWS, rows
from tests.leaderboard.served import client as client_of


def test_the_bytes_are_compressed_once_and_known_again(client):
    packed = client.get("/data/board/mieb", headers={"accept-encoding": "br"})
    plain = client.get("/data/board/mieb", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "br" and "content-encoding" not in plain.headers
    assert packed.headers["vary"] == "accept-encoding"
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    again = client.get("/data/board/mieb", headers={"if-none-match": packed.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/data/board/nowhere",
        "/data/rank/nowhere",
        "/data/cell/nowhere?row=x&column=y",
        "/data/rank/unisim-core?w=IQA:much",
        "/data/rank/unisim-core?w=IQA:-1",
        "/data/rank/unisim-core?w=IQA:nan",
        "/data/rank/unisim-core?w=Nope:2",
        "/data/rank/unisim-core?coverage=2",
        "/data/rank/unisim-core?coverage=nan",
        "/data/rank/unisim-core?tasks=nowhere",
        "/data/rank/unisim-core?w=Img-2AFC",
        "/data/cell/unisim-core?row=nobody~published&column=IQA",
        "/data/cell/unisim-core?row=&column=",
        "/data/cell/unisim-core?row=dreamsim-ensemble~published&column=<script>",
        "/export/everything?format=pickle",
        "/export/everything?format=../../etc/passwd",
        "/data/board/%3Cscript%3E",
        "/data/model",
        "/data/model?model=nobody/nothing",
        "/data/task?task=%3Cb%3E",
        "/data/items?task=nights",
        "/data/run?id=published/unisim/x",
    ],
)
def test_nonsense_is_one_plain_line(client, path):
    answer = client.get(path)
    assert answer.status_code == 400, answer.text
    said = answer.json()
    assert list(said) == ["error"] and "\n" not in said["error"] and "Traceback" not in said["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b"\xff",
        b'{"format": "csv"}',
        b'{"format": "csv", "rows": 7, "columns": []}',
        b'{"format": "pickle", "rows": [], "columns": []}',
        b'{"format": "csv", "rows": ["nobody~published"], "columns": []}',
        b'{"format": "csv", "rows": [], "columns": ["nothing"]}',
        b'{"format": "csv", "rows": [], "columns": [], "query": "w=IQA:x"}',
        b"[" * 100_000,
    ],
    ids=lambda body: f"{body[:30]!r}",
)
def test_a_wrong_export_is_one_plain_line(client, body):
    answer = client.post("/export/board/unisim-core", content=body)
    assert answer.status_code == 400, answer.text
    assert "\n" not in answer.json()["error"]


def test_a_full_disk_is_no_fault_of_the_visitor_and_leaves_no_draft(database, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    fresh = SuiteCache(Database(database))  # nothing is made of it yet
    folder = fresh.db.copy.parent
    before = set(folder.iterdir())
    monkeypatch.setattr(os, "fsync", full)
    answer = client_of(fresh).get("/export/everything?format=csv")
    assert answer.status_code == 503 and answer.headers["retry-after"] == "60"
    assert answer.json() == {"error": "The file cannot be made at this moment. Try again later"}
    assert set(folder.iterdir()) == before


def test_the_choice_of_an_address_is_the_same_whatever_its_order():
    assert choice("w=B:2,A:0.5&coverage=0.5&tasks=x,y") == choice("tasks=y,x&coverage=.5&w=A:.5,B:2")
    assert choice("") == RankChoice()
    with pytest.raises(BadInput):
        choice("w=A:x")


@pytest.mark.parametrize(
    "name, said",
    [
        ("unisim-table-2.csv", "model,"),
        ("CORRECTIONS.md", "# Corrections"),
        ("CHANGELOG.md", "# Changes of the figures"),
        ("tables.csv", ""),
        ("..%2fcatalog", ""),
    ],
)
def test_published_tables_and_what_was_done_to_them(client, name, said):
    answer = client.get(f"/published/{name}")
    assert answer.status_code in ((200,) if said else (400, 404)) and said in answer.text


def test_estimates_change_no_rank_and_take_none(client, suite_cache):
    """Of a choice of tasks they are those of that choice: a model that has these is ranked, and not estimated."""
    lite = ",".join(column.task for column in suite_cache.table("mieb-lite").columns)
    for query, some in (("", True), (f"&tasks={lite}", False)):
        off, on = (client.get(f"/data/rank/mieb?{given}{query}").json() for given in ("", "estimates=show"))
        assert (on["rank"], on["tie"]) == (off["rank"], off["tie"]) and "place" not in off
        ranked = [at for at, rank in enumerate(off["rank"]) if rank]
        for name in ("mean", "mean_low", "mean_high", "why"):
            assert [on[name][at] for at in ranked] == [off[name][at] for at in ranked]
        estimated = [at for at, place in enumerate(on["place"]) if place is not None]
        assert bool(estimated) == some and not {*estimated} & {*ranked}
        for at in estimated:
            assert on["mean_low"][at] < on["mean"][at] < on["mean_high"][at]
            assert None not in on["families"][at] and max(on["family_marks"][at]) & 32


def test_a_suite_with_too_few_complete_models_says_why(client):
    on = client.get("/data/rank/unisim-ood?estimates=show").json()
    assert set(on["place"]) == {None}
    assert all("need" in why for rank, why in zip(on["rank"], on["why"], strict=True) if rank is None)


@pytest.mark.parametrize("suite", ["mieb", "cfred-coco"])
def test_the_first_rows_are_the_best_of_the_ranking(site, suite):
    markup = rows(site, {"suite": suite})
    ranks = [int(rank) for rank in re.findall(r'<tr>\s*<td class="pg-num">(\d+)</td>', markup)]
    assert ranks == sorted(ranks) and ranks[0] == 1 and 3 < len(ranks) <= MOST_ROWS
    assert f"board?suite={suite}" in markup and "<script" not in markup
