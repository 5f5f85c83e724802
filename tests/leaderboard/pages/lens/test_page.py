"""The page of metrics on known faults: its sentences follow from the figures, and it says what it does not have."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from leaderboard.data.database import Database
from leaderboard.pages.lens import study as studies
from leaderboard.pages.lens.page import INVERSE, NO_LAW, UNBIASED_LAW, growth, page
from leaderboard.pages.lens.routes import verdicts
from leaderboard.pages.lens.study import SizeCurve, SizePoint, Study
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
    assert study.metrics == ("cfred", "fd", "kid", "clipscore", "vendi")
    assert study.subsets == {
        "cfred": ("tiny|tiny",),
        "fd": ("tiny", "efficientnet-lite0"),
        "kid": ("tiny",),
        "clipscore": ("tiny",),
        "vendi": ("tiny",),
    }
    assert study.faults == ("blur", "noise", "colour", "modes", "prompts", "objects", "copies")
    assert set(study.sizes.values()) == {256}


def test_the_answer_follows_from_the_figures(site: SimpleNamespace, study: Study) -> None:
    head, rest = page(site, study, metric="fd", backbone="")
    assert "FD sees 5 of 7 faults" in text(head)
    assert "It gets worse with blur, noise, colour shift, dropped modes and fewer objects." in text(head)
    assert "It shows no difference, at any strength, for swapped prompts." in text(head)
    assert "It gets better with memorised copies." in text(head)
    assert "synthetic" in head and head.count("<svg") == 7
    assert (
        "Without a fault, FD at 32 prompts is 3.0 times its value at 256; at infinite N it is 0.300 (0.200 to "
        "0.400): compare only generators with equally many images" in text(rest)
    )
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
    empty = Study({}, {}, {}, ())
    head, rest = page(SimpleNamespace(db=Database(database)), empty, metric="cfred", backbone="")
    assert "python -m compute run --suite mini-generators" in head and rest == ""


def curve(values: dict[int, float], *, limit: float | None = None, half: float = 1.0) -> SizeCurve:
    points = {size: SizePoint(value=value, low=value - half, high=value + half) for size, value in values.items()}
    at_infinity = None if limit is None else SizePoint(value=limit, low=limit - 1, high=limit + 1)
    return SizeCurve(title="No fault", points=points, limit=at_infinity)


def test_growth_needs_a_value_above_zero() -> None:
    unsure = growth("fd", [curve({32: 0.3, 256: 0.1}, limit=0.05, half=0.2)])
    assert unsure is not None and unsure.times is None, "an interval that holds 0 makes no ratio"
    above = growth("fd", [curve({32: 0.3, 256: 0.1}, limit=0.05, half=0.05)])
    assert above is not None
    assert (above.fewest, above.most, above.times, above.law) == (32, 256, pytest.approx(3.0), INVERSE)
    below = growth("clipscore", [curve({32: 0.3, 256: -0.001})])
    assert below is not None and (below.times, below.law) == (None, UNBIASED_LAW)
    assert growth("fd", []) is None


def test_the_curve_reaches_infinity_on_a_line_in_one_over_n() -> None:
    """3 at 32, 2 at 64 and 1 at infinity lie on one line, 1 + 64 / N: so do the points of the figure."""
    drawn = growth("fd", [curve({32: 3.0, 64: 2.0}, limit=1.0)])
    assert drawn is not None
    (x0, y0), (x1, y1), (x2, y2) = drawn.chart.points
    assert (x1 - x0, y1 - y0) == pytest.approx((x2 - x1, y2 - y1), abs=0.02)
    assert [label for _, label in drawn.chart.ticks] == ["32", "64", "∞"]
    assert drawn.chart.line == ((x1, y1), (x2, y2)) and len(drawn.chart.band) == 4


def test_an_unbiased_metric_and_one_without_a_law_say_so(site: SimpleNamespace, study: Study) -> None:
    _, rest = page(site, study, metric="clipscore", backbone="")
    assert "CLIPScore is unbiased: on average it is the same at any number of prompts" in text(rest)
    assert "∞" not in text(rest)
    _, rest = page(site, study, metric="kid", backbone="")
    assert "KID is unbiased for sets that are drawn independently. Here both sets answer the same" in text(rest)
    _, rest = page(site, study, metric="vendi", backbone="")
    assert "follows no known law, so no value at infinite N is extrapolated" in text(rest)
    shares = growth("vendi", study.curves(metric="vendi", subset="tiny"))
    assert shares is not None and (shares.law, shares.chart.line) == (NO_LAW, ())


def test_who_sees_each_fault_follows_from_the_figures(site: SimpleNamespace, study: Study) -> None:
    _, rest = page(site, study, metric="fd", backbone="")
    assert "Swapped prompts: seen by cFreD and CLIPScore only." in text(rest)
    assert "Memorised copies: seen by no metric; cFreD and FD get better with it." in text(rest)
    assert "Blur: seen by cFreD, FD and KID" in text(rest)


def test_metrics_that_were_not_run_are_named_with_the_reason(site: SimpleNamespace, study: Study) -> None:
    assert set(study.not_run) == {
        "fid",
        "fd_dinov2",
        "inception_score",
        "imagereward",
        "hpsv2",
        "pickscore",
        "aesthetic",
    }
    _, rest = page(site, study, metric="fd", backbone="")
    assert "FID and Inception Score: InceptionV3." in text(rest)
    assert all(f"{title}: " in text(rest) for title in ("ImageReward", "HPSv2", "PickScore", "Aesthetic", "FD-DINOv2"))


def test_the_table_has_a_row_a_metric_and_backbone(site: SimpleNamespace) -> None:
    table = verdicts(site.db)
    assert [row[:2] for row in table["rows"]] == [
        ["cFreD", "tiny and tiny"],
        ["FD", "tiny"],
        ["FD", "efficientnet-lite0"],
        ["KID", "tiny"],
        ["CLIPScore", "tiny"],
        ["Vendi score", "tiny"],
    ]
    fault = {column["key"]: at for at, column in enumerate(table["columns"])}
    assert table["rows"][0][fault["prompts"]] == "sees from 1"
    assert table["rows"][1][fault["prompts"]] == "no difference"
    assert table["rows"][1][fault["copies"]] == "rewards"
    assert table["rows"][1][table["columns"][0]["link"]["at"]] == "fd"
