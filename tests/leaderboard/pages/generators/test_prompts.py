"""Two generators of a computed set prompt by prompt: what is read, which prompts are shown, what is said of them."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.generators import prompts
from leaderboard.pages.generators.computed import ComputedSet, load
from tests.leaderboard import generator_stand_ins
from tests.leaderboard.served import client


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return generator_stand_ins.opened(tmp_path_factory.mktemp("prompts"))


@pytest.fixture(scope="module")
def own(db: Database) -> ComputedSet:
    return load(db)[generator_stand_ins.SUITE]


def section(
    db: Database, chosen: ComputedSet, *, metric: str, first: str = "", second: str = ""
) -> tuple[str, Any, Any]:
    return prompts.section(
        SimpleNamespace(db=db),
        chosen,
        chosen.column(metric),
        first=first,
        second=second,
        values=partial(prompts.read, db),
    )


def test_prompts_of_both_directions_with_images_side_by_side(db: Database, own: ComputedSet) -> None:
    markup, first, second = section(db, own, metric="clipscore", first="own/same", second="own/good")
    assert (first["value"], second["value"]) == ("own/same", "own/good")
    assert "same is better on" in markup and "good is better on" in markup
    assert "neither is significantly better on average" in markup  # the two are made alike
    assert "were chosen for that" in markup and "standard deviations from the mean" in markup
    assert "is a value of whole sets" not in markup
    assert markup.count("<li>") == 2 * prompts.SHOWN and markup.count("<img ") == 3 * 2 * prompts.SHOWN
    shares = [int(share) for share in re.findall(r"listed are (\d+)% of that", markup)]
    assert len(shares) == 2 and all(0 < share < 100 for share in shares)
    addresses = re.findall(r'src="(thumbnails/[^"]+)"', markup)
    visitor = client(SuiteCache(db))
    assert {visitor.get(f"/{address}").status_code for address in set(addresses)} == {200}


def test_a_metric_of_whole_sets_says_what_stands_in_for_it(db: Database, own: ComputedSet) -> None:
    markup, *_ = section(db, own, metric="fd", first="own/worst", second="own/good")
    assert "FD is a value of whole sets" in markup and "distance from the reference image" in markup
    assert "<strong>good is better</strong>" in markup


def test_the_listed_prompts_are_those_with_the_largest_differences(db: Database, own: ComputedSet) -> None:
    generators = {generator.title: generator for generator in own.generators}
    runs = [prompts.read(db, generators[name].run, tuple(generators[name].kinds)) for name in ("good", "same")]
    gap = runs[0].values["clipscore"] - runs[1].values["clipscore"]
    markup, *_ = section(db, own, metric="clipscore", first="own/good", second="own/same")
    shown = re.findall(r"<li><p>([^<]+)</p>", markup)
    expected = [*np.argsort(-gap)[: prompts.SHOWN], *np.argsort(gap)[: prompts.SHOWN]]
    assert shown == [runs[0].texts[row] for row in expected]


def test_by_default_the_first_two_in_rank_and_never_one_twice(db: Database, own: ComputedSet) -> None:
    column = own.column("fd")
    order = [own.generators[row].key for row in column.order]
    assert prompts.pair(column, own, first="", second="") == (order[0], order[1], "")
    assert prompts.pair(column, own, first="", second=order[0]) == (order[1], order[0], "")
    one, other, note = prompts.pair(column, own, first="own/gud", second=order[3])
    assert (one, other) == (order[0], order[3]) and "No generator 'own/gud'" in note and "own/good" in note
    markup, *_ = section(db, own, metric="fd", first=order[0], second=order[0])
    assert "is chosen twice" in markup


def test_runs_without_values_of_prompts_say_what_to_do(db: Database, own: ComputedSet) -> None:
    bare = replace(own, generators=tuple(replace(each, kinds={}) for each in own.generators))
    markup, *_ = section(db, bare, metric="fd")
    assert "likeness frechet" in markup and "<img" not in markup


def test_drawn_generators_show_their_drawings_which_are_drawn_when_asked_for(db: Database) -> None:
    markup, *_ = section(db, load(db)["mini-generators"], metric="fd", first="mini/noise-4", second="mini/clean")
    images = re.findall(r'src="(drawn/[^"]+)"', markup)
    assert [address.split("/")[2] for address in images[:3]] == ["reference", "noise-4", "clean"]
    client = TestClient(Starlette(routes=prompts.routes(SimpleNamespace(guard=lambda answer: answer))))
    answers = [client.get(f"/{address}") for address in images]
    assert {answer.status_code for answer in answers} == {200} and answers[0].content != answers[1].content
    assert answers[1].content.startswith(b"\x89PNG") and "immutable" in answers[1].headers["cache-control"]
    for wrong in ("1/noise-9/7", "1/noise-2/256", "2/noise-2/7", "1/../7"):
        assert client.get(f"/drawn/{wrong}.png").status_code == 404
