"""Late-interaction models from tiny random checkpoints in the hub's own layout.

References: the library's own model called on each item alone; mteb's evaluation of the same network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import mteb
import numpy as np
import pytest
import torch
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction
from transformers import (
    AutoProcessor,
    ColPaliConfig,
    ColPaliForRetrieval,
    ColPaliProcessor,
    ColQwen2Config,
    ColQwen2ForRetrieval,
    ColQwen2Processor,
    SiglipImageProcessor,
)

import compute
from compute.models import load
from compute.models.own import checkpoints
from tests.compute.models.checkpoints import CPU, noise
from tests.compute.models.encoders.test_mllm_embedding import qwen_config, qwen_processor, tokenizer
from tests.compute.tasks import hub_files

TEXTS = ["a dog", "Two birds sit on a wire, and one of them sings.", "rouge et noir", "a red circle"]
PICTURES = noise((40, 60), (90, 30), (56, 56), (56, 84))


def colpali(folder: Path) -> Path:
    words = tokenizer(["<image>", "<pad>", "<bos>"], pad="<pad>")
    words.add_special_tokens({"bos_token": "<bos>"})
    images = SiglipImageProcessor(size={"height": 28, "width": 28})
    images.image_seq_length = 4
    processor = ColPaliProcessor(image_processor=images, tokenizer=words)
    processor.save_pretrained(folder)
    layers = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    vlm = {
        "model_type": "paligemma",
        "image_token_id": processor.image_token_id,
        "image_token_index": processor.image_token_id,
        "projection_dim": 32,
        "hidden_size": 32,
        "text_config": {
            "model_type": "gemma",
            "vocab_size": len(words),
            "num_key_value_heads": 2,
            "head_dim": 8,
            **layers,
        },
        "vision_config": {"model_type": "siglip_vision_model", "image_size": 28, "patch_size": 14, **layers},
    }
    torch.manual_seed(0)
    ColPaliForRetrieval(ColPaliConfig(vlm_config=vlm, embedding_dim=16)).save_pretrained(folder)
    return folder


def colqwen2(folder: Path) -> Path:
    made = qwen_processor()
    ColQwen2Processor(image_processor=made.image_processor, tokenizer=made.tokenizer).save_pretrained(folder)
    vlm = {"model_type": "qwen2_vl", **qwen_config(made.tokenizer)}
    torch.manual_seed(0)
    ColQwen2ForRetrieval(ColQwen2Config(vlm_config=vlm, embedding_dim=16)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=[colpali, colqwen2])
def folder(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("late") / request.param.__name__)


class Theirs(AbsEncoder):
    """The network as mteb's wrappers of such models run it: batches of padded items, texts as queries."""

    def __init__(self, folder: Path) -> None:
        kind = ColPaliForRetrieval if "colpali" in folder.name else ColQwen2ForRetrieval
        self.model = kind.from_pretrained(folder).eval()
        self.processor = AutoProcessor.from_pretrained(folder)
        self.processor.tokenizer.padding_side = "right"
        self.mteb_model_meta = ModelMeta.create_empty(
            overwrites={
                "name": f"made/{folder.name}",
                "revision": "1",
                "modalities": ["image", "text"],
                "similarity_fn_name": ScoringFunction.MAX_SIM,
            }
        )

    def encode(self, inputs: Any, **kwargs: Any) -> Any:
        found: list[torch.Tensor] = []
        for batch in inputs:
            ready = (
                self.processor.process_images(batch["image"])
                if "image" in batch
                else self.processor.process_queries(batch["text"])
            )
            with torch.no_grad():
                found.extend(self.model(**{name: ready[name] for name in ready if name != "labels"}).embeddings)
        return torch.nn.utils.rnn.pad_sequence(found, batch_first=True)


def test_vectors_are_the_library_call(folder):
    made = checkpoints.from_folder(folder)
    assert (made.row.adapter, made.row.late_interaction, made.row.embed_dim) == ("late_interaction", True, 16)
    encoder, theirs = load(made.row, hardware=CPU), Theirs(folder)
    for modality, items in (("image", PICTURES), ("text", TEXTS)):
        found = encoder.embed(modality, [encoder.prepare(modality, item) for item in items])
        for item, vectors in zip(items, found, strict=True):
            np.testing.assert_allclose(vectors, theirs.encode([{modality: [item]}])[0].numpy(), atol=2e-5)
    assert len({len(vectors) for vectors in found}) > 1


def test_retrieval_scores_are_those_of_mteb(folder, tmp_path, monkeypatch):
    """Of the checkpoint, and of the object that mteb itself evaluates; other tasks are skipped for one reason."""
    task = type(mteb.get_task("VidoreDocVQARetrieval"))()
    number, text = datasets.Value("int64"), datasets.Value("string")
    judged = [(at, at * 7 % 12, 1) for at in range(8)]
    pages = noise(*((28 + 14 * (at % 3), 28 + 14 * (at % 4)) for at in range(12)))
    asked = [f"{TEXTS[at % 4]} {at}" for at in range(8)]
    tables = {
        ("queries", "test"): ({"query-id": range(8), "query": asked}, {"query-id": number, "query": text}),
        ("corpus", "test"): (
            {"corpus-id": range(12), "image": pages},
            {"corpus-id": number, "image": datasets.Image()},
        ),
        ("qrels", "test"): (
            {name: [row[at] for row in judged] for at, name in enumerate(("query-id", "corpus-id", "score"))},
            dict.fromkeys(("query-id", "corpus-id", "score"), number),
        ),
    }
    written = {
        key: datasets.Dataset.from_dict(
            {name: list(cells) for name, cells in columns.items()}, datasets.Features(kinds)
        )
        for key, (columns, kinds) in tables.items()
    }
    place = hub_files.write(tmp_path / "data" / task.metadata.dataset["path"], written)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setitem(task.metadata.dataset, "path", str(place))
    theirs = Theirs(folder)
    wanted = task.evaluate(theirs, "test", None, encode_kwargs={"batch_size": 5})["default"]["ndcg_at_5"]
    for model in (folder, theirs):
        scores = compute.evaluate(
            model,
            suite="vidore-v1",
            tasks=["mieb/vidoredocvqaretrieval"],
            data=tmp_path / "data",
            results=tmp_path / "results",
            offline=True,
            progress=False,
        )
        assert scores.frame()["value"].tolist() == pytest.approx([wanted], abs=1e-5) and 0 < wanted < 1
