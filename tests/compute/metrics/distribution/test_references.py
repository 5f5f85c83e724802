"""Saved reference statistics: the same back, and refused where they do not fit or a stranger made them."""

from __future__ import annotations

import dataclasses
import io
import json
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from compute.metrics.distribution.frechet import cfred, frechet
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.metrics.distribution.references import (
    FeatureOrigin,
    SavedReference,
    load_reference,
    read_reference,
    save_reference,
    saved_references,
)
from compute.types import BadInput, NotHere

IMAGES = FeatureOrigin(backbone="tiny", preprocessing={"size": [32, 32], "resample": "bicubic", "dtype": "float32"})
TEXTS = FeatureOrigin(backbone="tiny-text", preprocessing={"length": 77})


def rows(n: int, d: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) + 1


def plain(**changes: object) -> SavedReference:
    fields = {"name": "coco", "moments": Moments.of(rows(40, 6)), "images": IMAGES, "source": "40 drawn images"}
    return SavedReference(**(fields | changes))


def rewrite(path: Path, **members: bytes) -> None:
    """The same archive with some members replaced, as a stranger would."""
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (old | {f"{name}.npy": data for name, data in members.items()}).items():
            archive.writestr(name, data)


def npy(array: np.ndarray) -> bytes:
    handle = io.BytesIO()
    np.save(handle, array)
    return handle.getvalue()


def facts_of(path: Path) -> dict:
    with np.load(path, allow_pickle=False) as archive:
        return json.loads(archive["facts"].tobytes())


def as_member(facts: object) -> bytes:
    return npy(np.frombuffer(json.dumps(facts).encode(), np.uint8))


def test_a_reference_comes_back_as_it_was(tmp_path: Path) -> None:
    path = save_reference(tmp_path / "references", plain())
    assert path.name == "coco.npz"
    read = load_reference(path.parent, "coco")
    assert (read.name, read.n, read.source, read.images) == ("coco", 40, "40 drawn images", IMAGES)
    assert read.packages["numpy"] == np.__version__
    generated = rows(30, 6, seed=1)
    expected = frechet(real=rows(40, 6), generated=generated).value
    assert frechet(real=read.moments, generated=generated).value == pytest.approx(expected, rel=1e-12)
    assert saved_references(path.parent) == ["coco"]


def test_one_with_prompts_serves_cfred(tmp_path: Path) -> None:
    real, generated, texts = rows(60, 6), rows(60, 6, seed=1), rows(60, 4, seed=2)
    moments = CrossMoments.of(images=real, condition=texts)
    save_reference(tmp_path, plain(name="parti", moments=moments, condition=TEXTS))
    read = load_reference(tmp_path, "parti")
    assert read.condition == TEXTS
    found = cfred(real=read.moments, generated=CrossMoments.of(images=generated, condition=texts)).value
    assert found == pytest.approx(cfred(real=real, generated=generated, condition=texts).value, rel=1e-9)


def test_other_features_are_refused() -> None:
    reference = plain()
    reference.check(images=IMAGES)
    reference.check(images=dataclasses.replace(IMAGES, preprocessing=IMAGES.preprocessing | {"size": (32, 32)}))
    with pytest.raises(BadInput, match="encoded by tiny, these are by dinov2"):
        reference.check(images=FeatureOrigin(backbone="dinov2"))
    with pytest.raises(BadInput, match="resample = 'bicubic', these have 'bilinear'"):
        changed = {**IMAGES.preprocessing, "resample": "bilinear"}
        reference.check(images=FeatureOrigin(backbone="tiny", preprocessing=changed))
    with pytest.raises(BadInput, match="dtype = 'float32', these have None"):
        reference.check(images=FeatureOrigin(backbone="tiny", preprocessing={"size": [32, 32], "resample": "bicubic"}))
    with pytest.raises(BadInput, match="no text statistics"):
        reference.check(images=IMAGES, condition=TEXTS)


def test_a_missing_name_offers_the_nearest(tmp_path: Path) -> None:
    save_reference(tmp_path, plain())
    with pytest.raises(NotHere, match="Did you mean 'coco'"):
        load_reference(tmp_path, "cocoa")


