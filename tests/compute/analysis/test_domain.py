"""Domains: how often a new scene of the same kind is found outside, what lies outside, and what few scenes carry.

References: scipy's distances, and samples of known distributions.
"""

import base64
import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist, mahalanobis

from compute.analysis import calibrated
from compute.analysis.calibrated import COLOURS, MOST, SCENES, Calibrations, Seen
from compute.types import BadInput, Undefined
from tests.compute.analysis.test_calibrated import made

NAMES = {"model": "m", "name": "drawn", "modality": "image"}


def scenes(count, *, seed, around=0, width=24):
    """Vectors (count, width) near one axis, wider in some directions than in others."""
    lots = np.random.default_rng(seed)
    return np.eye(width)[around] * 9 * np.sqrt(width / 24) + lots.normal(size=(count, width)) * np.linspace(
        0.1, 1, width
    )


@pytest.mark.parametrize("count, width", [(SCENES, 24), (200, 24), (900, 24), (200, 512)])
def test_new_scenes_are_rarely_outside_and_others_always(count, width):
    """The mean over 20 domains, of which 2.5% or the next share that so many scenes resolve may be outside."""
    lost = []
    for seed in range(20):
        found = calibrated.of_vectors(scenes(count, seed=seed, width=width), **NAMES)
        assert len(found.vectors) == min(count, MOST)
        lost.append(np.mean([found.distance(each) > 1 for each in scenes(100, seed=1000 + seed, width=width)]))
        assert all(found.distance(each) > 1 for each in scenes(20, seed=seed, around=5, width=width))
    assert np.mean(lost) <= 0.025 + 4 * np.std(lost) / np.sqrt(len(lost))


def test_a_distance_is_that_to_the_nearest_scene():
    vectors, others = scenes(100, seed=3), scenes(30, seed=4)
    found = calibrated.of_vectors(vectors, **NAMES)
    held, new = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (vectors, others))
    assert found.limit == pytest.approx(np.sort(np.sort(cdist(held, held), axis=1)[:, 1])[98], abs=0.02)
    near = cdist(new, held).min(axis=1)
    assert [found.distance(7 * each) * found.limit for each in others] == pytest.approx(near, abs=0.02)


@pytest.mark.parametrize("width", [24, 512])
def test_a_record_gives_back_the_domain(width):
    found = calibrated.of_vectors(scenes(100, seed=5, width=width), **NAMES)
    text = json.dumps(found.record())
    back = calibrated.restored(json.loads(text))
    given = scenes(20, seed=6, width=width)
    assert [back.distance(each) for each in given] == pytest.approx([found.distance(each) for each in given])
    assert len(text) < 100 * min(width, calibrated.WIDTH) * 1.4 + 300
    with pytest.raises(BadInput, match="calibrate the model again"):
        calibrated.restored({**json.loads(text), "vectors": "AAA"})


def test_an_earlier_versions_domain_is_used():
    """A region about one middle, of which the distance was Mahalanobis's; of a metric on pixels a range of sizes."""
    lots = np.random.default_rng(0)
    axes, widths = np.linalg.qr(lots.normal(size=(6, 6)))[0][:3], np.array([0.5, 0.25, 0.125, 0.0625])
    mean, given = np.eye(6)[0], lots.normal(size=6)
    packed = {
        name: base64.b64encode(each.astype("<f2").tobytes()).decode()
        for name, each in {"mean": mean, "axes": axes, "widths": widths}.items()
    }
    known = {**NAMES, "limit": 2.0, "scenes": 500, "false_outside": 0.02, "low": [0.3], "high": [0.9]}
    found = calibrated.restored({**known, **packed, "shape": [3, 6]})
    axes = axes.astype(np.float16).astype(float)
    across = np.eye(6) - axes.T @ axes
    inverse = axes.T @ np.diag(widths[:3] ** -2.0) @ axes + across / widths[3] ** 2
    wanted = mahalanobis(given / np.linalg.norm(given), mean, inverse) / 2
    assert found.distance(given) == pytest.approx(wanted, rel=0.01)
    assert not len(calibrated.restored(known).vectors)


@pytest.mark.parametrize("wrong", [scenes(SCENES - 1, seed=7), np.full((SCENES, 4), np.nan)])
def test_what_makes_no_domain(wrong):
    with pytest.raises(Undefined, match=str(SCENES)):
        calibrated.of_vectors(wrong, **NAMES)


def reference(name, count):
    return made(np.linspace(0, 1, 50), np.linspace(2, 3, 50), name=name, scenes=count)


def held(name, around, model="m"):
    return calibrated.of_vectors(scenes(200, seed=around, around=around), model=model, name=name, modality="image")


DRAWN, SAID, FEW = reference("drawn", 200), reference("sentences", 64), reference("photographs", SCENES - 1)
DOMAINS = (held("drawn", 0), held("sentences", 3), held("drawn", 5, COLOURS))
ONE, OTHER, AWAY = (Seen("m", "image", np.eye(24)[around] * 9 + 0.1) for around in (0, 3, 5))
BY_COLOUR, OTHER_COLOUR = (Seen(COLOURS, "image", each.vector) for each in (AWAY, ONE))


@pytest.mark.parametrize(
    "references, inputs, found",
    [
        ((DRAWN, FEW), [ONE, ONE], DRAWN),
        ((SAID, DRAWN), [ONE], DRAWN),
        ((SAID, DRAWN), [OTHER], SAID),
        ((DRAWN, FEW), [AWAY], FEW),
        ((DRAWN, FEW), [ONE, AWAY], FEW),  # inputs of two kinds
        ((DRAWN,), [AWAY], None),
        ((DRAWN, SAID), [ONE, OTHER], None),
        ((DRAWN,), [BY_COLOUR], DRAWN),
        ((DRAWN,), [ONE, BY_COLOUR], DRAWN),
        ((DRAWN,), [ONE, OTHER_COLOUR], None),
        ((DRAWN,), [], DRAWN),  # texts of which the model has no vectors
        ((SAID,), [BY_COLOUR], SAID),  # without a domain of colours
        ((reference("tasks", 90),), [ONE], None),  # a domain that was lost
        ((), [ONE], None),
    ],
)
def test_the_distribution_is_the_one_of_the_inputs_kind(references, inputs, found):
    check = Calibrations(references=references, domains=DOMAINS).judged("m", "image-image", inputs)
    assert check.reference is found and check.has_percentile is (found is not None and found is not FEW)
    said = str(SCENES) if found is FEW else "outside" if references and not found else ""
    assert bool(check.why) is bool(said) and said in check.why
