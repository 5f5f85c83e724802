"""Distances of many images hold moments, not features: rows are read from the store block by block."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from compute.arrays import LazyRows
from compute.engine.generators.features import Backbones, SetFeatures
from compute.engine.generators.set_metrics import figures
from compute.metrics.distribution import moments

D, P = 64, 16
CHOSEN = Backbones(image=("own",), cfred=("own",), text=("own",), metrics=("fd", "cfred"))


def features(n):
    rng = np.random.default_rng(0)
    real, mine, prompts = (rng.standard_normal((n, width), dtype=np.float32) for width in (D, D, P))
    return SetFeatures(
        generated=("mine",),
        prompts=tuple(map(str, range(n))),
        images={"reference": {"own": real}, "mine": {"own": mine * 1.1}},
        texts={"own": prompts},
    )


def stored(whole):
    """The same rows as a store gives them, and how many each reading takes."""
    read = []

    def lazy(rows):
        return LazyRows(read=lambda at: read.append(len(at)) or rows[at], shape=rows.shape, dtype=rows.dtype)

    images = {key: {name: lazy(rows) for name, rows in sets.items()} for key, sets in whole.images.items()}
    return replace(whole, images=images, texts={key: lazy(rows) for key, rows in whole.texts.items()}), read


def test_intervals_and_limits_hold_no_more_rows_than_a_block(monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", 1 << 16)
    lazy, read = stored(features(20_000))
    frame = figures(replace(lazy, texts=features(20_000).texts), chosen=CHOSEN)
    assert frame.eval("low < value < high and limit_low < limit < limit_high").all()
    assert max(read) <= (1 << 16) / D


@pytest.mark.parametrize("n", [150, 1000], ids=["few rows", "many rows"])
def test_what_is_read_from_the_store_gives_what_arrays_give(n):
    every = replace(CHOSEN, cmmd="own", metrics=(*CHOSEN.metrics, "kid", "cmmd", "precision", "coverage", "vendi"))
    whole = features(n)
    lazy, arrays = (figures(each, chosen=every) for each in (stored(whole)[0], whole))
    assert len(arrays) == 7
    pd.testing.assert_frame_equal(lazy, arrays, rtol=1e-12)
