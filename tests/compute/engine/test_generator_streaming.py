"""Distances of many images hold moments, not features: rows are read from the store block by block."""

import numpy as np

from compute.arrays import LazyRows
from compute.engine.generators.features import Backbones, SetFeatures
from compute.engine.generators.set_metrics import figures
from compute.metrics.distribution import moments

N, D, P = 20_000, 64, 16
CHOSEN = Backbones(image=("own",), cfred=("own",), text=("own",), metrics=("fd", "cfred"))


def test_intervals_and_limits_hold_no_more_rows_than_a_block(monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", 1 << 16)
    rng, read = np.random.default_rng(0), []
    real, mine, prompts = (rng.standard_normal((N, width), dtype=np.float32) for width in (D, D, P))

    def lazy(rows):
        """The rows as a store gives them; how many each reading takes is noted."""
        return {"own": LazyRows(read=lambda at: read.append(len(at)) or rows[at], shape=rows.shape, dtype=rows.dtype)}

    images = {"reference": lazy(real), "mine": lazy(mine * 1.1)}
    whole = SetFeatures(generated=("mine",), prompts=tuple(map(str, range(N))), images=images, texts={"own": prompts})
    frame = figures(whole, chosen=CHOSEN)
    assert frame.eval("low < value < high and limit_low < limit < limit_high").all()
    assert max(read) <= (1 << 16) / D
