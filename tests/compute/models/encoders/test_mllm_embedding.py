"""Embedders made of language models, loaded from tiny random checkpoints in the hub's own file layout.

Reference everywhere: the library's own model called directly on its processor's batch, padded on the left, and the last
hidden state of the last place; of late interaction the library's own embeddings.
"""

import json
import shutil
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import torch
from transformers import AutoModelForImageTextToText, AutoProcessor, ColPaliForRetrieval, ColQwen2ForRetrieval

from compute.catalog import shipped
from compute.models import load
from compute.models.encoders.mllm_embedding import E5_V, GME, load_e5_v, load_gme
from compute.models.own.checkpoints import from_folder
from tests.compute.models import checkpoints, multimodal
from tests.compute.models.checkpoints import CPU, embedded, noise

TEXTS = ["a dog", "Two {curly} birds sit on a wire, and one of them sings.", "rouge et noir"]
PICTURES = noise((40, 60), (90, 30), (56, 56))
SIZE = {"shortest_edge": 56 * 56, "longest_edge": 56 * 84}
ROWS = {
    "royokong/e5-v": (multimodal.llava_next, "<image>", E5_V),
    "alibaba-nlp/gme-qwen2-vl-2b-instruct": (multimodal.qwen2_vl, "<|image_pad|>", GME),
    "opensearch-ai/ops-mm-embedding-v1-2b": (multimodal.qwen2_vl, "<|image_pad|>", GME),
    "qwen/qwen3-vl-embedding-2b": (multimodal.qwen3_vl, "<|image_pad|>", GME),
}
row = partial(checkpoints.row, "tiny", "mllm")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a checkpoint by its maker."""
    return cache(lambda write: write(tmp_path_factory.mktemp("made")))


def direct(folder, prompts, images, *, limits=None, unit):
    """The library's own way, in one batch padded on the left."""
    model = AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder, **({"size": limits} if limits else {}))
    processor.tokenizer.padding_side = "left"
    batch = processor(text=prompts, images=images, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = model(**batch, output_hidden_states=True).hidden_states[-1][:, -1]
    return (torch.nn.functional.normalize(states, dim=-1) if unit else states).numpy()


def same(found, wanted):
    np.testing.assert_allclose(found, wanted, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("key", ROWS)
def test_vectors_are_the_library_call(made, key):
    """After the final norm: the state before it moved a published model's scores by seven points."""
    (write, image, family), named = ROWS[key], shipped().model(key)
    given = {} if family is E5_V else {"images": {"size": SIZE}}
    folder, options = made(write), {**named.options, **given}
    encoder = load(replace(named, weights=str(folder), revision="", options=options), hardware=CPU)
    for modality, prompt in {**family, **options}["prompts"].items():
        wanted = direct(
            folder,
            [prompt.replace("{image}", image).replace("{text}", text) for text in TEXTS],
            None if modality == "text" else PICTURES,
            limits=given and SIZE,
            unit=family is not E5_V,
        )
        items = {"image": PICTURES, "text": TEXTS, "pair": list(zip(PICTURES, TEXTS, strict=True))}[modality]
        same(embedded(encoder, modality, items), wanted)


def test_a_lora_over_its_base(made, tmp_path):
    """Reference: peft's unmerged model; the row names the base in its options."""
    from peft import LoraConfig, get_peft_model

    qwen = made(multimodal.qwen2_vl)
    torch.manual_seed(1)
    base = AutoModelForImageTextToText.from_pretrained(qwen)
    changed = get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)).eval()
    changed.save_pretrained(tmp_path)
    encoder = load_gme(row(base={"weights": str(qwen), "revision": ""}, images={}), CPU, tmp_path)
    batch = AutoProcessor.from_pretrained(qwen)(
        text=GME["prompts"]["image"].replace("{image}", "<|image_pad|>"), images=PICTURES[0], return_tensors="pt"
    )
    with torch.no_grad():
        states = changed(**batch, output_hidden_states=True).hidden_states[-1][:, -1]
    found = embedded(encoder, "image", PICTURES[:1])
    same(found, torch.nn.functional.normalize(states, dim=-1).numpy())
    plain = load_gme(row(max_text_tokens=10, prompts={"text": "<|im_start|>{text}<|im_end|>"}), CPU, qwen)
    tokens = plain.prepare("text", "abcdefghijklmnopqrstuvwxyz")["input_ids"][0]
    assert plain.processor.tokenizer.decode(tokens) == "<|im_start|>abcdefghij<|im_end|>", "its prompt stays whole"


def test_a_processor_of_llavas_first_time_is_completed(made, tmp_path):
    """Reference: the same checkpoint with its processor's settings whole."""
    llava = made(multimodal.llava_next)
    shutil.copytree(llava, tmp_path, dirs_exist_ok=True)
    kept = json.loads((tmp_path / "processor_config.json").read_text())
    for name in ("patch_size", "vision_feature_select_strategy", "num_additional_image_tokens"):
        del kept[name]
    (tmp_path / "processor_config.json").write_text(json.dumps(kept))
    assert AutoProcessor.from_pretrained(tmp_path).patch_size is None
    found, wanted = (embedded(load_e5_v(row(), CPU, folder), "image", PICTURES) for folder in (tmp_path, llava))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "write, kind", [(multimodal.colpali, ColPaliForRetrieval), (multimodal.colqwen2, ColQwen2ForRetrieval)]
)
def test_vectors_of_late_interaction_are_the_library_call(write, kind, tmp_path):
    """Texts as queries, images as documents."""
    told = from_folder(write(tmp_path)).row
    assert (told.adapter, told.late_interaction, told.embed_dim) == ("late_interaction", True, 16)
    model, processor = kind.from_pretrained(tmp_path).eval(), AutoProcessor.from_pretrained(tmp_path)
    encoder = load(told, hardware=CPU)
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
