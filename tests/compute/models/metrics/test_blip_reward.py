"""ImageReward from a tiny random checkpoint in its public file layout, beside timm and BERT on the same weights."""

from __future__ import annotations

import json
import shutil
from functools import partial

import numpy as np
import pytest
import timm
import torch
from torchvision import transforms
from transformers import BertConfig, BertModel, BertTokenizer

from compute.models.metrics.preference import linear_chain, load_imagereward
from compute.types import BadInput
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, embedded, noise

TEXTS = ["a dog", "two birds sit on a wire", "red and black"]
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
BERT = {
    "vocab_size": 64,
    "hidden_size": 128,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}


row = partial(checkpoints.row, "tiny", "imagereward")
PICTURES = noise((40, 60), (91, 30), (32, 32))


@pytest.fixture(scope="module")
def imagereward(tmp_path_factory):
    """The folder and the networks: timm's names of the vision, BERT's of the text, as BLIP's first code has them."""
    folder = tmp_path_factory.mktemp("imagereward")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *" ".join(TEXTS).split()]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(words)))
    BertTokenizer.from_pretrained(folder).save_pretrained(folder)
    torch.manual_seed(3)
    vision, text, head = reference_parts()
    for module in (vision, text, head):
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, mean=1.0 if parameter.ndim == 1 else 0.0, std=0.2)
        module.eval()
    text.embeddings.token_type_embeddings.weight.data.zero_()
    torch.save(
        {
            **{f"blip.visual_encoder.{name}": value for name, value in vision.state_dict().items()},
            **{
                f"blip.text_encoder.{name}": value
                for name, value in text.state_dict().items()
                if "token_type" not in name
            },
            "blip.text_encoder.embeddings.position_ids": torch.arange(64)[None],
            "blip.vision_proj.weight": torch.zeros(8, 128),
            "blip.text_proj.weight": torch.zeros(8, 128),
            **{f"mlp.layers.{name}": value for name, value in head.state_dict().items()},
        },
        folder / "ImageReward.pt",
    )
    (folder / "med_config.json").write_text(
        json.dumps(
            {**BERT, "encoder_width": 768, "add_cross_attention": True, "type_vocab_size": 2, "model_type": "bert"}
        )
    )
    return folder, vision, text, head


def reference_parts() -> tuple[torch.nn.Module, BertModel, torch.nn.Module]:
    """timm's vision transformer, BERT with cross-attention but no causal mask, and the reward's layers."""
    vision = timm.models.VisionTransformer(
        img_size=32, patch_size=8, embed_dim=128, depth=3, num_heads=2, num_classes=0, global_pool=""
    )
    text = BertModel(
        BertConfig(**BERT, is_decoder=True, add_cross_attention=True, attn_implementation="eager"),
        add_pooling_layer=False,
    )
    text.config.is_decoder = False
    head = torch.nn.Sequential(
        torch.nn.Linear(128, 16),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(16, 8),
        torch.nn.Dropout(0.1),
        torch.nn.Linear(8, 1),
    )
    return vision, text, head


def test_imagereward_is_timm_and_bert_by_hand(imagereward):
    """Reference: timm's VisionTransformer and transformers' BertModel on the same weights."""
    folder, vision, text, head = imagereward
    show = transforms.Compose(
        [
            transforms.Resize(32, transforms.InterpolationMode.BICUBIC),
            transforms.CenterCrop(32),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )
    tokens = BertTokenizer.from_pretrained(folder)(
        TEXTS, padding="max_length", truncation=True, max_length=35, return_tensors="pt"
    )
    with torch.no_grad():
        seen = vision(torch.stack([show(image) for image in PICTURES]))
        read = text(
            input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"], encoder_hidden_states=seen
        ).last_hidden_state[:, 0]
        wanted = (head(read)[:, 0].numpy() - 0.16717362830052426) / 1.0333394966054072
    model = load_imagereward(row(tokenizer={"weights": str(folder)}), CPU, folder)
    found = model.compare(TEXTS, PICTURES)
    assert found.dtype == np.float64
    assert found == pytest.approx(wanted, abs=1e-4, rel=1e-5)
    assert np.ptp(found) > 0.1
    np.testing.assert_allclose(embedded(model, "image", PICTURES), seen[:, 0], atol=1e-4, rtol=1e-4)


def test_imagereward_needs_whole_weights(imagereward, tmp_path):
    folder, *_ = imagereward
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    state = torch.load(folder / "ImageReward.pt", weights_only=True)
    del state["blip.text_encoder.encoder.layer.1.crossattention.self.key.weight"]
    torch.save(state, tmp_path / "ImageReward.pt")
    with pytest.raises(BadInput, match="text tower"):
        load_imagereward(row(tokenizer={"weights": str(folder)}), CPU, tmp_path)


def test_a_chain_keeps_the_order_of_its_numbers():
    """Layer 10 comes after layer 2."""
    state = {
        f"{place}.{part}": torch.full(shape, value)
        for place, value, outer, inner in ((10, 5.0, 1, 2), (2, 3.0, 2, 1))
        for part, shape in (("weight", (outer, inner)), ("bias", (outer,)))
    }
    assert linear_chain(state, of="head")(torch.ones(1, 1)).item() == pytest.approx(5 * 6 * 2 + 5)
