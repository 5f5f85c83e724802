"""Embedders made of language models, loaded from tiny random checkpoints in the hub's own file layout.

Reference everywhere: the library's own model called directly on its processor's batch, padded on the left, and the last
hidden state of the last place.
"""

import json
import shutil
from functools import partial

import numpy as np
import pytest
import torch
from transformers import AutoModelForImageTextToText, AutoProcessor

from compute.catalog import shipped
from compute.models.encoders.mllm_embedding import E5_V, GME, load_e5_v, load_gme
from tests.compute.models import checkpoints, multimodal
from tests.compute.models.checkpoints import CPU, embedded, noise

TEXTS = ["a dog", "Two {curly} birds sit on a wire, and one of them sings.", "rouge et noir"]


row = partial(checkpoints.row, "tiny", "mllm")
PICTURES = noise((40, 60), (90, 30), (56, 56))


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    return multimodal.llava_next(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def qwen3(tmp_path_factory):
    return multimodal.qwen3_vl(tmp_path_factory.mktemp("qwen3"))


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    return multimodal.qwen2_vl(tmp_path_factory.mktemp("qwen"))


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


@pytest.mark.parametrize("modality", ["image", "text", "pair"])
@pytest.mark.parametrize("kind", ["e5_v", "gme", "qwen3"])
def test_vectors_are_the_library_call(llava, qwen, qwen3, kind, modality):
    named = shipped().model("qwen/qwen3-vl-embedding-2b").options
    limits = {"shortest_edge": 56 * 56, "longest_edge": 56 * 84} if kind != "e5_v" else None
    if kind == "gme":
        folder, image, encoder = qwen, "<|image_pad|>", load_gme(row(images={"size": limits}), CPU, qwen)
    elif kind == "qwen3":
        given = row(**{**named, "images": {"size": limits}})
        folder, image, encoder = qwen3, "<|image_pad|>", load_gme(given, CPU, qwen3)
    else:
        folder, image, encoder = llava, "<image>", load_e5_v(row(), CPU, llava)
    prompt = {"gme": GME, "e5_v": E5_V, "qwen3": named}[kind]["prompts"][modality]
    items = {"image": PICTURES, "text": TEXTS, "pair": list(zip(PICTURES, TEXTS, strict=True))}[modality]
    wanted = direct(
        folder,
        [prompt.replace("{image}", image).replace("{text}", text) for text in TEXTS],
        None if modality == "text" else PICTURES,
        limits=limits,
        unit=kind != "e5_v",
    )
    same(embedded(encoder, modality, items), wanted)


def test_a_lora_over_its_base(qwen, tmp_path):
    """Reference: peft's unmerged model; the row names the base in its options."""
    from peft import LoraConfig, get_peft_model

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


def test_a_processor_of_llavas_first_time_is_completed(llava, tmp_path):
    """Reference: the same checkpoint with its processor's settings whole."""
    shutil.copytree(llava, tmp_path, dirs_exist_ok=True)
    kept = json.loads((tmp_path / "processor_config.json").read_text())
    for name in ("patch_size", "vision_feature_select_strategy", "num_additional_image_tokens"):
        del kept[name]
    (tmp_path / "processor_config.json").write_text(json.dumps(kept))
    assert AutoProcessor.from_pretrained(tmp_path).patch_size is None
    found, wanted = (embedded(load_e5_v(row(), CPU, folder), "image", PICTURES) for folder in (tmp_path, llava))
    np.testing.assert_array_equal(found, wanted)
