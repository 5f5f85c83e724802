"""Late-interaction models from tiny random checkpoints in the hub's own layout, beside the library's own calls."""

import numpy as np
import pytest
import torch
from transformers import AutoProcessor, ColPaliForRetrieval, ColQwen2ForRetrieval

from compute.models import load
from compute.models.own import checkpoints
from tests.compute.models.checkpoints import CPU, embedded, noise
from tests.compute.models.multimodal import colpali, colqwen2

TEXTS = ["a dog", "Two birds sit on a wire, and one of them sings.", "rouge et noir", "a red circle"]
PICTURES = noise((40, 60), (90, 30), (56, 56), (56, 84))


@pytest.mark.parametrize("write, kind", [(colpali, ColPaliForRetrieval), (colqwen2, ColQwen2ForRetrieval)])
def test_vectors_are_the_library_call(write, kind, tmp_path):
    """Texts as queries, images as documents."""
    row = checkpoints.from_folder(write(tmp_path)).row
    assert (row.adapter, row.late_interaction, row.embed_dim) == ("late_interaction", True, 16)
    model, processor = kind.from_pretrained(tmp_path).eval(), AutoProcessor.from_pretrained(tmp_path)
    encoder = load(row, hardware=CPU)
    for modality, items, ready in (
        ("image", PICTURES, processor.process_images),
        ("text", TEXTS, processor.process_queries),
    ):
        found = embedded(encoder, modality, items)
        for item, vectors in zip(items, found, strict=True):
            given = {name: value for name, value in ready([item]).items() if name != "labels"}
            with torch.no_grad():
                np.testing.assert_allclose(vectors, model(**given).embeddings[0].numpy(), atol=2e-5)
    assert len({len(vectors) for vectors in found}) > 1
