"""The maps of a database: shipped, made by a visitor before, or still to be made by a program."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from cachetools import LRUCache

from compute.analysis.maps.suites import COLUMNS, Recipe
from compute.analysis.table import ALL, USUAL
from compute.paths import IMPORTED_FROM, PACKAGE
from compute.types import ORIGINS, BadInput, LikenessError
from leaderboard.data import suite_queries
from leaderboard.web.parameters import Choice, MultiChoice, Number, Parameter

if TYPE_CHECKING:
    from leaderboard.data.database import Database

COLOURS = {
    "tasks": ("cluster", "category", "benchmark", "metric", "procedure"),
    "models": (
        "cluster",
        "kind",
        "family",
        "organisation",
        "group",
        "license",
        "released",
        "size",
        "dimension",
        "mean",
    ),
}
MOST_MADE = 32  # maps made by visitors that stay in memory
LONGEST = 120  # seconds a map may take
PRIORITY = 10  # of the program, as `nice` counts: pages come first
STAGES = ("loading", "placing")  # first words of the program's stages; libraries print other lines


@dataclass(frozen=True, kw_only=True)
class SuiteMap:
    """A map: key, x, y and cluster of every placed point, and what it was made with."""

    points: pd.DataFrame
    settings: Mapping[str, Any]


class MapFailed(LikenessError):
    """The program that makes maps ended without one."""


def parameters(suites: pd.DataFrame) -> tuple[Parameter, ...]:
    """The page's query parameters; their defaults are a shipped map."""
    usual = Recipe()
    keys = tuple(suites[suites["aggregate"] != "human"]["key"])
    return (
        Choice(key="of", default=usual.noun, choices=("tasks", "models")),
        MultiChoice(key="suites", default=usual.suites, choices=keys, least=1, noun="suite"),
        Choice(key="origin", default=usual.origin, choices=(USUAL, *ORIGINS, ALL)),
        Choice(key="colour", default="cluster", choices=tuple(dict.fromkeys(sum(COLOURS.values(), ())))),
        Number(key="neighbours", default=usual.n_neighbors, low=2, high=100, whole=True),
        Number(key="distance", default=usual.min_dist, low=0, high=1),
        Number(key="seed", default=usual.seed, low=0, high=2**31 - 1, whole=True),
    )


def recipe_of(*, of: str, suites: list[str], origin: str, neighbours: int, distance: float, seed: int) -> Recipe:
    """A page's values as a recipe. Suites in a fixed order, so that the same choice is the same map."""
    if not suites:
        raise BadInput("No suite is chosen. Choose one or more")
    return Recipe(
        noun=of, suites=tuple(sorted(suites)), origin=origin, seed=seed, n_neighbors=neighbours, min_dist=distance
    )


class Atlas:
    """The maps of a database: those in its file, and those made since it was opened."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._made: LRUCache[tuple[str, Recipe], SuiteMap] = LRUCache(MOST_MADE)  # by the file's version too
        self._working: dict[str, asyncio.subprocess.Process] = {}

    def find(self, recipe: Recipe) -> SuiteMap | None:
        """The map of a recipe, None where it has not been made."""
        if made := self._made.get((self.db.version, recipe)):
            return made
        stored = suite_queries.projection(self.db, kind=recipe.kind)
        if stored.empty:
            return None
        settings = json.loads(stored["settings"].iloc[0])
        usual = Recipe(noun=recipe.noun, suites=recipe.suites)
        chosen = {"origin": recipe.origin, "seed": recipe.seed, "min_dist": recipe.min_dist}
        # Few points cut n_neighbors short, so the shipped number counts only where the default was chosen.
        same = all(settings[name] == value for name, value in chosen.items()) and (
            recipe.n_neighbors in (usual.n_neighbors, settings["n_neighbors"])
        )
        return SuiteMap(points=stored.drop(columns="settings"), settings=settings) if same else None

    def keep(self, recipe: Recipe, made: SuiteMap, *, version: str = "") -> None:
        """Caches a map for everybody, for that version of the file (empty: the current one)."""
        self._made[version or self.db.version, recipe] = made

    def stop(self, visitor: str) -> None:
        """Ends a visitor's job, if one runs."""
        worker = self._working.pop(visitor, None)
        if worker is not None and worker.returncode is None:
            worker.kill()

    async def make(self, recipe: Recipe, *, visitor: str) -> AsyncIterator[str]:
        """Makes a map in a separate process and keeps it; yields its stages. A visitor who leaves ends it.

        Raises MapFailed with the reason, also when the visitor has stopped it.
        """
        with self.db.snapshot() as opening:
            path, version = opening.path, opening.version
        worker = await asyncio.create_subprocess_exec(
            *command(recipe, path),
            cwd=IMPORTED_FROM,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        with contextlib.suppress(AttributeError, OSError):  # Windows has no priorities; the program may have ended
            os.setpriority(os.PRIO_PROCESS, worker.pid, PRIORITY)
        self._working[visitor] = worker
        try:
            output = asyncio.create_task(worker.stdout.read())
            last = ""
            async with asyncio.timeout(LONGEST):
                while line := (await worker.stderr.readline()).decode(errors="replace").strip():
                    last = line
                    if line.startswith(STAGES):
                        yield line
                content = await output
                await worker.wait()
            if self._working.get(visitor) is not worker:
                raise MapFailed("Stopped. Press the button to make the map")
            if worker.returncode != 0:
                raise MapFailed(
                    last.removeprefix("Error: ")
                    if last.startswith("Error")
                    else "The map could not be made. Try other settings; see the server's log"
                )
            self.keep(recipe, read(content), version=version)
        except TimeoutError as error:
            raise MapFailed(f"The map took over {LONGEST} seconds and was stopped. Choose fewer suites") from error
        finally:
            self._working.pop(visitor, None)
            if worker.returncode is None:
                worker.kill()
                await worker.wait()


def command(recipe: Recipe, database: Path) -> tuple[str, ...]:
    """The command that makes a map: the one a visitor could run."""
    return (
        sys.executable,
        "-m",
        PACKAGE,
        "project",
        "--suites",
        ",".join(recipe.suites),
        "--noun",
        recipe.noun,
        "--origin",
        recipe.origin,
        "--seed",
        str(recipe.seed),
        "--neighbors",
        str(recipe.n_neighbors),
        "--min-dist",
        str(recipe.min_dist),
        "--to",
        "-",
        "--database",
        str(database),
    )


def read(content: bytes) -> SuiteMap:
    """A map from the command's output. Raises MapFailed for anything else."""
    try:
        frame = pd.read_csv(io.BytesIO(content), dtype={"kind": str, "key": str, "settings": str})
        if tuple(frame.columns) != COLUMNS or frame.empty:
            raise ValueError("no such columns")
        return SuiteMap(points=frame.drop(columns=["kind", "settings"]), settings=json.loads(frame["settings"].iloc[0]))
    except ValueError as error:
        raise MapFailed("The map program returned no map. Try again, or other settings") from error
