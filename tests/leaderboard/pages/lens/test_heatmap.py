"""The section on backbones: its sentences follow from the cells, and it says what is not known."""

from __future__ import annotations

import html
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from compute.analysis.generators.backbone_effects import DRAWS
from compute.analysis.generators.sensitivity import FaultRun, chains
from leaderboard.data import generator_queries, task_queries
from leaderboard.data.database import Database
from leaderboard.pages.lens import heatmap
from leaderboard.pages.lens import study as studies
from leaderboard.pages.lens.heatmap import ATTRIBUTES, BackboneSet
from leaderboard.pages.lens.study import Study
from leaderboard.pages.task import items, protocols
from tests.leaderboard import fault_stand_ins, grid_stand_ins
from tests.leaderboard.grid_stand_ins import IMAGES, TEXTS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("heatmap")
    fault_stand_ins.make(folder / "results")
    grid_stand_ins.make(folder / "results")
    return SimpleNamespace(db=Database(fault_stand_ins.database(folder, results=folder / "results")))


def text(markup: str) -> str:
    """What a reader sees, in one line."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", markup)))


def test_sets_with_an_order_and_several_pairs_are_offered(site: SimpleNamespace) -> None:
    # The study of the stand-ins has a single pair of backbones.
    keys = [key for _, key in heatmap.choices(site, studies.load(site.db))]
    assert keys == ["grid-few", "grid-rated"]


def test_the_study_is_compared_with_its_known_order_over_all_faults_or_one() -> None:
    steps = np.linspace(-1e-4, 1e-4, 8)
    rises = {"cfred": {"a|x": 0.1, "b|x": 0.0}, "blur": {"b|x": -0.1}}
    runs = {}
    for fault, strength in (("", 0), *((fault, step) for fault in ("blur", "noise") for step in (1, 2, 3, 4))):
        values = {key: 1 + strength * rises.get(fault, {}).get(key, rise) for key, rise in rises["cfred"].items()}
        runs[f"{fault}-{strength}"] = FaultRun(
            fault=fault,
            strength=strength,
            values={("cfred", key): value for key, value in values.items()},
            details={key: {"cfred": {"left_out": (value + steps).tolist()}} for key, value in values.items()},
            blocks=(32,) * 8,
        )
    study = Study(runs, dict.fromkeys(runs, 256), {"cfred": False}, tuple(chains(runs.values())))
    nowhere = SimpleNamespace()
    every, blur = (heatmap.load(nowhere, study, key=key) for key in ("study", "study-blur"))
    assert every.cells == pytest.approx(np.array([[1], [-0.5]])) and blur.cells == pytest.approx(np.array([[1], [-1]]))
    assert every.benchmark == "mini" and "mean of 2 faults" in every.order and "of blur" in blur.order
    assert every.draws.shape == (DRAWS, 2, 1)
    assert heatmap.load(nowhere, Study({}, {}, {}, ()), key="study") is None


def test_grids_of_backbones_are_no_sets_of_the_page_on_generators(site: SimpleNamespace) -> None:
    assert not [suite for suite in generator_queries.sets(site.db)["suite"] if suite.startswith("grid-")]


def test_the_section_shows_every_pair_and_reads_it(site: SimpleNamespace) -> None:
    grid = heatmap.load(site, studies.load(site.db), key="grid-rated")
    assert (
        grid is not None and (set(grid.images), set(grid.texts)) == (set(IMAGES), set(TEXTS)) and grid.draws is not None
    )
    blind = grid.images.index("mine")
    assert np.delete(grid.cells, blind, axis=0).min() > 0.8 > grid.cells[blind].max()
    head, rest = heatmap.section(site, grid)
    assert "cFreD follows people's ratings of 7 generators with a correlation of" in text(head)
    assert head.count("ln-cell") == 6 and "BERT-base (text)" in head and ">mine<" in head
    assert head.index("MAE-B/16") < head.index(">mine<")  # best first
    assert "Intervals are over other generators" in text(head)
    assert "Image: embedding width" in text(rest) and "Unknown of mine" in text(rest)
    # Both known image backbones have 224 px; a text tower's accuracy is that of the same weights.
    assert "Image: resolution. One known value: nothing to compare. Unknown of mine." in text(rest)
    assert "Text: zero-shot accuracy on ImageNet" in text(rest) and "70 to 75%" in text(rest)
    assert not re.search(r"\bnan\b|\bNone\b", text(head) + text(rest))


def test_few_generators_prove_nothing(site: SimpleNamespace) -> None:
    grid = heatmap.load(site, studies.load(site.db), key="grid-few")
    assert grid is not None and grid.draws is None
    head, _ = heatmap.section(site, grid)
    assert "which of them matter is not known" in text(head)
    assert "4 generators are too few for intervals, which take 6." in text(head)
    assert "Without intervals no difference is proven." in text(head)


def pairs(cells: np.ndarray, error: float) -> BackboneSet:
    rng = np.random.default_rng(0)
    return BackboneSet(
        title="made up",
        benchmark="mini",
        images=tuple(f"image{at}" for at in range(cells.shape[0])),
        texts=tuple(f"text{at}" for at in range(cells.shape[1])),
        cells=cells,
        draws=cells + error * rng.normal(size=(500, *cells.shape)),
        order="an order",
    )


@pytest.mark.parametrize(
    ("cells", "error", "words"),
    [
        ([[0.9, 0.9], [0.2, 0.2]], 0.01, "the image backbone matters, the text backbone is not proven to"),
        ([[0.9, 0.2], [0.9, 0.2]], 0.01, "the text backbone matters, the image backbone is not proven to"),
        ([[0.9, 0.5], [0.5, 0.1]], 0.01, "both matter"),
        ([[0.9, 0.5], [0.5, 0.1]], 1.0, "none is proven to matter"),
        ([[0.9]], 0.01, "which of them matter is not known"),
    ],
    ids=["image", "text", "both", "none", "one pair"],
)
def test_the_answer_follows_from_what_is_proven(cells: list, error: float, words: str, site: SimpleNamespace) -> None:
    head, rest = heatmap.section(site, pairs(np.array(cells), error))
    assert f"Backbones of cFreD: {words}" in text(head)
    assert "synthetic" in head and "Not known of any of these backbones." in text(rest)


@pytest.mark.parametrize(
    ("cells", "error", "words"),
    [
        ([[0.9], [0.2]], 0.01, "the image backbone matters"),
        ([[0.9, 0.2]], 0.01, "the text backbone matters"),
        ([[0.9], [0.2]], 1.0, "the image backbone is not proven to matter"),
    ],
    ids=["one text", "one image", "one text, nothing proven"],
)
def test_nothing_is_said_of_a_side_with_a_single_backbone(
    cells: list, error: float, words: str, site: SimpleNamespace
) -> None:
    head, _ = heatmap.section(site, pairs(np.array(cells), error))
    title = text(head[: head.index("</h2>")])
    assert f"Backbones of cFreD: {words}" in title and "," not in title and "none is" not in title


def test_many_text_backbones_stand_upright_and_negative_cells_have_the_other_colour(site: SimpleNamespace) -> None:
    head, _ = heatmap.section(site, pairs(np.linspace(-1, 1, 30).reshape(3, 10), 0.01))
    assert "ln-many" in head and head.count("rgb(213 94 0") == head.count("rgb(0 114 178") == 15


def test_without_a_set_the_section_says_how_to_make_one(site: SimpleNamespace) -> None:
    head, rest = heatmap.section(site, heatmap.load(site, studies.load(site.db), key="grid-unrated"))
    assert "python -m compute frechet --grid" in head and rest == ""
    # A study of one pair, and a fault that is none.
    assert heatmap.load(site, studies.load(site.db), key="study-none") is None


def test_every_value_of_the_paper_stands_in_its_text() -> None:
    """Each figure that the page quotes is printed in section 5; other figures of the heatmaps are in no text."""
    printed = {
        "trained_on": {"0.78", "0.73", "0.76", "0.79"},
        "image_size": {"0.719", "0.701", "0.760", "0.743", "0.680", "0.559"},
        "parameters_m": {"0.755", "0.776", "0.785", "0.786", "0.724"},
        "embed_dim": {"0.79", "0.67", "0.75"},
        "zero_shot": set(),
    }
    quoted = {each.key: set(re.findall(r"\b0\.\d+", each.printed)) for each in ATTRIBUTES}
    assert quoted == printed


def test_the_page_of_a_grids_task_says_how_it_is_run_and_that_it_has_no_single_items(site: SimpleNamespace) -> None:
    [about] = task_queries.task(site.db, key=f"own/{grid_stand_ins.SUITE}/mine").itertuples()
    assert "one image backbone" in protocols.sentence(about.procedure, about.benchmark)
    assert "no single items" in items.how_to(site.db, pd.Series(about._asdict()))["empty"]
