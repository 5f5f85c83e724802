"""ConSE: an image is the mean of the texts of ImageNet's classes that it looks like."""

import numpy as np
import torch

from compute.models.encoders import conse


def test_an_image_is_the_weighted_mean_of_ten_classes_texts():
    """Written out with numpy for three images and twelve classes of two dimensions."""
    rng = np.random.default_rng(0)
    logits, classes = rng.normal(size=(3, 12)), rng.normal(size=(12, 2))
    expected = []
    for row in logits:
        shares = np.exp(row) / np.exp(row).sum()
        best = np.argsort(-shares)[:10]
        expected.append((shares[best, None] * classes[best]).sum(axis=0) / shares[best].sum())
    found = conse.combined(torch.from_numpy(logits), torch.from_numpy(classes)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
