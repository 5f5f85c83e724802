"""The section on backbones: its sentences follow from the cells, and it says what is unknown."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from leaderboard.pages.generators import backbones
from leaderboard.pages.generators.backbones import BackboneSet
from leaderboard.pages.task import items, protocols
from tests.leaderboard import grid_stand_ins
from tests.leaderboard.grid_stand_ins import IMAGES, TEXTS


@pytest.fixture(scope="module")
def db(stand_in_suite_cache):
    return stand_in_suite_cache.db


def text(markup):
    """What a reader sees, in one line."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", markup)))


def test_sets_with_an_order_and_several_pairs_are_offered(db):
    assert [key for _, key in backbones.choices(db)] == ["mini-generators", "grid-few", "grid-rated"]
    assert not [suite for suite in db.query("generator_sets")["suite"] if suite.startswith("grid-")]


def test_the_section_shows_every_pair_and_reads_it(db):
    grid = backbones.load(db, suite="grid-rated")
    assert grid is not None and (set(grid.cells.index), set(grid.cells)) == (set(IMAGES), set(TEXTS))
    assert grid.draws is not None
    assert grid.cells.drop("mine").min(axis=None) > 0.8 > grid.cells.loc["mine"].max()
    markup = backbones.section(db, grid)
    assert "people’s ratings of 7 generators" in text(markup) and "BERT-base (text)" in markup
    assert markup.index("MAE-B/16") < markup.index(">mine<")  # best first
    assert not re.search(r"\bnan\b|\bNone\b", text(markup))
    assert "likeness frechet --grid" in backbones.section(db, backbones.load(db, suite="grid-unrated"))


def pairs(cells, error):
    rng = np.random.default_rng(0)
    return BackboneSet(
        benchmark="mini",
        cells=pd.DataFrame(cells).add_prefix("text").add_prefix("image", axis="index"),
        draws=cells + error * rng.normal(size=(500, *cells.shape)),
        order="an order",
        generators=9,
    )


@pytest.mark.parametrize(
    "cells, error, words",
    [
        ([[0.9, 0.9], [0.2, 0.2]], 0.01, "the image backbone matters, the effect of the text backbone is not"),
        ([[0.9, 0.2], [0.9, 0.2]], 0.01, "the text backbone matters, the effect of the image backbone is not"),
        ([[0.9, 0.5], [0.5, 0.1]], 0.01, "both matter"),
        ([[0.9, 0.5], [0.5, 0.1]], 1.0, "no significant difference"),
        ([[0.9]], 0.01, "which of them matters is unknown"),
        ([[0.9], [0.2]], 0.01, "the image backbone matters synthetic"),  # nothing is said of a single text backbone
    ],
)
def test_the_answer_follows_from_what_is_significant(cells, error, words, db):
    markup = backbones.section(db, pairs(np.array(cells), error))
    assert f"Backbones of cFreD: {words}" in text(markup)


def test_the_page_of_a_grids_task_says_how_it_is_run_and_that_it_has_no_single_items(db):
    [about] = db.query("task", key=f"own/{grid_stand_ins.SUITE}/mine").itertuples()
    assert "one image backbone" in protocols.sentence(about.procedure, about.benchmark)
    assert "no single items" in items.how_to(db, pd.Series(about._asdict()))["empty"]
