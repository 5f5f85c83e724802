"""Models of the transformers library in memory, beside direct calls of their own methods and processors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from compute.models.own import probing
from compute.types import BadInput
from tests.compute.models import checkpoints
from tests.compute.models.own.small_objects import embedded, wrapped


def loaded(folder: Path) -> Any:
    return transformers.AutoModel.from_pretrained(folder).eval()


def parts_of(folder: Path) -> tuple[Any, Any]:
    return (
        transformers.AutoImageProcessor.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_two_towers_give_what_their_methods_give(tmp_path, kind):
    folder = getattr(checkpoints, kind)(tmp_path / "model")
    model, (images, tokens) = loaded(folder), parts_of(folder)
    own = wrapped(model)
    padding = {"padding": "max_length"} if kind == "siglip" else {"padding": True}
    with torch.inference_mode():
        seen = model.get_image_features(**images(images=probing.images(), return_tensors="pt")).pooler_output
        inputs = tokens(probing.texts(), truncation=True, return_tensors="pt", **padding)
        if kind == "siglip":
            inputs.pop("attention_mask", None)
        read = model.get_text_features(**inputs).pooler_output
    np.testing.assert_allclose(embedded(own, "image", probing.images()), seen, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), read, rtol=1e-4, atol=1e-5)
    assert own.row.abilities == ("embed_image", "embed_text")


def test_a_processor_of_the_callers_needs_no_folder(tmp_path):
    """An image processor alone makes a model of images, a tokenizer alone one of texts."""
    folder = checkpoints.clip(tmp_path / "model")
    model = transformers.CLIPModel(transformers.CLIPConfig.from_pretrained(folder)).eval()
    model.config._name_or_path = ""
    with pytest.raises(BadInput, match="processor="):
        wrapped(model)
    images, tokens = parts_of(folder)
    both = transformers.CLIPProcessor(image_processor=images, tokenizer=tokens)
    for processor, abilities in (
        (both, ("embed_image", "embed_text")),
        (images, ("embed_image",)),
        (tokens, ("embed_text",)),
    ):
        assert wrapped(model, processor=processor).row.abilities == abilities


def test_one_digest_wherever_the_weights_lie_and_after_a_run(tmp_path):
    folder = checkpoints.clip(tmp_path / "one")
    loaded(folder).save_pretrained(tmp_path / "two")
    for part in parts_of(folder):
        part.save_pretrained(tmp_path / "two")
    first, second = wrapped(loaded(folder)), loaded(tmp_path / "two")
    embedded(wrapped(second), "text", ["a photo of a cat " * 9])
    known = [own.identity(own.row, hardware=None)["digest"] for own in (first, wrapped(second))]
    second.config.vision_config.layer_norm_eps = 0.1
    other = wrapped(second)
    assert known[0] == known[1] != other.identity(other.row, hardware=None)["digest"]


def by_library(folder: Path, kind: str) -> np.ndarray:
    model = loaded(folder)
    with torch.inference_mode():
        if kind == "bert":
            tokens = transformers.AutoTokenizer.from_pretrained(folder)
            states = [model(**tokens(text, return_tensors="pt")).last_hidden_state[0] for text in probing.texts()]
            return torch.stack([state.mean(dim=0) for state in states]).numpy()
        images = transformers.AutoImageProcessor.from_pretrained(folder)
        return model(**images(images=probing.images(), return_tensors="pt")).last_hidden_state[:, 0].numpy()


@pytest.mark.parametrize("kind", ["dinov2", "bert"])
def test_a_body_gives_its_first_token_or_the_mean_of_its_tokens(tmp_path, kind):
    folder = small_bert(tmp_path) if kind == "bert" else checkpoints.vision(tmp_path / "model", kind)
    own, modality = wrapped(loaded(folder)), "text" if kind == "bert" else "image"
    items = probing.texts() if kind == "bert" else probing.images()
    np.testing.assert_allclose(embedded(own, modality, items), by_library(folder, kind), rtol=1e-4, atol=1e-5)
    assert own.row.modalities == (modality,)


def test_a_model_whose_pooling_nobody_settled_is_refused(tmp_path):
    config = transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=50)
    headed = transformers.Dinov2ForImageClassification(
        transformers.AutoConfig.from_pretrained(checkpoints.vision(tmp_path / "model", "dinov2"))
    )
    for model in (transformers.GPT2Model(config), headed):
        with pytest.raises(BadInput, match="not settled"):
            wrapped(model.eval())


def small_bert(folder: Path) -> Path:
    """A BERT of one layer with its tokenizer."""
    checkpoints.bert_tokens(folder)
    config = transformers.BertConfig(
        vocab_size=80,
        hidden_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        transformers.BertModel(config).save_pretrained(folder)
    return folder
