"""What the page says of a shortlist."""

from __future__ import annotations

import re

from leaderboard.pages.choose.page import READY, shown


def test_what_cannot_be_compared_is_not_called_better(suite_cache):
    text = shown(suite_cache, need="search", language="swa")
    assert "were not tried" in text and "whether by chance is unknown" in text
    low, high = map(float, re.search(r"the lead is \+([\d.]+) to \+([\d.]+)", text).groups())
    assert 7 < low < 9.2 < high < 11, "over some 7,000 items"
    assert "board?suite=mieb&amp;language=swa" in text
    assert "significantly worse" not in text.split("What is not known")[0]


def test_a_choice_ends_in_code_and_the_command_for_the_suite(suite_cache):
    text = shown(suite_cache, need="documents", size="3b")
    assert "import mteb" in text and "ViDoRe(v3)" in text
    text = shown(suite_cache, need="search", language="many", license="permissive")
    assert "import AutoModel, AutoProcessor" in text and "likeness run --suite mieb --models google/" in text
    text = shown(suite_cache, need="alignment")
    assert text.count("likeness run --suite unisim-core") >= 3 and "--models FOLDER" in text, "some have no weights"


def test_what_is_not_stated_is_named_once(suite_cache):
    first = shown(suite_cache, need="search", language="swa").split("<li>")[1]
    assert first.count("not stated: licence<") == 1 and "unknown" not in first.split("<pre")[0]


def test_every_ready_made_view_names_a_model_and_its_runner_up(suite_cache):
    for _, query in READY:
        answers = dict(pair.split("=") for pair in query.split("&"))
        text = shown(suite_cache, **({"need": "search"} | answers))
        assert "has the highest mean of the" in text and "The runner-up is" in text, query


def test_generators_are_sent_to_their_page(suite_cache):
    text = shown(suite_cache, need="generators")
    assert 'href="generators"' in text and "<li>" not in text


def test_a_single_model_that_fits_is_the_only_one(suite_cache):
    """PairBench ranks one model of at most a billion parameters."""
    text = shown(suite_cache, need="judge", size="1b")
    assert "is the only model that fits, with a mean of" in text
    assert "is the only model that fits" in shown(suite_cache, need="judge", size="1b", hardware="gpu80"), (
        "the narrower"
    )
