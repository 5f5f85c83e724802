"""Step time of training beside a bare forward and backward of the same batch: python -m tests.bench.bench_training

A CLIP with random weights at ViT-B/32's size (--size l14: ViT-L/14 at 336 pixels), LoRA as in the paper's plan. The
reference puts the same images and texts through the same modules and calls backward: no optimiser, no schedule, no
preparing of images, no log. Ours is the whole step, images (JPEG files, as photographs have them) decoded and prepared
while the step before runs, on CUDA in bfloat16 where there is a device. Steps follow one another as in a training: they
wait where images are not prepared as fast as they are taken. Beside both stands a script's whole step.
"""

from __future__ import annotations

import argparse
import io
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

from compute.training.examples import TASKS, Examples
from tests.compute.models import checkpoints
from tests.compute.training import small_training

SIZES = {
    "b32": {"vision": (768, 3072, 12, 12, 224, 32), "text": (512, 2048, 12, 8), "projection": 512},
    "l14": {"vision": (1024, 4096, 24, 16, 336, 14), "text": (768, 3072, 12, 12), "projection": 768},
}


def checkpoint(folder: Path, size: str, *, share: int = 1) -> Path:
    """A random CLIP of that size in the hub's layout, its vision tower with so many times fewer layers."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    folder.mkdir()
    checkpoints.clip_tokens(folder)
    keys = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "image_size", "patch_size")
    vision, text = (dict(zip(keys, SIZES[size][part], strict=False)) for part in ("vision", "text"))
    vision["num_hidden_layers"] //= share
    last = 2 * 256 + 5 - 1
    ends = {"bos_token_id": last - 1, "eos_token_id": last, "pad_token_id": last, "vocab_size": last + 1}
    torch.manual_seed(0)
    config = CLIPConfig(
        projection_dim=SIZES[size]["projection"],
        vision_config=vision,
        text_config={**text, **ends, "max_position_embeddings": 16},
    )
    CLIPModel(config).save_pretrained(folder)
    checkpoints.image_processor(folder, "CLIPImageProcessor", crop=True)
    settings = folder / "preprocessor_config.json"
    settings.write_text(settings.read_text().replace(f": {checkpoints.SIDE}", f": {vision['image_size']}"))
    return folder


def photograph(seed: int, *, side: int) -> bytes:
    """A JPEG file of a smooth picture, which takes about as long to decode as a photograph."""
    coarse = np.random.default_rng(seed).integers(0, 256, (24, 24, 3)).astype(np.uint8)
    target = io.BytesIO()
    Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC).save(target, "JPEG", quality=90)
    return target.getvalue()


def photographs(*, side: int, count: int) -> list[Examples]:
    """Examples of every task whose images are such files."""
    with mock.patch.object(small_training, "picture", partial(photograph, side=side)):
        return [small_training.examples(task, count=count) for task in TASKS]


def main() -> None:
    from tests.slow import gpu

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=tuple(SIZES), default="b32")
    parser.add_argument("--batch", type=int, default=32 if gpu.CUDA else 4, help="examples of each task")
    parser.add_argument("--steps", type=int, default=60 if gpu.CUDA else 3, help="of a turn")
    options = parser.parse_args()
    # Before the clock starts all that processes may have prepared ahead is used up.
    lead = 40 if gpu.CUDA else 1
    print(gpu.HEAD)
    for row in gpu.train(options.size, each=options.batch, lead=lead, steps=options.steps, limit=120, share=1):
        print(row, flush=True)


if __name__ == "__main__":
    main()
