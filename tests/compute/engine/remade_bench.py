"""A bench that every process of a run makes again for itself: one task of choices, a model given, one thread a process.

Everything in it is named by a module's function, so that another process finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from compute.engine.bench import Bench
from compute.features.store import FeatureStore
from compute.features.subject import LoadedSubject
from compute.models.adapter import Hardware
from compute.procedures import choice
from compute.tasks.data import Choices, Data
from compute.tasks.source import Need
from compute.types import Model


def choices(columns: Sequence[Any]) -> Choices:
    """A column of images and two of alternatives to them; which is right goes in turn."""
    reference, *alternatives = columns
    return Choices(
        names=tuple(f"item {row}" for row in range(len(reference))),
        reference=reference,
        alternatives=tuple(alternatives),
        answer=np.arange(len(reference)) % 2,
        question="reference",
    )


def identify(row: Model, *, hardware: Hardware) -> dict[str, Any]:
    return {"model": row.key, "dtype": hardware.dtype}


def bench(
    *,
    features: Path,
    device: str,
    batch_size: int,
    load: Callable[..., Any],
    load_items: Callable[..., Mapping[str, Data]],
    recipe: Callable[..., Bench],
) -> Bench:
    """`load` gives the model, `load_items` the task's items, and `recipe` makes this bench again on another device."""
    hardware = Hardware(device=device, dtype="float32")
    return Bench(
        hardware=hardware,
        procedures={"choice": choice.PROCEDURE},
        task_options=lambda task: {},
        load=load_items,
        need=lambda task: Need(repo=task.dataset, revision="", bytes=0, present=True, images=None, texts=None),
        identity=lambda task: {"draw": 1},
        subject=lambda row: LoadedSubject(
            row,
            store=FeatureStore(features),
            hardware=hardware,
            batch_size=batch_size,
            threads=1,
            load=load,
            identity=identify,
        ),
        recipe=recipe,
    )
