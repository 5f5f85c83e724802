"""A study of metrics over generators with known faults, as the database holds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from compute.analysis.generators.sensitivity import BLIND, MIXED, REWARDS, SEES, FaultRun, Sensitivity, by_fault, chains
from compute.engine.generators.backbones import METRICS, NEEDS
from compute.tasks.mini.generators import CLEAN, FAULTS
from leaderboard.data import lens_queries, suite_queries
from leaderboard.data.database import Database
from leaderboard.data.memo import shared

WORDS = {SEES: "sees it", REWARDS: "rewards it", BLIND: "no difference", MIXED: "unclear"}


@dataclass(frozen=True, kw_only=True)
class SizePoint:
    """A metric at one number of prompts, with its 95% interval where there is one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class SizeCurve:
    """A metric of one generator by number of prompts, in rising order; `limit` extrapolated to infinitely many."""

    title: str
    points: Mapping[int, SizePoint]
    limit: SizePoint | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of prompts."""
        return tuple(self.points)


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What the metrics make of one fault: titles by verdict, each metric on the features that it is shown on first."""

    fault: str
    sees: tuple[str, ...]
    rewards: tuple[str, ...]
    blind: tuple[str, ...]
    unclear: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """All figures of a study."""

    runs: Mapping[str, FaultRun]  # by generator
    sizes: Mapping[str, int]  # prompts of each generator
    higher: Mapping[str, bool]  # by metric: whether more is better
    keys: tuple[tuple[str, str, str], ...]  # metric, subset and fault of every reading, in the suite's order

    @cached_property
    def sensitivities(self) -> dict[tuple[str, str, str], Sensitivity]:
        """Every reading, by key: computed when the first is needed, as the lists of the controls need none."""
        readings = by_fault(self.runs.values(), higher=self.higher)
        return {key: readings[key] for key in self.keys}

    @cached_property
    def subsets(self) -> dict[str, tuple[str, ...]]:
        """The backbones of each metric, in the order of the runs' figures."""
        out: dict[str, dict[str, None]] = {}
        for metric, subset, _ in self.keys:
            out.setdefault(metric, {})[subset] = None
        return {metric: tuple(subsets) for metric, subsets in out.items()}

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric with figures."""
        return tuple(self.subsets)

    @property
    def not_run(self) -> dict[str, str]:
        """Metrics without figures, and the one model that makes them."""
        return {metric: NEEDS[metric] for metric in METRICS if metric in NEEDS and metric not in self.subsets}

    @property
    def faults(self) -> tuple[str, ...]:
        """Every fault with figures, in the order of the suite."""
        present = {fault for _, _, fault in self.keys}
        return tuple(fault for fault in FAULTS if fault in present)

    def of(self, metric: str, subset: str) -> dict[str, Sensitivity]:
        """What a metric on one backbone makes of each fault."""
        return {
            fault: self.sensitivities[metric, subset, fault]
            for fault in self.faults
            if (metric, subset, fault) in self.keys
        }

    def sightings(self, titles: Mapping[str, str]) -> list[Sighting]:
        """Which metrics see each fault; `titles` of the metrics by key."""
        made = []
        for fault in self.faults:
            verdicts: dict[str, list[str]] = {}
            for metric, subsets in self.subsets.items():
                reading = self.sensitivities.get((metric, subsets[0], fault))
                if reading is not None:
                    verdicts.setdefault(reading.verdict, []).append(titles[metric])
            known = {key: tuple(verdicts.pop(key, ())) for key in (SEES, REWARDS, BLIND)}
            made.append(
                Sighting(
                    fault=FAULTS[fault].title,
                    sees=known[SEES],
                    rewards=known[REWARDS],
                    blind=known[BLIND],
                    unclear=tuple(title for rest in verdicts.values() for title in rest),
                )
            )
        return made

    def curve(self, generator: str, *, metric: str, subset: str) -> SizeCurve | None:
        """A metric of one generator by number of prompts; None where the study has only all prompts."""
        run = self.runs.get(generator)
        details = {} if run is None else run.details.get(subset, {}).get(metric, {})
        if run is None or not details.get("smaller"):
            return None
        points = {int(size): _point(*figures) for size, figures in details["smaller"].items()}
        points[self.sizes[generator]] = _point(run.values[metric, subset], details["low"], details["high"])
        return SizeCurve(
            title="No fault" if run.strength == 0 else FAULTS[run.fault].title,
            points={size: points[size] for size in sorted(points)},
            limit=_point(*details["limit"]) if details.get("limit") else None,
        )

    def curves(self, *, metric: str, subset: str) -> list[SizeCurve]:
        """The generator without a fault, and each fault at its strongest."""
        strongest = {
            fault: max((run.strength, key) for key, run in self.runs.items() if run.fault == fault and run.strength)[1]
            for fault in self.faults
        }
        known = [self.curve(key, metric=metric, subset=subset) for key in (CLEAN, *strongest.values())]
        return [curve for curve in known if curve is not None]


def load(db: Database) -> Study:
    """The study in the database; without figures where there is none."""
    higher = {row.key: bool(row.higher_is_better) for row in suite_queries.metrics(db).itertuples()}
    values: dict[str, dict[tuple[str, str], float]] = {}
    counts: dict[str, int] = {}
    for row in lens_queries.scores(db).itertuples():
        values.setdefault(row.run, {})[row.metric, row.subset] = float(row.value)
        counts[row.run] = int(row.n)
    runs, sizes = {}, {}
    for row in lens_queries.runs(db).itertuples():
        settings = json.loads(row.settings)
        if row.id not in values or settings["model"]["fault"] not in (*FAULTS, CLEAN):
            continue
        generator = settings["model"]["generator"]
        runs[generator] = FaultRun(
            fault=settings["model"]["fault"],
            strength=float(settings["model"]["strength"]),
            values=values[row.id],
            details=settings.get("found") or {},
            blocks=tuple(settings["procedure"]["options"].get("blocks", ())),
        )
        sizes[generator] = counts[row.id]
    metrics, subsets = _order(db)
    ranked = sorted(chains(runs.values()), key=lambda key: (_at(key[0], metrics), _at(key[1], subsets)))
    return Study(runs, sizes, higher, tuple(ranked))


def _point(value: float, low: float | None, high: float | None) -> SizePoint:
    return SizePoint(value=value, low=low, high=high)


def _order(db: Database) -> tuple[list[str], list[str]]:
    """Metrics and backbones as the suite's task lists them, the headline's first."""
    tasks = suite_queries.suite_tasks(db, suite="mini-generators")
    return tuple([key for keys in tasks[column] for key in keys] for column in ("metrics", "subsets"))


def _at(key: str, order: list[str]) -> int:
    return order.index(key) if key in order else len(order)


def summary(readings: Mapping[str, Sensitivity]) -> dict[str, list[str]]:
    """Titles of the faults by verdict: SEES, REWARDS and BLIND; the rest as `unclear`."""
    out: dict[str, list[str]] = {SEES: [], REWARDS: [], BLIND: [], "unclear": []}
    for fault, reading in readings.items():
        out[reading.verdict if reading.verdict in out else "unclear"].append(FAULTS[fault].title.lower())
    return out


def verdict_words(reading: Sensitivity) -> str:
    """What a metric makes of a fault, in words."""
    seen = f" from strength {reading.seen_from:g} on" if reading.seen_from is not None else ""
    return f"{WORDS[reading.verdict]}{seen}"


study_of = shared(lambda site: load(site.db))  # of a site
