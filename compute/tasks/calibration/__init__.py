"""The suite `calibration`: three fixed sets whose scores give a model's other scores a meaning. It has no board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from compute.tasks.calibration import drawn, photographs, sentences
from compute.tasks.data import CalibrationPairs
from compute.tasks.source import Need, Source
from compute.types import WHOLE, Suite, Task

KEY = "calibration"
PROCEDURES = (KEY,)
SETS = {"drawn": drawn, "photographs": photographs, "sentences": sentences}
PAIRS = ("image-image", "image-text", "text-text")
SUITE = Suite(
    key=KEY,
    title="Calibration",
    benchmark=KEY,
    aggregate="task-mean",
    description="What a model's scores of matching and of unrelated pairs are: Try reads a score against them.",
)
TASKS = tuple(
    Task(
        key=f"{KEY}/{domain}/{pairing}",
        title=f"{pairing}, {SETS[domain].SOURCE}",
        benchmark=KEY,
        category=domain,
        dataset=SETS[domain].SOURCE,
        procedure=KEY,
        metrics=("cosine_spearman",),
        modalities=tuple(dict.fromkeys(pairing.split("-"))) if pairing in PAIRS else ("image", "text"),
        suites=(KEY,),
    )
    for domain, pairings in {
        "drawn": (*PAIRS, *drawn.CHANGES),
        "photographs": PAIRS[:2],
        "sentences": PAIRS[2:],
    }.items()
    for pairing in pairings
)


def load(task: Task, *, source: Source, options: Mapping[str, Any]) -> dict[str, CalibrationPairs]:
    """Returns the task's items. Only sentences and scikit-image's photographs are read; raises NotHere if these are
    missing.
    """
    _, domain, pairing = task.key.split("/")
    return {WHOLE: replace(material(domain)[pairing], domain=domain, pairing=pairing)}


@cache
def material(domain: str) -> dict[str, CalibrationPairs]:
    """Returns the items of a set by pairing or question, made once per process. Must not be modified."""
    return SETS[domain].material()


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns the versions of what is drawn or chosen."""
    return SETS[task.category].IDENTITY


def needs(task: Task, *, source: Source) -> Need:
    """Returns an empty need: nothing is fetched."""
    return Need()
