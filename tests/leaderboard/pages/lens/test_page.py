"""The page of metrics on known faults: its sentences follow from the figures, and it says what it does not have."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from leaderboard.data.database import Database
from leaderboard.pages.lens import study as studies
from leaderboard.pages.lens.page import growth, page
from leaderboard.pages.lens.study import SizeCurve, Study
from tests.leaderboard import fault_stand_ins


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("lens")
    fault_stand_ins.make(folder / "results")
    return SimpleNamespace(db=Database(fault_stand_ins.database(folder, results=folder / "results")))


@pytest.fixture(scope="module")
def study(site: SimpleNamespace) -> Study:
    return studies.load(site.db)


def text(markup: str) -> str:
    """What a reader sees, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", markup))


def test_the_study_is_read_in_the_order_of_the_suite(study: Study) -> None:
    assert study.metrics == ("cfred", "fd")
    assert study.subsets == {"cfred": ("tiny|tiny",), "fd": ("tiny", "efficientnet-lite0")}
    assert study.faults == ("blur", "noise", "colour", "modes", "prompts", "objects", "copies")
    assert set(study.sizes.values()) == {256}


def test_the_answer_follows_from_the_figures(site: SimpleNamespace, study: Study) -> None:
    head, rest = page(site, study, metric="fd", backbone="")
    assert "FD sees 5 of 7 faults" in text(head)
    assert "It gets worse with blur, noise, colour shift, dropped modes and fewer objects." in text(head)
    assert "It shows no difference, at any strength, for swapped prompts." in text(head)
    assert "It gets better with memorised copies." in text(head)
    assert "synthetic" in head and head.count("<svg") == 7
    assert "FD of 32 prompts is 3.00 times that of 256: compare only generators with equally many" in text(rest)
    assert "too few to give the effect of any of these alone" in text(rest)
    assert not re.search(r"\bnan\b|\bNone\b", text(head) + text(rest))


def test_cfred_sees_swapped_prompts(site: SimpleNamespace, study: Study) -> None:
    head, _ = page(site, study, metric="cfred", backbone="")
    assert "cFreD sees 6 of 7 faults" in text(head)
    assert "no difference" not in text(head)
    assert "On features of tiny and tiny, 256 prompts." in text(head)


def test_another_backbone_and_one_that_the_metric_lacks(site: SimpleNamespace, study: Study) -> None:
    head, _ = page(site, study, metric="fd", backbone="efficientnet-lite0")
    assert "On features of efficientnet-lite0" in text(head)
    assert "for noise and swapped prompts" in text(head)
    head, _ = page(site, study, metric="cfred", backbone="efficientnet-lite0")
    assert "The study has no cFreD on efficientnet-lite0: here it is on tiny and tiny." in text(head)


def test_without_a_study_the_page_says_how_to_make_it(database: Path) -> None:
    empty = Study({}, {}, {})
    head, rest = page(SimpleNamespace(db=Database(database)), empty, metric="cfred", backbone="")
    assert "python -m compute run --suite mini-generators" in head and rest == ""


def test_growth_needs_a_value_above_zero() -> None:
    assert growth([SizeCurve(title="", sizes=(32, 256), values=(0.3, 0.1))]) == pytest.approx((32, 256, 3.0))
    assert growth([SizeCurve(title="", sizes=(32, 256), values=(0.3, -0.001))]) is None
    assert growth([]) is None
