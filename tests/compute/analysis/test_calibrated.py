"""Places in a distribution, and domains: how often a new scene is outside, what lies outside, what few scenes carry.

References: scipy's percentileofscore and distances, scikit-learn's roc_auc_score, samples of known distributions.
"""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist, mahalanobis
from scipy.stats import percentileofscore
from sklearn.metrics import roc_auc_score

from compute.analysis import calibrated
from compute.analysis.calibrated import (
    BETWEEN,
    COLOURS,
    EITHER,
    MATCHING,
    MOST,
    SCENES,
    UNRELATED,
    Calibrations,
    Seen,
)
from compute.types import BadInput, Undefined

STEP = 100 / (calibrated.QUANTILES - 1)  # percentile points between two quantiles


def made(unrelated, matching=(), *, name="tasks", scenes=100):
    given = {"unrelated": unrelated, "matching": matching, "domain": name, "scenes": scenes}
    return calibrated.measured(model="m", pairing="image-image", source=name, synthetic=False, **given)


def share(scores, value):
    return percentileofscore(scores, value, kind="mean") / 100


@pytest.mark.parametrize("digits", [None, 1])
def test_places_are_scipys_percentiles(digits):
    """Of scores that all differ, and of scores with many ties."""
    rng = np.random.default_rng(0)
    low, high = rng.normal(0.2, 0.1, 3000), rng.normal(0.5, 0.2, 2000)
    if digits is not None:
        low, high = low.round(digits), high.round(digits)
    reference = made(low, high)
    values = np.unique(np.concatenate([low, high]))[:: 40 if digits is None else 1]
    for value in (*values, -3.0, 0.2501, 9.0):
        found = calibrated.place(reference, value)
        assert found.above_unrelated == pytest.approx(share(low, value), abs=STEP / 100)
        assert found.above_matching == pytest.approx(share(high, value), abs=STEP / 100)
        assert found.percentile == 50 * (found.above_unrelated + found.above_matching)


def of_quantiles(unrelated, matching):
    return replace(made([0.0]), unrelated=unrelated, matching=matching)


def test_the_separation_is_the_area_under_the_curve():
    rng = np.random.default_rng(1)
    whole = rng.normal(0, 2, 300), rng.normal(1, 3, 200)
    for low, high in (whole, map(np.round, whole)):
        wanted = roc_auc_score(np.repeat([0, 1], [300, 200]), np.concatenate([low, high]))
        assert calibrated.separation(unrelated=low, matching=high) == pytest.approx(wanted, abs=1e-12)
        assert made(low, high).separation == pytest.approx(wanted, abs=1e-6)
    assert calibrated.separation(unrelated=[0.0], matching=[np.inf]) == 1


def test_readings_follow_from_the_two_limits():
    """Evenly spread: 97.5% of the unrelated end at 0.975, 97.5% of the matching begin 0.025 above their start."""
    spread = np.linspace(0, 1, 1001)

    def reading(start, score):
        return calibrated.place(made(spread, spread + start), score).reading

    overlap = [reading(0.5, score) for score in (-1, 0.52, 0.525, 0.975, 0.98, 1.5, 9, np.inf, -np.inf)]
    assert overlap == [UNRELATED, UNRELATED, EITHER, EITHER, MATCHING, MATCHING, MATCHING, MATCHING, UNRELATED]
    apart = [reading(2, score) for score in (0.975, 0.98, 2.02, 2.025)]
    assert apart == [UNRELATED, BETWEEN, BETWEEN, MATCHING]


def test_infinite_scores_count_as_the_most_extreme_finite_one():
    reference = made(np.array([-np.inf, 10.0, 12.0]), np.array([20.0, 30.0, np.inf]))
    assert reference.unrelated[0] == 10 and reference.matching[-1] == 30 and reference.separation == 1
    assert calibrated.place(reference, np.inf).reading == MATCHING
    with pytest.raises(Undefined, match="m gave no number"):
        calibrated.place(reference, np.nan)
    for scores in ([np.inf, np.inf], [], [1.0, np.nan]):
        with pytest.raises(Undefined, match="do not form a distribution"):
            made(np.array(scores))


@pytest.mark.parametrize("wrong", [[1.0], [2.0, 1.0], [0.0, np.inf], [[0.0, 1.0]], []])
def test_quantiles_that_are_none_are_refused(wrong):
    with pytest.raises(BadInput, match="quantiles"):
        of_quantiles(wrong, [])


# ---- domains


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
