"""The map of a task's images on its page."""

from __future__ import annotations

from leaderboard.pages.task import image_map, page
from tests.leaderboard import stand_ins


def test_a_map_has_every_image_with_its_label_and_picture(stand_in_site):
    shown, choice, plot, words = page.images(stand_in_site, task="mieb/cifar10", map="")
    assert shown["visible"] and choice["choices"] == [("Example Eye", "")] and choice["value"] == ""
    figure, meta = plot["value"], plot["value"].layout.meta
    test = stand_ins.data(stand_ins.catalog().task("mieb/cifar10")).test
    assert [trace.name for trace in figure.data] == sorted(stand_ins.COLOURS) == meta["names"]
    shown_as = {meta["images"][row]: trace.name for trace in figure.data for row in trace.customdata}
    classes = (test.classes[label] for label in test.labels)
    assert shown_as == dict(zip((key.decode() for key in test.items.keys.tolist()), classes, strict=True))
    assert "Trustworthiness <b>0.900</b>" in words and "Example Eye" in words
    hidden, *_ = page.images(stand_in_site, task="mieb/stl10", map="example/eye")
    assert not hidden["visible"]


def test_without_a_map_the_page_shows_the_command_that_makes_one(stand_in_site):
    commands = {
        task: image_map.command(stand_in_site.db, stand_in_site.db.query("task", key=task).iloc[0])
        for task in ("mieb/stl10", "pairbench/coco-cj")
    }
    assert commands["mieb/stl10"].startswith("likeness project --task mieb/stl10 --model ")
    assert commands["pairbench/coco-cj"] == "", "of rated pairs a map would show those alone"
