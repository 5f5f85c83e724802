"""Tiny checkpoints with random weights, written in the layouts that the hub's repositories have."""

import json
import shutil
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import ByteLevel, Whitespace
from tokenizers.processors import TemplateProcessing

from compute.models.adapter import Hardware
from compute.types import Model

CPU = Hardware(device="cpu", dtype="float32")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
WORDS = [
    "a",
    "photo",
    "of",
    "the",
    "red",
    "green",
    "blue",
    "small",
    "large",
    "cat",
    "dog",
    "square",
    "circle",
    "on",
    "under",
    "beside",
    "two",
    "three",
]
TEXTS = ["a photo of a cat", "two red squares under a large blue circle", "dog", ""]
LONG = "a small red dog beside the large green cat " * 60
SIDE = 32  # pixels of every tiny model
LAYERS = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
SHOWN = {"mean": [0.5, 0.4, 0.3], "std": [0.2, 0.25, 0.3], "interpolation": "bicubic"}
PATCHED = {**LAYERS, "image_size": SIDE, "patch_size": 8}


def row(folder, adapter, *, revision="", **options):
    return Model(
        key=f"tiny-{adapter}", title="Tiny", adapter=adapter, weights=str(folder), revision=revision, options=options
    )


def images():
    """Odd sizes and shapes, one grey: noise over a gradient, so that crops and orders differ."""
    made = []
    for place, size in enumerate([(64, 48), (33, 71), (32, 32), (201, 40)]):
        rng = np.random.default_rng(place)
        slope = np.linspace(0, 160, size[0])[None, :, None] * np.linspace(0.2, 1, size[1])[:, None, None]
        made.append(Image.fromarray((slope + rng.integers(0, 90, (size[1], size[0], 3))).astype(np.uint8)))
    return [*made, made[0].convert("L").convert("RGB")]


def noise(*sizes):
    """Noise of these widths and heights."""
    draw = np.random.default_rng(0)
    return [Image.fromarray(draw.integers(0, 256, (high, wide, 3), dtype=np.uint8)) for wide, high in sizes]


def embedded(encoder, modality, items):
    """Each item prepared by itself, all in one batch."""
    return encoder.embed(modality, [encoder.prepare(modality, item) for item in items])


def cosines(a, b):
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def in_hub_cache(folder, *, cache, repository, branch="main"):
    """A copy of `folder` as the hub's cache holds it, links to blobs included; returns the snapshot."""
    home = cache / f"models--{repository.replace('/', '--')}"
    snapshot = home / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (home / "blobs").mkdir()
    (home / "refs").mkdir()
    (home / "refs" / branch).write_text(COMMIT)
    for number, file in enumerate(sorted(folder.iterdir())):
        shutil.copy(file, home / "blobs" / f"{number:040x}")
        (snapshot / file.name).symlink_to(Path("../../blobs") / f"{number:040x}")
    return snapshot


def _write(folder, name, content):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content))


def _tokens(folder, kind, length, **more):
    _write(folder, "tokenizer_config.json", {"tokenizer_class": kind, "model_max_length": length, **more})


def _pieces(folder, vocabulary, merges):
    """vocab.json and merges.txt of byte-level BPE."""
    _write(folder, "vocab.json", {token: place for place, token in enumerate(vocabulary)})
    (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n")


def enlarged(model):
    """The model with weights large enough that its outputs tell inputs apart through two layers."""
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=1.5 / weight[0].numel() ** 0.5)
        elif 0 < weight.abs().max() < 1e-3:  # the scale that some layers' outputs begin with
            torch.nn.init.constant_(weight, 0.5)
        elif (weight == 1).all():  # a norm's, which would change nothing but a vector's length
            torch.nn.init.uniform_(weight, 0.2, 2.2)
    return model


# ---- tokenizers


def clip_tokens(folder, *, length=16):
    """OpenAI's layout."""
    letters, learnt = sorted(ByteLevel.alphabet()), ["ca", "cat</w>", "do", "<|startoftext|>", "<|endoftext|>"]
    _pieces(folder, [*letters, *(f"{letter}</w>" for letter in letters), *learnt], "c a\nca t</w>\nd o")
    end = dict.fromkeys(("unk_token", "eos_token", "pad_token"), learnt[-1])
    _tokens(folder, "CLIPTokenizer", length, bos_token=learnt[-2], **end)


def bert_tokens(folder, *, length=24):
    """vocab.txt of WordPiece."""
    _tokens(folder, "BertTokenizer", length, do_lower_case=True)
    letters = [*ascii_lowercase, *(f"##{letter}" for letter in ascii_lowercase)]
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters]))


def roberta_tokens(folder, *, length):
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    _pieces(folder, [*special, *sorted(ByteLevel.alphabet()), "ca", "cat"], "c a\nca t")
    _tokens(folder, "RobertaTokenizer", length)


