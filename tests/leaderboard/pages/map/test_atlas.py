"""Which map is shown, the command that makes another, and what is read of its answer."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pandas as pd
import pytest

from compute.analysis.maps.suites import COLUMNS, Recipe
from compute.types import BadInput
from leaderboard.data import suite_queries
from leaderboard.data.database import Database
from leaderboard.pages.map import atlas as maps
from leaderboard.pages.map.atlas import Atlas, MapFailed, read, recipe_of
from leaderboard.web.parameters import parse

USUAL = {"of": "tasks", "suites": ["mieb"], "origin": "usual", "neighbours": 10, "distance": 0.1, "seed": 0}


@pytest.fixture(scope="module")
def atlas(database: Path) -> Atlas:
    return Atlas(Database(database))


def content(*, seed: int = 5) -> bytes:
    settings = f'{{"seed": {seed}}}'
    rows = [("tasks:mieb", "mieb/a", 1.0, 2.0, 0, settings), ("tasks:mieb", "mieb/b", 2.0, 3.0, -1, settings)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.to_csv(index=False).encode()


def test_defaults_of_the_page_are_a_shipped_map(atlas: Atlas) -> None:
    values, note = parse(maps.parameters(suite_queries.suites(atlas.db)), {})
    values.pop("colour")
    made = atlas.find(recipe_of(**values))
    assert note == "" and made is not None
    assert {"key", "x", "y", "cluster"} <= set(made.points.columns)
    assert made.settings["seed"] == 0 and 0.5 < made.settings["trustworthiness"] <= 1
    known = set(suite_queries.suite_tasks(atlas.db, suite="mieb")["key"])
    assert set(made.points["key"]) <= known and len(made.points) > 100


@pytest.mark.parametrize("suites", [["unisim-ood", "unisim-core"], ["pairbench"], ["mieb"]])
@pytest.mark.parametrize("noun", ["tasks", "models"])
def test_every_benchmark_ships_both_maps(atlas: Atlas, suites: list[str], noun: str) -> None:
    assert atlas.find(recipe_of(**{**USUAL, "of": noun, "suites": suites})) is not None


def test_no_suite_is_no_choice() -> None:
    with pytest.raises(BadInput, match="No suite"):
        recipe_of(**{**USUAL, "suites": []})


def test_what_was_made_is_kept_by_all_its_settings(database: Path) -> None:
    atlas = Atlas(Database(database))
    recipe = Recipe(seed=5)
    atlas.keep(recipe, read(content()))
    assert list(atlas.find(recipe).points["key"]) == ["mieb/a", "mieb/b"]
    assert atlas.find(Recipe(seed=6)) is None
    for seed in range(100, 100 + maps.MOST_MADE):
        atlas.keep(Recipe(seed=seed), read(content(seed=seed)))
    assert atlas.find(recipe) is None


def test_what_is_no_map_is_refused() -> None:
    for wrong in (b"", b"kind,key\n", b"not a table", content().replace(b"cluster", b"luster")):
        with pytest.raises(MapFailed):
            read(wrong)


def follow(atlas: Atlas, *, visitor: str = "v", then=lambda stage: None) -> list[str]:
    async def run() -> list[str]:
        stages = []
        async for stage in atlas.make(Recipe(seed=5), visitor=visitor):
            stages.append(stage)
            then(stage)
        return stages

    return asyncio.run(run())


def program(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(maps, "command", lambda recipe, database: (sys.executable, "-c", text))


def test_a_job_reports_its_stages_and_keeps_its_map(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    atlas = Atlas(Database(database))
    program(
        monkeypatch,
        "import sys; print('loading UMAP', file=sys.stderr); print('a warning', file=sys.stderr); "
        f"sys.stdout.write({content().decode()!r})",
    )
    assert follow(atlas) == ["loading UMAP"]
    assert atlas.find(Recipe(seed=5)) is not None


def test_a_job_that_fails_says_why(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    atlas = Atlas(Database(database))
    program(monkeypatch, "import sys; print('Error: Only 2 models can be placed', file=sys.stderr); sys.exit(1)")
    with pytest.raises(MapFailed, match="^Only 2 models can be placed$"):
        follow(atlas)
    program(monkeypatch, "raise ValueError('secret path')")
    with pytest.raises(MapFailed, match="could not be made"):
        follow(atlas)


SLEEPS = """
import os, sys, time
until = time.monotonic() + 30
while os.nice(0) < int(sys.argv[1]) and time.monotonic() < until:
    time.sleep(0.01)
print("loading", os.getpid(), os.nice(0), file=sys.stderr, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("end", ["too long", "stopped"])
def test_a_job_yields_to_pages_and_leaves_nothing_when_it_is_ended(
    database: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    atlas, stages = Atlas(Database(database)), []
    priority = os.nice(0) + maps.PRIORITY
    assert maps.LONGEST == 120 and maps.PRIORITY == 10
    monkeypatch.setattr(maps, "PRIORITY", priority)  # which is set, not added: a test may be niced itself
    monkeypatch.setattr(maps, "command", lambda recipe, database: (sys.executable, "-c", SLEEPS, str(priority)))

    def then(stage: str) -> None:
        stages.append(stage)
        if end == "stopped":
            atlas.stop("v")

    if end == "too long":
        monkeypatch.setattr(maps, "LONGEST", 5)
    with pytest.raises(MapFailed, match="took over 5 seconds and was stopped" if end == "too long" else "Stopped"):
        follow(atlas, then=then)
    [[_, process, niceness]] = [stage.split() for stage in stages]
    assert int(niceness) == priority
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)
    program(monkeypatch, f"import sys; sys.stdout.write({content().decode()!r})")
    assert follow(atlas) == [] and atlas.find(Recipe(seed=5)) is not None, "the next job has its turn"