@pytest.mark.parametrize("name", ["../coco", "", "a/b", "COCO", "x" * 81, "-x", "a\x00"])
def test_a_name_is_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="name"):
        save_reference(tmp_path, plain(name=name))
    with pytest.raises(BadInput, match="name"):
        load_reference(tmp_path, name)


@pytest.mark.parametrize(
    ("moments", "message"),
    [
        (Moments(n=3, mean=np.zeros(6), scatter=np.eye(6)), "3 images cannot have a covariance of rank 6"),
        (Moments(n=0, mean=np.zeros(6), scatter=np.eye(6)), "0 images"),
        (Moments(n=40, mean=np.zeros(5), scatter=np.eye(6)), "mean of 5 dimensions"),
        (Moments(n=40, mean=np.full(6, np.nan), scatter=np.eye(6)), "NaN"),
        (Moments(n=40, mean=np.zeros(6), scatter=-np.eye(6)), "no sum of squares"),
        (Moments(n=40, mean=np.zeros(2), scatter=np.array([[1.0, 2], [2, 1]])), "no sum of squares"),
        (Moments(n=40, mean=np.zeros(2), scatter=np.array([[1.0, 0.5], [0, 1]])), "not symmetric"),
    ],
    ids=["rank", "none", "width", "nan", "negative", "indefinite", "asymmetric"],
)
def test_what_cannot_be_moments(tmp_path: Path, moments: Moments, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        save_reference(tmp_path, plain(moments=moments))
    assert list(tmp_path.iterdir()) == []


def test_a_changed_count_is_refused(tmp_path: Path) -> None:
    path = save_reference(tmp_path, plain())
    rewrite(path, facts=as_member(facts_of(path) | {"n": 50_000}))
    with pytest.raises(BadInput, match="digest"):
        read_reference(path)


def test_a_changed_value_is_refused(tmp_path: Path) -> None:
    path = save_reference(tmp_path, plain())
    rewrite(path, mean=npy(np.zeros(6)))
    with pytest.raises(BadInput, match="digest"):
        read_reference(path)


@pytest.mark.parametrize(
    "facts",
    [[], {}, {"format": "other"}, "text", {"n": "40"}, {"n": True}, {"images": {"backbone": 3}}, {"name": "../x"}],
    ids=str,
)
def test_bad_facts_are_refused(tmp_path: Path, facts: object) -> None:
    path = save_reference(tmp_path, plain())
    changed = facts_of(path) | facts if isinstance(facts, dict) and "format" not in facts and facts else facts
    rewrite(path, facts=as_member(changed))
    with pytest.raises(BadInput, match=r"coco\.npz"):
        read_reference(path)


def test_hostile_files_are_refused(tmp_path: Path) -> None:
    path = save_reference(tmp_path, plain())
    original = path.read_bytes()
    pickled = npy_of_header(b"{'descr': '|O', 'fortran_order': False, 'shape': (6,), }", pickle.dumps([1]))
    vast = npy_of_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (8192, 8192), }", b"")
    vaster = npy_of_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 99999999), }", b"")
    long = npy(np.eye(6)) + bytes(100_000)
    for member in (pickled, vast, vaster, long, b"", b"\x93NUMPY\x09\x00", npy(np.eye(6, dtype=np.float32))):
        path.write_bytes(original)
        rewrite(path, scatter=member)
        tracemalloc.start()
        with pytest.raises(BadInput, match=r"coco\.npz"):
            read_reference(path)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
        tracemalloc.stop()
    path.write_bytes(original)
    rewrite(path, extra=npy(np.zeros(3)))
    with pytest.raises(BadInput, match="members"):
        read_reference(path)
    for data in (b"", b"not a zip", original[:200], original[:-50]):
        path.write_bytes(data)
        with pytest.raises(BadInput, match=r"coco\.npz is no saved reference"):
            read_reference(path)


def test_a_compressed_file_is_refused(tmp_path: Path) -> None:
    """Nothing that unfolds is read."""
    path = save_reference(tmp_path, plain())
    with np.load(path) as archive:
        np.savez_compressed(path.with_name("bomb.npz"), **archive)
    with pytest.raises(BadInput, match="compressed"):
        read_reference(path.with_name("bomb.npz"))


def npy_of_header(header: bytes, data: bytes) -> bytes:
    header = header + b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data