def sentence_pieces(folder, *, kind, length):
    """A SentencePiece model trained on a few words, for `kind` of tokenizer."""
    import sentencepiece

    pad = "<pad>" if kind == "T5Tokenizer" else "</s>"
    _tokens(folder, kind, length, pad_token=pad, eos_token="</s>", unk_token="<unk>")
    text = folder / "words.tmp"
    text.write_text("\n".join(f"{first} {second}" for first in WORDS for second in WORDS))
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(folder / "spiece"),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        model_type="unigram",
        num_threads=1,
    )
    text.unlink()
    (folder / "spiece.vocab").unlink()


def word_tokens(folder, *, length=24):
    """tokenizer.json alone, as ModernBERT's."""
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    places = {token: place for place, token in enumerate([*special.values(), *WORDS])}
    made = Tokenizer(WordLevel(places, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = ["input_ids", "attention_mask"]
    _tokens(folder, "PreTrainedTokenizerFast", length, model_input_names=names, **special)
    made.save(str(folder / "tokenizer.json"))


# ---- preprocessing


def image_processor(folder, kind, *, crop=False, **more):
    size = {"shortest_edge": SIDE} if crop else {"height": SIDE, "width": SIDE}
    _write(
        folder,
        "preprocessor_config.json",
        {
            "image_processor_type": kind,
            "size": size,
            "resample": 3,
            "image_mean": [0.5, 0.46, 0.41],
            "image_std": [0.27, 0.26, 0.28],
            "do_convert_rgb": True,
            **({"do_center_crop": True, "crop_size": {"height": SIDE, "width": SIDE}} if crop else {}),
            **more,
        },
    )


# ---- checkpoints


def _saved(folder, kind, *, seed=1, lively=False, made=None, **config):
    """A checkpoint of a class of the library and its configuration, `made` with more arguments."""
    torch.manual_seed(seed)
    model = kind(kind.config_class(**config), **(made or {}))
    (enlarged(model) if lively else model).save_pretrained(folder)
    return folder


def _reading(vocabulary, length, *, pad=0, first=2, last=3):
    """The configuration of what reads."""
    ends = {"pad_token_id": pad, "bos_token_id": first, "eos_token_id": last}
    return {**LAYERS, "vocab_size": vocabulary, "max_position_embeddings": length, **ends}


def clip(folder, *, seed=0, binary=False):
    """CLIP; `binary`: weights as an old pytorch_model.bin."""
    clip_tokens(folder)
    image_processor(folder, "CLIPImageProcessor", crop=True)
    last = 2 * 256 + 5 - 1
    reading = _reading(last + 1, 16, pad=last, first=last - 1, last=last)
    _saved(folder, transformers.CLIPModel, seed=seed, projection_dim=24, text_config=reading, vision_config=PATCHED)
    if binary:
        weights = folder / "model.safetensors"
        torch.save(load_file(weights), folder / "pytorch_model.bin")
        weights.unlink()
    return folder


def siglip(folder, *, gemma=False):
    """SigLIP; `gemma`: SigLIP 2 of one size of images, as published: the same network with Gemma's tokenizer."""
    if gemma:
        pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *ascii_lowercase, *ascii_lowercase.upper()]
        tokenizer = transformers.GemmaTokenizer(vocab={piece: at for at, piece in enumerate(pieces)}, merges=[])
        tokenizer.model_max_length = 16
        tokenizer.save_pretrained(folder)
    else:
        sentence_pieces(folder, kind="SiglipTokenizer", length=16)
    image_processor(folder, "SiglipImageProcessor")
    reading = _reading(64, 16, pad=1, first=1, last=1)
    return _saved(folder, transformers.SiglipModel, text_config=reading, vision_config=PATCHED)


def metaclip2(folder, *, mt5=False):
    """MetaCLIP 2: CLIP's towers with a vocabulary of many languages, `mt5`: in mT5's tokens."""
    if mt5:
        sentence_pieces(folder, kind="T5Tokenizer", length=16)
    else:
        word_tokens(folder, length=16)
    image_processor(folder, "CLIPImageProcessor", crop=True)
    reading = _reading(64, 16, last=1 if mt5 else 3)
    return _saved(folder, transformers.MetaClip2Model, projection_dim=24, text_config=reading, vision_config=PATCHED)


def siglip2(folder):
    """The kind that takes images of any shape as patches, padded to a number of them."""
    word_tokens(folder, length=10**30)
    half, patches = [0.5] * 3, {"patch_size": 8, "max_num_patches": 20}
    kind = {"image_processor_type": "Siglip2ImageProcessor", "image_mean": half, "image_std": half}
    _write(folder, "preprocessor_config.json", {**kind, **patches})
    seeing = {**LAYERS, "num_patches": 16, "patch_size": 8}
    return _saved(folder, transformers.Siglip2Model, text_config=_reading(64, 16), vision_config=seeing)


def align(folder):
    bert_tokens(folder)
    image_processor(folder, "EfficientNetImageProcessor", include_top=True, rescale_offset=False)
    seeing = {
        "image_size": SIDE,
        "width_coefficient": 0.3,
        "depth_coefficient": 0.3,
        "in_channels": [32, 16],
        "out_channels": [16, 24],
        "kernel_sizes": [3, 3],
        "strides": [1, 2],
        "num_block_repeats": [1, 1],
        "expand_ratios": [1, 4],
        "hidden_dim": 24,
        "depthwise_padding": [],
    }
    return _saved(
        folder,
        transformers.AlignModel,
        lively=True,
        projection_dim=24,
        text_config=_reading(80, 24),
        vision_config=seeing,
    )


def blip(folder, *, kind=transformers.BlipForImageTextRetrieval):
    """BLIP's retrieval checkpoint, or by `kind` that of another use, without the projections."""
    bert_tokens(folder)
    image_processor(folder, "BlipImageProcessor")
    reading = {**_reading(80, 24), "encoder_hidden_size": 32, "sep_token_id": 3}
    sizes = {"image_text_hidden_size": 24, "projection_dim": 24}
    return _saved(folder, kind, lively=True, text_config=reading, vision_config=PATCHED, **sizes)


DECODER = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
VISION = {  # class, image processor, the processor's settings, configuration
    "dinov2": ("Dinov2Model", "BitImageProcessor", {"crop": True}, PATCHED),
    "dinov3_vit": ("DINOv3ViTModel", "DINOv3ViTImageProcessor", {}, {**PATCHED, "num_register_tokens": 2}),
    "dinov3_convnext": (
        "DINOv3ConvNextModel",
        "DINOv3ViTImageProcessor",
        {},
        {"hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4, "image_size": SIDE},
    ),
    "ijepa": ("IJepaModel", "ViTImageProcessor", {}, PATCHED),
    "vit_mae": (  # with its decoder, as published
        "ViTMAEForPreTraining",
        "ViTImageProcessor",
        {},
        PATCHED | {f"decoder_{name}": value for name, value in DECODER.items()},
    ),
}


def vision(folder, kind):
    """An image encoder of the library, of VISION."""
    name, processor, shown, config = VISION[kind]
    image_processor(folder, processor, **shown)
    made = {"add_pooling_layer": False} if kind == "ijepa" else {}
    return _saved(folder, getattr(transformers, name), lively=True, made=made, **config)


def timm_folder(folder, *, architecture="vit_tiny_patch16_224", **arguments):
    """config.json and model.safetensors as timm's repositories on the hub hold them."""
    import timm

    torch.manual_seed(6)
    model = enlarged(timm.create_model(architecture, pretrained=False, **arguments))
    _write(
        folder,
        "config.json",
        {
            "architecture": architecture,
            "num_classes": model.num_classes,
            "num_features": model.num_features,
            "model_args": {name: value for name, value in arguments.items() if name != "num_classes"},
            "pretrained_cfg": {
                "tag": "tiny",
                "custom_load": False,
                "input_size": [3, SIDE, SIDE],
                "fixed_input_size": "img_size" in arguments,
                "crop_pct": 0.9,
                "crop_mode": "center",
                **SHOWN,
                "num_classes": model.num_classes,
                "first_conv": "patch_embed.proj",
                "classifier": "head",
            },
        },
    )
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / "model.safetensors")
    return folder


def open_clip(folder, *, config=True, binary=False, vocabulary=49408):
    """open_clip_config.json and open_clip_model.safetensors, or the weights alone as a .bin of older repositories."""
    import open_clip as library

    folder.mkdir(parents=True)
    made = {
        "embed_dim": 24,
        "vision_cfg": {"image_size": SIDE, "layers": 2, "width": 64, "patch_size": 8, "head_width": 32},
        "text_cfg": {"context_length": 20, "vocab_size": vocabulary, "width": 16, "heads": 2, "layers": 2},
    }
    torch.manual_seed(7)
    model = library.CLIP(**made)
    torch.nn.init.normal_(model.visual.proj)
    if config:
        said = {"model_cfg": made, "preprocess_cfg": {**SHOWN, "resize_mode": "shortest"}}
        _write(folder, "open_clip_config.json", said)
    if binary:
        torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    else:
        save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder


def text(folder, kind):
    """A text encoder with the head it is published with: bert, roberta, modernbert or t5."""
    if kind == "bert":
        bert_tokens(folder)
        return _saved(folder, transformers.BertForMaskedLM, lively=True, **_reading(80, 24))
    if kind == "roberta":
        roberta_tokens(folder, length=10**30)
        reading = _reading(300, 26, pad=1, first=0, last=2)
        return _saved(folder, transformers.RobertaForMaskedLM, lively=True, **reading)
    if kind == "modernbert":
        word_tokens(folder)
        reading = {**_reading(40, 32), "cls_token_id": 2, "sep_token_id": 3, "local_attention": 8}
        return _saved(folder, transformers.ModernBertForMaskedLM, lively=True, **reading)
    sentence_pieces(folder, kind="T5Tokenizer", length=512)
    return _saved(
        folder,
        transformers.T5ForConditionalGeneration,
        lively=True,
        vocab_size=64,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
    )


def lora(base, folder, targets, **more):
    """A LoRA over the model in `base`, as the peft library saves it."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(4)
    model = transformers.AutoModel.from_pretrained(base)
    config = LoraConfig(r=4, lora_alpha=16, target_modules=targets, init_lora_weights=False, **more)
    get_peft_model(model, config).save_pretrained(folder)
    return folder
