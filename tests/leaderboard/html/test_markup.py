"""Pieces of HTML: data is escaped, nothing is a dash, numbers keep their sign and digits."""

from __future__ import annotations

import math

import pandas as pd

from leaderboard.html import markup

EVIL = "<img src=x onerror=alert(1)>'\""


def test_data_is_escaped_everywhere():
    pieces = [
        markup.text(EVIL),
        markup.link("task", EVIL),
        markup.to_model(EVIL, EVIL),
        markup.to_task(EVIL, EVIL),
        markup.lazy_table(EVIL, label=EVIL),
        markup.remarks(pd.DataFrame({"note": [EVIL], "model": [EVIL], "title": [EVIL]}), first=EVIL),
    ]
    for piece in pieces:
        assert "<img" not in piece
        assert "onerror=alert(1)>" not in piece


def test_links_keep_the_slashes_of_keys():
    assert markup.to_model("openai/clip", "CLIP") == "<a href='model?model=openai/clip'>CLIP</a>"
    assert markup.to_task("a b&c", "T") == "<a href='task?task=a%20b%26c'>T</a>"


def test_nothing_is_a_dash():
    for value in (None, "", math.nan, pd.NA):
        assert markup.text(value) == "—"
    assert markup.number(math.nan, digits=2) == "—"
    assert markup.span(0.1, math.nan, digits=1) == "—"
    assert markup.text(0) == "0"


def test_numbers_take_scale_sign_and_a_real_minus():
    assert markup.number(0.8514, digits=1, scale=100) == "85.1"
    assert markup.number(-0.5, digits=2) == "−0.50"
    assert markup.number(0.5, digits=2, sign=True) == "+0.50"
    assert markup.span(-0.1, 0.2, digits=1) == "−0.1 to 0.2"


def test_table_marks_row_heads_and_numeric_columns():
    found = markup.table(["A", "B"], [["x", "1"]], numeric=(1,), over=[("", 1), ("G", 1)])
    assert "<th scope='row'>x</th><td class='pg-num'>1</td>" in found
    assert "<th scope='colgroup' colspan='1' class='pg-over'>G</th>" in found
    assert markup.table(["A"], [], empty="None here.") == "<p class='pg-quiet'>None here.</p>"


def test_remarks_stand_once_with_their_models():
    notes = pd.DataFrame(
        {"note": ["Sampled.", "Sampled.", "General."], "model": ["a/x", "a/y", "*"], "title": ["X", "Y", ""]}
    )
    found = markup.remarks(notes)
    assert found.count("<li>") == 2
    assert found.count("Sampled.") == 1 and "model=a/x" in found and "model=a/y" in found
    assert "General.</li>" in found
