"""PairBench's transformations: the image itself at strength 0, farther from it the stronger, the same for a seed."""

import math

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.ndimage import correlate1d, gaussian_filter
from skimage.data import chelsea
from torchvision.transforms.v2.functional import elastic

from compute.tasks.perturb import BLUR, ELASTIC, PERTURBATIONS, SMOOTH, VERSION, perturb, smoothed
from compute.types import BadInput

CAT = Image.fromarray(chelsea()).resize((180, 120))


def apart(first, second):
    return float(np.abs(np.asarray(first, float) - np.asarray(second, float)).mean())


@pytest.mark.parametrize("kind", PERTURBATIONS)
def test_a_rising_strength_leads_away_from_the_image_as_the_seed_decides_at_any_size_and_mode(kind):
    steps = [perturb(CAT, kind=kind, strength=strength, seed=7) for strength in (0, 0.1, 0.3, 0.6, 1)]
    assert apart(CAT, steps[0]) == 0
    away = [apart(CAT, one) for one in steps]
    assert all(later > sooner for sooner, later in zip(away, away[1:], strict=False)) and away[-1] > 3
    assert all(one.size == CAT.size and one.mode == "RGB" for one in steps)
    first, again = (perturb(CAT, kind=kind, strength=0.7, seed=3) for _ in range(2))
    assert first.tobytes() == again.tobytes()
    others = {perturb(CAT, kind=kind, strength=0.7, seed=seed).tobytes() for seed in range(8)}
    assert len(others) == {"gaussianblur": 1, "rotate": 2}.get(kind, 8)
    for mode, size in (("L", (1, 1)), ("RGBA", (2, 50)), ("P", (500, 3))):
        changed = perturb(CAT.resize(size).convert(mode), kind=kind, strength=1, seed=1)
        assert (changed.size, changed.mode) == (size, "RGB")


def test_what_is_not_there_is_named():
    for kind, strength, word in (("shear", 1, "shear"), ("rotate", 1.5, "1.5")):
        with pytest.raises(BadInput, match=word):
            perturb(CAT, kind=kind, strength=strength)


@pytest.mark.parametrize("shape", [(5, 9), (40, 31)])
def test_the_field_of_an_elastic_move_is_smoothed_as_by_scipy(shape):
    """A kernel longer than the image too: it is mirrored again and again."""
    noise = np.random.default_rng(0).standard_normal((2, *shape))
    for sigma in (1.0, 6.0, 25.0):
        wanted = [gaussian_filter(field, sigma, mode="reflect") for field in noise]
        np.testing.assert_allclose(
            smoothed(noise, sigma, reach=int(4 * sigma + 0.5), kind=2), wanted, rtol=0, atol=1e-12
        )


def test_an_elastic_move_follows_the_field_that_scipy_smooths():
    noise = np.random.default_rng([7, VERSION]).standard_normal((2, CAT.height, CAT.width))
    field = np.stack([gaussian_filter(each, SMOOTH * CAT.height, mode="reflect") for each in noise], axis=-1)
    field *= ELASTIC / np.hypot(*np.moveaxis(field, -1, 0)).max()
    pixels = torch.from_numpy(np.array(CAT)).permute(2, 0, 1)
    mean = pixels.float().mean(dim=(1, 2)).round().tolist()
    wanted = elastic(pixels, torch.from_numpy(field[None]).float(), fill=mean).permute(1, 2, 0).numpy()
    np.testing.assert_array_equal(np.asarray(perturb(CAT, kind="elastic", strength=1, seed=7)), wanted)


def test_a_long_blur_is_the_exact_one_to_rounding():
    """Over several blocks of a row, the last one not whole."""
    size = (700, 400)
    image = Image.fromarray(np.random.default_rng(1).integers(0, 256, (*size, 3), dtype=np.uint8))
    changed = np.asarray(perturb(image, kind="gaussianblur", strength=1), int)
    sigma = BLUR * min(size)
    reach = math.ceil(3 * sigma)
    kernel = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
    wanted = np.asarray(image, float)
    for axis in (0, 1):
        wanted = correlate1d(wanted, kernel / kernel.sum(), axis=axis, mode="mirror")
    off = np.abs(changed - np.round(wanted))
    assert off.max() <= 1 and (off > 0).mean() < 0.001
