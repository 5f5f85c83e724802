"""Answers in bytes: compressed for those who read it, not sent again to those who have it."""

from __future__ import annotations

import re

import pytest

from leaderboard.web.responses import (
    LONGEST_SENTENCE,
    disposition,
    sentence_of,
)


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
def test_a_name_from_a_key_stays_within_its_header(name, safe):
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
def test_the_sentence_of_a_refusal(body, sentence):
    assert sentence_of(body, names=("error", "detail")) == sentence
    assert sentence_of(body) == ("" if sentence == "Full" else sentence)
    assert len(sentence_of(b'{"error": "' + b"x" * 5000 + b'"}')) == LONGEST_SENTENCE
