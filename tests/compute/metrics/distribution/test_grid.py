"""The grid of backbones: each cell is cFreD of its pair, and nothing of one backbone is computed twice."""

from __future__ import annotations

import dataclasses
from unittest.mock import patch

import numpy as np
import pytest

from compute.metrics.distribution import frechet as module
from compute.metrics.distribution.frechet import cfred
from compute.metrics.distribution.grid import cfred_grid, check_grid
from compute.types import BadInput

N = 90
WIDTHS = {"small": 12, "wide": 120}
TEXTS = {"short": 8, "long": 60, "longer": 130}


def features() -> dict[str, dict]:
    rng = np.random.default_rng(0)
    meaning = rng.standard_normal((N, 10))

    def of(width: int, noise: float) -> np.ndarray:
        return (meaning @ rng.standard_normal((10, width)) + noise * rng.standard_normal((N, width))).astype(np.float32)

    return {
        "real": {key: of(width, 1) for key, width in WIDTHS.items()},
        "generated": {name: {key: of(width, 2) for key, width in WIDTHS.items()} for name in ("a", "b")},
        "condition": {key: of(width, 0.5) for key, width in TEXTS.items()},
    }


def test_every_cell_is_the_pair_alone() -> None:
    sets = features()
    cells = list(cfred_grid(**sets))
    assert [(cell.image, cell.text, cell.generator) for cell in cells] == [
        (image, text, generator) for image in WIDTHS for text in TEXTS for generator in ("a", "b")
    ]
    for cell in cells:
        alone = cfred(
            real=sets["real"][cell.image],
            generated=sets["generated"][cell.generator][cell.image],
            condition=sets["condition"][cell.text],
        )
        found, expected = (dataclasses.asdict(record) for record in (cell.cfred, alone))
        assert found.pop("warnings") == expected.pop("warnings")
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_each_backbone_is_prepared_once() -> None:
    sets = features()
    with (
        patch.object(module.linalg, "svd", wraps=module.linalg.svd) as decomposed,
        patch.object(module, "centred", wraps=module.centred) as read,
    ):
        assert len(list(cfred_grid(**sets))) == 12
    assert decomposed.call_count == len(TEXTS)
    assert read.call_count == len(TEXTS) + 3 * len(WIDTHS)  # the real images and two generators


def test_bad_grids_name_the_backbone() -> None:
    sets = features()
    short = {**sets["condition"], "long": sets["condition"]["long"][:50]}
    with pytest.raises(BadInput, match="condition long"):
        check_grid(real=sets["real"], generated=sets["generated"], condition=short)
    narrow = {"a": {key: rows[:, :5] for key, rows in sets["generated"]["a"].items()}}
    with pytest.raises(BadInput, match="a small"):
        check_grid(real=sets["real"], generated=narrow, condition=sets["condition"])
    spoilt = sets["condition"]["short"].copy()
    spoilt[7, 0] = np.nan
    with pytest.raises(BadInput, match="row 7"):
        check_grid(real=sets["real"], generated=sets["generated"], condition={"short": spoilt})
