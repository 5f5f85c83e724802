"""Saved reference statistics: the same back, and refused where they do not fit or are damaged."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from compute.metrics.distribution.frechet import cfred, frechet
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.metrics.distribution.references import FeatureOrigin, SavedReference, read_reference, save_reference
from compute.types import BadInput

IMAGES = FeatureOrigin(backbone="tiny", preprocessing={"size": [32, 32], "resample": "bicubic", "dtype": "float32"})
TEXTS = FeatureOrigin(backbone="tiny-text", preprocessing={"length": 77})


def rows(n: int, d: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) + 1


def plain(**changes: object) -> SavedReference:
    fields = {"name": "coco", "moments": Moments.of(rows(40, 6)), "images": IMAGES, "source": "40 drawn images"}
    return SavedReference(**(fields | changes))


def test_a_reference_comes_back_as_it_was(tmp_path: Path) -> None:
    path = save_reference(tmp_path / "references", plain())
    assert path == tmp_path / "references" / "coco.npz"
    read = read_reference(path)
    assert (read.name, read.n, read.source, read.images) == ("coco", 40, "40 drawn images", IMAGES)
    assert read.packages["numpy"] == np.__version__
    generated = rows(30, 6, seed=1)
    expected = frechet(real=rows(40, 6), generated=generated).value
    assert frechet(real=read.moments, generated=generated).value == pytest.approx(expected, rel=1e-12)


def test_one_with_prompts_serves_cfred(tmp_path: Path) -> None:
    real, generated, texts = rows(60, 6), rows(60, 6, seed=1), rows(60, 4, seed=2)
    moments = CrossMoments.of(images=real, condition=texts)
    read = read_reference(save_reference(tmp_path, plain(name="parti", moments=moments, condition=TEXTS)))
    assert read.condition == TEXTS
    found = cfred(real=read.moments, generated=CrossMoments.of(images=generated, condition=texts)).value
    assert found == pytest.approx(cfred(real=real, generated=generated, condition=texts).value, rel=1e-9)


def test_other_features_are_refused() -> None:
    reference = plain()
    reference.check_side("images", dataclasses.replace(IMAGES, preprocessing=IMAGES.preprocessing | {"size": (32, 32)}))
    with pytest.raises(BadInput, match="dinov2"):
        reference.check_side("images", FeatureOrigin(backbone="dinov2"))
    with pytest.raises(BadInput, match="bilinear"):
        changed = {**IMAGES.preprocessing, "resample": "bilinear"}
        reference.check_side("images", FeatureOrigin(backbone="tiny", preprocessing=changed))


def test_damaged_and_other_files_are_refused(tmp_path: Path) -> None:
    path = save_reference(tmp_path, plain())
    original = path.read_bytes()
    for data in (b"", b"not a zip", original[:200], original[:-50]):
        path.write_bytes(data)
        with pytest.raises(BadInput, match=r"coco\.npz"):
            read_reference(path)
    np.savez(path, facts=np.array([{"a": 1}], dtype=object))  # a pickle
    with pytest.raises(BadInput, match=r"coco\.npz"):
        read_reference(path)
    spoilt = Moments(n=40, mean=np.full(6, np.nan), scatter=np.eye(6))
    with pytest.raises(BadInput, match="NaN"):
        read_reference(save_reference(tmp_path, plain(moments=spoilt)))
