"""Answers in bytes: compressed for those who read it, not sent again to those who have it."""

from __future__ import annotations

import re

import brotli
import pytest
from starlette.requests import Request

from leaderboard.web.responses import (
    FOREVER,
    LONGEST_SENTENCE,
    compress,
    disposition,
    download,
    refusal,
    respond,
    sentence_of,
)

CONTENT = b'{"a": [1, 2]}'


def request(**headers: str) -> Request:
    listed = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": listed})


def test_plain_content() -> None:
    answer = respond(request(accept_encoding="gzip, br"), CONTENT)
    assert (answer.status_code, answer.body, answer.media_type) == (200, CONTENT, "application/json")
    assert answer.headers["cache-control"] == "no-cache"
    assert not {"vary", "etag", "content-encoding"} & set(answer.headers)
    assert "cache-control" not in respond(request(), CONTENT, cache="").headers


def test_compressed_content_is_plain_for_those_who_read_no_brotli() -> None:
    packed = respond(request(accept_encoding="gzip, br"), compress(CONTENT), compressed=True)
    assert brotli.decompress(packed.body) == CONTENT and packed.headers["content-encoding"] == "br"
    plain = respond(request(accept_encoding="gzip"), compress(CONTENT), compressed=True)
    assert plain.body == CONTENT and "content-encoding" not in plain.headers
    assert packed.headers["vary"] == plain.headers["vary"] == "accept-encoding"


def test_content_that_is_plain_for_this_one_and_compressed_for_others() -> None:
    answer = respond(request(), CONTENT, media="text/css", cache=FOREVER, compressed=False)
    assert answer.body == CONTENT and answer.headers["vary"] == "accept-encoding"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(("known", "status"), [('"v1"', 304), ('"v0"', 200)])
def test_what_a_browser_has_is_not_sent_again(known: str, status: int) -> None:
    answer = respond(request(if_none_match=known), compress(CONTENT), etag='"v1"', compressed=True)
    assert answer.status_code == status and answer.headers["etag"] == '"v1"'
    assert (answer.body == b"") == (status == 304)


def test_a_download_has_a_name_and_a_refusal_a_sentence() -> None:
    file = download(b"a,b\n", name="a.csv", media="text/csv; charset=utf-8")
    assert file.headers["content-disposition"] == 'attachment; filename="a.csv"'
    busy = refusal("Try again", 429, retry_after=5)
    assert (busy.status_code, busy.headers["retry-after"], busy.headers["cache-control"]) == (429, "5", "no-store")
    assert busy.body == b'{"error":"Try again"}'


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("likeness-mieb.csv", "likeness-mieb.csv"),
        ('a"b.csv', "a_b.csv"),
        ("a\r\nset-cookie: x=1.csv", "a__set-cookie_ x_1.csv"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("a;b\\c\x00.csv", "a_b_c_.csv"),
        (".hidden", "hidden"),
        ("", "file"),
        ("ä.csv", "_.csv"),
        ("\u202efdp.csv", "_fdp.csv"),
    ],
    ids=range(9),
)
def test_a_name_from_a_key_stays_within_its_header(name: str, safe: str) -> None:
    header = disposition(name)
    assert re.fullmatch(r'attachment; filename="([^"]*)".*', header)[1] == safe
    assert header.isascii() and header.isprintable()
    assert ("filename*" in header) == (name == "ä.csv")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"error": "No"}', "No"),
        (b'{"detail": "Full", "error": null}', "Full"),
        (b'{"detail": "Full", "error": "No"}', "No"),
        (b'{"error": ["No"]}', ""),
        (b'["error"]', ""),
        (b'"error"', ""),
        (b"\xff", ""),
        (b"[" * 100_000, ""),
    ],
    ids=range(8),
)
def test_the_sentence_of_a_refusal(body: bytes, sentence: str) -> None:
    assert sentence_of(body, names=("error", "detail")) == sentence
    assert sentence_of(body) == ("" if sentence == "Full" else sentence)
    assert len(sentence_of(b'{"error": "' + b"x" * 5000 + b'"}')) == LONGEST_SENTENCE
