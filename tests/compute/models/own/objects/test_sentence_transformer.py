"""A SentenceTransformer in memory gives what its own encode gives."""

from __future__ import annotations

import numpy as np
import pytest
import sentence_transformers
from sentence_transformers.sentence_transformer import modules

from compute.models.own import probing
from compute.types import BadInput
from tests.compute.models import checkpoints
from tests.compute.models.encoders.test_late_interaction import colpali
from tests.compute.models.own.objects.test_transformers_models import small_bert
from tests.compute.models.own.small_objects import embedded, wrapped


@pytest.fixture
def model(tmp_path) -> sentence_transformers.SentenceTransformer:
    body = modules.Transformer(str(small_bert(tmp_path)))
    return sentence_transformers.SentenceTransformer(
        modules=[body, modules.Pooling(24), modules.Normalize()], device="cpu"
    )


def test_texts(model):
    own = wrapped(model)
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), model.encode(probing.texts()), atol=1e-5)
    assert own.row.abilities == ("embed_text",)
    assert own.row.embed_dim == 24


def test_images_of_a_clip_model(tmp_path):
    folder = checkpoints.clip(tmp_path / "model")
    model = sentence_transformers.SentenceTransformer(modules=[modules.Transformer(str(folder))], device="cpu")
    own = wrapped(model)
    assert own.row.abilities == ("embed_image", "embed_text")
    np.testing.assert_allclose(embedded(own, "image", probing.images()), model.encode(probing.images()), atol=1e-5)
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), model.encode(probing.texts()), atol=1e-5)


def test_its_prompt_counts(model):
    digests = set()
    for prompts in ({}, {"query": "a red "}):
        model.prompts, model.default_prompt_name = prompts, next(iter(prompts), None)
        own = wrapped(model)
        digests.add(own.identity(own.row, hardware=None)["digest"])
    assert len(digests) == 2


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing")
def test_late_interaction_of_texts_and_images(tmp_path):
    """The vectors are its own encode_query's and encode_document's; a second evaluation finds the same model."""
    late = sentence_transformers.MultiVectorEncoder(str(colpali(tmp_path)), device="cpu")
    own, again = wrapped(late), wrapped(late)
    assert (own.row.late_interaction, own.row.embed_dim, own.row.abilities) == (True, 16, ("embed_image", "embed_text"))
    assert own.identity(own.row, hardware=None) == again.identity(own.row, hardware=None)
    for kind, items, encode in (
        ("image", probing.images(), late.encode_document),
        ("text", probing.texts(), late.encode_query),
    ):
        for found, wanted in zip(embedded(own, kind, items), encode(items), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_a_cross_encoder_and_late_interaction_of_texts_alone_are_refused(tmp_path):
    model = sentence_transformers.CrossEncoder(str(small_bert(tmp_path)), num_labels=1, device="cpu")
    with pytest.raises(BadInput, match="one vector"):
        wrapped(model)
    body = modules.Transformer(str(tmp_path))
    with pytest.raises(BadInput, match="late-interaction model of texts alone"):
        wrapped(sentence_transformers.MultiVectorEncoder(modules=[body], device="cpu"))
