"""Weight-free metrics against scikit-image, numpy.histogramdd and imagehash, on free photographs and noise."""

import imagehash
import numpy as np
import pytest
from PIL import Image
from skimage import data
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from compute.models.metrics import pixels
from compute.types import BadInput
from tests.compute.models.checkpoints import CPU, embedded, row

ROW = row("", "pixels")


def made(name):
    return getattr(pixels, f"load_{name}")(ROW, CPU, None)


def photograph(side, *, of="astronaut"):
    return Image.fromarray(getattr(data, of)()).resize(side)


def worsened(image, *, strength, seed=0):
    noise = np.random.default_rng(seed).normal(scale=strength, size=(*image.size[::-1], 3))
    return Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype(np.uint8))


def luma(image):
    return np.asarray(image, dtype=float) @ [0.299, 0.587, 0.114]


def reference_ssim(first, second, **constants):
    """With Wang's Gaussian window."""
    return structural_similarity(
        first, second, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, **constants
    )


@pytest.mark.parametrize(
    "metric, reference, seen", [("psnr", peak_signal_noise_ratio, np.asarray), ("ssim", reference_ssim, luma)]
)
def test_psnr_and_ssim_are_those_of_scikit_image(metric, reference, seen):
    """Of pairs of two sizes, one odd, in turns, so that stacks must put the answers back in place."""
    first = [photograph(side, of=of) for of in ("astronaut", "coffee") for side in ((96, 80), (64, 64), (97, 81))]
    second = [worsened(image, strength=3 * place + 2) for place, image in enumerate(first)]
    wanted = [reference(seen(a), seen(b)) for a, b in zip(first, second, strict=True)]
    assert made(metric).compare(first, second) == pytest.approx(wanted, abs=1e-9)


def test_ms_ssim_is_the_product_over_scales_of_scikit_images_ssim():
    """Reference: structural_similarity at each scale; with a huge K1 its luminance term is 1 and contrast is left."""
    weights, first = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333], photograph((192, 176))
    second = worsened(first, strength=25)
    a, b, wanted = luma(first), luma(second), 1.0
    for scale, weight in enumerate(weights):
        if scale:
            a, b = (x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2).mean(axis=(1, 3)) for x in (a, b))
        wanted *= (reference_ssim(a, b) if scale == 4 else reference_ssim(a, b, K1=1e6)) ** weight
    found = made("ms_ssim").compare([first], [second])
    assert found == pytest.approx([wanted], abs=1e-7)
    assert 0.5 < wanted < 0.99


def test_small_images_use_the_scales_they_have_room_for():
    scales = {11: 1, 21: 1, 22: 2, 96: 4, 175: 4, 176: 5}
    assert {side: len(pixels.scale_weights(side)) for side in scales} == scales
    assert all(pixels.scale_weights(side).sum() == pytest.approx(pixels.SCALES.sum()) for side in scales)
    with pytest.raises(BadInput, match="11 x 11"):
        made("ssim").compare([photograph((10, 30))], [photograph((10, 30))])


def test_identical_images_are_nearest_and_finite():
    image = photograph((64, 64))
    for metric, most in (("psnr", 200.0), ("ssim", 1.0), ("ms_ssim", 1.0)):
        found = made(metric).compare([image] * 2, [image, worsened(image, strength=4)])
        assert found[0] == pytest.approx(most) and found[1] < most


@pytest.mark.parametrize("metric", ["psnr", "ssim", "ms_ssim"])
def test_images_of_unlike_sizes_have_exactly_one_score_in_both_orders(metric):
    """That of both, at the smaller width and the smaller height, resized beforehand; compared once for both orders."""
    first, second = photograph((90, 40)), worsened(photograph((50, 70)), strength=9)
    loaded = made(metric)
    small = [image.resize((50, 40), Image.Resampling.BICUBIC) for image in (first, second)]
    (expected,) = loaded.compare(small[:1], small[1:])
    assert loaded.compare([first], [second]) == loaded.compare([second], [first]) == expected
    compared, score = [], loaded.score
    loaded.score = lambda one, other: compared.extend(one) or score(one, other)
    assert (loaded.compare([first, second, first], [second, first, second]) == expected).all() and len(compared) == 1


def test_colour_histogram_counts_as_numpy_does():
    """Reference: numpy.histogramdd; the cosine is the Bhattacharyya coefficient."""
    images = [photograph((60, 40)), photograph((50, 50), of="coffee")]
    encoder = made("colour_histogram")
    counts = [
        np.histogramdd(np.asarray(image).reshape(-1, 3), bins=[np.linspace(0, 256, 9)] * 3)[0].ravel()
        for image in images
    ]
    shares = np.stack([count / count.sum() for count in counts])
    found = embedded(encoder, "image", images)
    np.testing.assert_allclose(found, np.sqrt(shares), atol=1e-6)
    assert found[0] @ found[1] == pytest.approx(np.sqrt(shares[0] * shares[1]).sum(), abs=1e-6)


def test_perceptual_hash_is_that_of_imagehash():
    """Reference: imagehash.phash; the cosine is 1 - 2 hamming / n."""
    images = [photograph((120, 90)), worsened(photograph((120, 90)), strength=40), photograph((64, 64), of="coffee")]
    found = embedded(made("perceptual_hash"), "image", images)
    hashes = [imagehash.phash(image, hash_size=8) for image in images]
    np.testing.assert_array_equal(found > 0, np.stack([each.hash.ravel() for each in hashes]))
    assert found[0] @ found[2] / 64 == pytest.approx(1 - 2 * (hashes[0] - hashes[2]) / 64)
