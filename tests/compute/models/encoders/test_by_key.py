"""Rows of the catalogue over tiny checkpoints in their layouts, and from which state their vectors are taken."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.modules.module import register_module_forward_hook

from compute.catalog import shipped
from compute.models import load
from tests.compute.models import checkpoints, multimodal
from tests.compute.models.checkpoints import CPU, cosines, embedded, images

vision = partial(partial, checkpoints.vision)
LAYOUTS = {
    "baai/bge-vl-base": checkpoints.clip,
    "facebook/dinov3-vitl16-pretrain-sat493m": vision(kind="dinov3_vit"),
    "facebook/metaclip-2-mt5-worldwide-b32": partial(checkpoints.metaclip2, mt5=True),
    "facebook/metaclip-2-worldwide-b16": checkpoints.metaclip2,
    "facebook/webssl-dino1b-full2b-224": vision(kind="dinov2"),
    "google/siglip2-base-patch16-naflex": checkpoints.siglip2,
    "opensearch-ai/ops-mm-embedding-v1-2b": multimodal.qwen2_vl,
    "qwen/qwen3-vl-embedding-2b": multimodal.qwen3_vl,
}
# Where the vector is among the tokens' final states.
LAST, FIRST, MEAN = (lambda states: states[:, -1]), (lambda states: states[:, 0]), (lambda states: states.mean(dim=1))
STATES = {
    "royokong/e5-v": (multimodal.llava_next, LAST),
    "alibaba-nlp/gme-qwen2-vl-2b-instruct": (multimodal.qwen2_vl, LAST),
    "qwen/qwen3-vl-embedding-2b": (multimodal.qwen3_vl, LAST),
    "facebook/dinov2-base": (vision(kind="dinov2"), FIRST),
    "facebook/dinov3-vitb16-pretrain-lvd1689m": (vision(kind="dinov3_vit"), FIRST),
    "facebook/ijepa_vith14_22k": (vision(kind="ijepa"), MEAN),
    "answerdotai/modernbert-base": (partial(checkpoints.text, kind="modernbert"), MEAN),
    "google/flan-t5-base": (partial(checkpoints.text, kind="t5"), MEAN),
}


def over(key, folder):
    return load(replace(shipped().model(key), weights=str(folder), revision=""), hardware=CPU)


@pytest.mark.parametrize("key", LAYOUTS)
def test_a_row_loads_a_checkpoint_of_its_layout(key, tmp_path):
    """The numbers of each layout are compared with its library's in test_libraries.py and test_mllm_embedding.py."""
    encoder, row = over(key, LAYOUTS[key](tmp_path / "tiny")), shipped().model(key)
    for modality in (ability.removeprefix("embed_") for ability in row.abilities):
        items = images()[:3] if modality == "image" else checkpoints.TEXTS[:3]
        found = embedded(encoder, modality, items)
        assert len(found) == 3 and np.isfinite(found).all() and np.ptp(found, axis=0).max() > 1e-3
        if row.adapter == "gme" or row.options.get("normalise"):
            np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("key", STATES)
def test_a_vector_is_taken_after_the_final_norm(key, tmp_path):
    """The state before it moved a published model's scores by seven points. The norms of a new network change nothing
    but a vector's length, so they get other weights."""
    write, taken = STATES[key]
    file = write(tmp_path / "tiny") / "model.safetensors"
    torch.manual_seed(3)
    weights = {
        name: value * (0.2 + 2 * torch.rand_like(value)) if "norm" in name and value.ndim == 1 else value
        for name, value in load_file(file).items()
    }
    save_file(weights, file, metadata={"format": "pt"})
    encoder, states = over(key, file.parent), []

    def noted(module, inputs, output):
        if "Norm" in type(module).__name__:
            states.append((inputs[0], output))

    is_image = shipped().model(key).modalities == ("image",)
    with register_module_forward_hook(noted):
        found = embedded(encoder, "image" if is_image else "text", images()[:1] if is_image else ["a photo of a cat"])
    before, after = (taken(state).float().numpy() for state in states[-1])
    assert cosines(found, after) > 0.99999 > 0.999 > cosines(found, before)
