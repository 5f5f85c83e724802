"""The map of a task's images on its page."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd

from leaderboard.data import item_queries, task_queries
from leaderboard.pages.task import image_map, page
from tests.leaderboard import stand_ins


def about(suite_cache, task: str) -> pd.Series:
    return task_queries.task(suite_cache.db, key=task).iloc[0]


def test_a_map_has_every_image_with_its_label_and_picture(stand_in_suite_cache) -> None:
    db = stand_in_suite_cache.db
    maps = item_queries.item_maps(db, task="mieb/cifar10")
    assert list(maps["model"]) == ["example/eye"]
    figure = image_map.figure(db, task="mieb/cifar10", model="example/eye")
    meta = figure.layout.meta
    test = stand_ins.data(stand_ins.catalog().task("mieb/cifar10")).test
    assert sorted(meta["images"]) == sorted(key.decode() for key in test.items.keys.tolist())
    assert [trace.name for trace in figure.data] == sorted(stand_ins.COLOURS) == meta["names"]
    places = [row for trace in figure.data for row in trace.customdata]
    assert sorted(places) == list(range(stand_ins.ROWS))
    of_image = dict(zip((key.decode() for key in test.items.keys.tolist()), test.labels, strict=True))
    for trace in figure.data:
        assert {test.classes[of_image[meta["images"][row]]] for row in trace.customdata} == {trace.name}
    assert "Trustworthiness <b>0.900</b>" in image_map.words(maps, model="example/eye")


def test_without_a_map_the_page_shows_the_command_that_makes_one(stand_in_suite_cache) -> None:
    db = stand_in_suite_cache.db
    site = SimpleNamespace(db=db, suite_cache=stand_in_suite_cache)
    line = "likeness project --task mieb/stl10 --model "
    assert image_map.command(db, about(stand_in_suite_cache, "mieb/stl10")).startswith(line)
    assert image_map.command(db, about(stand_in_suite_cache, "pairbench/coco-cj")) == ""
    related = {suite: page.correlations(stand_in_suite_cache.table(suite)) for suite in ("mieb", "pairbench")}
    _, _, without, _ = page.page(site, task="mieb/stl10", related=related.__getitem__)
    assert line in without and "Map of its images" in without
    _, _, mapped, _ = page.page(site, task="mieb/cifar10", related=related.__getitem__)
    assert line not in mapped and "Map of its images" in mapped
    _, _, never, _ = page.page(site, task="pairbench/coco-cj", related=related.__getitem__)
    assert "Map of its images" not in never
