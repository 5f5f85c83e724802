"""Image encoders of the transformers library, each by its real path and beside the library's own call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoImageProcessor, AutoModel

from compute.models import load
from compute.types import BadInput, CannotDo
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, cosines, embedded, images, row


def by_library(folder: Path, pooling: str) -> np.ndarray:
    processor, model = AutoImageProcessor.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    if hasattr(model.config, "mask_ratio"):
        model.config.mask_ratio = 0.0
    found = []
    with torch.no_grad():
        for image in images():
            output = model(**processor(images=image, return_tensors="pt"))
            states = output.last_hidden_state
            if pooling == "pooler":
                found.append(output.pooler_output.flatten(1))
            else:
                found.append(states[:, 0] if pooling == "cls" else states.mean(dim=1))
    return torch.cat(found).numpy()


@pytest.mark.parametrize(
    ("kind", "pooling"), [("dinov2", "cls"), ("ijepa", "mean"), ("vit_mae", "cls"), ("resnet", "pooler")]
)
def test_vectors_are_the_librarys(tmp_path: Path, kind: str, pooling: str) -> None:
    """Reference: transformers called directly, one image at a time, pooled as MIEB's code pools DINOv2 (first token),
    or as the model has it: I-JEPA has no first token, ResNet pools its own maps."""
    folder = checkpoints.vision(tmp_path / kind, kind)
    encoder = load(row(folder, "vision"), hardware=CPU)
    shown = [encoder.prepare("image", image) for image in images()]
    found, expected = encoder.embed("image", shown), by_library(folder, pooling)
    assert found.dtype == np.float32
    assert np.std(expected, axis=0).max() > 1e-2
    np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-5)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(np.concatenate([encoder.embed("image", [one]) for one in shown]), found, atol=1e-5)
    assert encoder.settings["image"]["image_mean"] == [0.5, 0.46, 0.41]
    with pytest.raises(CannotDo, match="image"):
        encoder.prepare("text", "a cat")


def test_another_pooling_where_asked(tmp_path: Path) -> None:
    folder = checkpoints.vision(tmp_path / "dinov2", "dinov2")
    encoder = load(row(folder, "vision", pooling="mean"), hardware=CPU)
    found = embedded(encoder, "image", images())
    np.testing.assert_allclose(found, by_library(folder, "mean"), atol=1e-4)
    with pytest.raises(BadInput, match="no pooling 'max'"):
        load(row(folder, "vision", pooling="max"), hardware=CPU)


def test_code_of_the_checkpoint_needs_a_pinned_revision(tmp_path: Path) -> None:
    folder = checkpoints.vision(tmp_path / "dinov2", "dinov2")
    with pytest.raises(BadInput, match="whole commit"):
        load(row(folder, "vision", trust_remote_code=True, revision="main"), hardware=CPU)
