"""Preference models from tiny random checkpoints in their public file layout, against direct calls of the libraries."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import open_clip
import pytest
import timm
import torch
from torchvision import transforms
from transformers import (
    AutoProcessor,
    BertConfig,
    BertModel,
    BertTokenizer,
    CLIPImageProcessor,
    CLIPModel,
    CLIPProcessor,
    CLIPTokenizer,
)

from compute.models.metrics import preference
from compute.models.metrics.blip_reward import linear_chain
from compute.types import BadInput, CannotDo
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, embedded, noise

TEXTS = ["a dog", "two birds sit on a wire", "red and black"]
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
row = partial(checkpoints.row, "tiny", "preference")
PICTURES = noise((40, 60), (91, 30), (32, 32))


def same(found: np.ndarray, wanted: torch.Tensor) -> None:
    wanted = wanted.detach().numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=1e-4)
    cosine = (found * wanted).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(wanted, axis=1)
    np.testing.assert_allclose(cosine, 1, atol=1e-5)
    assert np.abs(found[0] - found[1]).max() > 1e-3


# HPSv2


@pytest.fixture(scope="module")
def hpsv2(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.nn.Module]:
    folder = checkpoints.open_clip(tmp_path_factory.mktemp("made") / "hpsv2")
    model = open_clip.create_model(f"local-dir:{folder}").eval()
    torch.save({"epoch": 1, "state_dict": model.state_dict()}, folder / "HPS_v2_compressed.pt")
    return folder, model


def test_hpsv2_is_the_open_clip_call(hpsv2: tuple) -> None:
    """Reference: OpenCLIP's model on images fitted and padded by torchvision, whose square one has no margin."""
    folder, model = hpsv2
    encoder = preference.load_hpsv2(row(), CPU, folder)
    shown = []
    for image, (height, width) in zip(PICTURES, [(32, 21), (11, 32), (32, 32)], strict=True):
        small = transforms.functional.resize(
            transforms.functional.to_tensor(image),
            [height, width],
            transforms.InterpolationMode.BICUBIC,
            antialias=True,
        )
        canvas = torch.zeros(3, 32, 32)
        top, left = (32 - height) // 2, (32 - width) // 2
        canvas[:, top : top + height, left : left + width] = small
        shown.append(transforms.functional.normalize(canvas, MEAN, STD))
    with torch.no_grad():
        same(embedded(encoder, "image", PICTURES), model.encode_image(torch.stack(shown)))
        same(embedded(encoder, "text", TEXTS), model.encode_text(open_clip.get_tokenizer(f"local-dir:{folder}")(TEXTS)))
    json.dumps(encoder.settings)


def test_hpsv2_says_what_is_wrong_with_its_files(hpsv2: tuple, tmp_path: Path) -> None:
    folder, _ = hpsv2
    (tmp_path / "open_clip_config.json").write_bytes((folder / "open_clip_config.json").read_bytes())
    torch.save({"state_dict": {"visual.proj": torch.zeros(3)}}, tmp_path / "HPS_v2_compressed.pt")
    with pytest.raises(BadInput, match="does not fit"):
        preference.load_hpsv2(row(), CPU, tmp_path)
    torch.save({"state_dict": Path("/")}, tmp_path / "HPS_v2_compressed.pt")
    with pytest.raises(BadInput, match="tensors"):
        preference.load_hpsv2(row(), CPU, tmp_path)
    with pytest.raises(CannotDo, match="pair"):
        preference.load_hpsv2(row(), CPU, folder).prepare("pair", (PICTURES[0], "a dog"))


# PickScore and the aesthetic predictor


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A CLIP checkpoint, and another with nothing but a processor."""
    model, beside = tmp_path_factory.mktemp("made") / "model", tmp_path_factory.mktemp("processor")
    checkpoints.clip(model)
    parts = CLIPImageProcessor.from_pretrained(model), CLIPTokenizer.from_pretrained(model)
    CLIPProcessor(*parts).save_pretrained(beside)
    return model, beside


def test_pickscore_is_the_library_call_with_the_other_processor(clip: tuple) -> None:
    """Reference: CLIPModel's embeddings for the processor's batch, padded to its longest text, with its mask."""
    folder, beside = clip
    encoder = preference.load_pickscore(row(processor={"weights": str(beside), "revision": ""}), CPU, folder)
    model, processor = CLIPModel.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(beside)
    long = [*TEXTS, "very " * 100]
    batch = processor(text=long, images=PICTURES, padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        wanted = model(**batch, return_dict=True)
    units = [
        found / np.linalg.norm(found, axis=1, keepdims=True)
        for found in (embedded(encoder, "image", PICTURES), embedded(encoder, "text", long))
    ]
    same(units[0], wanted.image_embeds)
    same(units[1], wanted.text_embeds)
    json.dumps(encoder.settings)


def unit_embeddings(folder: Path) -> torch.Tensor:
    model, processor = CLIPModel.from_pretrained(folder), CLIPImageProcessor.from_pretrained(folder)
    with torch.no_grad():
        pooled = model.vision_model(**processor(PICTURES, return_tensors="pt")).pooler_output
        return torch.nn.functional.normalize(model.visual_projection(pooled))


@pytest.mark.parametrize("kind", ["linear", "layers"])
def test_aesthetic_is_its_head_on_the_unit_embedding(
    clip: tuple, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reference: torch's own modules with dropout, as the public predictors are built, on transformers' embedding."""
    torch.manual_seed(2)
    layer = torch.nn.Linear
    layers = torch.nn.Sequential(layer(24, 16), torch.nn.Dropout(0.2), layer(16, 1))
    head = layer(24, 1) if kind == "linear" else torch.nn.ModuleDict({"layers": layers})
    torch.save(head.state_dict(), tmp_path / "head.pth")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    model = preference.load_aesthetic(row(head={"url": (tmp_path / "head.pth").as_uri()}), CPU, clip[0])
    with torch.no_grad():
        wanted = (head if kind == "linear" else layers).eval()(unit_embeddings(clip[0]))[:, 0].numpy()
    found = model.compare(None, PICTURES)
    assert found == pytest.approx(wanted, abs=1e-5) and found.dtype == np.float64
    assert np.ptp(found) > 1e-4
    with pytest.raises(CannotDo, match="alone"):
        model.compare(PICTURES, PICTURES)


