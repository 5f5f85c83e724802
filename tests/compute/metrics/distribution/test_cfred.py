"""cFreD: both forms of section 3.1, its parts and readings, the identity for few prompts, bad input, grids."""

import numpy as np
import pytest
from scipy import linalg

from compute.metrics.distribution.cfred import CUTOFF, cfred
from compute.metrics.distribution.frechet import frechet
from compute.metrics.distribution.moments import CrossMoments
from compute.types import BadInput


def paired(n, d, p, *, seed=0):
    """Real and generated image features (n, d) of prompts with text features (n, p)."""
    rng = np.random.default_rng(seed)
    texts = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + 1
    slope = rng.standard_normal((p, d)) / p
    real = texts @ slope + rng.standard_normal((n, d)) + 2
    generated = 0.7 * texts @ slope + 1.2 * rng.standard_normal((n, d)) + 2.3
    return real, generated, texts


def by_expectation(real, generated, texts):
    """cFreD in its first form: the mean distance of two conditional Gaussians over the prompts."""
    centred = texts - texts.mean(axis=0)
    inverse = np.linalg.pinv(centred.T @ centred / len(texts), rcond=CUTOFF, hermitian=True)
    means, residuals = [], []
    for images in (real, generated):
        rows = images - images.mean(axis=0)
        slope = rows.T @ centred / len(rows) @ inverse
        means.append(images.mean(axis=0) + centred @ slope.T)
        residuals.append(rows.T @ rows / len(rows) - slope @ (centred.T @ rows) / len(rows))
    root = linalg.sqrtm(residuals[0] @ residuals[1]).real
    moved = ((means[0] - means[1]) ** 2).sum(axis=1).mean()
    return float(moved + np.trace(residuals[0] + residuals[1] - 2 * root))


@pytest.mark.parametrize("n, d, p", [(400, 32, 20), (300, 64, 20), (1000, 8, 30)])
def test_both_forms_and_the_moments_agree_and_parts_add_up(n, d, p):
    real, generated, texts = paired(n, d, p)
    record = cfred(real=real, generated=generated, condition=texts)
    first = by_expectation(real, generated, texts)
    assert record.value == pytest.approx(first, rel=1e-6)
    streamed = cfred(
        real=CrossMoments.of(images=real, condition=texts), generated=CrossMoments.of(images=generated, condition=texts)
    )
    for part in ("value", "means", "cross", "conditional", "realism", "fidelity"):
        assert getattr(streamed, part) == pytest.approx(getattr(record, part), rel=1e-8), part
    assert record.rank == p and record.warnings == ()
    assert record.means + record.cross + record.conditional == pytest.approx(record.value, rel=1e-12)
    assert record.realism + record.fidelity == pytest.approx(record.value, rel=1e-12)
    assert record.realism == pytest.approx(frechet(real=real, generated=generated, ddof=0).value, rel=1e-9)
    assert record.means == pytest.approx(((real.mean(axis=0) - generated.mean(axis=0)) ** 2).sum())


@pytest.mark.parametrize("n, d, p", [(40, 12, 64), (40, 100, 64), (1, 3, 5)])
def test_with_few_prompts_it_is_the_mean_squared_distance_of_pairs(n, d, p):
    """n <= p and nothing cut off: the text features tell all prompts apart, and no conditional covariance is left."""
    real, generated, texts = paired(n, d, p)
    record = cfred(real=real, generated=generated, condition=texts)
    assert record.value == pytest.approx(((real - generated) ** 2).sum(axis=1).mean(), rel=1e-9)
    assert record.conditional == pytest.approx(0, abs=1e-9)
    assert record.rank == n - 1 and any("mean squared distance of paired" in warning for warning in record.warnings)


def test_repeated_prompts_are_counted():
    real, generated, texts = paired(100, 8, 5)
    texts[50:60] = texts[:10]
    record = cfred(real=real, generated=generated, condition=texts)
    assert record.warnings == ("10 of 100 prompts have the text features of an earlier prompt",)


@pytest.mark.parametrize("n", [17, 300])
def test_one_text_for_all_prompts_is_no_condition_whatever_the_precision(n):
    """Centring equal rows leaves rounding, in float64 too; by all rows and by moments."""
    real, generated, texts = paired(n, 8, 12)
    plain = frechet(real=real, generated=generated).value
    for text in (texts[:1], 1e6 + texts[:1] / 3, np.float32(texts[:1])):
        same = np.tile(text, (n, 1))
        moments = [CrossMoments.of(images=side, condition=same) for side in (real, generated)]
        every = cfred(real=real, generated=generated, condition=same), cfred(real=moments[0], generated=moments[1])
        for record in every:
            assert record.rank == 0 and record.value == pytest.approx(record.realism, rel=1e-9), same.dtype
            assert record.value == pytest.approx(plain, rel=0.2)
            assert any("plain" in warning for warning in record.warnings)


def test_a_missing_condition_and_moments_of_unlike_prompts_are_refused():
    real, generated, texts = paired(50, 8, 5)
    with pytest.raises(BadInput, match="condition"):
        cfred(real=real, generated=generated)
    first = CrossMoments.of(images=real, condition=texts)
    with pytest.raises(BadInput, match="conditions"):
        cfred(real=first, generated=CrossMoments.of(images=generated, condition=texts + 1))
