"""The name under which an answer is saved."""

import re

import pytest

from leaderboard.web.responses import disposition


@pytest.mark.parametrize(
    "name, safe",
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
