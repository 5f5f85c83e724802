"""The aesthetic predictor from a tiny random checkpoint in its public layout, against direct calls of the libraries."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import CLIPImageProcessor, CLIPModel

from compute.models.metrics import preference
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, noise

row = partial(checkpoints.row, "tiny", "preference")
PICTURES = noise((40, 60), (91, 30), (32, 32))


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return checkpoints.clip(tmp_path_factory.mktemp("made") / "model")


def unit_embeddings(folder: Path) -> torch.Tensor:
    model, processor = CLIPModel.from_pretrained(folder), CLIPImageProcessor.from_pretrained(folder)
    with torch.no_grad():
        pooled = model.vision_model(**processor(PICTURES, return_tensors="pt")).pooler_output
        return torch.nn.functional.normalize(model.visual_projection(pooled))


def test_aesthetic_is_its_head_on_the_unit_embedding(clip, tmp_path, monkeypatch):
    """Reference: torch's own layer on transformers' embedding."""
    torch.manual_seed(2)
    head = torch.nn.Linear(24, 1)
    torch.save(head.state_dict(), tmp_path / "head.pth")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    model = preference.load_aesthetic(row(head={"url": (tmp_path / "head.pth").as_uri()}), CPU, clip)
    with torch.no_grad():
        wanted = head(unit_embeddings(clip))[:, 0].numpy()
    found = model.compare(None, PICTURES)
    assert found == pytest.approx(wanted, abs=1e-6) and found.dtype == np.float64
    assert np.ptp(found) > 1e-4
