"""Properties that every metric of sets must have; swapped prompts are in test_generators.py."""

from itertools import pairwise as neighbours

import numpy as np
import pytest
from PIL import Image, ImageFilter
from skimage import data

from compute.metrics.distribution.reference_free import preference_score
from compute.models.adapter import Hardware
from compute.models.model_rows import load
from compute.types import BadInput, LikenessError, Model
from tests.bench.bench_intervals import DISTANCES, METRICS, SHARES

SIDE, K = 64, 5  # most neighbours
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "rocket")
CPU = Hardware(device="cpu", dtype="float32")
ENCODERS = {
    "tiny": Model(key="tiny", title="Tiny", adapter="clip", weights="assets/tiny"),
    "pixels": Model(key="h", title="H", kind="metric", adapter="colour_histogram"),
}

ALL = {**METRICS, "preference": lambda r, g, c: preference_score(image=g, text=c).value}


def crops(*, per_photograph):
    """Squares of free photographs, at random corners."""
    rng = np.random.default_rng(0)
    out = []
    for name in PHOTOGRAPHS:
        whole = Image.fromarray(getattr(data, name)())
        for _ in range(per_photograph):
            left, top = rng.integers(0, whole.width - 2 * SIDE), rng.integers(0, whole.height - 2 * SIDE)
            out.append(whole.crop((left, top, left + 2 * SIDE, top + 2 * SIDE)).resize((SIDE, SIDE)))
    return out


def blurred(image, strength):
    return image.filter(ImageFilter.GaussianBlur(strength))


def noisy(image, strength):
    noise = np.random.default_rng(0).normal(scale=12 * strength, size=(*image.size[::-1], 3))
    return Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype(np.uint8))


@pytest.fixture(scope="module", params=ENCODERS)
def embed(request):
    model = load(ENCODERS[request.param], hardware=CPU)
    return lambda images: model.embed("image", [model.prepare("image", one) for one in images])


@pytest.mark.parametrize("fault", [blurred, noisy], ids=["blur", "noise"])
def test_distances_rise_and_shares_fall_with_blur_and_noise(fault, embed):
    images = crops(per_photograph=12)
    condition = np.stack([np.asarray(one.resize((2, 2)), float).ravel()[:8] for one in images])
    real, *_ = sets = [embed(images), *(embed([fault(one, strength) for one in images]) for strength in (1, 2, 4, 8))]
    for name, metric in DISTANCES.items():
        values = [metric(real, generated, condition) for generated in sets]
        assert all(low < high for low, high in neighbours(values)), (name, values)
    for name, metric in SHARES.items():
        values = [metric(real, generated, condition) for generated in sets]
        assert values[-1] < values[0], (name, values)
        if name in ("precision", "coverage"):
            assert all(high >= low for high, low in neighbours(values)), (name, values)


@pytest.mark.parametrize("name", ALL)
def test_neither_order_nor_a_rotation_of_the_features_matters(name):
    rng = np.random.default_rng(1)
    sides = [rng.normal(size=(50, 8)) for _ in range(3)]
    rows, columns, turn = rng.permutation(50), rng.permutation(8), np.linalg.qr(rng.normal(size=(8, 8)))[0]
    value = pytest.approx(ALL[name](*sides), rel=1e-8)
    assert ALL[name](*(side[rows][:, columns] for side in sides)) == value
    if name != "inception_score":
        assert ALL[name](*(side @ turn for side in sides)) == value


@pytest.mark.parametrize("name", [*DISTANCES, *SHARES])
def test_symmetry_or_its_absence(name):
    rng = np.random.default_rng(3)
    real, generated, condition = rng.normal(size=(60, 5)), 0.5 * rng.normal(size=(60, 5)), rng.normal(size=(60, 2))
    forth, back = ALL[name](real, generated, condition), ALL[name](generated, real, condition)
    if name in DISTANCES:
        assert forth == pytest.approx(back, rel=1e-8)
        if name != "kid":  # below 0 on itself
            assert ALL[name](real, real, condition) == pytest.approx(0, abs=1e-9)
    else:
        assert forth != back


@pytest.mark.parametrize("n, d", [(1, 4), (5, 12), (12, 5)])
@pytest.mark.parametrize("constant", [False, True], ids=["drawn", "constant"])
@pytest.mark.parametrize("name", ALL)
def test_few_images_and_constant_features_have_a_finite_value_or_a_reason(name, constant, n, d):
    rng = np.random.default_rng(4)
    sides = [np.full((n, d), 0.5) if constant else rng.normal(size=(n, d)) for _ in range(3)]
    try:
        value = ALL[name](*sides)
    except LikenessError as error:
        assert len(str(error)) > 20
        assert n <= K, f"{name}: {error}"
        return
    assert np.isfinite(value)


@pytest.mark.parametrize("name", ALL)
def test_a_row_that_is_not_finite_is_named(name):
    rng = np.random.default_rng(5)
    sides = [rng.normal(size=(20, 4)) for _ in range(3)]
    sides[1][7, 2] = np.nan
    with pytest.raises(BadInput, match=r"(generated|features|logits|image): row 7 "):
        ALL[name](*sides)


@pytest.mark.parametrize("name", ["cfred", "clipscore", "preference"])
def test_unequal_counts_of_what_is_paired_are_an_error_with_both_counts(name):
    rows = np.random.default_rng(6).normal(size=(20, 4))
    with pytest.raises(BadInput, match=r"\b20\b.*\b17\b|\b17\b.*\b20\b"):
        ALL[name](rows[:17], rows[:17], rows)
