"""FID's Inception on random weights in the published file's layout, beside torchvision's blocks; and ConSE."""

import json
import types

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image
from skimage import data

from compute.models.encoders import conse, inception
from compute.types import BadInput, CannotDo, Model, NotHere
from tests.compute.models.checkpoints import CPU, embedded

ROW = Model(key="inception-v3", title="Inception-v3", adapter="inception")
FILE = "weights-inception-2015-12-05-6726825d.pth"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("inception")
    torch.manual_seed(0)
    network = torchvision.models.inception_v3(
        weights=None, aux_logits=False, num_classes=1008, init_weights=False, transform_input=False
    )
    for module in network.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    torch.save(network.state_dict(), place / FILE)
    network.fc = torch.nn.Identity()
    return place, network.eval()


@pytest.fixture(scope="module")
def encoder(folder):
    return inception.load(ROW, CPU, folder[0])


def pictures():
    return [Image.fromarray(image).resize((299, 299)) for image in (data.astronaut(), data.coffee())]


def test_features_are_those_of_torchvisions_blocks_with_fids_pooling(folder, encoder, monkeypatch):
    """Reference: torchvision's network whose ninth pooling is by maxima and the others leave the padding out."""
    calls, functional = [], torch.nn.functional

    def pool(x, kernel_size, stride, padding):
        calls.append(x.shape)
        size = {"kernel_size": kernel_size, "stride": stride, "padding": padding}
        return (
            functional.max_pool2d(x, **size)
            if len(calls) == 9
            else functional.avg_pool2d(x, **size, count_include_pad=False)
        )

    network = folder[1]
    batch = torch.tensor((np.stack([np.asarray(image) for image in pictures()]).transpose(0, 3, 1, 2) - 128.0) / 128)
    with monkeypatch.context() as patch, torch.no_grad():
        patch.setattr(
            torchvision.models.inception,
            "F",
            types.SimpleNamespace(avg_pool2d=pool, max_pool2d=functional.max_pool2d, relu=functional.relu),
        )
        wanted = network(batch.float()).numpy()
    assert len(calls) == 9
    found = embedded(encoder, "image", pictures())
    assert found.shape == wanted.shape == (2, 2048)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())
    json.dumps(encoder.settings)


def test_the_image_is_resized_without_rounding():
    """Reference: torch's antialiased bicubic interpolation in single precision, away from clipped values."""
    image = Image.fromarray((np.asarray(data.rocket()) // 2 + 60).astype(np.uint8))
    found = inception.resized(image)
    wanted = torch.nn.functional.interpolate(
        torch.tensor(np.asarray(image)).permute(2, 0, 1)[None].float(),
        size=(299, 299),
        mode="bicubic",
        antialias=True,
        align_corners=False,
    )[0].numpy()
    np.testing.assert_allclose(found, wanted, atol=0.05)
    assert found.dtype == np.float32
    assert np.abs(found - found.round()).mean() > 0.1


def test_it_embeds_images_only_and_says_what_is_missing(encoder, tmp_path, monkeypatch):
    with pytest.raises(CannotDo, match="images only"):
        encoder.prepare("text", "a dog")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(NotHere, match=FILE):
        inception.load(ROW, CPU, None)
    torch.save({"fc.weight": torch.zeros(2)}, tmp_path / FILE)
    with pytest.raises(BadInput, match="Inception"):
        inception.load(ROW, CPU, tmp_path)


def test_an_image_is_the_weighted_mean_of_ten_classes_texts():
    """By ConSE, written out with numpy for three images and twelve classes of two dimensions."""
    rng = np.random.default_rng(0)
    logits, classes = rng.normal(size=(3, 12)), rng.normal(size=(12, 2))
    expected = []
    for row in logits:
        shares = np.exp(row) / np.exp(row).sum()
        best = np.argsort(-shares)[:10]
        expected.append((shares[best, None] * classes[best]).sum(axis=0) / shares[best].sum())
    found = conse.combined(torch.from_numpy(logits), torch.from_numpy(classes)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
