"""OpenCLIP's text towers at each text's own length. Reference: the library's `encode_text` on texts at full length."""

import numpy as np
import open_clip
import pytest
import torch

from compute.models.adapter import Towers, buckets
from compute.models.encoders.open_clip_text import text_tower
from tests.compute.models.checkpoints import CPU, embedded

LIMIT, WORDS, END = 24, 100, 99
SMALL = {"context_length": LIMIT, "vocab_size": WORDS, "width": 32, "heads": 2, "layers": 3}
VISION = {"image_size": 32, "layers": 1, "width": 32, "patch_size": 16, "head_width": 16}
# What OpenCLIP's configurations ask of a text tower, and whether a text may be cut after its end token.
TOWERS = {
    "clip": ({}, True),
    "clip, linear projection": ({"proj_bias": True}, True),
    "apart": ({"custom": True}, True),
    "apart, end token": ({"custom": True, "pool_type": "eos", "eos_id": END}, True),
    "siglip": ({"custom": True, "no_causal_mask": True, "pool_type": "last"}, False),
    "last, causal": ({"pool_type": "last"}, False),
    "both ways, end token": ({"custom": True, "no_causal_mask": True, "pool_type": "argmax"}, False),
    "coca": ({"custom": True, "embed_cls": True}, False),
}


def tokens(text):
    """Letters as tokens, the end token, then padding: as the library's tokenizers give them."""
    letters = [1, *(2 + ord(letter) % 90 for letter in text)][: LIMIT - 1]
    return [*letters, END, *[0] * (LIMIT - 1 - len(letters))]


TEXTS = ["a cat", "", "a dog on a mat", "x", "a very long caption that is cut at the end", "a cup", "of coffee"]


def made(**text):
    torch.manual_seed(0)
    custom = text.pop("custom", False)
    family = open_clip.CustomTextCLIP if custom else open_clip.CLIP
    model = family(embed_dim=24, vision_cfg=VISION, text_cfg={**SMALL, **text}).eval()
    for weight in model.parameters():  # large enough that texts differ
        torch.nn.init.normal_(weight, std=0.2 if weight.ndim > 1 else 0.5)
    return model.requires_grad_(False)


@pytest.mark.parametrize("kind", TOWERS)
def test_a_text_is_cut_only_where_nothing_after_its_end_counts(kind):
    options, cut = TOWERS[kind]
    model = made(**options)
    with torch.no_grad():
        wanted = model.encode_text(torch.tensor([tokens(text) for text in TEXTS])).numpy()
    assert np.abs(wanted[0] - wanted[2]).max() > 1e-2, "the tower tells texts apart"
    tower = text_tower(model, tokens=tokens, limit=LIMIT)
    assert tower.buckets == (buckets(LIMIT) if cut else ())
    assert len(tower.ready("a cat")) == (7 if cut else LIMIT)
    found = embedded(Towers(name="tiny", settings={}, hardware=CPU, text=tower), "text", TEXTS)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
