"""The page of generators can be drawn for every set and metric."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from leaderboard.html.labels import SUSPECT
from leaderboard.pages.generators.metrics import METRIC_MODELS, compare_metrics
from leaderboard.pages.generators.page import SETS, page


@pytest.mark.parametrize("chosen", list(SETS))
def test_generators_by_every_metric(site: SimpleNamespace, chosen: str) -> None:
    comparisons = {key: compare_metrics(site.db, site.suite_cache.table(f"cfred-{key}")) for key in SETS}
    for metric in METRIC_MODELS:
        head, *plots, rest = page(site, comparisons.__getitem__, chosen=chosen, metric=metric)
        slope, scatter = (plot["value"] for plot in plots)
        assert ("Part of this agreement is built in" in head) is (chosen == "parti")
        assert len(slope.data) == len(comparisons[chosen].human)
        assert sum(len(trace.x) for trace in scatter.data) == len(comparisons[chosen].human)
        assert "Which metric can be trusted where" in rest
        assert rest.count("<table") == 3 and rest.count("</tr>") == 2 + len(comparisons[chosen].human) + 2 * 10


def test_likely_misprints_are_marked(site: SimpleNamespace) -> None:
    comparison = compare_metrics(site.db, site.suite_cache.table("cfred-coco"))
    suspects = {key: int(((comparison.metric(key).marks & SUSPECT) > 0).sum()) for key in ("mps", "cmmd", "hpsv2")}
    assert suspects == {"mps": 1, "cmmd": 1, "hpsv2": 0}
