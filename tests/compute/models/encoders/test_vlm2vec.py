"""VLM2Vec on a stand-in for Phi-3.5-vision's own code: the prompts, the image tag and the crops of the public code.

Loading the real checkpoints is not shown: the library has no class for them (tests/compute/models/phi3v.py).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoProcessor, PreTrainedTokenizerFast

from compute.models import load
from compute.models.adapter import Hardware
from compute.models.encoders.mllm_embedding import LastTokenEncoder
from compute.types import Model
from tests.compute.models import phi3v

CPU = Hardware(device="cpu", dtype="float32")
TEXTS = ["a dog", "Two {curly} birds sit on a wire.", "rouge et noir"]
PROMPTS = {  # as the public code has them, letter by letter
    "image": "<|image_1|> Represent the given image.",
    "pair": "<|image_1|> Represent the given image with the following question: {}",
    "text": "{}",
}


def pictures() -> list[Image.Image]:
    draw = np.random.default_rng(0)
    return [
        Image.fromarray(draw.integers(0, 256, size=(*side, 3), dtype=np.uint8))
        for side in ((60, 40), (9, 30), (200, 56))
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint in the layout of Phi-3.5-vision, whose own processor cuts into 16."""
    home = tmp_path_factory.mktemp("phi")
    shutil.copy(phi3v.__file__, home / "phi3v.py")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(alphabet)}, merges=[]))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    words.add_special_tokens(["<|endoftext|>"])
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<|endoftext|>").save_pretrained(home)
    torch.manual_seed(0)
    phi3v.Phi3VForCausalLM(phi3v.Phi3VConfig()).save_pretrained(home)
    config = json.loads((home / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "phi3v.Phi3VConfig", "AutoModelForCausalLM": "phi3v.Phi3VForCausalLM"}
    (home / "config.json").write_text(json.dumps(config))
    processing = {
        "processor_class": "Phi3VProcessor",
        "image_processor_type": "Phi3VImageProcessor",
        "auto_map": {"AutoProcessor": "phi3v.Phi3VProcessor", "AutoImageProcessor": "phi3v.Phi3VImageProcessor"},
        "num_crops": 16,
    }
    (home / "preprocessor_config.json").write_text(json.dumps(processing))
    return home


def encoder(folder: Path, **options: object) -> LastTokenEncoder:
    row = Model(
        key="tiny/vlm2vec",
        title="Tiny",
        kind="mllm",
        adapter="vlm2vec",
        weights=str(folder),
        revision="0" * 40,
        options={"remote_code": True, **options},
    )
    return load(row, hardware=CPU)


def public(folder: Path, prompts: list[str], images: list[Image.Image] | None) -> np.ndarray:
    """As the public code does it: four crops, one prompt at a time, the last token's state at length 1."""
    processor = AutoProcessor.from_pretrained(folder, trust_remote_code=True, num_crops=4)
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True).eval()
    vectors = []
    for at, prompt in enumerate(prompts):
        inputs = processor(
            prompt, None if images is None else images[at], return_tensors="pt", max_length=256, truncation=True
        )
        with torch.no_grad():
            states = model.model(**inputs).last_hidden_state
        vectors.append(torch.nn.functional.normalize(states[0, -1], dim=-1).numpy())
    return np.stack(vectors)


@pytest.mark.parametrize("modality", ["image", "text", "pair"])
def test_prompts_and_crops_are_those_of_the_public_code(folder: Path, modality: str) -> None:
    model = encoder(folder)
    items = {"image": pictures(), "text": TEXTS, "pair": list(zip(pictures(), TEXTS, strict=True))}[modality]
    found = model.embed(modality, [model.prepare(modality, item) for item in items])
    prompts = [PROMPTS[modality].replace("{}", text) for text in TEXTS]
    wanted = public(folder, prompts, None if modality == "text" else pictures())
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert np.abs(found[0] - found[1]).max() > 1e-3
    alone = np.concatenate([model.embed(modality, [model.prepare(modality, item)]) for item in items])
    np.testing.assert_allclose(found, alone, atol=1e-6)


def test_an_image_is_four_crops_and_the_whole_at_its_tag(folder: Path) -> None:
    prepared = encoder(folder).prepare("image", pictures()[2])
    assert prepared["pixel_values"].shape == (1, 1 + 4, 3, phi3v.SIDE, phi3v.SIDE)
    ids = prepared["input_ids"][0].tolist()
    assert ids[: phi3v.PATCHES] == [-1] * phi3v.PATCHES, "the tag comes first"
    assert encoder(folder).processor.tokenizer.decode(ids[phi3v.PATCHES :]) == " Represent the given image."
    assert encoder(folder, crops=16).prepare("image", pictures()[2])["pixel_values"].shape[1] == 1 + 16
    settings = encoder(folder).settings
    assert (settings["image_token"], settings["crops"]) == ("<|image_1|>", 4)
