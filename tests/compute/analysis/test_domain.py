"""Domains: how often a new scene of the same kind is found outside, what lies outside, and what few scenes carry.

References: scipy's Mahalanobis distance, and samples of known distributions.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis

from compute.analysis import calibrated, domain
from compute.analysis.domain import FEWEST, SCENES, Calibrations, Domain, Observed
from compute.types import Undefined

NAMES = {"model": "m", "name": "drawn", "modality": "image"}


def scenes(count: int, *, seed: int, around: int = 0, width: int = 24) -> np.ndarray:
    """Vectors (count, width) near one axis, wider in some directions than in others."""
    lots = np.random.default_rng(seed)
    return np.eye(width)[around] * 9 + lots.normal(size=(count, width)) * np.linspace(0.1, 1, width)


def seen(vector: np.ndarray, *, facts: tuple = (64, 64, 0.9), modality: str = "image") -> Observed:
    return Observed(modality=modality, facts=np.array(facts, dtype=float), vector=vector)


def outside(found: Domain, vectors: np.ndarray) -> float:
    return float(np.mean([found.distance(seen(vector)) > 1 for vector in vectors]))


@pytest.mark.parametrize("count", [20, 100])
def test_new_scenes_are_outside_as_rarely_as_stated(count):
    """The mean over 20 fits, with four standard errors of room for those of the means."""
    shares, stated = [], []
    for seed in range(20):
        found = domain.of_vectors(scenes(count, seed=seed), **NAMES)
        shares.append(outside(found, scenes(200, seed=1000 + seed)))
        stated.append(found.false_outside)
    assert np.mean(shares) <= np.mean(stated) + 4 * np.std(shares) / np.sqrt(len(shares))
    assert found.false_outside == pytest.approx(
        max(0.025, 1 / (count // 2 + 1 if count >= 80 else count + 1)), abs=0.01
    )


def test_a_distance_is_mahalanobis():
    """Against scipy on the covariance with its ridge, where every direction has an axis of its own."""
    vectors = scenes(200, seed=3)
    found = domain.of_vectors(vectors, **NAMES)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    fitted = unit[::2]
    cov = np.cov(fitted.T, bias=True)
    cov += np.eye(len(cov)) * domain.RIDGE * np.trace(cov) / len(cov)
    for vector, one in zip(vectors[1:20:2], unit[1:20:2], strict=True):
        expected = mahalanobis(one, fitted.mean(axis=0), np.linalg.inv(cov))
        assert found.distance(seen(vector)) * found.limit == pytest.approx(expected, rel=0.01)
        assert found.distance(seen(vector * 7)) == pytest.approx(found.distance(seen(vector))), "length is no matter"


def test_an_encoders_domain_of_images_is_of_their_kind_too():
    vectors = scenes(100, seed=4)
    found = domain.of_vectors(vectors, facts=np.linspace(0.4, 0.9, 100)[:, None], **NAMES)
    assert found.distance(seen(vectors[0], facts=(9000, 9000, 0.5))) < 1, "its sizes do not matter"
    assert found.distance(seen(vectors[0], facts=(64, 64, 0.1))) == np.inf
    assert found.false_outside > domain.of_vectors(vectors, **NAMES).false_outside


def test_a_metric_on_pixels_has_kinds_and_sizes():
    facts = [[192, 192, 0.4], [256, 384, 0.9], [200, 300, 0.6]]
    found = domain.of_facts(facts, scenes=79, **NAMES)
    assert found.false_outside == pytest.approx(3 * 2 / 80)
    for inside, values in ((True, (192, 384, 0.4)), (False, (100, 300, 0.5)), (False, (192, 500, 0.5))):
        assert (found.distance(seen(None, facts=values)) <= 1) is inside
    assert found.distance(seen(None, facts=(200, 300, 0.1))) > 1, "a photograph"


def test_facts_of_an_image():
    image = np.zeros((4, 6, 3), dtype=np.uint8)
    image[0], image[1, 0] = (255, 0, 0), (1, 2, 3)
    assert domain.image_facts(image).tolist() == [4, 6, 23 / 24]
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3))
    assert domain.image_facts(noise)[2] < 0.001
    assert domain.text_facts("a cat").tolist() == [5]


@pytest.mark.parametrize("facts", [None, np.linspace(0.4, 0.9, 100)[:, None]])
def test_a_record_gives_back_the_domain(facts):
    vectors = scenes(100, seed=5)
    found = domain.of_vectors(vectors, facts=facts, **NAMES)
    back = domain.restored(json.loads(json.dumps(found.record())))
    given = [seen(vector, facts=(64, 64, 0.5)) for vector in vectors]
    assert [back.distance(one) for one in given] == [found.distance(one) for one in given]
    plain = domain.of_facts([[1, 2, 0.1], [3, 4, 0.2]], scenes=9, **NAMES)
    assert domain.restored(json.loads(json.dumps(plain.record()))).high.tolist() == [3, 4, 0.2]


def test_too_few_scenes_make_no_domain():
    with pytest.raises(Undefined, match=str(FEWEST)):
        domain.of_vectors(scenes(FEWEST - 1, seed=7), **NAMES)
    with pytest.raises(Undefined, match="3 scenes"):
        domain.of_facts(np.ones((9, 3)), scenes=3, **NAMES)


def held(name: str, *, scenes: int, around: int) -> tuple[calibrated.Reference, Domain]:
    reference = calibrated.measured(
        model="m",
        pairing="image-image",
        unrelated=np.linspace(0, 1, 50),
        matching=np.linspace(2, 3, 50),
        source=name,
        synthetic=False,
        domain=name,
        scenes=scenes,
    )
    vectors = globals()["scenes"](scenes, seed=around, around=around)
    return reference, domain.of_vectors(vectors, model="m", name=name, modality="image")


DRAWN, FEW = held("drawn", scenes=200, around=0), held("photographs", scenes=SCENES - 1, around=5)
BOTH = Calibrations(references=(DRAWN[0], FEW[0]), domains=(DRAWN[1], FEW[1]))
NEAR_DRAWN, NEAR_FEW = (seen(np.eye(24)[around] * 9 + 0.1) for around in (0, 5))


def test_the_distribution_is_the_one_of_the_inputs_kind():
    found = BOTH.judged("m", "image-image", [NEAR_DRAWN] * 2)
    assert found.reference is DRAWN[0] and found.has_percentile and found.why == ""
    few = BOTH.judged("m", "image-image", [NEAR_FEW] * 2)
    assert few.reference is FEW[0] and few.few and not few.has_percentile
    assert str(SCENES) in few.why


def test_inputs_of_two_kinds_are_of_none():
    found = BOTH.judged("m", "image-image", [NEAR_DRAWN, NEAR_FEW])
    assert found.reference is None and not found.has_percentile
    assert "outside" in found.why
