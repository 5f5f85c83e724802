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
from tests.compute.models.own.small_objects import embedded, identity, wrapped


def loaded(folder: Path, kind: str = "AutoModel") -> Any:
    return getattr(transformers, kind).from_pretrained(folder).eval()


def parts_of(folder: Path) -> tuple[Any, Any]:
    return (
        transformers.AutoImageProcessor.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def features(output: Any) -> np.ndarray:
    return getattr(output, "pooler_output", output).numpy()


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_two_towers_give_what_their_methods_give(tmp_path, kind):
    folder = getattr(checkpoints, kind)(tmp_path / "model")
    model, (images, tokens) = loaded(folder), parts_of(folder)
    own = wrapped(model)
    padding = {"padding": "max_length"} if kind == "siglip" else {"padding": True}
    with torch.inference_mode():
        seen = features(model.get_image_features(**images(images=probing.images(), return_tensors="pt")))
        inputs = tokens(probing.texts(), truncation=True, return_tensors="pt", **padding)
        if kind == "siglip":
            inputs.pop("attention_mask", None)
        read = features(model.get_text_features(**inputs))
    np.testing.assert_allclose(embedded(own, "image", probing.images()), seen, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), read, rtol=1e-4, atol=1e-5)
    assert own.row.abilities == ("embed_image", "embed_text")


def test_a_processor_of_the_callers_needs_no_folder(tmp_path):
    folder = checkpoints.clip(tmp_path / "model")
    model = transformers.CLIPModel(transformers.CLIPConfig.from_pretrained(folder)).eval()
    model.config._name_or_path = ""
    with pytest.raises(BadInput, match=r"Pass processor=transformers\.AutoProcessor"):
        wrapped(model)
    images, tokens = parts_of(folder)
    own = wrapped(model, processor=transformers.CLIPProcessor(image_processor=images, tokenizer=tokens))
    assert embedded(own, "text", probing.texts()).shape == (probing.COUNT, own.row.embed_dim)


def test_a_tower_of_one_modality_needs_the_other_for_nothing(tmp_path):
    """A model with get_image_features alone embeds images; the plan leaves tasks with texts out."""
    model = loaded(checkpoints.clip(tmp_path / "model"))

    class Images(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.config = model, model.config

        def get_image_features(self, pixel_values):
            return self.body.get_image_features(pixel_values)

    own = wrapped(Images().eval())
    assert own.row.abilities == ("embed_image",)
    assert own.row.modalities == ("image",)


def test_an_image_processor_alone_makes_a_model_of_images(tmp_path):
    """Passed, or alone beside the weights; a tokenizer alone makes a model of texts."""
    folder = checkpoints.clip(tmp_path / "model")
    model, (images, tokens) = loaded(folder), parts_of(folder)
    with torch.inference_mode():
        seen = features(model.get_image_features(**images(images=probing.images(), return_tensors="pt")))
    passed = wrapped(model, processor=images)
    loaded(folder).save_pretrained(tmp_path / "alone")
    images.save_pretrained(tmp_path / "alone")
    beside = wrapped(loaded(tmp_path / "alone"))
    for own in (passed, beside):
        assert own.row.abilities == ("embed_image",) and own.row.modalities == ("image",)
        np.testing.assert_allclose(embedded(own, "image", probing.images()), seen, rtol=1e-4, atol=1e-5)
    texts = wrapped(model, processor=tokens)
    assert texts.row.abilities == ("embed_text",)


def test_the_same_weights_have_one_digest_wherever_they_lie(tmp_path):
    folder = checkpoints.clip(tmp_path / "one")
    loaded(folder).save_pretrained(tmp_path / "two")
    for part in parts_of(folder):
        part.save_pretrained(tmp_path / "two")
    first, second = loaded(folder), loaded(tmp_path / "two")
    assert identity(wrapped(first))["digest"] == identity(wrapped(second))["digest"]


def test_running_a_model_does_not_change_its_digest(tmp_path):
    model = loaded(checkpoints.clip(tmp_path / "model"))
    before = identity(wrapped(model))
    embedded(wrapped(model), "text", ["a photo of a cat " * 9])
    assert identity(wrapped(model)) == before


@pytest.mark.parametrize("kind", ["dinov2"])
def test_an_image_body_gives_its_first_token(tmp_path, kind):
    folder = checkpoints.vision(tmp_path / "model", kind)
    model, images = loaded(folder), transformers.AutoImageProcessor.from_pretrained(folder)
    with torch.inference_mode():
        states = model(**images(images=probing.images(), return_tensors="pt")).last_hidden_state
    own = wrapped(model)
    np.testing.assert_allclose(embedded(own, "image", probing.images()), states[:, 0], rtol=1e-4, atol=1e-5)
    assert own.row.modalities == ("image",)


def test_a_convolutional_body_gives_its_own_pooled_map(tmp_path):
    folder = checkpoints.vision(tmp_path / "model", "resnet")
    model, images = loaded(folder), transformers.AutoImageProcessor.from_pretrained(folder)
    with torch.inference_mode():
        pooled = model(**images(images=probing.images(), return_tensors="pt")).pooler_output.flatten(1)
    np.testing.assert_allclose(embedded(wrapped(model), "image", probing.images()), pooled, rtol=1e-4, atol=1e-5)


def test_a_text_body_gives_the_mean_of_its_tokens(tmp_path):
    folder = small_bert(tmp_path)
    model, tokens = loaded(folder), transformers.AutoTokenizer.from_pretrained(folder)
    own = wrapped(model)
    with torch.inference_mode():
        for text, vector in zip(probing.texts(), embedded(own, "text", probing.texts()), strict=True):
            states = model(**tokens(text, return_tensors="pt")).last_hidden_state[0]
            np.testing.assert_allclose(vector, states.mean(dim=0), rtol=1e-4, atol=1e-5)


def test_a_model_whose_pooling_nobody_settled_is_refused():
    config = transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=50)
    with pytest.raises(BadInput, match="'gpt2' gives is not settled.*encode_text"):
        wrapped(transformers.GPT2Model(config).eval())


def test_a_model_with_a_head_is_refused(tmp_path):
    folder = checkpoints.vision(tmp_path / "model", "dinov2")
    model = transformers.Dinov2ForImageClassification(transformers.AutoConfig.from_pretrained(folder))
    with pytest.raises(BadInput, match="is not settled"):
        wrapped(model.eval())


def test_dropout_left_on_is_named(tmp_path):
    folder = small_bert(tmp_path)
    with pytest.raises(BadInput, match=r"not deterministic.*\.eval\(\)"):
        wrapped(loaded(folder).train())


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
