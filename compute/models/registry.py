"""Every family of models: how it is loaded and which files it reads. A new family is one file and one row here.

Importing this loads neither torch nor any model's library: adapters import them when they load a model.
"""

from __future__ import annotations

from functools import partial

from compute.models.adapter import Adapter
from compute.models.encoders import dual, inception, mllm_embedding, open_clip, text, timm_vision, vision
from compute.models.files.weights import ADAPTED, CONFIG, OPEN_CLIP, OPTIONAL, PROCESSOR, TOKENIZER, WEIGHTS
from compute.models.judges import endpoint, vlm
from compute.models.metrics import perceptual, pixels, preference

TRANSFORMERS = ("torch", "torchvision", "transformers", "tokenizers", "pillow")
TIMM = ("torch", "torchvision", "timm", "pillow")

Transformers = partial(Adapter, packages=TRANSFORMERS, weights=WEIGHTS)
TwoTowers = partial(Transformers, needs=(CONFIG, PROCESSOR, TOKENIZER), patches=True)
Texts = partial(Adapter, packages=("torch", "transformers", "tokenizers"), weights=WEIGHTS, needs=(CONFIG, TOKENIZER))
LastToken = partial(Adapter, packages=TRANSFORMERS, weights=ADAPTED)

ADAPTERS: dict[str, Adapter] = {
    # Two towers
    "open_clip": Adapter(
        load=open_clip.load,
        weights=OPEN_CLIP,
        packages=("torch", "torchvision", "open_clip_torch", "timm", "transformers", "pillow"),
        patches=True,
    ),
    "clip": TwoTowers(load=dual.load_clip),
    "siglip": TwoTowers(load=dual.load_siglip),
    "align": TwoTowers(load=dual.load_align),
    "blip": TwoTowers(load=dual.load_blip),
    # Images alone
    "vision": Transformers(load=vision.load, needs=(CONFIG, PROCESSOR), patches=True),
    "moco_v3": Adapter(load=timm_vision.load_moco_v3, weights=WEIGHTS, packages=TIMM, patches=True),
    "timm": Adapter(
        load=timm_vision.load, weights=(*WEIGHTS, *OPEN_CLIP), needs=(CONFIG,), packages=TIMM, patches=True
    ),
    "inception": Adapter(
        load=inception.load,
        weights=OPTIONAL,
        packages=("torch", "torchvision", "pillow"),
        published=inception.published_files,
    ),
    # Texts alone
    "bert": Texts(load=text.load),
    "t5": Texts(load=text.load_t5),
    # Multimodal language models as encoders
    "e5_v": LastToken(load=mllm_embedding.load_e5_v),
    "vlm2vec": LastToken(load=mllm_embedding.load_vlm2vec),
    "gme": LastToken(load=mllm_embedding.load_gme),
    # Human preference
    "hpsv2": Adapter(
        load=preference.load_hpsv2,
        weights=("HPS_v2_compressed.pt",),
        packages=("torch", "torchvision", "open_clip_torch", "pillow"),
    ),
    "pickscore": Transformers(load=preference.load_pickscore, needs=(CONFIG,)),
    "imagereward": Adapter(
        load=preference.load_imagereward, packages=TRANSFORMERS, weights=("ImageReward.pt",), compares="image-text"
    ),
    "aesthetic": Transformers(
        load=preference.load_aesthetic,
        needs=(CONFIG, PROCESSOR),
        published=preference.aesthetic_files,
        compares="image",
    ),
    # Perceptual metrics
    "psnr": Adapter(load=pixels.load_psnr, packages=("numpy", "pillow"), pairs_only=True),
    "ssim": Adapter(load=pixels.load_ssim, packages=("numpy", "scipy", "pillow"), pairs_only=True),
    "ms_ssim": Adapter(load=pixels.load_ms_ssim, packages=("numpy", "scipy", "pillow"), pairs_only=True),
    "colour_histogram": Adapter(load=pixels.load_colour_histogram, packages=("numpy", "pillow")),
    "perceptual_hash": Adapter(load=pixels.load_perceptual_hash, packages=("numpy", "scipy", "pillow")),
    "lpips": Adapter(
        load=perceptual.load_lpips,
        weights=OPTIONAL,
        packages=("torch", "torchvision", "lpips", "pillow"),
        published=perceptual.lpips_files,
        pairs_only=True,
    ),
    "dreamsim": Adapter(
        load=perceptual.load_dreamsim,
        weights=OPTIONAL,
        packages=("torch", "torchvision", "dreamsim", "peft", "open_clip_torch", "pillow"),
        published=perceptual.dreamsim_files,
        pairs_only=True,
    ),
    # Judges that answer in words
    "endpoint": Adapter(load=endpoint.load, packages=("huggingface_hub", "pillow"), variable=endpoint.URL),
    "vlm": Transformers(load=vlm.load, needs=(CONFIG, PROCESSOR)),
}