# ImageReward


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


@pytest.fixture(scope="module")
def imagereward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ImageReward.pt with the vision names of timm and the text names of BERT, as BLIP's first code has them."""
    folder = tmp_path_factory.mktemp("imagereward")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *" ".join(TEXTS).split()]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(words)))
    BertTokenizer.from_pretrained(folder).save_pretrained(folder)
    torch.manual_seed(3)
    vision, text, head = reference_parts()
    for module in (vision, text, head):
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, mean=1.0 if parameter.ndim == 1 else 0.0, std=0.2)
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
    return folder


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


def test_imagereward_is_timm_and_bert_by_hand(imagereward: Path) -> None:
    """Reference: timm's VisionTransformer and transformers' BertModel on the same weights."""
    state = torch.load(imagereward / "ImageReward.pt", weights_only=True)
    vision, text, head = reference_parts()
    for module, prefix in ((vision, "blip.visual_encoder."), (text, "blip.text_encoder."), (head, "mlp.layers.")):
        missing = module.load_state_dict(
            {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}, strict=False
        ).missing_keys
        assert missing in ([], ["embeddings.token_type_embeddings.weight"])
        module.eval()
    text.embeddings.token_type_embeddings.weight.data.zero_()
    show = transforms.Compose(
        [
            transforms.Resize(32, transforms.InterpolationMode.BICUBIC),
            transforms.CenterCrop(32),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )
    tokens = BertTokenizer.from_pretrained(imagereward)(
        TEXTS, padding="max_length", truncation=True, max_length=35, return_tensors="pt"
    )
    with torch.no_grad():
        seen = vision(torch.stack([show(image) for image in PICTURES]))
        read = text(
            input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"], encoder_hidden_states=seen
        ).last_hidden_state[:, 0]
        wanted = (head(read)[:, 0].numpy() - 0.16717362830052426) / 1.0333394966054072
    model = preference.load_imagereward(row(tokenizer={"weights": str(imagereward)}), CPU, imagereward)
    found = model.compare(TEXTS, PICTURES)
    assert found.dtype == np.float64
    assert found == pytest.approx(wanted, abs=1e-4, rel=1e-5)
    assert np.ptp(found) > 0.1
    first = model.embed("image", [model.prepare("image", image) for image in PICTURES])
    np.testing.assert_allclose(first, seen[:, 0], atol=1e-4, rtol=1e-4)
    with pytest.raises(CannotDo, match="text"):
        model.prepare("text", TEXTS[0])


def test_imagereward_needs_a_text_an_image_each_and_whole_weights(imagereward: Path, tmp_path: Path) -> None:
    options = {"tokenizer": {"weights": str(imagereward)}}
    model = preference.load_imagereward(row(**options), CPU, imagereward)
    with pytest.raises(CannotDo, match="for a text"):
        model.compare(None, PICTURES)
    with pytest.raises(CannotDo, match="texts come first"):
        model.compare(PICTURES, TEXTS)
    for file in imagereward.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    state = torch.load(imagereward / "ImageReward.pt", weights_only=True)
    del state["blip.text_encoder.encoder.layer.1.crossattention.self.key.weight"]
    torch.save(state, tmp_path / "ImageReward.pt")
    with pytest.raises(BadInput, match="text tower"):
        preference.load_imagereward(row(**options), CPU, tmp_path)


def test_a_chain_keeps_the_order_of_its_numbers() -> None:
    """Layer 10 comes after layer 2."""
    state = {
        f"{place}.{part}": torch.full(shape, value)
        for place, value, outer, inner in ((10, 5.0, 1, 2), (2, 3.0, 2, 1))
        for part, shape in (("weight", (outer, inner)), ("bias", (outer,)))
    }
    assert linear_chain(state, of="head")(torch.ones(1, 1)).item() == pytest.approx(5 * 6 * 2 + 5)
