"""The map of a task's images on its page."""

from __future__ import annotations

from leaderboard.pages.task import page
from tests.leaderboard import stand_ins


def test_a_map_has_every_image_with_its_label_and_picture(stand_in_site):
    shown, choice, plot, words = page.images(stand_in_site, task="mieb/cifar10", model="")
    assert shown["visible"] and choice["choices"] == [("Example Eye", "")] and choice["value"] == ""
    figure = plot["value"]
    meta = figure.layout.meta
    test = stand_ins.data(stand_ins.catalog().task("mieb/cifar10")).test
    assert sorted(meta["images"]) == sorted(key.decode() for key in test.items.keys.tolist())
    assert [trace.name for trace in figure.data] == sorted(stand_ins.COLOURS) == meta["names"]
    labels = dict(zip((key.decode() for key in test.items.keys.tolist()), test.labels, strict=True))
    for trace in figure.data:
        assert {test.classes[labels[meta["images"][row]]] for row in trace.customdata} == {trace.name}
    assert sorted(row for trace in figure.data for row in trace.customdata) == list(range(stand_ins.ROWS))
    assert "Trustworthiness <b>0.900</b>" in words and "Example Eye" in words
    hidden, *_ = page.images(stand_in_site, task="mieb/stl10", model="example/eye")
    assert not hidden["visible"]


def test_without_a_map_the_page_shows_the_command_that_makes_one(stand_in_site):
    def items(task: str) -> str:
        return page.page(stand_in_site, task=task, related=related.__getitem__)[2]

    related = {suite: page.correlations(stand_in_site.suite_cache.table(suite)) for suite in ("mieb", "pairbench")}
    line = "likeness project --task mieb/stl10 --model "
    assert line in items("mieb/stl10") and "Map of its images" in items("mieb/stl10")
    assert line not in items("mieb/cifar10") and "Map of its images" in items("mieb/cifar10")
    assert "Map of its images" not in items("pairbench/coco-cj")
