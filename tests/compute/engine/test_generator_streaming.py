"""Distances of many images hold moments, not features: rows are read from the store block by block."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compute.arrays import LazyRows
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.frechet import SetFeatures, figures
from compute.engine.generators.table import GeneratorFigure
from compute.features.store import Shelf
from compute.metrics.distribution import moments

D, P = 64, 16
SHARD = 50_000


def shelf(folder: Path, *, n: int, sets: int, width: int) -> tuple[Shelf, list[np.ndarray]]:
    """A shelf with the features of some sets of n images, in shards, and the keys of each set."""
    rng = np.random.default_rng(width)
    stored = Shelf(folder)
    folder.mkdir(parents=True)
    keys = [np.array([f"{part}-{row}" for row in range(n)], dtype="S32") for part in range(sets)]
    for part, names in enumerate(keys):
        for start in range(0, n, SHARD):
            some = names[start : start + SHARD]
            stored.append(some, (rng.standard_normal((len(some), width)) * (1 + part / 10)).astype(np.float32))
    stored.refresh()
    return stored, keys


def comparison(folder: Path, *, n: int) -> tuple[SetFeatures, Backbones]:
    images, (real, mine) = shelf(folder / "images", n=n, sets=2, width=D)
    texts, (prompts,) = shelf(folder / "texts", n=n, sets=1, width=P)
    chosen = Backbones(image=("own",), cfred=("own",), text=("own",), metrics=("fd", "cfred"))
    features = SetFeatures(
        generated=("mine",),
        prompts=tuple(map(str, range(n))),
        images={"own": {"reference": images.lazy(real), "mine": images.lazy(mine)}},
        texts={"own": texts.lazy(prompts)},
    )
    return features, chosen


def in_memory(features: SetFeatures) -> SetFeatures:
    return replace(
        features,
        images={key: {name: np.asarray(rows) for name, rows in sets.items()} for key, sets in features.images.items()},
        texts={key: np.asarray(rows) for key, rows in features.texts.items()},
    )


def counting(rows: LazyRows, largest: list[int]) -> LazyRows:
    def read(at: np.ndarray) -> np.ndarray:
        largest.append(len(at))
        return rows.read(at)

    return replace(rows, read=read)


def test_intervals_and_limits_hold_no_more_rows_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "BLOCK", 1 << 16)
    features, chosen = comparison(tmp_path, n=20_000)
    largest: list[int] = []
    counted = {
        key: {name: counting(rows, largest) for name, rows in sets.items()} for key, sets in features.images.items()
    }
    [conditional, plain] = figures(replace(features, images=counted), chosen=chosen)
    assert max(largest) <= (1 << 16) / D
    for row in (conditional, plain):
        assert row.low < row.value < row.high and row.limit_low < row.limit < row.limit_high


@pytest.mark.parametrize("n", [150, 1000], ids=["few rows", "many rows"])
def test_what_is_read_from_the_store_gives_what_arrays_give(n: int, tmp_path: Path) -> None:
    features, chosen = comparison(tmp_path, n=n)
    every = replace(chosen, cmmd="own", metrics=(*chosen.metrics, "kid", "cmmd", "precision", "coverage", "vendi"))
    lazy, whole = (figures(each, chosen=every) for each in (features, in_memory(features)))
    assert len(lazy) == len(whole) == 7
    for one, other in zip(lazy, whole, strict=True):
        assert_same(one, other)


def assert_same(one: GeneratorFigure, other: GeneratorFigure) -> None:
    for name in ("value", "low", "high", "limit", "limit_low", "limit_high"):
        expected = getattr(other, name)
        assert getattr(one, name) == (None if expected is None else pytest.approx(expected, rel=1e-12)), name
    assert one.warnings == other.warnings
